// A saved session as a log again. Nothing runs, and no value is read before somebody wants it.
#pragma once

#include <string>
#include <vector>

#include "shell/workspace/log.h"
#include "shell/workspace/saved/archive_values.h"

namespace relish {

struct RestoredSession {
  LogContent content;
  std::size_t last_input = 0;
  std::map<std::size_t, ScriptValue> shown;  // by input
  std::vector<std::string> lost;             // what is damaged, in words
};
RestoredSession read_archive(const std::string& path, ArchiveValues::Outside outside);

}  // namespace relish
