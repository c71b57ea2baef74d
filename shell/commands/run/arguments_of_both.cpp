// Values by name, then by place, then by the other function's own call.
#include "shell/commands/run/arguments_of_both.h"

#include <algorithm>

#include "ir/calls/entry.h"
#include "shell/script/script.h"

namespace relish {
namespace {

bool has_parameter(const std::vector<CallParameter>& parameters, const std::string& name) {
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const CallParameter& each) { return each.name == name || each.handle == name; });
}

bool has_dimension(const std::vector<CallParameter>& parameters, const std::string& name) {
  std::vector<ScalarVar> vars;
  for (const CallParameter& parameter : parameters) collect_vars(parameter.type, vars);
  return std::any_of(vars.begin(), vars.end(), [&](const ScalarVar& var) { return var.name() == name; });
}

}  // namespace

ArgumentsOfBoth::ArgumentsOfBoth(const Invocation& invocation, const FunctionReference& first,
                                 const FunctionReference& second)
    : invocation_(invocation),
      first_(first),
      second_(second),
      params_(call_parameters(*first.module, first.name)),
      others_(call_parameters(*second.module, second.name)),
      given_(invocation.given("arg") || invocation.given("params") || invocation.given("dim")) {}

std::vector<Value> ArgumentsOfBoth::of_first() const {
  if (!given_) return call_arguments(invocation_, first_.name);
  return make_arguments(*first_.module, first_.name, inputs_of(params_, others_));
}

std::vector<Value> ArgumentsOfBoth::of_second(const std::vector<Value>& first) const {
  CallInputs inputs = given_ ? inputs_of(others_, params_) : CallInputs();
  const auto last = given_ ? std::nullopt : last_arguments();
  for (std::size_t i = 0; i < others_.size(); ++i) {
    const Value* value = shared(i, first);
    if (!value && last) value = &(*last)[i];
    if (!value) continue;
    inputs.known.emplace_back(others_[i].name, *value);
    const auto is_given = [&](const auto& entry) { return head_of_path(entry.first) == others_[i].name; };
    std::erase_if(inputs.arguments, is_given);
    std::erase_if(inputs.params, is_given);
  }
  return make_arguments(*second_.module, second_.name, inputs);
}

// What is given for the other function alone is no surplus here.
CallInputs ArgumentsOfBoth::inputs_of(const Parameters& own, const Parameters& other) const {
  CallInputs inputs = call_inputs(invocation_);
  const auto is_other = [&](const auto& entry) {
    const std::string name = head_of_path(entry.first);
    return !has_parameter(own, name) && has_parameter(other, name);
  };
  std::erase_if(inputs.arguments, is_other);
  std::erase_if(inputs.params, is_other);
  std::erase_if(inputs.dims, [&](const auto& entry) {
    return !has_dimension(own, entry.first) && has_dimension(other, entry.first);
  });
  return inputs;
}

// The value of the first function's that this parameter of the second gets; null when there is none.
const Value* ArgumentsOfBoth::shared(std::size_t other, const std::vector<Value>& first) const {
  const CallParameter& wanted = others_[other];
  const auto same = std::find_if(params_.begin(), params_.end(),
                                 [&](const CallParameter& each) { return each.name == wanted.name; });
  auto place = static_cast<std::size_t>(same - params_.begin());
  if (same == params_.end()) {
    if (params_.size() != others_.size() || has_parameter(others_, params_[other].name)) return nullptr;
    place = other;
  }
  return fits(type_of(first[place]), wanted.type) == Fit::Never ? nullptr : &first[place];
}

std::optional<std::vector<Value>> ArgumentsOfBoth::last_arguments() const {
  ScriptObserver* session = invocation_.script ? invocation_.script->options().observer : nullptr;
  return session ? session->last_arguments(second_) : std::nullopt;
}

}  // namespace relish
