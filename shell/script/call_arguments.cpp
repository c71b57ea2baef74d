// Matching of arguments to the names that a built-in asks for.
#include "shell/script/call_arguments.h"

#include "support/suggest.h"

namespace relish {

CallArguments::CallArguments(std::string_view callee, std::vector<NamedValue> arguments, Span span)
    : callee_(callee), arguments_(std::move(arguments)), taken_(arguments_.size(), false), span_(span) {}

const NamedValue* CallArguments::optional(std::string_view name, bool keyword_only) {
  known_.emplace_back(name);
  const NamedValue* result = nullptr;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (taken_[i]) continue;
    bool by_position = arguments_[i].name.empty() && !keyword_only && !result;
    bool by_name = arguments_[i].name == name;
    if (!by_position && !by_name) continue;
    if (result) {
      fail(ErrorClass::Usage, arguments_[i].span, "call.arguments",
           fmt::format("{}: '{}' is given twice", callee_, name));
    }
    taken_[i] = true;
    result = &arguments_[i];
  }
  return result;
}

const NamedValue& CallArguments::required(std::string_view name) {
  if (const NamedValue* found = optional(name)) return *found;
  fail(ErrorClass::Usage, span_, "call.arguments",
       fmt::format("{}: the argument '{}' is missing", callee_, name));
}

std::vector<NamedValue> CallArguments::rest() {
  std::vector<NamedValue> result;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (taken_[i] || !arguments_[i].name.empty()) continue;
    taken_[i] = true;
    result.push_back(arguments_[i]);
  }
  return result;
}

void CallArguments::done() const {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (taken_[i]) continue;
    if (arguments_[i].name.empty()) {
      fail(ErrorClass::Usage, arguments_[i].span, "call.arguments",
           fmt::format("{}: found more arguments than it takes", callee_));
    }
    fail(ErrorClass::Usage, arguments_[i].span, "call.arguments",
         fmt::format("{}: unknown argument '{}'{}", callee_, arguments_[i].name,
                     did_you_mean(arguments_[i].name, known_)));
  }
}

}  // namespace relish
