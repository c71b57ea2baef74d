// Making and throwing of failures.
#include "support/failure.h"

#include <algorithm>
#include <utility>

namespace relish {
namespace {

const Diagnostic* first_error(const std::vector<Diagnostic>& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Severity::Error) return &diagnostic;
  }
  return nullptr;
}

Diagnostic make_error(ErrorClass error_class, std::string_view id, std::string message) {
  Diagnostic diagnostic;
  diagnostic.error_class = error_class;
  diagnostic.id = id;
  diagnostic.message = std::move(message);
  return diagnostic;
}

// "support/failure.cpp" of whatever path the compiler was given.
std::string_view short_path(std::string_view path) {
  std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return path;
  slash = path.rfind('/', slash - 1);
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

Failure::Failure(Diagnostic diagnostic) : Failure(std::vector<Diagnostic>{std::move(diagnostic)}) {}

Failure::Failure(std::vector<Diagnostic> diagnostics) : diagnostics_(std::move(diagnostics)) {
  RELISH_CHECK(first_error(diagnostics_) != nullptr, "a failure without an error");
  const Diagnostic& first = *first_error(diagnostics_);
  what_ = fmt::format("{}: {}", name_of(first.error_class), first.message);
}

ErrorClass Failure::error_class() const {
  const Diagnostic* first = first_error(diagnostics_);
  return first == nullptr ? ErrorClass::Internal : first->error_class;
}

Failure& Failure::at(Span span) & {
  for (Diagnostic& diagnostic : diagnostics_) {
    if (!diagnostic.span.known() && diagnostic.place.empty()) diagnostic.span = span;
  }
  return *this;
}

Failure& Failure::note(Span span, std::string text) & {
  auto first = std::find_if(diagnostics_.begin(), diagnostics_.end(),
                            [](const Diagnostic& d) { return d.severity == Severity::Error; });
  if (first != diagnostics_.end()) first->note(span, std::move(text));
  return *this;
}

void fail(ErrorClass error_class, Span span, std::string_view id, std::string message) {
  fail(error_class, span, id, std::move(message), {});
}

void fail(ErrorClass error_class, Span span, std::string_view id, std::string message,
          std::vector<DiagnosticNote> notes) {
  Diagnostic diagnostic = make_error(error_class, id, std::move(message));
  diagnostic.span = span;
  diagnostic.notes = std::move(notes);
  throw Failure(std::move(diagnostic));
}

void fail_at(ErrorClass error_class, std::string place, std::string_view id, std::string message) {
  Diagnostic diagnostic = make_error(error_class, id, std::move(message));
  diagnostic.place = std::move(place);
  throw Failure(std::move(diagnostic));
}

void throw_if_errors(Diagnostics& diagnostics) {
  if (!diagnostics.has_errors()) return;
  diagnostics.sort();
  throw Failure(diagnostics.all());
}

void internal_failure(const char* file, int line, const char* condition, std::string message) {
  std::string text = fmt::format("{}:{}: '{}' does not hold", short_path(file), line, condition);
  if (!message.empty()) text += ": " + message;
  Diagnostic diagnostic = make_error(ErrorClass::Internal, "", std::move(text));
  diagnostic.note(
      "this is a defect of Relish, not of the program; please report it with this message and the input");
  throw Failure(std::move(diagnostic));
}

}  // namespace relish
