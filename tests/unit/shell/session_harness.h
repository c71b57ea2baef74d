// A session without a terminal, input by input, and the whole of a state as text.
#pragma once

#include <memory>
#include <string>

#include "ir/printer/printer.h"
#include "shell/repl/inputs/session_inputs.h"
#include "shell/script/unfinished_modules.h"
#include "support/render.h"

namespace relish::testing {

// A module of one function.
inline const std::string two_layers =
    "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((2, 3), \"float32\"), w: R.Tensor((3, 4), "
    "\"float32\")):\n        h = R.matmul(x, w)\n        return h\n";

class SessionHarness {
 public:
  explicit SessionHarness(const std::string& tier = "interp") {
    auto collected = std::make_unique<StringOutput>();
    output_ = collected.get();
    Settings settings;
    settings.tier = tier;
    settings.quiet = true;
    session_ = std::make_unique<Session>(settings, std::move(collected));
    inputs_ = std::make_unique<SessionInputs>(*session_, ScriptOptions{"", false, true});
  }

  // What the input prints; "TypeError: message" when it fails.
  std::string operator()(const std::string& text) {
    const std::size_t before = output_->text().size();
    try {
      inputs_->run("<in>", text);
    } catch (const Failure& failure) {
      const Diagnostic& first = failure.diagnostics().front();
      return std::string(name_of(first.error_class)) + ": " + first.message;
    }
    return output_->text().substr(before);
  }
  // What it prints, with its diagnostics as a terminal shows them.
  std::string with_errors(const std::string& text) {
    const std::size_t before = output_->text().size();
    std::string errors;
    try {
      inputs_->run(fmt::format("<in {}>", workspace().next_input()), text);
    } catch (const Failure& failure) {
      errors = render(failure.diagnostics(), Sources::instance(), {});
    }
    // A text with holes runs, and is told of on standard error.
    if (errors.empty() && !text.starts_with(':'))
      errors = render(unfinished_modules().told(), Sources::instance(), {});
    return output_->text().substr(before) + errors;
  }
  SessionInputs& inputs() { return *inputs_; }
  const std::string& output() const { return output_->text(); }
  Workspace& workspace() { return inputs_->workspace(); }

 private:
  StringOutput* output_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<SessionInputs> inputs_;
};

inline std::string content_of(const ScriptValue& value) {
  if (const Tensor* tensor = value.tensor()) {
    std::string text = fmt::format("{} {}:", name_of(tensor->dtype()), fmt::join(tensor->shape(), ","));
    const auto* bytes = static_cast<const unsigned char*>(tensor->data());
    for (std::int64_t i = 0; i < tensor->byte_size(); ++i) text += fmt::format("{:02x}", bytes[i]);
    return text;
  }
  if (const ScriptList* list = value.sequence()) {
    std::string text = list->tuple ? "(" : "[";
    for (const ScriptValue& item : list->items) text += content_of(item) + ", ";
    return text + "]";
  }
  if (const auto* function = value.as<FunctionReference>())
    return "function " + function->name + " of\n" + print(*function->module);
  return quoted_text_of(value, true);
}

// Two states with the same text behave alike, bit for bit.
inline std::string content_of(const State& state) {
  std::string text;
  state.names.for_each([&](const std::string& name, const ScriptValue& value) {
    text += fmt::format("{} = {}\n", name, content_of(value_in(state, name, value)));
  });
  if (state.free_functions) text += print(*state.free_functions);
  for (const auto& [name, source] : state.around->linked) text += name + " is " + source + "\n";
  const StateOptions& options = state.options;
  return text + fmt::format("{} {} {} {}", options.tier, options.threads, options.seed, options.draws);
}

}  // namespace relish::testing
