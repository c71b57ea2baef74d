// A linear recurrence along an axis, and moving of elements along one: what gradients of scans and products
// are made of. Both are linear in their (terms) argument and closed under differentiation.
#include "stdlib/families/language/pace.h"
#include "stdlib/families/shapes/scan.h"

namespace relish::ops_grad_linear_scan {
namespace {

constexpr Param scan_operands[] = {
    {"coefficients", ParamKind::Tensor, "tensor", "", "a: what the neighbour's result is multiplied by"},
    {"terms", ParamKind::Tensor, "tensor", "", "b: what is added; of the same shape"},
    {"axis", ParamKind::Attribute, "int", "0", "axis to go along"},
    {"transposed", ParamKind::Attribute, "bool", "False", "go from the end to the start"}};

bool transposed(const CallView& call) { return *call.attribute("transposed").as<bool>(); }

Type infer(const CallView& call) {
  require_float(call, 0);
  require_float(call, 1);
  const std::optional<DType> dtype = common_dtype(call, 0, 1);
  const BroadcastShape a = shape_of(call.tensor(0)), b = shape_of(call.tensor(1));
  bool different = a.rank >= 0 && b.rank >= 0 && a.rank != b.rank;
  if (a.dims && b.dims && !different) {
    for (std::size_t i = 0; i < a.dims->size(); ++i)
      different = different || prove_different((*a.dims)[i], (*b.dims)[i]);
  }
  if (different) call.reject("shape", call.span_of(1), "coefficients and terms have different shapes");
  const BroadcastShape shape = b.dims ? b : a.dims ? a : b.rank >= 0 ? b : a;
  if (shape.rank >= 0) normal_axis(call, call.int_attribute("axis"), shape.rank);
  return tensor_of(shape, dtype);
}

Value evaluate(const EvalCall& c) {
  const Tensor &a = c.in(0), &b = c.in(1);
  if (a.shape() != b.shape()) {
    fail(ErrorClass::Runtime, c.call.span, "linear_scan.shape",
         fmt::format("linear_scan: coefficients have shape ({}) and terms ({}), expected the same",
                     fmt::join(a.shape(), ", "), fmt::join(b.shape(), ", ")));
  }
  const bool backward = transposed(c.call);
  Tensor result = Tensor::empty(b.dtype(), b.shape());
  visit_float(b.dtype(), [&](auto element) {
    using T = decltype(element);
    const T *factor = a.view<T>().data(), *term = b.view<T>().data();
    T* target = result.mutable_view<T>().data();
    const int axis = normal_axis(c.call, c.call.int_attribute("axis"), b.rank());
    Pace pace;
    for_each_line(b.shape(), axis, [&](const Line& line) {
      double state = 0;
      for (std::int64_t k = 0; k < line.length; ++k, pace()) {
        const std::int64_t i = backward ? line.length - 1 - k : k;
        const double value = to_sum(term[line.at(i)]);
        state = k == 0 ? value : value + to_sum(factor[line.at(backward ? i + 1 : i)]) * state;
        target[line.at(i)] = T(state);
      }
    });
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer a = lowering.input(0), b = lowering.input(1);
  const Buffer result = lowering.output();
  for (std::size_t i = 0; i < a.shape().size(); ++i)
    lowering.require_equal(a.shape()[i], b.shape()[i],
                           "linear_scan: coefficients and terms must have the same shape");
  const int axis = normal_axis(c.call, c.call.int_attribute("axis"), b.rank());
  const reduction::ReducedLoops loops(b.shape(), {axis}, false);
  const Scalar length = loops.reduce[0];
  const bool backward = transposed(c.call);
  const DType wide = compute_dtype(b.dtype());
  const Span origin = c.call.span;
  lowering.loops().spatial("scan", loops.spatial, [&](const Dims& line) {
    LocalStatements statements(origin);
    const ScalarVar state = statements.variable("state", zero(wide));
    const ScalarVar k("k", DType::Int64, origin);
    const Scalar i = backward ? length - Scalar(1) - use(k) : use(k);
    const Scalar neighbour = if_then_else(
        equal(use(k), 0), zero(wide),
        lowering.load_as(wide, a, loops.input_index(line, {backward ? i + Scalar(1) : i})) * use(state));
    LocalStatements step(origin);
    step.assign(state, lowering.load_as(wide, b, loops.input_index(line, {i})) + neighbour);
    step.append(lowering.store_as(result, loops.input_index(line, {i}), use(state)));
    statements.append(make_stmt(For{k, Scalar(0), length, LoopKind::Serial, step.finish(), {}}, origin));
    return statements.finish();
  });
  return lowering.finish();
}

// db solves the transposed recurrence for g, and da[i] = db[i] * y[i - 1] (transposed: db[i - 1] * y[i]).
Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const bool backward = transposed(c.call);
  const int axis = normal_axis(c.call, c.call.int_attribute("axis"), static_cast<int>(rule.dims(1).size()));
  const GraphValue terms = call_op("grad.linear_scan", {rule.argument(0), rule.cotangent()},
                                   {{"axis", axis}, {"transposed", !backward}});
  terms.leaf();
  const GraphValue coefficients = backward ? scan::shifted(terms, axis, 1) * rule.result()
                                           : terms * scan::shifted(rule.result(), axis, 1);
  return {coefficients.expr(), terms.expr()};
}

constexpr Sample samples[] = {
    {"[2.0, 3.0, 4.0], [1.0, 1.0, 1.0]", "[1.0, 4.0, 17.0]"},
    {"[2.0, 3.0, 4.0], [1.0, 1.0, 1.0], transposed=True", "[16.0, 5.0, 1.0]"},
    {"rand((2, 3, 4), \"float64\"), rand((2, 3, 4), \"float64\"), axis=1"},
    {"rand((2, 3, 4), \"float32\"), rand((2, 3, 4), \"float32\"), axis=-1, transposed=True"},
    {"rand((2, 0, 3), \"float32\"), rand((2, 0, 3), \"float32\"), axis=1"},
    {"rand((1, 5), \"float32\"), rand((1, 5), \"float32\"), axis=0, transposed=True"},
};
constexpr Reject rejects[] = {
    {"linear_scan.axis", "rand((2,), \"float32\"), rand((2,), \"float32\"), axis=1", "out of range"},
    {"linear_scan.shape", "rand((2,), \"float32\"), rand((3,), \"float32\")", "different shapes"},
    {"linear_scan.dtype", "[1, 2], [3, 4]", "expected a floating dtype"},
    {"linear_scan.dtype", "[1.0, 2.0], R.const([True, False], \"bool\")", "expected a floating dtype"},
};

// --- Shift.

constexpr Param shift_params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "input"},
    {"axis", ParamKind::Attribute, "int", "0", "axis to move along"},
    {"offset", ParamKind::Attribute, "int", "1", "number of places; negative: toward the start"}};

Type infer_shift(const CallView& call) {
  require_number(call, 0);
  const TensorType& x = call.tensor(0);
  const int rank = shape_of(x).rank;
  if (rank >= 0) normal_axis(call, call.int_attribute("axis"), rank);
  return x;
}

Value evaluate_shift(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const std::int64_t offset = c.call.int_attribute("offset");
  Tensor result = Tensor::zeros(x.dtype(), x.shape());
  visit_dtype(x.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* source = x.view<T>().data();
    T* target = result.mutable_view<T>().data();
    for_each_line(x.shape(), normal_axis(c.call, c.call.int_attribute("axis"), x.rank()),
                  [&](const Line& line) {
                    for (std::int64_t i = 0; i < line.length; ++i) {
                      const bool inside = offset >= 0 ? i >= offset : i < line.length + offset;
                      if (inside) target[line.at(i)] = source[line.at(i - offset)];
                    }
                  });
  });
  return result;
}

PrimFunc lower_shift(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  const auto axis = static_cast<std::size_t>(normal_axis(c.call, c.call.int_attribute("axis"), x.rank()));
  const std::int64_t offset = c.call.int_attribute("offset");
  lowering.map("shift", result, [&](const Dims& i) {
    Dims source = i;
    source[axis] = i[axis] - Scalar(offset);
    const Scalar inside =
        offset >= 0 ? i[axis] >= Scalar(offset) : i[axis] < x.shape()[axis] + Scalar(offset);
    return if_then_else(inside, lowering.loops().load(x, source), zero(x.dtype()));
  });
  return lowering.finish();
}

Partials vjp_shift(const VjpCall& c) {
  const GradientRule rule(c);
  return {call_op("grad.shift", {rule.cotangent()},
                  {{"axis", c.call.attribute("axis")}, {"offset", -c.call.int_attribute("offset")}})
              .expr()};
}

constexpr Sample shift_samples[] = {
    {"[1.0, 2.0, 3.0]", "[0.0, 1.0, 2.0]"},
    {"[1.0, 2.0, 3.0], offset=-2", "[3.0, 0.0, 0.0]"},
    {"[[1, 2], [3, 4]], axis=-1, offset=1", "[[0, 1], [0, 3]]"},
    {"rand((2, 3, 4), \"float64\"), axis=1, offset=-1"},
    {"rand((2, 3), \"float32\"), axis=0, offset=5"},
    {"rand((2, 0), \"float32\"), axis=1"},
};
constexpr Reject shift_rejects[] = {
    {"shift.axis", "rand((2,), \"float32\"), axis=1", "out of range"},
    {"shift.dtype", "R.const([True, False], \"bool\")", "expected numbers"},
};

}  // namespace

extern const Op op_grad_linear_scan{
    .name = "grad.linear_scan",
    .summary = "The linear recurrence y[i] = b[i] + a[i] * y[i - 1] along an axis.",
    .params = scan_operands,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc =
        "db = the recurrence of the other direction over g, da = db * (y one place on); "
        "transposed: da = (db one place on) * y",
    .agreement = Agreement::Composite,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "y[0] is b[0], whatever a[0]. Transposed, y[i] = b[i] + a[i + 1] * y[i + 1] and the last is b's "
        "last: as a linear map of b this is the transpose. An extension of Relish: gradients of cumsum, "
        "cumprod and prod use it."};

extern const Op op_grad_shift{
    .name = "grad.shift",
    .summary = "Elements moved along an axis, with zeros moved in.",
    .params = shift_params,
    .infer = infer_shift,
    .eval = evaluate_shift,
    .lower = lower_shift,
    .vjp = vjp_shift,
    .gradient_doc = "dx = g moved back",
    .agreement = Agreement::DataMovement,
    .samples = shift_samples,
    .rejects = shift_rejects,
    .doc =
        "y[i] = x[i - offset] where that exists, else 0. An extension of Relish: gradients of scans use it."};

}  // namespace relish::ops_grad_linear_scan
