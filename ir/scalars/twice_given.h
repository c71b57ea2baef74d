// Dimensions that a call gives twice: by the shapes of its arguments and by a scalar parameter of their name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/nodes/expr.h"

namespace relish {

// Each with the position of the scalar parameter; what the two say must be the same.
std::vector<std::pair<ScalarVar, std::size_t>> twice_given(std::span<const Var> params);

// How the name of such a scalar goes on in messages: what is compared is a number, not a shape.
inline constexpr std::string_view scalar_size_mark = "which is a dimension too,";
// What the scalar is compared as, R.Shape([n]), and what it is called then.
Type size_type(const ScalarVar& symbol);
std::string scalar_size_words(std::string_view function, std::string_view scalar);

}  // namespace relish
