// Replacing the elements that a mask marks.
#include "stdlib/families/elements.h"
#include "stdlib/families/gradient.h"
#include "stdlib/families/iteration.h"
#include "stdlib/families/scalars.h"

namespace relish {
namespace {

constexpr Param params[] = {{"x", ParamKind::Tensor, "tensor", "", "input"},
                            {"mask", ParamKind::Tensor, "tensor of bool", "", "true where x is replaced"},
                            {"value", ParamKind::Scalar, "int, float or bool", "", "what replaces it"}};

Type infer(const CallView& call) {
  const TensorType& mask = call.tensor(1);
  if (mask.dtype && !is_bool(*mask.dtype)) {
    call.reject("mask", call.span_of(1),
                fmt::format("mask has dtype {}, expected bool", name_of(*mask.dtype)));
  }
  return tensor_of(broadcast(call, call.tensor(0), mask), call.tensor(0).dtype);
}

Value evaluate(const EvalCall& c) {
  const Tensor &x = c.in(0), &mask = c.in(1);
  const Shape shape = broadcast_values(c.call, x.shape(), mask.shape());
  const Tensor filling = scalar_tensor(c.args[2].scalar(), x.dtype());
  Tensor result = Tensor::empty(x.dtype(), shape);
  visit_dtype(x.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* source = x.view<T>().data();
    const bool* masked = mask.view<bool>().data();
    const T value = filling.view<T>()[0];
    T* target = result.mutable_view<T>().data();
    for_each_row<2>(shape, {broadcast_strides(x.shape(), shape), broadcast_strides(mask.shape(), shape)},
                    [&](const auto& at, const auto& step, std::int64_t count) {
                      for (std::int64_t i = 0; i < count; ++i)
                        *target++ = masked[at[1] + i * step[1]] ? value : source[at[0] + i * step[0]];
                    });
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0), mask = lowering.input(1);
  const Scalar value = scalar_input(lowering, 2, x.dtype());
  const Buffer result = lowering.output();
  lowering.map("masked_fill", result, [&](const Dims& i) {
    const auto element = [&](const Buffer& buffer) {
      return lowering.loops().load(buffer, lowering.broadcast_index(buffer, lowering.result_dims(), i));
    };
    return select(element(mask), value, element(x));
  });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent();
  Partials partials(3);
  if (rule.differentiable(0))
    partials[0] = rule.fit(where(rule.argument(1), constant_like(g, 0), g), 0).expr();
  return partials;
}

constexpr Sample samples[] = {
    {"[1.0, 2.0, 3.0], R.const([True, False, True], \"bool\"), -1", "[-1.0, 2.0, -1.0]"},
    {"[[1.0, 2.0], [3.0, 4.0]], R.const([True, False], \"bool\"), 0.5", "[[0.5, 2.0], [0.5, 4.0]]"},
    {"R.const([5, 6], \"int32\"), R.const([[True], [False]], \"bool\"), 7.9", "[[7, 7], [5, 6]]", false},
    {"rand((3, 1), \"float64\"), R.const([True, False], \"bool\"), value=2"},
    {"rand((0, 2), \"float32\"), R.const([True, False], \"bool\"), 1.5"},
    {"rand((), \"float32\"), R.const(False, \"bool\"), 1"},
    {"R.const([True, False], \"bool\"), R.const([False, True], \"bool\"), True", "[1, 1]", false},
};
constexpr Reject rejects[] = {
    {"masked_fill.mask", "[1.0], [1.0], 0", "expected bool"},
    {"masked_fill.shape", "[1.0, 2.0, 3.0], R.const([True, False], \"bool\"), 0", "do not broadcast"},
    {"masked_fill.value", "[1.0], R.const([True], \"bool\"), [2.0]", "expected a scalar"},
};

}  // namespace

extern const Op op_masked_fill{
    .name = "masked_fill",
    .summary = "A tensor with one value where a mask is true.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "dx = sum_to(where(mask, 0, g), x)",
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "where(mask, full_like(x, value), x): both shapes broadcast, and the value is converted to the dtype "
        "of x as astype does. TVM writes it as those two operators."};

}  // namespace relish
