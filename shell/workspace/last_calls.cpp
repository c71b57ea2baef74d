// Keeping of arguments.
#include "shell/workspace/last_calls.h"

#include <algorithm>

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
  if (found == calls_.rend()) return std::nullopt;
  return found->arguments;
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
