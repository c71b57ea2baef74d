// The Hamming window of signal processing.
#include <cmath>
#include <numbers>

#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/scalar_math.h"
#include "stdlib/families/elementwise/scalars.h"

#include "ir/printer/printer.h"
#include "stdlib/families/language/pace.h"

namespace relish::ops_hamming_window {
namespace {

constexpr Param params[] = {
    {"window_size", ParamKind::Scalar, "int", "", "number of elements"},
    {"periodic", ParamKind::Scalar, "bool or int", "", "whether the period is window_size, else one less"},
    {"alpha", ParamKind::Scalar, "float", "", "mean of the wave, 0.54 as a rule"},
    {"beta", ParamKind::Scalar, "float", "", "height of the wave, 0.46 as a rule"},
    {"dtype", ParamKind::Attribute, "dtype", "\"float32\"", "element type of the result"}};

Type infer(const CallView& call) {
  require_integer_scalar(call, 0);
  const std::optional<DType> dtype = dtype_attribute(call, "dtype");
  if (!dtype || !is_float(*dtype)) {
    call.reject("dtype", call.span,
                fmt::format("dtype is {}, expected a floating dtype", dtype ? name_of(*dtype) : "None"));
  }
  const std::optional<Scalar> size = integer_expression(call, 0);
  if (!size) return TensorType{dtype, std::nullopt, 1};
  if (size->as_int().value_or(0) < 0)
    call.reject("window_size", call.span_of(0),
                fmt::format("window_size is {}, which is negative", *size->as_int()));
  return tensor_type({*size}, *dtype);
}

Value evaluate(const EvalCall& c) {
  const Shape shape = result_shape(c);
  const auto number = [&](std::size_t i) {
    return scalar_tensor(c.args[i].scalar(), DType::Float64).get_double(0);
  };
  const bool periodic = number(1) != 0;
  const std::int64_t period = periodic ? shape[0] : shape[0] - 1;
  Tensor result = Tensor::empty(*c.result_type.tensor()->dtype, shape);
  Pace pace;
  for (std::int64_t i = 0; i < shape[0]; ++i, pace()) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(period);
    result.set_double(i, shape[0] == 1 ? 1.0 : number(2) - number(3) * std::cos(angle));
  }
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Scalar periodic = scalar_input(lowering, 1, DType::Bool);
  const Scalar alpha = scalar_input(lowering, 2, DType::Float64),
               beta = scalar_input(lowering, 3, DType::Float64);
  const Buffer result = lowering.output();
  const Scalar size = lowering.result_dims()[0];
  const DType wide = DType::Float64;
  lowering.map("hamming_window", result, [&](const Dims& i) {
    const Scalar period = cast(wide, select(periodic, size, size - Scalar(1)));
    const Scalar angle = float_literal(wide, 2 * std::numbers::pi) * cast(wide, i[0]) / period;
    return select(equal(size, 1), float_literal(wide, 1), alpha - beta * cos(angle));
  });
  return lowering.finish();
}

constexpr Sample samples[] = {
    {"4, True, 0.54, 0.46", "[0.08, 0.54, 1.0, 0.54]", false},
    {"5, False, 0.54, 0.46, dtype=\"float64\"", "[0.08, 0.54, 1.0, 0.54, 0.08]", false},
    {"1, False, 0.54, 0.46", "[1.0]", false},
    {"0, True, 0.54, 0.46", "", false},
    {"17, periodic=True, alpha=0.5, beta=0.5, dtype=\"float16\"", "", false},
};
constexpr Reject rejects[] = {
    {"hamming_window.window_size", "2.5, True, 0.54, 0.46", "expected an integer"},
    {"hamming_window.window_size", "-1, True, 0.54, 0.46", "is negative"},
    {"hamming_window.dtype", "4, True, 0.54, 0.46, dtype=\"int32\"", "expected a floating dtype"},
};

}  // namespace

extern const Op op_hamming_window{.name = "hamming_window",
                                  .summary = "alpha - beta * cos(2 * pi * i / period), a window for spectra.",
                                  .params = params,
                                  .infer = infer,
                                  .eval = evaluate,
                                  .lower = lower,
                                  .no_gradient = "the result is made of scalars",
                                  .zero_gradient = true,
                                  .agreement = Agreement::Composite,
                                  .samples = samples,
                                  .rejects = rejects,
                                  .doc =
                                      "The period is window_size, or one less for a window that is not "
                                      "periodic; a window of one element is 1. "
                                      "Computed in float64 and rounded once."};

}  // namespace relish::ops_hamming_window
