// Gradients that users write: a function with the attribute "relish.gradient_of": "f" takes f's inputs, its
// outputs and their cotangents, and gives the cotangents of the inputs.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "ir/nodes/module.h"

namespace relish {

inline constexpr std::string_view gradient_attribute = "relish.gradient_of";

// The gradient that the module has for its function `name`, or null.
FunctionPtr user_gradient(const Module& module, std::string_view name);
// The same for all functions at once, by their names.
std::unordered_map<std::string, FunctionPtr> user_gradients(const Module& module);

}  // namespace relish
