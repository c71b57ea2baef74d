// Keys of random numbers that a model, a loss or a function that prepares data has as a parameter. In
// training nobody gives them: each step draws them anew, from its own key.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/nodes/module.h"

namespace relish {

// Whether a parameter of the type is a key: R.Tensor((2,), "uint32").
bool is_random_key(const Type& type);

// The part of a step's key from which the parameter that is its function's key number `at`, counted from 0,
// has its value: fold_in(key, this). Far from the sites of dropouts and of prepare functions.
constexpr std::int64_t own_key_site(std::size_t at) { return 0x6B657900 + static_cast<std::int64_t>(at); }

}  // namespace relish
