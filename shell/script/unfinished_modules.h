// Modules and free functions of a session with holes, `?a`: values that can be bound, seen and compared, and
// that nothing runs or transforms. Free functions of one text that have holes, or call one that has, are
// functions of a module of their own, so that others of the session know nothing of them.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/reader.h"
#include "shell/script/environment.h"
#include "shell/script/script_value.h"
#include "support/failure.h"

namespace relish {

// Whether all that is wrong in the text are holes of its classes and free functions, so that these are values
// all the same.
bool has_only_holes(const ReadResult& read, const std::vector<Diagnostic>& diagnostics);
bool has_holes(const Module& module);
// Functions with holes among those of a text, and those that call one, in a module of their own.
struct UnfinishedFunctions {
  ModulePtr module;
  std::set<std::string> names;
};
// Takes them out of the functions of a text that was told to have holes.
UnfinishedFunctions put_aside_unfinished(std::vector<GlobalFunction>& functions,
                                         const ModulePtr& free_functions);
// Notes, on what is said of the holes, that what has them is bound.
void tell_bound(const ReadResult& read, std::vector<Diagnostic>& told);

// Those of all sessions, as states of one are made again by another.
// The module of free functions.
inline constexpr std::string_view free_functions_name = "Module";

class UnfinishedModules {
 public:
  // A text with these holes runs, of which all that is said is `told`.
  void begin_text(const std::vector<HoleReport>& holes, const std::vector<Diagnostic>& told);
  // A statement of it has run: a module with holes may be bound now.
  void note_bound(const ast::Statement& statement, const Environment& environment);
  // What was said of the holes of the last text, which ran all the same.
  const std::vector<Diagnostic>& told() const { return told_; }
  // A module that was read with these holes, by a saved session; others of it are told of without candidates.
  void note(const ModulePtr& module, std::vector<HoleReport> holes);
  bool holds(const ModulePtr& module) const { return holes_.contains(module); }
  // Notes in the fault of a text that a name in it is that of such a function.
  void explain(Failure& failure, const Environment& environment) const;
  // TypeError at `span` for such a module, or a function of one.
  void refuse(const ModulePtr& module, Span span, const std::string& function = {}) const;
  void refuse(const FunctionReference& function, Span span) const;
  void refuse(const ScriptValue& value, Span span) const;

 private:
  std::vector<HoleReport>& holes_of(const ModulePtr& module);

  // It keeps no module: one that nothing else refers to is gone.
  std::map<std::weak_ptr<const Module>, std::vector<HoleReport>, std::owner_less<>> holes_;
  std::vector<HoleReport> of_text_;
  std::vector<Diagnostic> told_;
};
UnfinishedModules& unfinished_modules();

}  // namespace relish
