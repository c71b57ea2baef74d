// The collecting sink of diagnostics.
#include "support/diagnostic.h"

#include <algorithm>
#include <tuple>

#include "support/failure.h"

namespace relish {
namespace {

// Diagnostics without a span come first: they concern the whole run.
bool earlier(const Diagnostic& a, const Diagnostic& b) {
  return std::tie(a.span.file, a.span.begin, a.span.end) < std::tie(b.span.file, b.span.begin, b.span.end);
}

}  // namespace

Diagnostic& Diagnostics::error(ErrorClass error_class, Span span, std::string_view id, std::string message) {
  Diagnostic diagnostic;
  diagnostic.error_class = error_class;
  diagnostic.id = id;
  diagnostic.span = span;
  diagnostic.message = std::move(message);
  return add(std::move(diagnostic));
}

Diagnostic& Diagnostics::warning(Span span, std::string_view id, std::string message) {
  Diagnostic diagnostic;
  diagnostic.severity = Severity::Warning;
  diagnostic.id = id;
  diagnostic.span = span;
  diagnostic.message = std::move(message);
  return add(std::move(diagnostic));
}

Diagnostic& Diagnostics::add(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::Error) ++error_count_;
  all_.push_back(std::move(diagnostic));
  return all_.back();
}

void Diagnostics::sort() { std::stable_sort(all_.begin(), all_.end(), earlier); }

void Diagnostics::clear() {
  all_.clear();
  error_count_ = 0;
}

ErrorClass Diagnostics::first_error_class() const {
  const Diagnostic* first = nullptr;
  for (const Diagnostic& diagnostic : all_) {
    if (diagnostic.severity != Severity::Error) continue;
    if (first == nullptr || earlier(diagnostic, *first)) first = &diagnostic;
  }
  RELISH_CHECK(first != nullptr);
  return first->error_class;
}

}  // namespace relish
