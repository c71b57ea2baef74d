// Finding the gradient that a user wrote.
#include "ir/operators/user_gradient.h"

namespace relish {

FunctionPtr user_gradient(const Module& module, std::string_view name) {
  for (const GlobalFunction& global : module.functions) {
    const auto* function = std::get_if<FunctionPtr>(&global);
    const Attribute* of = function ? find_attribute((*function)->attributes, gradient_attribute) : nullptr;
    const auto* target = of ? of->as<std::string>() : nullptr;
    if (target && *target == name) return *function;
  }
  return nullptr;
}

}  // namespace relish
