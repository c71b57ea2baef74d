// What was probably meant by the name of a file or folder that is not there: for every message that says so.
#pragma once

#include <string>

namespace relish {

enum class NamedEntry { File, Folder };

// "; did you mean 'plain.csv'?" of what stands beside a path that is not there, the last names of a path
// apart;
// "; there is no folder 'dta'; did you mean 'data'?" where one before is missing. Empty when nothing is near.
std::string nearest_entry(const std::string& path, NamedEntry kind = NamedEntry::File);

}  // namespace relish
