// Writing of a session with all its states and their values.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "shell/workspace/workspace.h"

namespace relish {

struct SavedArchive {
  std::size_t states = 0;
  std::set<std::string> left_out;  // names whose values no text says
};
// `heading`: the first line of the statements. IOError; what is wrong with a value that is read for it.
SavedArchive write_archive(Workspace& workspace, const std::string& path, std::string_view heading);

}  // namespace relish
