// The table of libraries, and how one is made.
#include "shell/script/libraries.h"

#include <filesystem>
#include <map>
#include <mutex>

#include "frontend/module/module_links.h"
#include "frontend/names/binding_names.h"
#include "shell/script/earlier_reads.h"
#include "shell/script/name_places.h"
#include "shell/script/script.h"
#include "shell/script/unread_changes.h"

namespace relish {
namespace {

struct LibraryTable {
  std::mutex mutex;
  std::map<ModulePtr, std::unique_ptr<Library>> libraries;
};

LibraryTable& library_table() {
  static LibraryTable table;
  return table;
}

}  // namespace

Library* library_of(const ModulePtr& module) {
  LibraryTable& table = library_table();
  const std::lock_guard lock(table.mutex);
  const auto found = table.libraries.find(module);
  return found == table.libraries.end() ? nullptr : found->second.get();
}

Library& keep_library(const ModulePtr& module, std::unique_ptr<Library> library) {
  LibraryTable& table = library_table();
  const std::lock_guard lock(table.mutex);
  return *(table.libraries[module] = std::move(library));
}

const ScriptValue* library_function(const ModulePtr& module, const std::string& name) {
  const Library* library = library_of(module);
  const ScriptValue* value = library ? library->names.find(name) : nullptr;
  const ScriptFunction* function = value ? value->script_function() : nullptr;
  return function && function->home == library ? value : nullptr;
}

std::vector<std::string> names_in(const ModulePtr& module) {
  std::vector<std::string> names = module->names();
  if (const Library* library = library_of(module)) {
    for (const std::string& name : library->names.names())
      if (library_function(module, name)) names.push_back(name);
  }
  return names;
}

// Its declarations, functions, constants and loads, in their order.
void Script::take_library(const ModulePtr& module, const LibraryText& text) {
  auto made = std::make_unique<Library>();
  made->file = text.chain.back();
  made->folder = std::filesystem::path(made->file).parent_path().string();
  made->chain = text.chain;
  made->namespaces = text.namespaces;
  Library& library = keep_library(module, std::move(made));
  const ast::Block& statements = *text.statements;
  const auto scope = find_places(statements, library.names);
  find_unread_changes(statements, true);
  find_earlier_reads(statements);
  struct Running {
    Library*& place;
    Library* before;
    ~Running() { place = before; }
  } running{inside_.library, std::exchange(inside_.library, &library)};
  const TextFrame frame(*this, text.statements, *scope);
  for (const ast::Statement& statement : statements) {
    if (const auto* node = statement.as<ast::DeclareModule>()) {
      library.names.set(node->module->name, node->module);
    } else if (const auto* node = statement.as<ast::DeclareFunction>()) {
      const std::string& name = name_of(node->function);
      if (!node->linked) library.names.set(name, FunctionReference{module, name});
    } else if (const auto* node = statement.as<ast::FunctionDefinition>()) {
      define(*node, statement.span, statement.whole);
    } else if (const auto* node = statement.as<ast::Assignment>()) {
      const auto* name = node->targets.size() == 1 ? node->targets[0]->as<ast::Name>() : nullptr;
      const bool taken = name && node->value &&
                         (text.constants.contains(name->id) || loaded_program_path(*node->value) != nullptr);
      if (taken) {
        execute_assignment(*node);
        continue;
      }
      for_each_bound_name(statement, [&](const std::string& each, Span) { library.left_out.insert(each); });
    } else {
      for_each_bound_name(statement, [&](const std::string& each, Span) { library.left_out.insert(each); });
    }
  }
}

}  // namespace relish
