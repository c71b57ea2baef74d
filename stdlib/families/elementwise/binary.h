// The family of elementwise operators of two operands with broadcasting: one formula for interpreter and
// lowering (families/scalar_math.h) and one slope per operand. An operand may also be a scalar, which counts
// as shape (1,).
#pragma once

#include "stdlib/families/elementwise/domain.h"
#include "stdlib/families/elementwise/integer_math.h"
#include "stdlib/families/elementwise/iteration.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"

namespace relish {

inline constexpr Param binary_params[] = {
    {"x1", ParamKind::Tensor, "tensor or scalar", "", "first operand"},
    {"x2", ParamKind::Tensor, "tensor or scalar", "", "second operand; the shapes broadcast"}};

namespace binary_family {

using elementwise::Domain;
using elementwise::Result;

// The broadcast shape of both operands; rejects two scalars by "operands" and shapes that do not broadcast by
// "shape".
BroadcastShape operand_shape(const CallView& call);
// An operand's value; a scalar as a tensor of shape (1,).
Tensor operand_value(const EvalCall& call, std::size_t i);
// An operand of a gradient rule as a tensor of numbers: a scalar becomes the product with the constant 1 like
// `like`, bools become numbers of its dtype.
GraphValue operand_tensor(const GraphValue& operand, const GraphValue& like);
// What went wrong at element `at` of a result of `shape`, as a fault of the call.
Failure at_element(Failure failure, const CallView& call, const Shape& shape, std::int64_t at);
// The operand's element for result index `index`, converted to `dtype`.
class LoweredOperand {
 public:
  LoweredOperand(Lowering& lowering, std::size_t i);
  Scalar element(DType dtype, const Dims& index) const;

 private:
  Lowering& lowering_;
  Buffer buffer_;  // undefined for a scalar
  ScalarVar scalar_;
};

template <Domain domain, Result result>
Type infer(const CallView& call) {
  elementwise::require_domain<domain>(call, 0);
  const std::optional<DType> dtype = common_dtype(call, 0, 1);
  return tensor_of(operand_shape(call), result == Result::Bool ? std::optional(DType::Bool) : dtype);
}

template <Domain domain, Result kind, class Formula>
Value evaluate(const EvalCall& c) {
  const Tensor a = operand_value(c, 0);
  const Tensor b = convert_tensor(operand_value(c, 1), a.dtype());
  const Shape shape = broadcast_values(c.call, a.shape(), b.shape());
  Tensor result = Tensor::empty(kind == Result::Bool ? DType::Bool : a.dtype(), shape);
  elementwise::visit<domain>(a.dtype(), [&](auto element) {
    using T = decltype(element);
    using Out = std::conditional_t<kind == Result::Bool, bool, T>;
    const T* x = a.view<T>().data();
    const T* y = b.view<T>().data();
    Out* const first = result.mutable_view<Out>().data();
    Out* target = first;
    try {
      for_each_row<2>(shape, {broadcast_strides(a.shape(), shape), broadcast_strides(b.shape(), shape)},
                      [&](const auto& offsets, const auto& strides, std::int64_t count) {
                        for (std::int64_t i = 0; i < count; ++i) {
                          const auto value = Formula{}(to_compute(x[offsets[0] + i * strides[0]]),
                                                       to_compute(y[offsets[1] + i * strides[1]]));
                          if constexpr (kind == Result::Bool)
                            *target++ = value;
                          else
                            *target++ = from_compute<T>(value);
                        }
                      });
    } catch (const Failure& failure) {  // a division of integers knows no place
      throw at_element(failure, c.call, shape, target - first);
    }
  });
  return result;
}

template <class Formula>
PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const LoweredOperand a(lowering, 0), b(lowering, 1);
  const Buffer result = lowering.output();
  const DType compute = compute_dtype(*dtype_of_argument(c.call, 0));
  lowering.map("elementwise", result, [&](const Dims& i) -> Scalar {
    return Formula{}(a.element(compute, i), b.element(compute, i));
  });
  return lowering.finish();
}

template <class Slope1, class Slope2>
Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent(), x1 = rule.argument(0), x2 = rule.argument(1), y = rule.result();
  Partials partials(2);
  if (rule.differentiable(0)) partials[0] = rule.fit(Slope1{}(g, x1, x2, y), 0).expr();
  if (rule.differentiable(1)) partials[1] = rule.fit(Slope2{}(g, x1, x2, y), 1).expr();
  return partials;
}

}  // namespace binary_family

// `op` with its four hooks made of `formula(x1, x2)` and of `slope1(g, x1, x2, y)`, `slope2(...)`: the
// partials before they are summed to the operands' shapes. All are lambdas without captures.
template <binary_family::Domain domain = binary_family::Domain::Numbers, class Formula, class Slope1,
          class Slope2>
constexpr Op elementwise_binary(Op op, Formula, Slope1, Slope2) {
  op.params = binary_params;
  op.infer = binary_family::infer<domain, binary_family::Result::Same>;
  op.eval = binary_family::evaluate<domain, binary_family::Result::Same, Formula>;
  op.lower = binary_family::lower<Formula>;
  op.vjp = binary_family::vjp<Slope1, Slope2>;
  return op;
}

// An operator whose derivative is zero almost everywhere, for the reason in op.no_gradient.
template <binary_family::Domain domain, class Formula>
constexpr Op flat_binary(Op op, Formula) {
  op.params = binary_params;
  op.infer = binary_family::infer<domain, binary_family::Result::Same>;
  op.eval = binary_family::evaluate<domain, binary_family::Result::Same, Formula>;
  op.lower = binary_family::lower<Formula>;
  op.zero_gradient = true;
  return op;
}

// A comparison: the result is bool, without a gradient.
template <class Formula>
constexpr Op comparison(Op op, Formula) {
  op.params = binary_params;
  op.infer = binary_family::infer<binary_family::Domain::All, binary_family::Result::Bool>;
  op.eval = binary_family::evaluate<binary_family::Domain::All, binary_family::Result::Bool, Formula>;
  op.lower = binary_family::lower<Formula>;
  op.no_gradient = "the result is bool";
  op.zero_gradient = true;
  return op;
}

}  // namespace relish
