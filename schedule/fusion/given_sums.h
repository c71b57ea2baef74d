// A prim_func to which sums are handed that it took itself, and one that gives such a sum.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/calls/call_layout.h"
#include "schedule/stages/stages.h"

namespace relish {

// A sum of the function that stands in an argument.
struct GivenSum {
  std::size_t stage;
  // By dimension of the function's own sum, and of the argument: whether it has more than one place in this
  // call. The function may not know that.
  std::vector<bool> own_moves, moves;
};

// By dimension, whether it has more than one place.
std::vector<bool> places_of(const Buffer& buffer);

struct CalledFunction {
  PrimFuncPtr function;
  std::vector<std::size_t> arguments;  // of the call that it stands for, which it takes first
  std::vector<std::size_t> sums;       // of those that are given, which it takes behind these
};

// What tells functions of one callee apart.
std::string key_of(const std::vector<GivenSum>& given, std::optional<std::size_t> sum);

// The function with these sums given. `sum`: only what that one needs, which is its result. None when a size
// would be unknown to it.
std::optional<CalledFunction> with_given_sums(const PrimFunc& callee, const std::vector<Stage>& stages,
                                              const std::vector<ParamSource>& layout,
                                              const std::vector<GivenSum>& given,
                                              std::optional<std::size_t> sum);

}  // namespace relish
