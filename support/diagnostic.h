// Diagnostics: what a user is told about a fault. A diagnostic has a class, a place, one message, notes (each
// with its own place, if any) and the id of the rule that was broken. The sink collects many per run, so that
// one bad line does not hide the next; rendering is a pure function in support/render.h.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/error_class.h"
#include "support/source.h"

namespace relish {

enum class Severity : std::uint8_t { Error, Warning, Note };

struct DiagnosticNote {
  Span span;  // may be unknown: then only the text is printed
  std::string text;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  ErrorClass error_class = ErrorClass::Type;
  std::string id;     // rule id such as "permute_dims.axes" or "name.unknown"; may be empty
  Span span;          // unknown: then `place` is printed in its stead
  std::string place;  // for faults outside sources: "weights.npz:w0"; may be empty
  std::string message;
  std::vector<DiagnosticNote> notes;

  Diagnostic& note(Span at, std::string text) & {
    notes.push_back({at, std::move(text)});
    return *this;
  }
  Diagnostic& note(std::string text) & { return note(Span{}, std::move(text)); }
};

// Collects the diagnostics of one reading or checking run.
class Diagnostics {
 public:
  // Adds an error and returns it for notes: d.error(ErrorClass::Type, span, "name.unknown", "...").note(...).
  Diagnostic& error(ErrorClass error_class, Span span, std::string_view id, std::string message);
  Diagnostic& warning(Span span, std::string_view id, std::string message);
  Diagnostic& add(Diagnostic diagnostic);

  bool has_errors() const { return error_count_ > 0; }
  std::size_t error_count() const { return error_count_; }
  const std::vector<Diagnostic>& all() const { return all_; }
  // Sorted by file and place, so that output does not depend on the order of the checks.
  void sort();
  void clear();
  // The class of the first error in source order; call only when has_errors().
  ErrorClass first_error_class() const;

 private:
  std::vector<Diagnostic> all_;
  std::size_t error_count_ = 0;
};

}  // namespace relish
