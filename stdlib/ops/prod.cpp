// Products over axes.
#include "stdlib/families/shapes/scan.h"

namespace relish::ops_prod {
namespace {

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const std::vector<int> axes = axes_of(c.call, "axis", x.rank());
  Tensor result = reduction::empty_result(c, axes);
  visit_dtype(x.dtype(), [&](auto element) {
    using T = decltype(element);
    T* target = result.mutable_view<T>().data();
    const auto combine = [](Sum<T> product, T next, std::size_t) { return product * to_sum(next); };
    for (const Sum<T> product :
         reduction::fold<T>(x, x.shape(), axes, to_sum(convert_element<T>(1.0)), combine))
      *target++ = from_sum<T>(product);
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  const reduction::ReducedLoops loops = reduction::loops_of(c, x);
  if (is_bool(x.dtype())) {
    lowering.reduce(
        "prod", result, loops.spatial, loops.reduce,
        [&](const Dims& s, const Dims& r) { return lowering.loops().load(x, loops.input_index(s, r)); },
        [](const Scalar& held, const Scalar& next) { return logical(LogicalOp::And, held, next); },
        bool_literal(true));
    return lowering.finish();
  }
  const DType wide = compute_dtype(x.dtype());
  const Buffer total = wide == x.dtype() ? result : lowering.temporary("total", loops.spatial, wide);
  lowering.reduce(
      "prod", total, loops.spatial, loops.reduce,
      [&](const Dims& s, const Dims& r) { return lowering.load_as(wide, x, loops.input_index(s, r)); },
      [](const Scalar& product, const Scalar& next) { return product * next; }, literal(wide, 1));
  if (!(total == result)) {
    lowering.map("round", result, [&](const Dims& i) { return lowering.loops().load(total, i); });
  }
  return lowering.finish();
}

// dx[i] = g * (product of the elements before i) * (product of those behind i), along the reduced axes laid
// out as one. The second product times g is a recurrence from the end, which starts with g there. Nothing is
// divided, so the partials are right to any order where elements are 0.
Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const Dims dims = rule.dims(0);
  const int rank = static_cast<int>(dims.size());
  const std::vector<int> axes = axes_of(c.call, "axis", rank);
  const GraphValue g = rule.cotangent();
  if (axes.empty()) return {g.expr()};

  // The reduced axes behind the others, then as one.
  std::vector<int> order, back(dims.size());
  Dims moved, line;
  for (int i = 0; i < rank; ++i) {
    if (!contains(axes, i)) order.push_back(i);
  }
  const int kept = static_cast<int>(order.size());
  order.insert(order.end(), axes.begin(), axes.end());
  for (int i = 0; i < rank; ++i) {
    back[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = i;
    moved.push_back(dims[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])]);
  }
  line.assign(moved.begin(), moved.begin() + kept);
  line.push_back(reduction::count_of(dims, axes));
  const bool in_place = axes.size() == 1 && axes[0] == rank - 1;
  const auto laid_out = [&](GraphValue x) {
    if (in_place) return x;
    if (kept > 0) x = call_op("permute_dims", {x}, {{"axes", axes_attribute(order)}});
    return reshaped(x, line);
  };
  const GraphValue x = laid_out(rule.argument(0));
  const GraphValue seed =
      laid_out(call_op("broadcast_to", {reduction::with_reduced_axes(rule, g), rule.shape(0)}));
  const GraphValue ones = call_op("ones_like", {seed}, {{"dtype", Attribute()}});
  const GraphValue at_end = ones - scan::shifted(ones, kept, -1);
  const GraphValue behind = scan::backward_recurrence(x, seed * at_end, kept);
  const GraphValue before =
      call_op("cumprod", {x}, {{"axis", kept}, {"dtype", Attribute()}, {"exclusive", true}});
  GraphValue partial = behind * before;
  if (!in_place) {
    partial = reshaped(partial, moved);
    if (kept > 0) partial = call_op("permute_dims", {partial}, {{"axes", axes_attribute(back)}});
  }
  return {partial.expr()};
}

constexpr Sample samples[] = {
    {"R.const([[True, True], [True, False]], \"bool\"), axis=1", "R.const([True, False], \"bool\")"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", "720.0"},
    {"[[1.0, 2.0, 3.0], [4.0, 0.0, 6.0]], axis=0", "[4.0, 0.0, 18.0]"},
    {"[[1.0, 0.0, 3.0], [0.0, 5.0, 0.0]], axis=-1, keepdims=True", "[[0.0], [0.0]]"},
    {"[[100, 100, 1], [4, 2, 6]], axis=[1]", "[10000, 48]"},
    {"rand((2, 3, 4), \"float64\"), axis=[0, -1]"},
    {"rand((2, 3, 2), \"float64\"), axis=1, keepdims=True"},
    {"rand((1, 5, 1), \"float32\"), axis=[0, 2]"},
    {"rand((2, 0, 3), \"float32\"), axis=1"},
    {"rand((), \"float64\")"},
};
constexpr Reject rejects[] = {
    {"prod.axis", "rand((2, 3), \"float32\"), axis=2", "out of range"},
    {"prod.tensor", "R.shape([2])", "expected a tensor"},
};

}  // namespace

extern const Op op_prod{
    .name = "prod",
    .summary = "Product over axes.",
    .params = reduction_params,
    .infer = reduction::infer_of_all,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "dx[i] = g * the product of all elements but x[i], made without division",
    .agreement = Agreement::Sum,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "The dtype is kept; integers wrap around, and bools give whether all are true. The product of "
        "nothing is 1. The gradient is right, to "
        "any order, where elements are 0."};

}  // namespace relish::ops_prod
