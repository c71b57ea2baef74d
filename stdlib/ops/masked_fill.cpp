// Replacing the elements that a mask marks.
#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/binary.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/elementwise/fill_value.h"
#include "stdlib/families/elementwise/iteration.h"
#include "stdlib/families/language/gradient.h"

namespace relish::ops_masked_fill {
namespace {

constexpr Param params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "input"},
    {"mask", ParamKind::Tensor, "tensor of bool", "", "true where x is replaced"},
    {"value", ParamKind::Any, "int, float, bool or 0-d tensor", "", "what replaces it"}};

Type infer(const CallView& call) {
  const TensorType& mask = call.tensor(1);
  if (mask.dtype && !is_bool(*mask.dtype)) {
    call.reject("mask", call.span_of(1),
                fmt::format("mask has dtype {}, expected bool", name_of(*mask.dtype)));
  }
  const Type& value = call.args[2].type();
  const TensorType* tensor = value.tensor();
  if (!value.as<ScalarType>() && !(tensor && tensor->rank == 0)) {
    call.reject("value", call.span_of(2),
                fmt::format("value has type {}, expected a scalar or a tensor of rank 0", print(value)));
  }
  require_in_range(call, 2, "value", call.tensor(0).dtype);
  return tensor_of(broadcast(call, call.tensor(0), mask), call.tensor(0).dtype);
}

Value evaluate(const EvalCall& c) {
  const Tensor &x = c.in(0), &mask = c.in(1);
  const Shape shape = broadcast_values(c.call, x.shape(), mask.shape());
  const Tensor filling = convert_tensor(binary_family::operand_value(c, 2), x.dtype());
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
  const binary_family::LoweredOperand value(lowering, 2);
  const Buffer result = lowering.output();
  if (const auto* scalar = c.call.args[2].type().as<ScalarType>())
    require_in_range(lowering, 2, value.element(scalar->dtype, {}), x.dtype());
  lowering.map("masked_fill", result, [&](const Dims& i) {
    const auto element = [&](const Buffer& buffer) {
      return lowering.loops().load(buffer, lowering.broadcast_index(buffer, lowering.result_dims(), i));
    };
    return select(element(mask), value.element(x.dtype(), i), element(x));
  });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent();
  Partials partials(3);
  if (rule.differentiable(0))
    partials[0] = rule.fit(where(rule.argument(1), constant_like(g, 0), g), 0).expr();
  if (c.call.args[2].type().tensor() && rule.differentiable(2)) {
    const std::optional<DType> dtype = c.call.tensor(2).dtype;
    if (!dtype) c.call.reject("gradient", c.call.span_of(2), "the gradient needs the dtype of value");
    const GraphValue total = call_op("sum", {where(rule.argument(1), g, constant_like(g, 0))},
                                     {{"axis", Attribute()}, {"keepdims", false}});
    const bool same = g.type().dtype == dtype;
    partials[2] = (same ? total : call_op("astype", {total}, {{"dtype", *dtype}})).expr();
  }
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
    {"[[1.0, 2.0], [3.0, 4.0]], R.const([True, False], \"bool\"), R.const(0.5, \"float32\")",
     "[[0.5, 2.0], [0.5, 4.0]]"},
    {"rand((2, 3), \"float64\"), R.const([[True], [False]], \"bool\"), rand((), \"float64\")"},
    {"R.const([5, 6], \"int32\"), R.const([True, False], \"bool\"), R.const(7.9, \"float32\")", "[7, 6]",
     false},
};
constexpr Reject rejects[] = {
    {"masked_fill.value", "rand((2,), \"float32\"), R.const([True, False], \"bool\"), 1e39",
     "value is 1e+39, which float32 does not hold"},
    {"masked_fill.mask", "[1.0], [1.0], 0", "expected bool"},
    {"masked_fill.shape", "[1.0, 2.0, 3.0], R.const([True, False], \"bool\"), 0", "do not broadcast"},
    {"masked_fill.value", "[1.0], R.const([True], \"bool\"), [2.0]", "expected a scalar"},
    {"masked_fill.value", "[1.0], R.const([True], \"bool\"), R.const([2.0], \"float32\")",
     "tensor of rank 0"},
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
    .gradient_doc = "dx = sum_to(where(mask, 0, g), x), dvalue = sum(where(mask, g, 0))",
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "where(mask, full_like(x, value), x): both shapes broadcast, and the value is converted to the dtype "
        "of x as astype does. TVM writes it as those two operators."};

}  // namespace relish::ops_masked_fill
