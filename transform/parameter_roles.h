// What the parameters of a function are to it: a weight that connects so many values with so many, a factor,
// a term, a table of rows. It is read from the operators that they reach, through calls, branches and loops
// and whatever only rearranges them (permute_dims, reshape, split, …), never from their shapes alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/nodes/module.h"

namespace relish {

// In ascending strength: of several uses the strongest decides, and of equal ones the first.
enum class ParameterRole : std::uint8_t {
  Unknown,    // no use tells
  Offset,     // is added: biases, beta, running means
  Scale,      // multiplies: gamma; or divides: running variances
  Slope,      // of nn.prelu
  Embedding,  // rows are taken from it
  Weight,     // sums go over it: matmul, linear, convolutions, einsum
};

// How many inputs a weight joins in one sum, and how many sums it takes part in. For convolutions both count
// the window, as PyTorch does. Where no use tells, the shape does: (inputs, outputs) as in x @ w, or
// (outputs, inputs, window...).
struct Fans {
  std::int64_t in = 1;
  std::int64_t out = 1;
};

struct ParameterUse {
  ParameterRole role = ParameterRole::Unknown;
  Fans fans;  // of Weight, Embedding (a row is `in` wide) and Unknown of rank 2 and more
};

// One for each of `names`, which are parameters of the function.
std::vector<ParameterUse> parameter_uses(const Module& module, const Function& function,
                                         const std::vector<std::string>& names);

}  // namespace relish
