// Keeping of arguments.
#include "shell/workspace/last_calls.h"

#include <algorithm>

#include "ir/calls/entry.h"
#include "shell/workspace/origins.h"

namespace relish {
namespace {

constexpr std::size_t most_kept_calls = 64;

// Calls `visit` with each tensor of the value.
template <class Visit>
void for_tensors_of(const Value& value, const Visit& visit) {
  if (value.is_tensor()) visit(value.tensor());
  if (!value.is_tuple()) return;
  for (const Value& field : value.fields()) for_tensors_of(field, visit);
}

bool holds(const Value& value, const Tensor& tensor) {
  bool found = false;
  for_tensors_of(value, [&](const Tensor& held) { found |= held.same_storage(tensor); });
  return found;
}

}  // namespace

void LastCalls::note(const FunctionReference& function, const std::vector<Value>& arguments,
                     std::uint64_t most_bytes) {
  forget(function);
  std::uint64_t bytes = 0;
  for (const Value& argument : arguments)
    for_tensors_of(argument,
                   [&](const Tensor& tensor) { bytes += static_cast<std::uint64_t>(tensor.byte_size()); });
  if (bytes > most_bytes) return;
  calls_.push_back({*function.module->find(function.name), arguments});
  if (calls_.size() > most_kept_calls) calls_.erase(calls_.begin());
}

void LastCalls::forget(const FunctionReference& function) {
  const GlobalFunction& called = *function.module->find(function.name);
  std::erase_if(calls_, [&](const Call& call) { return call.function == called; });
}

std::optional<std::vector<Value>> LastCalls::of(const FunctionReference& function) const {
  const GlobalFunction& wanted = *function.module->find(function.name);
  auto found =
      std::find_if(calls_.rbegin(), calls_.rend(), [&](const Call& call) { return call.function == wanted; });
  if (found == calls_.rend()) {
    const std::string parameters = parameters_of(wanted);
    found = std::find_if(calls_.rbegin(), calls_.rend(),
                         [&](const Call& call) { return parameters_of(call.function) == parameters; });
  }
  if (found != calls_.rend()) return found->arguments;
  return by_names(wanted);
}

// Of a function whose parameters were bound or taken out since.
std::optional<std::vector<Value>> LastCalls::by_names(const GlobalFunction& wanted) const {
  const auto* graph = std::get_if<FunctionPtr>(&wanted);
  if (!graph) return std::nullopt;
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
    const auto* called = std::get_if<FunctionPtr>(&call->function);
    if (!called || (*called)->name != (*graph)->name) continue;
    std::vector<Value> arguments;
    for (const Var& param : (*graph)->params) {
      const std::vector<Var>& had = (*called)->params;
      const auto same =
          std::find_if(had.begin(), had.end(), [&](const Var& each) { return each.name() == param.name(); });
      if (same == had.end()) break;
      const Value& value = call->arguments[static_cast<std::size_t>(same - had.begin())];
      if (fits(type_of(value), param.type()) == Fit::Never) break;
      arguments.push_back(value);
    }
    if (arguments.size() == (*graph)->params.size()) return arguments;
  }
  return std::nullopt;
}

void LastCalls::let_go(const ScriptValue& value) {
  std::vector<const Tensor*> given;
  const auto collect = [&](const auto& self, const ScriptValue& held) -> void {
    if (held.tensor()) given.push_back(held.tensor());
    if (held.sequence())
      for (const ScriptValue& item : held.sequence()->items) self(self, item);
    if (held.dictionary())
      for (const auto& [key, item] : held.dictionary()->items) self(self, item);
  };
  collect(collect, value);
  std::erase_if(calls_, [&](const Call& call) {
    return std::any_of(call.arguments.begin(), call.arguments.end(), [&](const Value& argument) {
      return std::any_of(given.begin(), given.end(),
                         [&](const Tensor* tensor) { return holds(argument, *tensor); });
    });
  });
}

}  // namespace relish
