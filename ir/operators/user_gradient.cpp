// Finding the gradient that a user wrote.
#include "ir/operators/user_gradient.h"

namespace relish {

namespace {

// The name of the function whose gradient this is; null: of none.
const std::string* target_of(const GlobalFunction& global) {
  const auto* function = std::get_if<FunctionPtr>(&global);
  const Attribute* of = function ? find_attribute((*function)->attributes, gradient_attribute) : nullptr;
  return of ? of->as<std::string>() : nullptr;
}

}  // namespace

FunctionPtr user_gradient(const Module& module, std::string_view name) {
  for (const GlobalFunction& global : module.functions) {
    const std::string* target = target_of(global);
    if (target && *target == name) return std::get<FunctionPtr>(global);
  }
  return nullptr;
}

std::unordered_map<std::string, FunctionPtr> user_gradients(const Module& module) {
  std::unordered_map<std::string, FunctionPtr> result;
  for (const GlobalFunction& global : module.functions)
    if (const std::string* target = target_of(global))
      result.try_emplace(*target, std::get<FunctionPtr>(global));
  return result;
}

}  // namespace relish
