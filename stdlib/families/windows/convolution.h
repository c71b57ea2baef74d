// The family of convolutions in any number of spatial dimensions. One relation ties three tensors: data
// X[n, c, q], kernel W[o, i, k] and windows Y[n, o, p], where q = p * stride - before + k * dilation and
// channel c is number i of the group of o. Every member of the family computes one of the three as the sum of
// products of the other two: a convolution gives Y, a transposed one X; the gradient helpers give X and W. So
// each is a derivative of the others, and the family is closed under differentiation.
#pragma once

#include <array>

#include "stdlib/families/language/gradient.h"
#include "stdlib/families/windows/windows.h"

namespace relish::convolution {

enum class Role : std::uint8_t { Data, Kernel, Windows };

struct Member {
  Role target;
  std::array<Role, 2> operands;  // of the arguments, in order
  int rank = 0;                  // spatial dimensions; 0: by the layout
  bool sized = false;            // the target's shape is the third argument
  bool transposed = false;  // attributes describe Y as data and X as the result; the kernel is (I, O, ...)
};

Type infer(const CallView& call, const Member& member);
Value evaluate(const EvalCall& call, const Member& member);
PrimFunc lower(const LowerCall& call, const Member& member);
Partials vjp(const VjpCall& call, const Member& member);

}  // namespace relish::convolution
