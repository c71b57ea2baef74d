// The front end's door: a source to modules, script statements and diagnostics.
//
//   Diagnostics diagnostics;
//   ReadResult result = read_source(Sources::instance().add("m.relish", text), {}, diagnostics);
//
// Reading never executes a statement and never throws for what a text contains: everything wrong goes to the
// sink, many faults a run. Work follows the nesting of the text on a thread with a large stack.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/graph/holes.h"
#include "frontend/module/script_constants.h"
#include "frontend/names/namespaces.h"
#include "frontend/text/ast.h"
#include "frontend/text/scanner.h"
#include "ir/nodes/module.h"
#include "ir/operators/evaluator.h"
#include "support/diagnostic.h"

namespace relish {

struct ReadOptions {
  // A Python file: decorated classes and functions are read, all other statements skipped with one note.
  bool python_file = false;
  // REPL: the free functions declared so far (they may be called), and the names that statements have bound
  // (functions must not use them) and the modules declared so far.
  const Module* session_functions = nullptr;
  std::vector<std::string> session_names;
  std::vector<std::string> session_modules;
  // Of a class with this module's name the text has some functions only; the others are the module's.
  const Module* known_class = nullptr;
  // A script, as a session writes it: a free function may be defined anew; what stands before means the old
  // one.
  bool redefinitions = false;
  // What imports of earlier inputs bound.
  Namespaces namespaces;
  // The module that `NAME = load("FILE.relish")` names; throws Failure. Without it functions see no loaded
  // modules.
  std::function<ModulePtr(const std::string& path, Span at)> load_module;
  // Every such file is read, used or not: for texts whose statements are not run. One that is not there is
  // passed over unless a function uses it, as a statement may make it.
  bool load_all = false;
  // Values of constants, which functions see; none: functions see no name of a statement. A method that
  // changes what the name in front of it holds makes a constant none, as a second binding does.
  ConstantValue constant_value;
  std::function<bool(std::string_view)> is_change;
  KnownConstants session_constants;  // of earlier inputs
  // Whether a built-in of that name gives something else than a module; none: nothing is known of them.
  std::function<bool(std::string_view)> makes_no_module;
  // Modules that stand, by the names that hold them, each read when a function uses it, and the functions
  // linked in from them.
  std::vector<std::pair<std::string, std::function<ModulePtr()>>> session_loads;
  std::map<std::string, std::string> session_links;
  // Asked again and again: when it says no, the reading ends with Failure(Interrupted).
  std::function<bool()> goes_on;
};

struct ReadResult {
  // Decorated classes in the order of the text.
  std::vector<ModulePtr> modules;
  // The free functions, as module "Module"; null when there are none.
  ModulePtr free_functions;
  // All top-level statements in order. A declaration stands as DeclareModule or DeclareFunction; one that was
  // refused as Damaged. What an import binds is bound for the whole text; running it does nothing.
  ast::Block script;
  // With what the text's imports bound.
  Namespaces namespaces;
  // Functions that came in by copy, and what the text calls them: lib_f -> lib.f.
  std::map<std::string, std::string> linked;
  ConstantsOfText constants;
  std::vector<std::string> end_comments;
  std::vector<HoleReport> holes;  // ?a in functions: each is an error too
  // False when something could not be resolved or parsed: with only type errors the modules are whole and
  // print.
  bool printable = true;

  // The classes, then the free functions.
  std::vector<ModulePtr> all_modules() const;
};

ReadResult read_source(std::uint32_t file, const ReadOptions& options, Diagnostics& diagnostics);
// The declarations of a Deferred statement of such a text, which it gives away, with what stands now.
ReadResult read_deferred(const ast::Deferred& group, const ReadOptions& options, Diagnostics& diagnostics);

// One expression, such as the value of `--arg x=[[1, 2]]` or a call of `-p`. Null after reporting.
ast::ExprPtr read_expression(std::uint32_t file, Diagnostics& diagnostics);

// A text that must hold one module (a class, or free functions) and no errors: throws Failure with the
// diagnostics.
ModulePtr read_module(std::string name, std::string text);

// Reads texts of the standard library at first use and keeps them. Thread-safe.
BodyLoader& standard_body_loader();

// Installs the loader for the passes that need it; call once at start.
void install_front_end();

}  // namespace relish
