// What the parts of the front end share while one source is read.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/graph/holes.h"
#include "frontend/names/namespaces.h"
#include "frontend/text/line_parser.h"
#include "runtime/tensor.h"
#include "support/diagnostic.h"
#include "support/failure.h"

namespace relish {

struct ReadContext {
  ReadContext(std::uint32_t file_id, std::string_view source, Diagnostics& sink)
      : file(file_id), text(source), diagnostics(sink), parser(file_id, source, sink) {}

  std::uint32_t file;
  std::string_view text;
  Diagnostics& diagnostics;
  LineParser parser;
  Namespaces namespaces;
  std::set<std::string> type_variables;  // module-level `n = TypeVar("n")`
  // Assigned by top-level statements: functions must not use them. Sorted.
  std::vector<std::string> script_names;
  std::set<std::string> script_functions;  // those among them that the text defines as functions
  // Names that only Python has, and what each of them is.
  struct PythonName {
    bool is_function = false;
    std::string decorator;  // T.macro and the like, which needs Python
  };
  std::map<std::string, PythonName> python_names;
  std::set<std::string> python_modules;  // names of those that it imports, but for TVM's
  std::set<std::string> constants;       // of the text, whose values its functions have in their place
  // Diagnostics, by their numbers, that come from what only Python has, as they are told where nothing else
  // is wrong.
  std::map<std::size_t, Diagnostic> python_faults;
  bool python_file = false;  // elsewhere they were refused where they stand
  bool is_script_name(const std::string& name) const {
    return std::binary_search(script_names.begin(), script_names.end(), name);
  }
  // Names that may still be looked at for "did you mean": a text of many unknown names beside many known ones
  // would cost the product of their numbers. The first errors are what is read.
  std::size_t suggestion_budget = 2'000'000;
  bool may_suggest() const { return suggestion_budget > 0; }
  void count_suggestion(std::size_t names) { suggestion_budget -= std::min(suggestion_budget, names + 1); }
  // The same for a suggestion that walks the text or a function once.
  bool may_search() {
    if (!may_suggest()) return false;
    count_suggestion(text.size() / 16);
    return true;
  }
  std::vector<Tensor> metadata_constants;  // metadata["relax.expr.Constant"] of a text that TVM wrote
  bool has_metadata = false;
  bool metadata_damaged = false;   // it has a fault, which is told there
  bool constants_damaged = false;  // the section of constants has a fault, which is told there
  // Of functions that call one that cannot be read: told where that one is left out, and else without
  // interest.
  std::vector<Diagnostic> callers_of_unread;
  std::vector<HoleReport> holes;  // of all functions
  // Refuses a device that the class in the making does not list; empty elsewhere.
  std::function<void(std::string_view device, Span at)> check_device;
  bool unresolved = false;  // an error other than of type inference: the result cannot be printed

  // Runs `work`; a Failure becomes diagnostics and false. For one statement or declaration at a time.
  bool attempt(const std::function<void()>& work) {
    try {
      work();
      return true;
    } catch (const Failure& failure) {
      if (failure.error_class() == ErrorClass::Interrupted) throw;  // ends the reading
      for (const Diagnostic& diagnostic : failure.diagnostics()) diagnostics.add(diagnostic);
      unresolved = true;
    } catch (const Silent&) {
      unresolved = true;
    }
    return false;
  }
  // The same for a fault of types alone: the text is understood, and could be printed.
  bool attempt_typed(const std::function<void()>& work) {
    bool before = unresolved;
    bool good = attempt(work);
    unresolved = before;
    return good;
  }
  // Thrown instead of a Failure when the cause has been reported already.
  struct Silent {};

  std::string_view text_of(Span span) const { return text.substr(span.begin, span.end - span.begin); }
};

// Throws a TypeError.
[[noreturn]] inline void type_error(Span at, std::string_view id, std::string message) {
  fail(ErrorClass::Type, at, id, std::move(message));
}

}  // namespace relish
