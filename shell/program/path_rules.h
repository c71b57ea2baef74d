// Which files a text may name: those below its own folder, or of a folder that the user named.
#pragma once

#include <string>
#include <vector>

#include "shell/session.h"
#include "support/file_access.h"
#include "support/source.h"

namespace relish {

struct PathRules {
  std::string folder;              // against which relative paths are resolved; empty: the current one
  bool confined = false;           // only files below `folder`, `roots` and `given`
  std::vector<std::string> roots;  // of --root
  std::vector<std::string> given;  // paths that the command line gave as values
  std::vector<std::pair<std::string, std::string>> arguments = {};  // of arg() in the text: --set NAME=VALUE
  // Others among these belong to the command itself (bind_params).
  bool more_arguments = false;
  std::vector<std::string> jobs;  // folders of training jobs that the script did not name
};
PathRules path_rules(const Session& session, std::string folder, bool confined);
// Of a file that the command line names: what it names in turn lies below its folder.
PathRules path_rules_beside(const Session& session, const std::string& path);

// The path as it may be opened, for reading and for writing. PolicyError at `span` for one that climbs, is
// absolute and no file of `folder`, leads through a symlink, or is no regular file with one name, outside the
// roots; or that holds the byte 0. It may carry an entry, FILE:ENTRY.
std::string resolve(const PathRules& rules, const std::string& path, Span span);
// The same rules for the door, which everything is opened by while the text runs.
FileRules file_rules(const PathRules& rules);

// Whether two paths lead to one file that is there.
bool same_file(const std::string& a, const std::string& b);

}  // namespace relish
