// Selection between two tensors.
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/elementwise/iteration.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"

namespace relish::ops_where {
namespace {

constexpr Param params[] = {{"condition", ParamKind::Tensor, "tensor of bool", "", "which element to take"},
                            {"x1", ParamKind::Tensor, "tensor", "", "taken where the condition is true"},
                            {"x2", ParamKind::Tensor, "tensor", "", "taken where the condition is false"}};

Type infer(const CallView& call) {
  const TensorType& condition = call.tensor(0);
  if (condition.dtype && !is_bool(*condition.dtype)) {
    call.reject("condition", call.span_of(0),
                fmt::format("condition has dtype {}, expected bool", name_of(*condition.dtype)));
  }
  const std::optional<DType> dtype = common_dtype(call, 1, 2);
  const BroadcastShape values = broadcast(call, call.tensor(1), call.tensor(2));
  return tensor_of(broadcast(call, shape_of(condition), values), dtype);
}

Value evaluate(const EvalCall& c) {
  const Tensor& condition = c.in(0);
  const Tensor& a = c.in(1);
  const Tensor b = convert_tensor(c.in(2), a.dtype());
  const Shape shape =
      broadcast_values(c.call, condition.shape(), broadcast_values(c.call, a.shape(), b.shape()));
  Tensor result = Tensor::empty(a.dtype(), shape);
  visit_dtype(a.dtype(), [&](auto element) {
    using T = decltype(element);
    const bool* take = condition.view<bool>().data();
    const T* x = a.view<T>().data();
    const T* y = b.view<T>().data();
    T* target = result.mutable_view<T>().data();
    for_each_row<3>(shape,
                    {broadcast_strides(condition.shape(), shape), broadcast_strides(a.shape(), shape),
                     broadcast_strides(b.shape(), shape)},
                    [&](const auto& at, const auto& step, std::int64_t count) {
                      for (std::int64_t i = 0; i < count; ++i) {
                        *target++ =
                            take[at[0] + i * step[0]] ? x[at[1] + i * step[1]] : y[at[2] + i * step[2]];
                      }
                    });
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer condition = lowering.input(0), a = lowering.input(1), b = lowering.input(2);
  const Buffer result = lowering.output();
  lowering.map("where", result, [&](const Dims& i) {
    const auto element = [&](const Buffer& buffer) {
      return lowering.loops().load(buffer, lowering.broadcast_index(buffer, lowering.result_dims(), i));
    };
    const Scalar take = element(condition);
    const Scalar x = cast(result.dtype(), element(a)), y = cast(result.dtype(), element(b));
    return select(take, x, y);
  });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent(), condition = rule.argument(0), none = constant_like(g, 0);
  Partials partials(3);
  if (rule.differentiable(1)) partials[1] = rule.fit(where(condition, g, none), 1).expr();
  if (rule.differentiable(2)) partials[2] = rule.fit(where(condition, none, g), 2).expr();
  return partials;
}

constexpr Sample samples[] = {
    {"R.const([True, False, True], \"bool\"), [1.0, 2.0, 3.0], [10.0, 20.0, 30.0]", "[1.0, 20.0, 3.0]"},
    {"R.const([[True], [False]], \"bool\"), [1.0, 2.0], [[5.0, 6.0], [7.0, 8.0]]",
     "[[1.0, 2.0], [7.0, 8.0]]"},
    {"R.const([True, False], \"bool\"), rand((3, 1), \"float64\"), rand((), \"float64\")"},
    {"R.const(True, \"bool\"), rand((2, 2), \"float32\"), rand((2,), \"float32\")"},
    {"R.const([[True, False]], \"bool\"), rand((0, 2), \"float32\"), rand((1, 2), \"float32\")"},
    {"R.const([False, True], \"bool\"), rand((2, 1, 2), \"float64\"), rand((2, 3, 1), \"float64\")"},
};
constexpr Reject rejects[] = {
    {"where.condition", "[1.0, 0.0], [1.0, 2.0], [3.0, 4.0]", "expected bool"},
    {"where.dtype", "R.const([True], \"bool\"), rand((1,), \"float32\"), rand((1,), \"float64\")",
     "expected the same"},
    {"where.shape", "R.const([True, False], \"bool\"), rand((3,), \"float32\"), rand((3,), \"float32\")",
     "do not broadcast"},
};

}  // namespace

extern const Op op_where{
    .name = "where",
    .summary = "Elements of one tensor or another, chosen by a condition.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "dx1 = sum_to(where(condition, g, 0), x1), dx2 = sum_to(where(condition, 0, g), x2)",
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "All three shapes broadcast. Both operands are evaluated; a NaN that is not taken does no harm, also "
        "in the "
        "gradient."};

}  // namespace relish::ops_where
