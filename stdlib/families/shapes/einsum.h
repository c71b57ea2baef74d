// The subscripts of einsum: labels of operands and of the result, where an ellipsis stands for dimensions
// that broadcast.
#pragma once

#include <string>
#include <vector>

#include "stdlib/families/shapes/shapes.h"

namespace relish::einsum {

// A letter, or for dimension d of the ellipsis, counted from the right, first_ellipsis + d.
using Label = int;
inline constexpr Label first_ellipsis = 256;
using Labels = std::vector<Label>;

struct Equation {
  std::vector<Labels> operands;
  Labels result;

  // The labels of the operands that the result lacks, in order of appearance.
  Labels summed() const;
};

// Reads the subscripts for operands of these ranks. Rejects by "subscripts".
Equation parse(const CallView& call, const std::vector<int>& ranks);
bool has(const Labels& labels, Label label);
// Labels as letters, 'a' for label 0: for equations that rules make.
std::string letters(const std::vector<Labels>& operands, const Labels& result);

}  // namespace relish::einsum
