// The family of elementwise operators of one tensor: a whole operator is one formula, generic over floats and
// loop scalars (families/scalar_math.h), and one slope. Interpreter and lowering share the formula, so
// numbers from outside (tests/numbers) are compulsory for every member.
#pragma once

#include "stdlib/families/dtypes.h"
#include "stdlib/families/gradient.h"
#include "stdlib/families/lowering.h"
#include "stdlib/families/scalar_math.h"

namespace relish {

inline constexpr Param unary_params[] = {{"x", ParamKind::Tensor, "tensor", "", "input"}};

namespace unary_family {

enum class Domain { Floats, Numbers };  // Numbers: integers and floats, not bool

template <Domain domain>
Type infer(const CallView& call) {
  if constexpr (domain == Domain::Floats)
    require_float(call, 0);
  else
    require_number(call, 0);
  return call.tensor(0);
}

template <Domain domain, class Formula>
Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  Tensor result = Tensor::empty(x.dtype(), x.shape());
  const auto run = [&](auto element) {
    using T = decltype(element);
    const T* source = x.view<T>().data();
    T* target = result.mutable_view<T>().data();
    for (std::int64_t i = 0; i < x.size(); ++i) target[i] = from_compute<T>(Formula{}(to_compute(source[i])));
  };
  if constexpr (domain == Domain::Floats)
    visit_float(x.dtype(), run);
  else
    visit_dtype(x.dtype(), run);
  return result;
}

template <class Formula>
PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  const DType compute = compute_dtype(x.dtype());
  lowering.map("elementwise", result,
               [&](const Dims& i) { return Formula{}(lowering.load_as(compute, x, i)); });
  return lowering.finish();
}

template <class Slope>
Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  return {Slope{}(rule.cotangent(), rule.argument(0), rule.result()).expr()};
}

}  // namespace unary_family

// `op` with its four hooks made of `formula(x)` and of `slope(g, x, y)`, the partial for the cotangent g, the
// input x and the result y. Both are lambdas without captures.
template <unary_family::Domain domain = unary_family::Domain::Floats, class Formula, class Slope>
constexpr Op elementwise_unary(Op op, Formula, Slope) {
  if (op.params.empty()) op.params = unary_params;
  op.infer = unary_family::infer<domain>;
  op.eval = unary_family::evaluate<domain, Formula>;
  op.lower = unary_family::lower<Formula>;
  op.vjp = unary_family::vjp<Slope>;
  return op;
}

}  // namespace relish
