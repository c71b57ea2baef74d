// A script run on the interpreter, with what it prints or how it fails.
#pragma once

#include <memory>
#include <string>

#include "shell/script/script.h"

namespace relish::testing {

struct Ran {
  std::string output;
  std::string error;        // message of the first diagnostic; empty for success
  std::string error_class;  // "TypeError"
  std::string rule;         // "name.unknown"
  std::string notes;        // of the first diagnostic, a line each
  int exit_code = 0;
  std::uint32_t line = 0;  // of the first diagnostic
};

class Harness {
 public:
  explicit Harness(Settings settings = interpreter(), ScriptOptions options = {})
      : options_(std::move(options)) {
    auto output = std::make_unique<StringOutput>();
    output_ = output.get();
    session_ = std::make_unique<Session>(std::move(settings), std::move(output));
    script_ = std::make_unique<Script>(*session_, options_);
  }
  static Settings interpreter() {
    Settings settings;
    settings.tier = "interp";
    return settings;
  }

  Ran run(std::string text) {
    Ran result;
    std::size_t before = output_->text().size();
    try {
      script_->run_text("<test>", std::move(text));
    } catch (const Failure& failure) {
      const Diagnostic& first = failure.diagnostics().front();
      result.error = first.message;
      result.error_class = std::string(name_of(first.error_class));
      result.rule = first.id;
      for (const DiagnosticNote& note : first.notes) result.notes += note.text + "\n";
      result.exit_code = failure.exit_code();
      if (const SourceFile* file = Sources::instance().find(first.span.file))
        result.line = file->position(first.span.begin).line;
    }
    result.output = output_->text().substr(before);
    return result;
  }
  Script& script() { return *script_; }

 private:
  ScriptOptions options_;
  StringOutput* output_ = nullptr;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Script> script_;
};

// Output of a text run alone; the error's class and message when it fails.
inline std::string run_alone(std::string text) {
  Harness harness;
  Ran ran = harness.run(std::move(text));
  return ran.error.empty() ? ran.output : ran.error_class + ": " + ran.error;
}

}  // namespace relish::testing
