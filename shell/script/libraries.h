// What functions of a loaded file see. A file is loaded for its declarations and the functions of the script
// in it; its other statements do not run. So a function of it sees what these make, its constants and what it
// loads, wherever it is called.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "frontend/names/namespaces.h"
#include "frontend/text/ast.h"
#include "ir/nodes/module.h"
#include "shell/script/environment.h"

namespace relish {

// The statements of a loaded file that holds functions of the script.
struct LibraryText {
  std::shared_ptr<const ast::Block> statements;
  Namespaces namespaces;
  std::set<std::string> constants;
  std::vector<std::string> chain;  // the files that loaded each other up to it, itself last
};

struct Library {
  std::string file;    // as it was opened
  std::string folder;  // against which its functions resolve paths
  std::vector<std::string> chain;
  Environment names;
  Namespaces namespaces;
  std::set<std::string> left_out;  // names that statements which do not run would make
};

// The library of a loaded module; null when its file holds no functions of the script. Like the texts
// themselves, libraries stay for as long as the process.
Library* library_of(const ModulePtr& module);
Library& keep_library(const ModulePtr& module, std::unique_ptr<Library> library);
// The function of that name; null when there is none.
const ScriptValue* library_function(const ModulePtr& module, const std::string& name);
// What `module.name` may be: functions of the module and of its library.
std::vector<std::string> names_in(const ModulePtr& module);

}  // namespace relish
