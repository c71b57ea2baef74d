// Modules of a session with holes, `?a`: values that can be bound, seen and compared, and that nothing runs
// or transforms.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/reader.h"
#include "shell/script/environment.h"
#include "shell/script/script_value.h"

namespace relish {

// Whether all that is wrong in the text are holes of its classes, so that these are values all the same.
bool has_only_holes(const ReadResult& read, const std::vector<Diagnostic>& diagnostics);
bool has_holes(const Module& module);

// Those of all sessions, as states of one are made again by another.
class UnfinishedModules {
 public:
  // A text with these holes runs, of which all that is said is `told`.
  void begin_text(const std::vector<HoleReport>& holes, const std::vector<Diagnostic>& told);
  // A statement of it has run: a module with holes may be bound now.
  void note_bound(const ast::Statement& statement, const Environment& environment);
  // What was said of the holes of the last text, which ran all the same.
  const std::vector<Diagnostic>& told() const { return told_; }
  // TypeError at `span` for such a module, or a function of one.
  void refuse(const ModulePtr& module, Span span) const;
  void refuse(const ScriptValue& value, Span span) const;

 private:
  std::map<ModulePtr, std::vector<HoleReport>> holes_;
  std::vector<HoleReport> of_text_;
  std::vector<Diagnostic> told_;
};
UnfinishedModules& unfinished_modules();

}  // namespace relish
