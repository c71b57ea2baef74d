// Local response normalization.
#include "stdlib/families/language/pace.h"
#include "stdlib/families/reductions/reduction.h"
#include "stdlib/families/shapes/lines.h"

namespace relish::ops_nn_lrn {
namespace {

constexpr Param params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"size", ParamKind::Attribute, "int", "5", "width of the window, odd"},
    {"axis", ParamKind::Attribute, "int", "1", "axis that the window goes along"},
    {"bias", ParamKind::Attribute, "float", "2.0", "what is added to the mean of squares"},
    {"alpha", ParamKind::Attribute, "float", "1e-05", "factor of the mean of squares"},
    {"beta", ParamKind::Attribute, "float", "0.75", "exponent"}};

struct Window {
  int axis;
  std::int64_t size, half;
  double bias, alpha, beta;
  Window(const CallView& call, int rank)
      : axis(normal_axis(call, call.int_attribute("axis"), rank)),
        size(call.int_attribute("size")),
        half(size / 2),
        bias(*call.attribute("bias").as<double>()),
        alpha(*call.attribute("alpha").as<double>()),
        beta(*call.attribute("beta").as<double>()) {}
};

Type infer(const CallView& call) {
  require_float(call, 0);
  const std::int64_t size = call.int_attribute("size");
  if (size < 1 || size % 2 == 0)
    call.reject("size", call.span, fmt::format("size is {}, expected an odd number", size));
  const int rank = shape_of(call.tensor(0)).rank;
  if (rank >= 0) Window(call, rank);
  return call.tensor(0);
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const Window w(c.call, x.rank());
  Tensor result = Tensor::empty(x.dtype(), x.shape());
  visit_float(x.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* source = x.view<T>().data();
    T* target = result.mutable_view<T>().data();
    Pace pace;
    for_each_line(x.shape(), w.axis, [&](const Line& line) {
      for (std::int64_t i = 0; i < line.length; ++i) {
        pace(w.half + 1);
        double squares = 0;
        for (std::int64_t k = std::max<std::int64_t>(i - w.half, 0);
             k <= std::min(i + w.half, line.length - 1); ++k)
          squares += to_sum(source[line.at(k)]) * to_sum(source[line.at(k)]);
        const double mean = squares / static_cast<double>(w.size);
        target[line.at(i)] = T(to_sum(source[line.at(i)]) / std::pow(w.bias + w.alpha * mean, w.beta));
      }
    });
  });
  return result;
}

// How far a window reaches to each side: no farther than the axis is long, as a loop over more would run for
// nothing.
Scalar reach_of(const Window& w, const Scalar& length) {
  constexpr std::int64_t short_reach = 64;
  if (w.half <= short_reach) return Scalar(w.half);
  return min(Scalar(w.half), max(length - 1, Scalar(0)));
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  const Window w(c.call, x.rank());
  const auto axis = static_cast<std::size_t>(w.axis);
  const DType wide = compute_dtype(x.dtype());
  const Buffer squares = lowering.temporary("squares", x.shape(), wide);
  const Scalar reach = reach_of(w, x.shape()[axis]), width = reach * 2 + 1;
  lowering.reduce("squares", squares, x.shape(), {width}, [&](const Dims& s, const Dims& r) {
    Dims index = s;
    index[axis] = s[axis] + r[0] - reach;
    const Scalar inside = logical(LogicalOp::And, index[axis] >= Scalar(0), index[axis] < x.shape()[axis]);
    const Scalar value = if_then_else(inside, lowering.load_as(wide, x, index), zero(wide));
    return value * value;
  });
  lowering.map("lrn", result, [&](const Dims& i) {
    const auto real = [&](double value) { return float_literal(wide, value); };
    const Scalar mean = lowering.loops().load(squares, i) / real(static_cast<double>(w.size));
    const Scalar scale = real(w.bias) + real(w.alpha) * mean;
    return lowering.load_as(wide, x, i) / intrinsic(Intrinsic::Pow, {scale, real(w.beta)});
  });
  return lowering.finish();
}

GraphValue moved(const Window& w, const GraphValue& value, std::int64_t offset) {
  return call_op("grad.shift", {value}, {{"axis", w.axis}, {"offset", offset}});
}

// The sum of `value` moved by 0, step, 2 step, …, (count - 1) step, step being 1 or -1: sums of 1, 2, 4, …
// terms are joined, so that the text grows with the logarithm of the window.
GraphValue sum_of_moved(const Window& w, const GraphValue& value, std::int64_t count, std::int64_t step) {
  std::optional<GraphValue> total;
  GraphValue power = value;
  std::int64_t place = 0;
  for (std::int64_t bit = 1;; bit *= 2) {
    power.leaf();
    if (count & bit) {
      const GraphValue term = place ? moved(w, power, step * place) : power;
      total = total ? *total + term : term;
      place += bit;
    }
    if (bit > count / 2) return *total;
    power = power + moved(w, power, step * bit);
  }
}

// For each element the sum of those in its window.
GraphValue window_sum(const Window& w, const GraphValue& value) {
  constexpr std::int64_t written_out = 8;
  value.leaf();
  if (w.half > written_out) {
    return sum_of_moved(w, value, w.half + 1, 1) + moved(w, sum_of_moved(w, value, w.half, -1), -1);
  }
  GraphValue total = value;
  for (std::int64_t k = 1; k <= w.half; ++k)
    for (const std::int64_t offset : {-k, k}) total = total + moved(w, value, offset);
  return total;
}

// With d = bias + alpha / size * window(x * x): y = x * d^-beta and dx = g * d^-beta - 2 * alpha * beta /
// size
// * x * window(g * y / d). The window is symmetric, so its own transpose; here it is a sum of moved tensors.
Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const Window w(c.call, static_cast<int>(rule.dims(0).size()));
  const auto window = [&](const GraphValue& value) { return window_sum(w, value); };
  const GraphValue x = rule.argument(0), g = rule.cotangent();
  const auto real = [&](double value) { return constant_like(x, value); };
  const double share = w.alpha / static_cast<double>(w.size);
  const GraphValue scale = window(x * x) * real(share) + real(w.bias);
  scale.leaf();
  const GraphValue factor = call_op("exp", {call_op("log", {scale}) * real(-w.beta)});
  factor.leaf();
  const GraphValue spread = window(g * x * factor / scale);
  return {(g * factor - x * spread * real(2 * share * w.beta)).expr()};
}

constexpr Sample samples[] = {
    {"[[1.0, 2.0, 3.0]], size=3, bias=1.0, alpha=3.0, beta=1.0",
     "[[0.16666666666666666, 0.13333333333333333, 0.21428571428571427]]"},
    {"[[1.0, 2.0], [3.0, 4.0]], size=1, bias=0.0, alpha=1.0, beta=0.5", "[[1.0, 1.0], [1.0, 1.0]]"},
    {"rand((2, 6, 3), \"float64\"), size=5, bias=1.0, alpha=0.5"},
    {"rand((2, 25, 2), \"float64\"), size=23, bias=1.0, alpha=0.5"},
    {"rand((2, 5), \"float64\"), size=1000001, bias=1.0, alpha=900000.0"},
    {"rand((2, 3, 4), \"float64\"), size=3, axis=-1, bias=1.5, alpha=2.0, beta=0.25"},
    {"rand((1, 7, 2), \"float32\")"},
    {"rand((0, 3), \"float32\"), size=3"},
    {"rand((3, 1), \"float32\"), size=3, bias=1.0, alpha=1.0"},
};
constexpr Reject rejects[] = {
    {"lrn.size", "rand((2, 3), \"float32\"), size=4", "size is 4"},
    {"lrn.size", "rand((2, 3), \"float32\"), size=-1", "size is -1"},
    {"lrn.axis", "rand((3,), \"float32\")", "out of range"},
    {"lrn.dtype", "[[1, 2]]", "expected a floating dtype"},
};

}  // namespace

extern const Op op_nn_lrn{
    .name = "nn.lrn",
    .summary = "Divided by a power of the mean square of the neighbours along an axis.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc =
        "dx = g * d^-beta - 2 * alpha * beta / size * x * window_sum(g * y / d) with d = bias + alpha "
        "/ size * window_sum(x * x)",
    .agreement = Agreement::Composite,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "x / (bias + alpha / size * s)^beta, where s is the sum of squares of the size neighbours around an "
        "element, those outside counting as 0. A name of Relay from 2019 that TVM has no more."};

}  // namespace relish::ops_nn_lrn
