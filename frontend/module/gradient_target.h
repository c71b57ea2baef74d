// What a user's gradient is for: an R.function or a prim_func, by what goes in and comes out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/nodes/module.h"

namespace relish {

struct Differentiated {
  std::string name;
  Span span;
  std::vector<std::pair<std::string, Type>> inputs;
  std::vector<Type> outputs;
};

// The function of that name. The outputs of a prim_func are the buffers that it only writes to.
std::optional<Differentiated> differentiated(const Module& module, std::string_view name);

// Of the gradient of what has a name outside the module what can be said without the calls that it serves:
// TypeError when it has effects, or when `first` is a gradient of that too.
void check_gradient_by_name(const Function& gradient, const Function& first, const std::string& target);

// Whether no value is of both types. Dimensions have names of their own in each function: compared are
// dtypes, ranks and known sizes.
bool types_clash(const Type& a, const Type& b);

// Whether the name means an operator (R.exp), or a native function that the module calls.
bool is_named_from_outside(const Module& module, std::string_view name);

}  // namespace relish
