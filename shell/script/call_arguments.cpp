// Matching of arguments to the names that a built-in asks for.
#include "shell/script/call_arguments.h"

#include <fmt/ranges.h>

#include "ir/operators/op.h"
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

const NamedValue* CallArguments::other_name(std::string_view name) {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (taken_[i] || arguments_[i].name != name) continue;
    taken_[i] = true;
    return &arguments_[i];
  }
  return nullptr;
}

const NamedValue& CallArguments::required(std::string_view name) {
  if (const NamedValue* found = optional(name)) return *found;
  // What was meant for it, when its name is spelt wrong.
  const std::vector<std::string> wanted = {std::string(name)};
  for (const NamedValue& argument : arguments_) {
    const std::string nearest = argument.name.empty() ? "" : did_you_mean(argument.name, wanted);
    if (nearest.empty()) continue;
    fail(ErrorClass::Usage, argument.span, "call.arguments",
         fmt::format("{}: unknown argument '{}'{}", callee_, argument.name, nearest));
  }
  fail(ErrorClass::Usage, span_, "call.arguments",
       fmt::format("{}: the argument '{}' is missing", callee_, name));
}

NamedValue CallArguments::dimensions(std::string_view name) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (taken_[i] || !arguments_[i].name.empty() || !arguments_[i].value.as<std::int64_t>()) break;
    places.push_back(i);
  }
  if (places.size() < 2) return required(name);
  for (const NamedValue& argument : arguments_) {
    if (argument.name != name) continue;
    fail(ErrorClass::Usage, argument.span, "call.arguments",
         fmt::format("{}: '{}' is given twice", callee_, name));
  }
  NamedValue all = {"", {}, cover(arguments_[places.front()].span, arguments_[places.back()].span)};
  std::vector<ScriptValue> dims;
  for (const std::size_t place : places) {
    taken_[place] = true;
    dims.push_back(arguments_[place].value);
  }
  known_.emplace_back(name);
  all.value = ScriptValue::tuple(std::move(dims));
  return all;
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

std::vector<NamedValue> CallArguments::rest_by_name() {
  std::vector<NamedValue> result;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (taken_[i] || arguments_[i].name.empty()) continue;
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
    // max(x, axis=1): what NumPy's function of the name takes, the operator does.
    const std::string_view name = arguments_[i].name;
    const bool of_operator = name == "axis" || name == "dim" || name == "keepdims" || name == "keepdim";
    if (of_operator && arguments_.front().value.tensor() && find_op(callee_)) {
      fail(ErrorClass::Usage, arguments_[i].span, "call.arguments",
           fmt::format("{}: the built-in takes all elements, without '{}'; write R.{}(…, {}=…)", callee_,
                       name, callee_, name));
    }
    fail(ErrorClass::Usage, arguments_[i].span, "call.arguments",
         fmt::format("{}: unknown argument '{}'{}{}", callee_, name, takes_words(known_),
                     did_you_mean(name, known_)));
  }
}

std::string takes_words(const std::vector<std::string>& names) {
  return names.empty() ? "; it takes none by name" : fmt::format("; it takes {}", fmt::join(names, ", "));
}

}  // namespace relish
