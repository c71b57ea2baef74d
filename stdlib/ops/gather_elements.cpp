// One index for every element: gathering along a dimension, and scattering there.
#include "stdlib/families/shapes/scatter.h"

#include "ir/calls/fault.h"
#include "ir/printer/printer.h"

namespace relish::ops_gather_elements {
namespace {

constexpr Param gather_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"indices", ParamKind::Tensor, "tensor of integers", "", "positions along axis; of the rank of data"},
    {"axis", ParamKind::Attribute, "int", "0", "dimension of the positions"}};
constexpr Param scatter_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "what the updates go into"},
    {"indices", ParamKind::Tensor, "tensor of integers", "", "positions along axis; of the rank of data"},
    {"updates", ParamKind::Tensor, "tensor", "", "of the shape of indices"},
    {"axis", ParamKind::Attribute, "int", "0", "dimension of the positions"},
    {"reduction", ParamKind::Attribute, "str", "\"update\"", "update, add, mul, mean, max or min"}};

int axis_of(const CallView& call, int rank) { return normal_axis(call, call.int_attribute("axis"), rank); }

std::string size_message(const CallView& call, int dim) {
  return fmt::format("{}: dimension {} of indices is longer than that of data", call.op.name, dim);
}

// Rank and lengths of indices beside data.
void check_operands(const CallView& call) {
  require_indices(call, 1);
  const BroadcastShape data = shape_of(call.tensor(0)), indices = shape_of(call.tensor(1));
  if (data.rank >= 0 && indices.rank >= 0 && data.rank != indices.rank) {
    call.reject("rank", call.span_of(1),
                fmt::format("indices have rank {} and data {}, expected the same", indices.rank, data.rank));
  }
  const int rank = std::max(data.rank, indices.rank);
  if (rank < 0) return;
  const int axis = axis_of(call, rank);
  if (!data.dims || !indices.dims) return;
  for (int d = 0; d < rank; ++d) {
    const auto have = (*indices.dims)[static_cast<std::size_t>(d)].as_int();
    const auto limit = (*data.dims)[static_cast<std::size_t>(d)].as_int();
    if (d == axis || !have || !limit || *have <= *limit) continue;
    call.reject("shape", call.span_of(1),
                fmt::format("dimension {} of indices is {}, longer than the {} of data", d, *have, *limit));
  }
}

void require_lengths(Lowering& lowering, const Buffer& data, const Buffer& indices, int axis) {
  for (int d = 0; d < data.rank(); ++d) {
    const Scalar& have = indices.shape()[static_cast<std::size_t>(d)];
    const Scalar& limit = data.shape()[static_cast<std::size_t>(d)];
    if (d == axis || prove_equal(have, limit) || (have.as_int() && limit.as_int())) continue;
    lowering.require(have <= limit, size_message(lowering.call(), d));
  }
}

void check_indices(const EvalCall& c, std::size_t axis) {
  check_indices(c.call, c.call.op.params[1].name, c.in(1),
                {c.call.op.params[0].name, axis, c.in(0).shape()[axis]});
}

// Where an index of `indices` points to in data.
std::int64_t target_of(const EvalCall& c, Shape index, std::size_t axis) {
  const Shape& shape = c.in(0).shape();
  const std::int64_t along = index_at(c.in(1), position_of(c.in(1).shape(), index));
  index[axis] = from_start(along, shape[axis]);
  return position_of(shape, index);
}

// --- gather_elements

Type infer_gather(const CallView& call) {
  const TensorType& data = call.tensor(0);
  check_operands(call);
  BroadcastShape shape = shape_of(call.tensor(1));
  if (shape.rank < 0) shape.rank = shape_of(data).rank;
  return tensor_of(shape, data.dtype);
}

Value evaluate_gather(const EvalCall& c) {
  const auto axis = static_cast<std::size_t>(axis_of(c.call, c.in(0).rank()));
  check_indices(c, axis);
  return gathered(c.in(0), c.in(1).shape(), [&](const Shape& index) { return target_of(c, index, axis); });
}

PrimFunc lower_gather(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0), indices = lowering.input(1);
  const Buffer result = lowering.output();
  const int axis = axis_of(c.call, data.rank());
  const Scalar extent = data.shape()[static_cast<std::size_t>(axis)];
  require_lengths(lowering, data, indices, axis);
  check_indices(lowering, indices, data, static_cast<std::size_t>(axis));
  lowering.map("gather", result, [&](const Dims& i) {
    const Scalar at = checked_place(lowering.loops().load(indices, i), extent);
    return lowering.loops().load(data, replaced_dim(i, axis, at));
  });
  return lowering.finish();
}

Partials vjp_gather(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent();
  return {call_op("scatter_elements", {zeros_of(rule.dims(0), g), rule.argument(1), g},
                  {{"axis", c.call.attribute("axis")}, {"reduction", "add"}})
              .expr(),
          std::nullopt};
}

constexpr Sample gather_samples[] = {
    {"[[1.0, 2.0], [3.0, 4.0]], R.const([[0, 0], [1, 0]], \"int64\"), axis=1", "[[1.0, 1.0], [4.0, 3.0]]"},
    {"[[1.0, 2.0], [3.0, 4.0]], R.const([[-1, 0]], \"int32\")", "[[3.0, 2.0]]"},
    {"rand((3, 4), \"float64\"), R.const([[0, 2, 1, 2], [2, 2, 0, 0]], \"int64\"), axis=0"},
    {"rand((2, 2, 3), \"float64\"), R.const([[[2, 2, 0, 1]]], \"int64\"), axis=-1"},
    {"rand((4,), \"float64\"), R.const([3, 3, 3], \"int32\")"},
    {"rand((3, 0), \"float32\"), rand((2, 0), \"float32\").astype(\"int64\")"},
};
constexpr Reject gather_rejects[] = {
    {"gather_elements.axis", "rand((2,), \"float32\"), R.const([0], \"int64\"), axis=1", "out of range"},
    {"gather_elements.rank", "rand((2, 2), \"float32\"), R.const([0], \"int64\")", "expected the same"},
    {"gather_elements.shape", "rand((2, 2), \"float32\"), R.const([[0, 1, 0]], \"int64\")",
     "longer than the 2"},
    {"gather_elements.indices", "rand((2,), \"float32\"), [0.0]", "expected integers"},
};

// --- scatter_elements

Type infer_scatter(const CallView& call) {
  scatter::reduction_of(call, true);
  require_same_dtype(call, 0, 2);
  check_operands(call);
  const auto updates = known_dims(call.tensor(2)), indices = known_dims(call.tensor(1));
  const int rank = shape_of(call.tensor(2)).rank, want = shape_of(call.tensor(1)).rank;
  bool fits = rank < 0 || want < 0 || rank == want;
  for (std::size_t d = 0; fits && updates && indices && d < updates->size(); ++d)
    fits = !prove_different((*updates)[d], (*indices)[d]);
  if (!fits) {
    call.reject("shape", call.span_of(2),
                fmt::format("updates have type {} and indices {}, expected the same shape",
                            print(call.args[2].type()), print(call.args[1].type())));
  }
  return call.tensor(0);
}

Value evaluate_scatter(const EvalCall& c) {
  const auto axis = static_cast<std::size_t>(axis_of(c.call, c.in(0).rank()));
  check_indices(c, axis);
  return scatter::evaluate(c.in(0), c.in(2), scatter::reduction_of(c.call, true),
                           [&](const Shape& index) { return target_of(c, index, axis); });
}

PrimFunc lower_scatter(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0), indices = lowering.input(1), updates = lowering.input(2);
  const Buffer result = lowering.output();
  const int axis = axis_of(c.call, data.rank());
  const auto along = static_cast<std::size_t>(axis);
  const Scalar extent = data.shape()[along];
  require_lengths(lowering, data, indices, axis);
  for (std::size_t d = 0; d < updates.shape().size(); ++d) {
    lowering.require_equal(
        updates.shape()[d], indices.shape()[d],
        fmt::format("scatter_elements: dimension {} of updates must be that of indices", d));
  }
  check_indices(lowering, indices, data, along);
  scatter::lower(lowering, data, updates, result, scatter::reduction_of(c.call, true),
                 without_dim(indices.shape(), axis), {indices.shape()[along]},
                 [&](const Dims& around, const Dims& k) {
                   Dims index = around;
                   index.insert(index.begin() + axis, k[0]);
                   const Scalar at = from_start(lowering.loops().load(indices, index), extent);
                   return scatter::Step{index, replaced_dim(index, axis, at)};
                 });
  return lowering.finish();
}

Partials vjp_scatter(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue indices = rule.argument(1);
  const Attribute axis = c.call.attribute("axis");
  scatter::Operations to;
  to.put = [&](const GraphValue& into, const GraphValue& updates, std::string_view reduction) {
    return call_op("scatter_elements", {into, indices, updates},
                   {{"axis", axis}, {"reduction", std::string(reduction)}});
  };
  to.get = [&](const GraphValue& x) { return call_op("gather_elements", {x, indices}, {{"axis", axis}}); };
  to.order = [&] {
    const Dims dims = rule.dims(1);
    return positions(dims, axis_of(c.call, static_cast<int>(dims.size())), c.builder);
  };
  const scatter::DataAndUpdates partials =
      scatter::gradients(scatter::reduction_of(c.call, true), to, rule.cotangent(), rule.argument(0),
                         rule.argument(2), rule.result());
  return {partials.data.expr(), std::nullopt, partials.updates.expr()};
}

constexpr Sample scatter_samples[] = {
    {"[1.0, 2.0, 3.0], R.const([2, 0], \"int64\"), [8.0, 9.0]", "[9.0, 2.0, 8.0]"},
    {"[1.0, 2.0, 3.0], R.const([2, 2, 0], \"int64\"), [7.0, 8.0, 9.0]", "[9.0, 2.0, 8.0]"},
    {"R.const([False, True, False], \"bool\"), R.const([0, 0, 1], \"int64\"), "
     "R.const([True, True, False], \"bool\"), reduction=\"add\"",
     "R.const([True, True, False], \"bool\")"},
    {"R.const([False, True, True], \"bool\"), R.const([0, 1, 1], \"int64\"), "
     "R.const([True, False, True], \"bool\"), reduction=\"mul\"",
     "R.const([False, False, True], \"bool\")"},
    {"[[1.0, 2.0], [3.0, 4.0]], R.const([[-1], [0]], \"int32\"), [[5.0], [6.0]], axis=1, reduction=\"add\"",
     "[[1.0, 7.0], [9.0, 4.0]]"},
    {"rand((3, 2), \"float64\"), R.const([[0, 2], [0, 2], [1, 2]], \"int64\"), rand((3, 2), \"float64\"), "
     "reduction=\"add\""},
    {"rand((3, 2), \"float64\") + 0.5, R.const([[0, 2], [0, 2], [1, 2]], \"int64\"), rand((3, 2), "
     "\"float64\") "
     "+ 1.5, reduction=\"mul\""},
    {"R.const([2.0, 3.0, 5.0], \"float64\"), R.const([0, 0, 0, 1, 1, 1, 2, 2], \"int64\"), "
     "R.const([0.0, 4.0, 7.0, 0.0, 6.0, 0.0, 8.0, 9.0], \"float64\"), reduction=\"mul\""},
    {"rand((2, 3), \"float64\"), R.const([[0, 0, 2, 0], [1, 1, 1, 1]], \"int64\"), rand((2, 4), "
     "\"float64\"), "
     "axis=-1, reduction=\"mean\""},
    {"[0.5, -1.0, 2.0], R.const([0, 0, 2], \"int64\"), [1.0, 3.0, -4.0], reduction=\"max\"",
     "[3.0, -1.0, 2.0]"},
    {"[0.5, -1.0, 2.0], R.const([0, 0, 2], \"int64\"), [1.0, 3.0, -4.0], reduction=\"min\"",
     "[0.5, -1.0, -4.0]"},
    {"rand((2, 0), \"float32\"), rand((2, 0), \"float32\").astype(\"int64\"), rand((2, 0), \"float32\")"},
    {"R.const([5, 6, 7], \"int8\"), R.const([1, 1], \"int64\"), R.const([100, 100], \"int8\"), "
     "reduction=\"mean\"",
     "[5, 68, 7]"},
};
constexpr Reject scatter_rejects[] = {
    {"scatter_elements.reduction",
     "rand((2,), \"float32\"), R.const([0], \"int64\"), rand((1,), \"float32\"), reduction=\"sum\"",
     "expected update"},
    {"scatter_elements.shape", "rand((2,), \"float32\"), R.const([0], \"int64\"), rand((2,), \"float32\")",
     "expected the same shape"},
    {"scatter_elements.axis",
     "rand((2,), \"float32\"), R.const([0], \"int64\"), rand((1,), \"float32\"), axis=-2", "out of range"},
    {"scatter_elements.rank", "rand((2, 2), \"float32\"), R.const([0], \"int64\"), rand((1,), \"float32\")",
     "expected the same"},
    {"scatter_elements.dtype", "rand((2,), \"float32\"), R.const([0], \"int64\"), rand((1,), \"float64\")",
     "expected the same"},
    {"scatter_elements.indices", "rand((2,), \"float32\"), [0.0], rand((1,), \"float32\")",
     "expected integers"},
};

}  // namespace

extern const Op op_gather_elements{
    .name = "gather_elements",
    .summary = "For every element of indices the element of data at that position of one dimension.",
    .params = gather_params,
    .infer = infer_gather,
    .eval = evaluate_gather,
    .lower = lower_gather,
    .vjp = vjp_gather,
    .gradient_doc = "ddata = scatter_elements(zeros, indices, g, axis, reduction=\"add\")",
    .agreement = Agreement::DataMovement,
    .samples = gather_samples,
    .rejects = gather_rejects,
    .doc =
        "result[i, j, k] = data[i, indices[i, j, k], k] for axis 1. Dimensions of indices other than axis "
        "may "
        "be shorter than those of data. Negative indices count from the end; one out of range is a "
        "RuntimeError."};

extern const Op op_scatter_elements{
    .name = "scatter_elements",
    .summary = "A copy of data with updates at given positions of one dimension.",
    .params = scatter_params,
    .infer = infer_scatter,
    .eval = evaluate_scatter,
    .lower = lower_scatter,
    .vjp = vjp_scatter,
    .gradient_doc =
        "add: ddata = g, dupdates = gathered g. update: ddata = g with zeros at the places, dupdates = "
        "gathered "
        "g for the updates that stay. mul: g times the product of all others. mean: g / count. max, min: g "
        "shared evenly among those that are equal to the result.",
    .agreement = Agreement::Sum,
    .agreement_by =
        [](const CallView& call) { return scatter::agreement(scatter::reduction_of(call, true)); },
    .terms = scatter::terms,
    .samples = scatter_samples,
    .rejects = scatter_rejects,
    .doc =
        "result[i, indices[i, j, k], k] = updates[i, j, k] for axis 1. Of several updates of one place the "
        "last in row-major order stays (reduction update); the others are joined with what was there. mean "
        "is "
        "the mean of what was there and all updates (TVM halves once for each update, so that its result "
        "depends on their order); of integers it truncates. Of mul, first and second "
        "derivatives are right where updates are 0. Negative indices count from the end; one out of "
        "range is a RuntimeError."};

}  // namespace relish::ops_gather_elements
