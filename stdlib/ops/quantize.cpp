// Numbers as small integers with a scale and a zero point, and back.
#include <cmath>

#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/elementwise/iteration.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"
#include "stdlib/families/language/pace.h"

namespace relish::ops_quantize {
namespace {

constexpr Param quantize_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input, floating"},
    {"scale", ParamKind::Tensor, "tensor", "",
     "size of a step: one number, or one for each index of the axis"},
    {"zero_point", ParamKind::Tensor, "tensor of integers", "", "the integer of 0, shaped as scale or alone"},
    {"out_dtype", ParamKind::Attribute, "dtype", "\"int8\"", "int8, uint8, int16 or uint16"},
    {"axis", ParamKind::Attribute, "int", "-1", "dimension of data along which scale and zero_point lie"}};
constexpr Param dequantize_params[] = {
    {"data", ParamKind::Tensor, "tensor of integers", "", "input"},
    {"scale", ParamKind::Tensor, "tensor", "",
     "size of a step: one number, or one for each index of the axis"},
    {"zero_point", ParamKind::Tensor, "tensor of integers", "", "the integer of 0, shaped as scale or alone"},
    {"out_dtype", ParamKind::Attribute, "dtype", "\"float32\"", "a floating dtype"},
    {"axis", ParamKind::Attribute, "int", "-1", "dimension of data along which scale and zero_point lie"}};
constexpr std::string_view written_order[] = {"axis", "out_dtype"};

// Whether argument `i` is one number (of rank 0, or of one element) rather than one for each index.
bool is_single(const CallView& call, std::size_t i) {
  const BroadcastShape shape = shape_of(call.tensor(i));
  return shape.rank == 0 || (shape.dims && shape.dims->size() == 1 && is_one(shape.dims->front()));
}

int axis_of(const CallView& call, int rank) {
  return rank == 0 ? 0 : normal_axis(call, call.int_attribute("axis"), rank);
}

void check_integers(const CallView& call, std::size_t i, std::string_view rule) {
  const std::optional<DType> dtype = call.tensor(i).dtype;
  if (!dtype || is_int(*dtype)) return;
  call.reject(rule, call.span_of(i),
              fmt::format("{} has dtype {}, expected integers", call.op.params[i].name, name_of(*dtype)));
}

void check_steps(const CallView& call) {
  require_float(call, 1);
  check_integers(call, 2, "zero_point");
  const BroadcastShape data = shape_of(call.tensor(0));
  const int axis = data.rank < 0 ? 0 : axis_of(call, data.rank);
  for (std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    if (is_single(call, i)) continue;
    const BroadcastShape shape = shape_of(call.tensor(i));
    if (shape.rank > 1 || data.rank == 0) {
      call.reject("rank", call.span_of(i),
                  fmt::format("{} has rank {} beside data of rank {}, expected one number or rank 1",
                              call.op.params[i].name, shape.rank, data.rank));
    }
    if (!shape.dims || !data.dims) continue;
    const Scalar& wanted = (*data.dims)[static_cast<std::size_t>(axis)];
    if (prove_different(shape.dims->front(), wanted)) {
      call.reject("shape", call.span_of(i),
                  fmt::format("{} has {} numbers, dimension {} of data is {}", call.op.params[i].name,
                              print(shape.dims->front()), axis, print(wanted)));
    }
  }
}

Type infer_quantize(const CallView& call) {
  require_float(call, 0);
  check_steps(call);
  const std::optional<DType> dtype = dtype_attribute(call, "out_dtype");
  if (!dtype || !is_int(*dtype) || size_of(*dtype) > 2) {
    call.reject("out_dtype", call.span,
                fmt::format("out_dtype is {}, expected int8, uint8, int16 or uint16",
                            print(call.attribute("out_dtype"))));
  }
  return tensor_of(shape_of(call.tensor(0)), dtype);
}

Type infer_dequantize(const CallView& call) {
  check_integers(call, 0, "dtype");
  check_steps(call);
  const std::optional<DType> dtype = dtype_attribute(call, "out_dtype");
  if (!dtype || !is_float(*dtype)) {
    call.reject(
        "out_dtype", call.span,
        fmt::format("out_dtype is {}, expected a floating dtype", print(call.attribute("out_dtype"))));
  }
  return tensor_of(shape_of(call.tensor(0)), dtype);
}

// The dtype in which the steps are computed.
DType step_dtype(DType data_or_result) {
  return data_or_result == DType::Float64 ? DType::Float64 : DType::Float32;
}

// Calls element(i, s, z): element i of data with elements s of scale and z of zero_point.
template <class Element>
void for_each_step(const EvalCall& c, Element&& element) {
  const Tensor& data = c.in(0);
  std::int64_t inner = 1, count = 1;
  if (data.rank() > 0) {
    const auto axis = static_cast<std::size_t>(axis_of(c.call, data.rank()));
    count = data.shape()[axis];
    for (std::size_t i = axis + 1; i < data.shape().size(); ++i) inner *= data.shape()[i];
  }
  const bool scales = c.in(1).size() != 1, zeros = c.in(2).size() != 1;
  Pace pace;
  for (std::int64_t i = 0; i < data.size(); ++i, pace()) {
    const std::int64_t at = i / inner % count;
    element(i, scales ? at : 0, zeros ? at : 0);
  }
}

template <class T>
double quotient(T x, double scale) {
  return static_cast<double>(x / static_cast<T>(scale));
}

Value evaluate_quantize(const EvalCall& c) {
  const DType dtype = *c.result_type.tensor()->dtype;
  Tensor result = Tensor::empty(dtype, c.in(0).shape());
  const bool wide = step_dtype(c.in(0).dtype()) == DType::Float64;
  const double lowest = is_signed_int(dtype) ? -std::ldexp(1.0, 8 * size_of(dtype) - 1) : 0;
  const double highest = lowest + std::ldexp(1.0, 8 * size_of(dtype)) - 1;
  for_each_step(c, [&](std::int64_t i, std::int64_t s, std::int64_t z) {
    const double x = c.in(0).get_double(i), scale = c.in(1).get_double(s);
    const double steps = wide ? quotient<double>(x, scale) : quotient<float>(static_cast<float>(x), scale);
    const double moved = std::nearbyint(steps) + static_cast<double>(c.in(2).get_int(z));
    result.set_int(
        i, std::isnan(moved) ? 0 : static_cast<std::int64_t>(std::min(std::max(moved, lowest), highest)));
  });
  return result;
}

Value evaluate_dequantize(const EvalCall& c) {
  const DType dtype = *c.result_type.tensor()->dtype;
  Tensor result = Tensor::empty(dtype, c.in(0).shape());
  const bool wide = step_dtype(dtype) == DType::Float64;
  for_each_step(c, [&](std::int64_t i, std::int64_t s, std::int64_t z) {
    const std::int64_t steps = c.in(0).get_int(i) - c.in(2).get_int(z);
    const double scale = c.in(1).get_double(s);
    if (wide)
      result.set_double(i, static_cast<double>(steps) * scale);
    else
      result.set_double(i, static_cast<double>(static_cast<float>(steps) * static_cast<float>(scale)));
  });
  return result;
}

struct Steps {
  Lowering lowering;
  Buffer data, scale, zero_point, result;
  int axis;

  explicit Steps(const LowerCall& c) : lowering(c) {
    data = lowering.input(0);
    scale = lowering.input(1);
    zero_point = lowering.input(2);
    result = lowering.output();
    axis = axis_of(c.call, data.rank());
    for (const Buffer& buffer : {scale, zero_point}) {
      if (buffer.rank() == 0 || is_one(buffer.shape()[0]) || data.rank() == 0) continue;
      const Scalar& count = data.shape()[static_cast<std::size_t>(axis)];
      if (prove_equal(buffer.shape()[0], count)) continue;
      lowering.require(logical(LogicalOp::Or, equal(buffer.shape()[0], 1), equal(buffer.shape()[0], count)),
                       fmt::format("{}: {} needs one number, or one for each index of the axis",
                                   c.call.op.name, buffer.name()));
    }
  }
  // The element of scale or zero_point for an index of data.
  Scalar step(const Buffer& buffer, DType dtype, const Dims& index) const {
    if (buffer.rank() == 0) return lowering.load_as(dtype, buffer, {});
    const Scalar& have = buffer.shape()[0];
    if (is_one(have) || data.rank() == 0) return lowering.load_as(dtype, buffer, {Scalar(0)});
    const Scalar& at = index[static_cast<std::size_t>(axis)];
    const bool each = prove_equal(have, data.shape()[static_cast<std::size_t>(axis)]);
    return lowering.load_as(dtype, buffer, {each ? at : select(equal(have, 1), Scalar(0), at)});
  }
  Scalar scale_at(DType dtype, const Dims& index) const { return step(scale, dtype, index); }
  Scalar zero_at(DType dtype, const Dims& index) const { return step(zero_point, dtype, index); }
};

PrimFunc lower_quantize(const LowerCall& c) {
  Steps steps(c);
  const DType wide = step_dtype(steps.data.dtype()), to = steps.result.dtype();
  const double lowest = is_signed_int(to) ? -std::ldexp(1.0, 8 * size_of(to) - 1) : 0;
  const double highest = lowest + std::ldexp(1.0, 8 * size_of(to)) - 1;
  steps.lowering.map("quantize", steps.result, [&](const Dims& i) {
    const Scalar quotient = steps.lowering.load_as(wide, steps.data, i) / steps.scale_at(wide, i);
    const Scalar moved = intrinsic(Intrinsic::Round, {cast(DType::Float64, quotient)}) +
                         cast(DType::Float64, steps.zero_at(DType::Int64, i));
    // A conversion from NaN gives 0; the bounds keep NaN.
    const Scalar below =
        select(moved < float_literal(DType::Float64, lowest), float_literal(DType::Float64, lowest), moved);
    return select(below > float_literal(DType::Float64, highest), float_literal(DType::Float64, highest),
                  below);
  });
  return steps.lowering.finish();
}

PrimFunc lower_dequantize(const LowerCall& c) {
  Steps steps(c);
  const DType wide = step_dtype(steps.result.dtype());
  steps.lowering.map("dequantize", steps.result, [&](const Dims& i) {
    const Scalar count = steps.lowering.load_as(DType::Int64, steps.data, i) - steps.zero_at(DType::Int64, i);
    return cast(wide, count) * steps.scale_at(wide, i);
  });
  return steps.lowering.finish();
}

// dscale = the sum of g * (data - zero_point) over what shares a scale: the result for a scale of 1, times g.
Partials vjp_dequantize(const VjpCall& c) {
  const GradientRule rule(c);
  Partials partials(3);
  if (!rule.differentiable(1)) return partials;
  const GraphValue g = rule.cotangent(), scale = rule.argument(1);
  const int rank = shape_of(c.call.tensor(0)).rank;
  if (rank < 0) c.call.reject("gradient", c.call.span, "the gradient needs the rank of data");
  const GraphValue ones = call_op("ones_like", {scale}, {{"dtype", Attribute()}});
  const GraphValue counts =
      call_op("dequantize", {rule.argument(0), ones, rule.argument(2)},
              {{"axis", c.call.attribute("axis")}, {"out_dtype", c.call.attribute("out_dtype")}});
  GraphValue partial = g * counts;
  std::vector<int> others;
  const int axis = axis_of(c.call, rank);
  for (int i = 0; i < rank; ++i)
    if (is_single(c.call, 1) || i != axis) others.push_back(i);
  if (!others.empty())
    partial = call_op("sum", {partial}, {{"axis", axes_attribute(others)}, {"keepdims", false}});
  if (is_single(c.call, 1) && shape_of(c.call.tensor(1)).rank == 1)
    partial = call_op("expand_dims", {partial}, {{"axis", axes_attribute({0})}});
  const std::optional<DType> dtype = c.call.tensor(1).dtype;
  if (dtype && partial.type().dtype != dtype) partial = call_op("astype", {partial}, {{"dtype", *dtype}});
  partials[1] = rule.fit(partial, 1).expr();
  return partials;
}

constexpr Sample quantize_samples[] = {
    {"[1.0, 2.0, -3.0], tensor(0.5, \"float32\"), tensor(1, \"int8\")", "[3, 5, -5]"},
    {"[0.5, 1.5, 2.5, 300.0, -300.0], [1.0], tensor([0], \"int8\")", "[0, 2, 2, 127, -128]"},
    {"[[1.0, 2.0], [3.0, 4.0]], [1.0, 0.5], tensor([0, 10], \"uint8\"), axis=0, out_dtype=\"uint8\"",
     "[[1, 2], [16, 18]]"},
    {"[[1.0, 2.0], [3.0, -4.0]], [1.0, 0.5], tensor(3, \"int32\"), -1, \"uint16\"", "[[4, 7], [6, 0]]"},
    {"rand((2, 3, 4), \"float64\"), rand((3,), \"float64\") + 0.1, tensor([1, 2, 3], \"int8\"), axis=1"},
    {"rand((0, 3), \"float32\"), tensor(0.5, \"float32\"), tensor(0, \"int8\"), out_dtype=\"int16\""},
    {"rand((3, 5), \"float16\"), tensor(0.1, \"float32\"), tensor(-2, \"int8\")"},
    {"rand((), \"float32\"), tensor(0.1, \"float32\"), tensor(1, \"int8\")"},
};
constexpr Reject quantize_rejects[] = {
    {"quantize.dtype", "tensor([1], \"int32\"), [1.0], tensor([0], \"int8\")", "expected a floating dtype"},
    {"quantize.zero_point", "[1.0], [1.0], [0.0]", "expected integers"},
    {"quantize.shape", "rand((2, 3), \"float32\"), [1.0, 2.0], tensor(0, \"int8\")", "has 2 numbers"},
    {"quantize.rank", "rand((2, 3), \"float32\"), [[1.0, 2.0]], tensor(0, \"int8\")", "expected one number"},
    {"quantize.axis", "rand((2, 3), \"float32\"), [1.0, 2.0], tensor(0, \"int8\"), axis=2", "out of range"},
    {"quantize.out_dtype", "[1.0], [1.0], tensor([0], \"int8\"), out_dtype=\"int32\"",
     "expected int8, uint8, int16 or uint16"},
};
constexpr Sample dequantize_samples[] = {
    {"tensor([3, 5, -5], \"int8\"), tensor(0.5, \"float32\"), tensor(1, \"int8\")", "[1.0, 2.0, -3.0]"},
    {"tensor([[1, 2], [16, 18]], \"uint8\"), [1.0, 0.5], tensor([0, 10], \"uint8\"), axis=0",
     "[[1.0, 2.0], [3.0, 4.0]]"},
    {"tensor([[1, 2], [16, 18]], \"int32\"), rand((2,), \"float64\"), tensor([0, 10], \"int32\"), -1, "
     "\"float64\""},
    {"tensor([[1, 2, 3]], \"int16\"), rand((1,), \"float64\"), tensor(2, \"int16\"), out_dtype=\"float64\""},
    {"tensor([[1, 2, 3]], \"int16\"), rand((), \"float64\"), tensor([1, 2, 3], \"int16\"), "
     "out_dtype=\"float64\""},
    {"tensor([100, -100], \"int8\"), tensor(0.3, \"float16\"), tensor(-100, \"int8\"), "
     "out_dtype=\"float16\""},
};
constexpr Reject dequantize_rejects[] = {
    {"dequantize.dtype", "[1.0], [1.0], tensor([0], \"int8\")", "expected integers"},
    {"dequantize.out_dtype", "tensor([1], \"int8\"), [1.0], tensor([0], \"int8\"), out_dtype=\"int8\"",
     "expected a floating dtype"},
    {"dequantize.shape", "tensor([1, 2, 3], \"int8\"), [1.0, 2.0], tensor([0], \"int8\")", "has 2 numbers"},
};

}  // namespace

extern const Op op_quantize{
    .name = "quantize",
    .summary = "Numbers as small integers: round(data / scale) + zero_point.",
    .params = quantize_params,
    .infer = infer_quantize,
    .eval = evaluate_quantize,
    .lower = lower_quantize,
    .no_gradient = "the result is an integer",
    .agreement = Agreement::Exact,
    .samples = quantize_samples,
    .rejects = quantize_rejects,
    .written_order = written_order,
    .doc =
        "Halves round to even; what does not fit saturates, and NaN becomes 0. The quotient is computed in "
        "float32, of float64 data in float64. The 8-bit floats of TVM are not supported."};

extern const Op op_dequantize{
    .name = "dequantize",
    .summary = "Small integers as numbers: (data - zero_point) * scale.",
    .params = dequantize_params,
    .infer = infer_dequantize,
    .eval = evaluate_dequantize,
    .lower = lower_dequantize,
    .vjp = vjp_dequantize,
    .gradient_doc = "dscale = the sum of g * (data - zero_point) over what shares a scale",
    .agreement = Agreement::Exact,
    .samples = dequantize_samples,
    .rejects = dequantize_rejects,
    .written_order = written_order,
    .doc =
        "The difference is exact in 64 bits, the product is computed in float32, for a float64 result in "
        "float64. There is no gradient for integers."};

}  // namespace relish::ops_quantize
