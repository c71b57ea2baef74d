// Coordinates as data, in the last dimension of one tensor: gathering and scattering of slices.
#include "stdlib/families/shapes/scatter.h"

#include "ir/printer/printer.h"

namespace relish::ops_gather_nd {
namespace {

constexpr Param gather_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"indices", ParamKind::Tensor, "tensor of integers", "", "its last dimension holds coordinates"},
    {"batch_dims", ParamKind::Attribute, "int", "0", "leading dimensions that both tensors share"}};
constexpr Param scatter_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "what the updates go into"},
    {"indices", ParamKind::Tensor, "tensor of integers", "", "its last dimension holds coordinates"},
    {"updates", ParamKind::Tensor, "tensor", "", "one slice of data for each coordinate"},
    {"reduction", ParamKind::Attribute, "str", "\"update\"", "update, add, mul, max or min"}};

// How many coordinates an index has; nothing when that is not known.
std::optional<int> coordinates_of(const CallView& call, int batch) {
  require_indices(call, 1);
  const BroadcastShape indices = shape_of(call.tensor(1)), data = shape_of(call.tensor(0));
  if (indices.rank >= 0 && indices.rank <= batch) {
    call.reject("rank", call.span_of(1),
                fmt::format("indices have rank {}, expected at least {}", indices.rank, batch + 1));
  }
  if (!indices.dims) return std::nullopt;
  const auto count = indices.dims->back().as_int();
  if (!count) return std::nullopt;
  if (data.rank >= 0 && *count + batch > data.rank) {
    call.reject("coordinates", call.span_of(1),
                fmt::format("indices give {} coordinates of data of rank {}", *count + batch, data.rank));
  }
  return static_cast<int>(*count);
}

// Dims of the result of gathering, and of the updates of scattering.
BroadcastShape slices_shape(const CallView& call, int batch, int coordinates) {
  const BroadcastShape indices = shape_of(call.tensor(1)), data = shape_of(call.tensor(0));
  const Dims& all = *indices.dims;
  const BroadcastShape places{Dims(all.begin(), all.end() - 1), indices.rank - 1};
  return replaced_dims(data, 0, batch + coordinates, places);
}

// The place in data of element `index` of the slices.
std::int64_t target_of(const EvalCall& c, const Shape& index, int batch) {
  const Shape& shape = c.in(0).shape();
  const Shape& indices = c.in(1).shape();
  const auto places = static_cast<std::ptrdiff_t>(indices.size()) - 1;
  Shape coordinate(index.begin(), index.begin() + places), to(index.begin(), index.begin() + batch);
  coordinate.push_back(0);
  for (; coordinate.back() < indices.back(); ++coordinate.back()) {
    const std::int64_t value = index_at(c.in(1), position_of(indices, coordinate));
    to.push_back(from_start(value, shape[to.size()]));
  }
  to.insert(to.end(), index.begin() + places, index.end());
  return position_of(shape, to);
}

// Checks all coordinates, also where slices are empty.
void check_coordinates(const EvalCall& c, int batch) {
  std::int64_t flat = 0;
  for_each_index(c.in(1).shape(), [&](const Shape& index) {
    const auto dimension = static_cast<std::size_t>(batch + index.back());
    check_index(c.call, c.call.op.params[1].name, c.in(1), flat++,
                {c.call.op.params[0].name, dimension, c.in(0).shape()[dimension]});
  });
}

// Asserts of all coordinates, one after the other.
void check_coordinates(Lowering& lowering, const Buffer& data, const Buffer& indices, int batch, int count) {
  const Dims places(indices.shape().begin(), indices.shape().end() - 1);
  const CallView& call = lowering.call();
  for (int k = 0; k < count; ++k) {
    const auto dimension = static_cast<std::size_t>(batch) + static_cast<std::size_t>(k);
    const Scalar extent = data.shape()[dimension];
    lowering.loops().spatial("check", places, [&](const Dims& i) {
      Dims at = i;
      at.push_back(Scalar(k));
      const Scalar index = wide_index(lowering.loops().load(indices, at));
      const Scalar inside = logical(LogicalOp::And, Scalar(0) - extent <= index, index < extent);
      return make_stmt(AssertStmt{inside, index_message(call, data.name(), dimension)}, call.span);
    });
  }
}

// The index in data for a place and what follows it.
Dims lowered_target(Lowering& lowering, const Buffer& data, const Buffer& indices, const Dims& place,
                    const Dims& rest, int batch, int count) {
  Dims to(place.begin(), place.begin() + batch);
  for (int k = 0; k < count; ++k) {
    Dims at = place;
    at.push_back(Scalar(k));
    to.push_back(checked_place(lowering.loops().load(indices, at), data.shape()[to.size()]));
  }
  to.insert(to.end(), rest.begin(), rest.end());
  return to;
}

// --- gather_nd

int batch_of(const CallView& call) {
  const std::int64_t batch = call.int_attribute("batch_dims");
  const int rank = shape_of(call.tensor(0)).rank;
  if (batch < 0 || (rank >= 0 && batch > rank))
    call.reject("batch_dims", call.span, fmt::format("batch_dims is {} beside data of rank {}", batch, rank));
  return static_cast<int>(batch);
}

Type infer_gather(const CallView& call) {
  const TensorType& data = call.tensor(0);
  const int batch = batch_of(call);
  const std::optional<int> count = coordinates_of(call, batch);
  if (!count) return TensorType{data.dtype, std::nullopt, -1};
  const std::optional<Dims> dims = known_dims(data);
  const Dims indices = *known_dims(call.tensor(1));
  for (std::size_t d = 0; dims && d < static_cast<std::size_t>(batch); ++d) {
    if (!prove_different((*dims)[d], indices[d])) continue;
    call.reject("shape", call.span,
                fmt::format("dimension {} of data is {} and of indices {}, expected the same", d,
                            print((*dims)[d]), print(indices[d])));
  }
  return tensor_of(slices_shape(call, batch, *count), data.dtype);
}

Value evaluate_gather(const EvalCall& c) {
  const int batch = batch_of(c.call);
  check_coordinates(c, batch);
  return gathered(c.in(0), result_shape(c), [&](const Shape& index) { return target_of(c, index, batch); });
}

int known_count(const CallView& call, int batch) {
  const std::optional<int> count = coordinates_of(call, batch);
  if (!count) call.reject("lowering", call.span_of(1), "lowering needs the number of coordinates");
  return *count;
}

PrimFunc lower_gather(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0), indices = lowering.input(1);
  const Buffer result = lowering.output();
  const int batch = batch_of(c.call), count = known_count(c.call, batch);
  for (std::size_t d = 0; d < static_cast<std::size_t>(batch); ++d) {
    lowering.require_equal(data.shape()[d], indices.shape()[d],
                           fmt::format("gather_nd: dimension {} of data and indices must be the same", d));
  }
  check_coordinates(lowering, data, indices, batch, count);
  const auto places = static_cast<std::ptrdiff_t>(indices.shape().size()) - 1;
  lowering.map("gather", result, [&](const Dims& i) {
    return lowering.loops().load(data,
                                 lowered_target(lowering, data, indices, Dims(i.begin(), i.begin() + places),
                                                Dims(i.begin() + places, i.end()), batch, count));
  });
  return lowering.finish();
}

// Shared dimensions become coordinates: scatter_nd has none.
GraphValue with_batch_coordinates(const GradientRule& rule, int batch) {
  GraphValue indices = rule.argument(1);
  if (batch == 0) return indices;
  Dims dims = rule.dims(1);
  dims.back() = 1;
  const DType dtype = indices.type().dtype.value_or(DType::Int64);
  std::vector<GraphValue> columns;
  for (int axis = 0; axis < batch; ++axis)
    columns.push_back(call_op("astype", {positions(dims, axis, indices.builder())}, {{"dtype", dtype}}));
  columns.push_back(indices);
  FunctionBuilder& builder = indices.builder();
  return call_op("concat", {GraphValue(tuple_of(columns, builder), builder)}, {{"axis", -1}});
}

Partials vjp_gather(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent();
  return {
      call_op("scatter_nd", {zeros_of(rule.dims(0), g), with_batch_coordinates(rule, batch_of(c.call)), g},
              {{"reduction", "add"}})
          .expr(),
      std::nullopt};
}

constexpr Sample gather_samples[] = {
    {"[[1.0, 2.0], [3.0, 4.0]], R.const([[0, 0], [1, -1]], \"int64\")", "[1.0, 4.0]"},
    {"[[1.0, 2.0], [3.0, 4.0]], R.const([[1], [0], [1]], \"int32\")", "[[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]"},
    {"rand((2, 3, 4), \"float64\"), R.const([[[0], [2]], [[1], [1]]], \"int64\"), batch_dims=1"},
    {"rand((2, 3), \"float64\"), R.const([1, 2], \"int64\")"},
    {"rand((2, 3), \"float64\"), R.const([[2], [0]], \"int64\"), batch_dims=1"},
    {"rand((3, 0), \"float32\"), R.const([[1], [0]], \"int64\")"},
    {"rand((2, 3), \"float64\"), rand((2, 0), \"float32\").astype(\"int64\")"},
};
constexpr Reject gather_rejects[] = {
    {"gather_nd.rank", "rand((2,), \"float32\"), R.const(0, \"int64\")", "expected at least 1"},
    {"gather_nd.coordinates", "rand((2,), \"float32\"), R.const([[0, 0]], \"int64\")", "2 coordinates"},
    {"gather_nd.batch_dims", "rand((2,), \"float32\"), R.const([[0]], \"int64\"), batch_dims=-1", "is -1"},
    {"gather_nd.shape", "rand((2, 3), \"float32\"), R.const([[0]], \"int64\"), batch_dims=1", "is 2"},
    {"gather_nd.indices", "rand((2,), \"float32\"), [[0.0]]", "expected integers"},
};

// --- scatter_nd

Type infer_scatter(const CallView& call) {
  scatter::reduction_of(call, false);
  require_same_dtype(call, 0, 2);
  const TensorType& data = call.tensor(0);
  const std::optional<int> count = coordinates_of(call, 0);
  if (!count) return data;
  const BroadcastShape want = slices_shape(call, 0, *count), have = shape_of(call.tensor(2));
  bool fits = want.rank < 0 || have.rank < 0 || want.rank == have.rank;
  for (std::size_t d = 0; fits && want.dims && have.dims && d < want.dims->size(); ++d)
    fits = !prove_different((*want.dims)[d], (*have.dims)[d]);
  if (!fits) {
    call.reject("shape", call.span_of(2),
                fmt::format("updates have type {}, expected {}", print(call.args[2].type()),
                            print(Type(tensor_of(want, data.dtype)))));
  }
  return data;
}

Value evaluate_scatter(const EvalCall& c) {
  check_coordinates(c, 0);
  return scatter::evaluate(c.in(0), c.in(2), scatter::reduction_of(c.call, false),
                           [&](const Shape& index) { return target_of(c, index, 0); });
}

PrimFunc lower_scatter(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0), indices = lowering.input(1), updates = lowering.input(2);
  const Buffer result = lowering.output();
  const int count = known_count(c.call, 0);
  const Dims places(indices.shape().begin(), indices.shape().end() - 1);
  const Dims rest(data.shape().begin() + count, data.shape().end());
  Dims want = places;
  want.insert(want.end(), rest.begin(), rest.end());
  for (std::size_t d = 0; d < want.size(); ++d) {
    lowering.require_equal(updates.shape()[d], want[d],
                           fmt::format("scatter_nd: dimension {} of updates does not fit", d));
  }
  check_coordinates(lowering, data, indices, 0, count);
  scatter::lower(lowering, data, updates, result, scatter::reduction_of(c.call, false), rest, places,
                 [&](const Dims& around, const Dims& place) {
                   Dims update = place;
                   update.insert(update.end(), around.begin(), around.end());
                   return scatter::Step{update,
                                        lowered_target(lowering, data, indices, place, around, 0, count)};
                 });
  return lowering.finish();
}

Partials vjp_scatter(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue indices = rule.argument(1);
  scatter::Operations to;
  to.put = [&](const GraphValue& into, const GraphValue& updates, std::string_view reduction) {
    return call_op("scatter_nd", {into, indices, updates}, {{"reduction", std::string(reduction)}});
  };
  to.get = [&](const GraphValue& x) { return call_op("gather_nd", {x, indices}); };
  // Places in their order; all elements of a slice have the number of their place.
  to.order = [&] {
    Dims dims = rule.dims(1);
    dims.pop_back();
    const Dims updates = rule.dims(2);
    const GraphValue flat = positions({product(dims)}, 0, c.builder);
    dims.insert(dims.end(), updates.size() - dims.size(), Scalar(1));
    return call_op("broadcast_to", {reshaped(flat, dims), rule.shape(2)});
  };
  const scatter::DataAndUpdates partials =
      scatter::gradients(scatter::reduction_of(c.call, false), to, rule.cotangent(), rule.argument(0),
                         rule.argument(2), rule.result());
  return {partials.data.expr(), std::nullopt, partials.updates.expr()};
}

constexpr Sample scatter_samples[] = {
    {"[1.0, 2.0, 3.0], R.const([[2], [0]], \"int64\"), [8.0, 9.0]", "[9.0, 2.0, 8.0]"},
    {"[1.0, 2.0, 3.0], R.const([[2], [-1]], \"int32\"), [8.0, 9.0]", "[1.0, 2.0, 9.0]"},
    {"[[1.0, 2.0], [3.0, 4.0]], R.const([[1, 0], [1, 0]], \"int64\"), [5.0, 6.0], reduction=\"add\"",
     "[[1.0, 2.0], [14.0, 4.0]]"},
    {"rand((3, 2), \"float64\"), R.const([[1], [1]], \"int64\"), rand((2, 2), \"float64\")"},
    {"rand((3, 2), \"float64\"), R.const([[[1], [1]]], \"int64\"), rand((1, 2, 2), \"float64\"), "
     "reduction=\"add\""},
    {"rand((3, 2), \"float64\") + 0.5, R.const([[1], [1]], \"int64\"), rand((2, 2), \"float64\") + 1.5, "
     "reduction=\"mul\""},
    {"R.const([2.0, 3.0, 5.0], \"float64\"), R.const([[0], [0], [0], [1], [1], [1]], \"int64\"), "
     "R.const([0.0, 4.0, 7.0, 0.0, 6.0, 0.0], \"float64\"), reduction=\"mul\""},
    {"[[0.5, 3.0], [1.0, 2.0]], R.const([[0], [0]], \"int64\"), [[1.0, 1.5], [2.0, 0.0]], reduction=\"max\"",
     "[[2.0, 3.0], [1.0, 2.0]]"},
    {"[[0.5, 3.0], [1.0, 2.0]], R.const([[0], [0]], \"int64\"), [[1.0, 1.5], [2.0, 0.0]], reduction=\"min\"",
     "[[0.5, 0.0], [1.0, 2.0]]"},
    {"R.const([False, True, False], \"bool\"), R.const([[0], [0], [1]], \"int64\"), "
     "R.const([True, True, False], \"bool\"), reduction=\"add\"",
     "R.const([True, True, False], \"bool\")"},
    {"R.const([False, True, True], \"bool\"), R.const([[0], [1], [1]], \"int64\"), "
     "R.const([True, False, True], \"bool\"), reduction=\"mul\"",
     "R.const([False, False, True], \"bool\")"},
    {"rand((2, 0), \"float32\"), R.const([[1]], \"int64\"), rand((1, 0), \"float32\")"},
};
constexpr Reject scatter_rejects[] = {
    {"scatter_nd.reduction",
     "rand((2,), \"float32\"), R.const([[0]], \"int64\"), rand((1,), \"float32\"), reduction=\"mean\"",
     "expected update"},
    {"scatter_nd.shape", "rand((2,), \"float32\"), R.const([[0]], \"int64\"), rand((2,), \"float32\")",
     "expected R.Tensor"},
    {"scatter_nd.rank", "rand((2,), \"float32\"), R.const(0, \"int64\"), rand((), \"float32\")",
     "expected at least 1"},
    {"scatter_nd.coordinates",
     "rand((2,), \"float32\"), R.const([[0, 0]], \"int64\"), rand((1,), \"float32\")", "2 coordinates"},
    {"scatter_nd.dtype", "rand((2,), \"float32\"), R.const([[0]], \"int64\"), rand((1,), \"float64\")",
     "expected the same"},
    {"scatter_nd.indices", "rand((2,), \"float32\"), [[0.0]], rand((1,), \"float32\")", "expected integers"},
};

}  // namespace

extern const Op op_gather_nd{.name = "gather_nd",
                             .summary = "Slices of data at coordinates.",
                             .params = gather_params,
                             .infer = infer_gather,
                             .eval = evaluate_gather,
                             .lower = lower_gather,
                             .vjp = vjp_gather,
                             .gradient_doc = "ddata = scatter_nd(zeros, indices, g, reduction=\"add\")",
                             .agreement = Agreement::DataMovement,
                             .samples = gather_samples,
                             .rejects = gather_rejects,
                             .doc =
                                 "The last dimension of indices holds the coordinates; what they leave of "
                                 "the dimensions of data follows "
                                 "the others of indices. The number of coordinates must be known. Negative "
                                 "ones count from the end; one "
                                 "out of range is a RuntimeError."};

extern const Op op_scatter_nd{
    .name = "scatter_nd",
    .summary = "A copy of data with slices updated at coordinates.",
    .params = scatter_params,
    .infer = infer_scatter,
    .eval = evaluate_scatter,
    .lower = lower_scatter,
    .vjp = vjp_scatter,
    .gradient_doc =
        "add: ddata = g, dupdates = gathered g. update: ddata = g with zeros at the places, dupdates = "
        "gathered "
        "g for the updates that stay. mul: g times the product of all others. max, min: g shared evenly "
        "among "
        "those that are equal to the result.",
    .agreement = Agreement::Sum,
    .agreement_by =
        [](const CallView& call) { return scatter::agreement(scatter::reduction_of(call, false)); },
    .terms = scatter::terms,
    .samples = scatter_samples,
    .rejects = scatter_rejects,
    .doc =
        "Coordinates as in gather_nd; updates have the shape of its result. Of several updates of one place "
        "the last in row-major order stays, or all are joined with what was there. Of mul, first and second "
        "derivatives are right where updates are 0."};

}  // namespace relish::ops_gather_nd
