// Conversion between element types.
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"

namespace relish::ops_astype {
namespace {

constexpr Param params[] = {{"x", ParamKind::Tensor, "tensor", "", "input"},
                            {"dtype", ParamKind::Attribute, "dtype", "", "element type of the result"}};

DType wanted_dtype(const CallView& call) {
  if (const auto dtype = dtype_attribute(call, "dtype")) return *dtype;
  call.reject("dtype", call.span, "dtype is None, expected a dtype");
}

Type infer(const CallView& call) {
  TensorType type = call.tensor(0);
  type.dtype = wanted_dtype(call);
  return type;
}

Value evaluate(const EvalCall& c) { return convert_tensor(c.in(0), wanted_dtype(c.call)); }

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  lowering.map("cast", result, [&](const Dims& i) { return lowering.loops().load(x, i); });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  if (!rule.differentiable(0) || !is_float(wanted_dtype(c.call))) return {std::nullopt};
  const std::optional<DType> dtype = c.call.tensor(0).dtype;
  if (!dtype) c.call.reject("gradient", c.call.span_of(0), "the gradient needs the dtype of x");
  return {call_op("astype", {rule.cotangent()}, {{"dtype", *dtype}}).expr()};
}

constexpr Sample samples[] = {
    {"[1.75, -1.75, 300.0], dtype=\"int8\"", "[1, -1, 127]", false},
    {"R.const([1, -2], \"int32\"), dtype=\"float32\"", "[1.0, -2.0]", false},
    {"[0.0, -0.5, 2.0], dtype=\"bool\"", "[0, 1, 1]", false},
    {"rand((2, 3), \"float64\"), dtype=\"float32\"", "", false},
    {"rand((2, 3), \"float32\"), dtype=\"float64\""},
    {"rand((0, 3), \"float64\"), dtype=\"float64\""},
    {"rand((4,), \"float32\"), dtype=\"bfloat16\"", "", false},
};
constexpr Reject rejects[] = {
    {"astype.dtype", "rand((2,), \"float32\"), dtype=\"float7\"", "dtype is"},
};

constexpr Param wrap_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"dtype", ParamKind::Attribute, "dtype", "\"float32\"", "element type of the result"}};
constexpr Sample wrap_samples[] = {
    {"R.const([1, -2], \"int32\")", "[1.0, -2.0]", false},
    {"[1.75, -1.75], dtype=\"int8\"", "[1, -1]", false},
    {"rand((2, 3), \"float32\"), dtype=\"float64\""},
    {"rand((0, 3), \"float64\"), dtype=\"float64\""},
    {"rand((4,), \"float32\"), dtype=\"float16\"", "", false},
    {"rand((), \"float64\"), dtype=\"float32\"", "", false},
};
constexpr Reject wrap_rejects[] = {
    {"wrap_param.dtype", "rand((2,), \"float32\"), dtype=\"float7\"", "dtype is"},
};
constexpr std::string_view aliases[] = {"cast"};

}  // namespace

extern const Op op_astype{.name = "astype",
                          .summary = "The elements converted to another dtype.",
                          .params = params,
                          .infer = infer,
                          .eval = evaluate,
                          .lower = lower,
                          .vjp = vjp,
                          .gradient_doc = "dx = astype(g, dtype of x); none to or from integers",
                          .samples = samples,
                          .rejects = rejects,
                          .aliases = aliases,
                          .doc =
                              "Floats become integers by truncation and saturate, NaN gives 0; integers wrap "
                              "around; what is not 0 is true. "
                              "A float is rounded once, to nearest even."};

extern const Op op_wrap_param{
    .name = "wrap_param",
    .summary = "A parameter converted to the dtype in which it is used.",
    .params = wrap_params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "ddata = astype(g, dtype of data); none to or from integers",
    .samples = wrap_samples,
    .rejects = wrap_rejects,
    .doc = "The same as astype; a mark for mixed precision, which TVM removes again."};

}  // namespace relish::ops_astype
