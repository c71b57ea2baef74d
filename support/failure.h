// Failure: the one exception of Relish. It unwinds a statement or a command with the diagnostics to show; it
// never crosses a frame of compiled code. `RELISH_CHECK` states what must hold if Relish itself is right: its
// failure is an InternalError, reported like any other and never an abort.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostic.h"

namespace relish {

class Failure : public std::exception {
 public:
  explicit Failure(Diagnostic diagnostic);
  // At least one of them must be an error.
  explicit Failure(std::vector<Diagnostic> diagnostics);

  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  std::vector<Diagnostic>& diagnostics() { return diagnostics_; }
  ErrorClass error_class() const;
  // Overrides the class's exit code (129, 143 for signals); 0 when it does not.
  int exit_code() const { return exit_code_ != 0 ? exit_code_ : exit_code_of(error_class()); }
  void set_exit_code(int code) { exit_code_ = code; }
  const char* what() const noexcept override { return what_.c_str(); }

  // Gives the place to diagnostics that have none yet: for errors raised by code that does not know the
  // source.
  Failure& at(Span span) &;
  Failure& note(Span span, std::string text) &;

 private:
  std::vector<Diagnostic> diagnostics_;
  std::string what_;
  int exit_code_ = 0;
};

// Throws a Failure with one diagnostic. `id` names the broken rule; it may be empty.
[[noreturn]] void fail(ErrorClass error_class, Span span, std::string_view id, std::string message);
[[noreturn]] void fail(ErrorClass error_class, Span span, std::string_view id, std::string message,
                       std::vector<DiagnosticNote> notes);
// For faults outside sources; `place` is "FILE" or "FILE:ENTRY" or empty.
[[noreturn]] void fail_at(ErrorClass error_class, std::string place, std::string_view id,
                          std::string message);

// Throws the sink's diagnostics when it holds an error.
void throw_if_errors(Diagnostics& diagnostics);

[[noreturn]] void internal_failure(const char* file, int line, const char* condition, std::string message);

}  // namespace relish

#define RELISH_CHECK(condition, ...)                                                          \
  do {                                                                                        \
    if (!(condition))                                                                         \
      ::relish::internal_failure(__FILE__, __LINE__, #condition, ::std::string{__VA_ARGS__}); \
  } while (false)
