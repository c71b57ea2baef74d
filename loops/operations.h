// How much a prim_func computes and moves, for what profiles tell of it.
#pragma once

#include <functional>
#include <optional>

#include "ir/nodes/stmt.h"

namespace relish {

using SizeOf = std::function<std::optional<std::int64_t>(const ScalarVar&)>;

// The arithmetic operations on numbers that the function's stores ask for: sums, products, their like and
// elementary functions count one each, choices and indices nothing. None when a number of iterations depends
// on what `size_of` does not tell.
std::optional<double> operations_of(const PrimFunc& function, const SizeOf& size_of);

// The bytes of all its buffers, each read or written once.
std::optional<double> bytes_of(const PrimFunc& function, const SizeOf& size_of);

}  // namespace relish
