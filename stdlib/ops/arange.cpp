// Numbers at equal distances.
#include <cmath>

#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/elementwise/fill_value.h"
#include "stdlib/families/elementwise/scalars.h"

#include "ir/printer/printer.h"
#include "stdlib/families/language/pace.h"
#include "support/checked.h"

namespace relish::ops_arange {
namespace {

constexpr Param params[] = {
    {"start", ParamKind::Scalar, "int or float", "",
     "first number; alone: the end, and the first number is 0"},
    {"end", ParamKind::Scalar, "int, float or None", "None", "the numbers stay before it"},
    {"step", ParamKind::Scalar, "int, float or None", "None", "distance; 1 when absent"},
    {"dtype", ParamKind::Attribute, "dtype or None", "None", "None: int64 for integers, else float32"}};

constexpr double most_elements = 0x1p62;

// Whether the expression of sizes is never negative, as far as its form tells.
bool never_negative(const Scalar& value) {
  if (const auto number = value.as_int()) return *number >= 0;
  if (value.as_var()) return true;
  const auto* node = value.as<Binary>();
  if (node == nullptr) return false;
  const bool grows = node->op == BinaryOp::Add || node->op == BinaryOp::Mul ||
                     node->op == BinaryOp::FloorDiv || node->op == BinaryOp::Min;
  return grows && never_negative(node->a) && never_negative(node->b);
}

bool all_integers(const CallView& call) {
  for (const Expr& arg : call.args) {
    const auto* scalar = arg.type().as<ScalarType>();
    if (!scalar || !is_int(scalar->dtype)) return false;
  }
  return true;
}

// The arguments by meaning: with one, it is the end.
std::size_t end_of(const CallView& call) { return call.args.size() > 1 ? 1 : 0; }

// ceil((end - start) / step), at least 0; absent when only a run tells.
std::optional<Scalar> length_of(const CallView& call) {
  const bool ranged = call.args.size() > 1, stepped = call.args.size() > 2;
  if (all_integers(call)) {
    const auto start = ranged ? integer_expression(call, 0) : std::optional(Scalar(0));
    const auto end = integer_expression(call, end_of(call));
    const auto step = stepped ? literal_integer(call, 2) : std::optional<std::int64_t>(1);
    if (!start || !end || !step) return std::nullopt;
    if (start->as_int() && end->as_int()) {
      const CheckedInt count =
          *step == 0 ? CheckedInt(0) : count_of_range(*start->as_int(), *end->as_int(), *step);
      if (!count) call.reject("length", call.span, "the range has more numbers than 64 bits count");
      return Scalar(*count);
    }
    if (*step == INT64_MIN) return std::nullopt;
    const Scalar distance = *step > 0 ? *end - *start : *start - *end;
    const Scalar stride = Scalar(*step > 0 ? *step : -*step);
    const Scalar count =
        canonical(*step == 1 || *step == -1 ? distance : floor_div(distance + stride - Scalar(1), stride));
    return never_negative(count) ? count : max(count, Scalar(0));
  }
  const auto start = ranged ? literal_number(call, 0) : std::optional(0.0);
  const auto end = literal_number(call, end_of(call));
  const auto step = stepped ? literal_number(call, 2) : std::optional(1.0);
  if (!start || !end || !step) return std::nullopt;
  const double count = std::ceil((*end - *start) / *step);
  if (!(count < most_elements))
    call.reject("length", call.span, "the range is infinite; expected finite numbers");
  return Scalar(static_cast<std::int64_t>(std::max(count, 0.0)));
}

Type infer(const CallView& call) {
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const auto* scalar = call.args[i].type().as<ScalarType>();
    if (scalar && is_bool(scalar->dtype)) {
      call.reject(
          "number", call.span_of(i),
          fmt::format("{} has type {}; expected a number", params[i].name, print(call.args[i].type())));
    }
  }
  if (call.args.size() > 2 && literal_number(call, 2) == 0.0)
    call.reject("step", call.span_of(2), "step is 0");
  std::optional<DType> dtype = dtype_attribute(call, "dtype");
  if (!dtype) dtype = all_integers(call) ? DType::Int64 : DType::Float32;
  const std::optional<Scalar> length = length_of(call);
  // Numbers lie between the start and the end.
  for (std::size_t i = 0; i < call.args.size() && is_float(*dtype); ++i)
    require_in_range(call, i, params[i].name, dtype);
  if (!length) return TensorType{dtype, std::nullopt, 1};
  return tensor_type({*length}, *dtype);
}

double number_value(const ScalarValue& scalar) {
  return is_float(scalar.dtype) ? scalar.real : static_cast<double>(scalar.integer);
}

Value evaluate(const EvalCall& c) {
  const bool ranged = c.args.size() > 1, stepped = c.args.size() > 2, exact = all_integers(c.call);
  const DType dtype = *c.result_type.tensor()->dtype;
  Tensor wide = Tensor::empty(exact ? DType::Int64 : DType::Float64, result_shape(c));
  Pace pace;
  for (std::int64_t i = 0; i < wide.size(); ++i, pace()) {
    if (exact) {
      const Wrapping<std::int64_t> start(ranged ? c.args[0].scalar().integer : 0);
      const Wrapping<std::int64_t> step(stepped ? c.args[2].scalar().integer : 1);
      wide.set_int(i, (start + Wrapping<std::int64_t>(i) * step).value);
    } else {
      const double start = ranged ? number_value(c.args[0].scalar()) : 0;
      const double step = stepped ? number_value(c.args[2].scalar()) : 1;
      wide.set_double(i, start + static_cast<double>(i) * step);
    }
  }
  return convert_tensor(wide, dtype);
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const DType wide = all_integers(c.call) ? DType::Int64 : DType::Float64;
  const bool ranged = c.call.args.size() > 1, stepped = c.call.args.size() > 2;
  const std::optional<Scalar> start = ranged ? std::optional(scalar_input(lowering, 0, wide)) : std::nullopt;
  const std::optional<Scalar> step = stepped ? std::optional(scalar_input(lowering, 2, wide)) : std::nullopt;
  const Buffer result = lowering.output();
  lowering.map("arange", result, [&](const Dims& i) {
    const Scalar index = cast(wide, i[0]);
    const Scalar distance = step ? index * *step : index;
    return cast(result.dtype(), start ? *start + distance : distance);
  });
  return lowering.finish();
}

constexpr Sample samples[] = {
    {"5", "[0, 1, 2, 3, 4]", false},
    {"2, 7, 2", "[2, 4, 6]", false},
    {"7, 2, -2, dtype=\"float32\"", "[7.0, 5.0, 3.0]", false},
    {"0.5, 2.0, 0.5", "[0.5, 1.0, 1.5]", false},
    {"0, 1, 0.1, dtype=\"float64\"", "", false},
    {"3, 3", "R.const([], \"int64\")", false},
    {"1, 300, 100, dtype=\"int8\"", "[1, 101, -55]", false},
    {"5, dtype=\"float16\"", "[0.0, 1.0, 2.0, 3.0, 4.0]", false},
};
constexpr Reject rejects[] = {
    {"arange.step", "0, 5, 0", "step is 0"},
    {"arange.number", "True", "expected a number"},
    {"arange.end", "0.0, 1e39, 1e38, dtype=\"float32\"", "1e+39"},
    {"arange.start", "[1.0]", "expected a scalar"},
    {"arange.length", "0.0, 1e300, 1e-300", "infinite"},
    {"arange.dtype", "5, dtype=\"float7\"", "dtype is"},
};

}  // namespace

extern const Op op_arange{.name = "arange",
                          .summary = "Numbers from a start to before an end, at equal distances.",
                          .params = params,
                          .infer = infer,
                          .eval = evaluate,
                          .lower = lower,
                          .no_gradient = "the result is made of scalars",
                          .zero_gradient = true,
                          .samples = samples,
                          .rejects = rejects,
                          .doc =
                              "ceil((end - start) / step) numbers start + i * step, computed in int64 when "
                              "all arguments are integers, "
                              "else in float64, and then converted to the dtype as astype does."};

}  // namespace relish::ops_arange
