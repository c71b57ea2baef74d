// Modules that functions use: those of other files, `lib = load("layers.relish")`, classes of the text, and
// whatever else holds a module. What is used comes in by copy, lib.f as `lib_f`, so that a module is whole by
// itself.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontend/context.h"
#include "frontend/reader.h"

namespace relish {

class ModuleLinks {
 public:
  ModuleLinks(ReadContext& context, const ReadOptions& options);

  // Finds the statements that load; with `load_all` reads their files.
  void collect(const ast::Block& statements);
  // A class of the text that is built.
  void add(const ModulePtr& module);
  // Whether the name holds a module that functions may use.
  bool loads(const std::string& name) const { return sources_.count(name) > 0; }
  // Copies of `function` and of all that it refers to, by the names that they get; nothing when `module` is
  // not loaded. TypeError for a function that the module does not have; what reading its file throws.
  std::optional<std::vector<GlobalFunction>> link(const std::string& module, const std::string& function,
                                                  Span use);
  static std::string linked_name(const std::string& module, const std::string& function) {
    return module + "_" + function;
  }
  // Whether a function of that name was linked in, by this text or an earlier input.
  bool is_linked(const std::string& name) const { return linked_.count(name) > 0; }
  // Whether an earlier input linked it in.
  bool linked_before(const std::string& name) const { return options_.session_links.count(name) > 0; }
  // TypeError where functions of earlier inputs call what came in by that name, which would be another now.
  // `is_declared`: whether the text has a function of its own of a name.
  void refuse_change_of_callers(const std::string& linked, const std::string& module, Span use,
                                const std::function<bool(const std::string&)>& is_declared) const;
  // Where a linked function's module is loaded; unknown for those of earlier inputs.
  Span span_of(const std::string& name) const;
  // lib_f -> lib.f, of this text and the inputs before it.
  const std::map<std::string, std::string>& linked() const { return linked_; }

 private:
  struct Source {
    std::string path;  // empty: of an earlier input
    Span span;
    int bindings = 1;  // statements that bind the name
    bool failed = false;
    ModulePtr module;
    std::function<ModulePtr()> held;  // gives the module of a name of the session
    Module copies;                    // under the prefix; filled at first use
    bool copied = false;
  };
  void read(Source& source);

  ReadContext& context_;
  const ReadOptions& options_;
  std::map<std::string, Source> sources_;
  std::map<std::string, std::string> linked_;
};

// The path of `load("FILE.relish")`, also as relish.load, when the expression is such a call; null otherwise.
const std::string* loaded_program_path(const ast::Expr& expr);
// Whether the path names a program text: .relish or .py, or a notebook, .ipynb.
bool is_program_path(std::string_view path);

}  // namespace relish
