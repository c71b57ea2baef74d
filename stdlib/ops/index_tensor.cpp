// Advanced indexing: one tensor of indices for each of the first dimensions, broadcast against each other.
#include "stdlib/families/shapes/scatter.h"

#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/iteration.h"

namespace relish::ops_index_tensor {
namespace {

constexpr Param get_params[] = {{"data", ParamKind::Tensor, "tensor", "", "input"},
                                {"indices", ParamKind::TensorTuple, "tuple of tensors of integers", "",
                                 "positions in the first dimensions; the shapes broadcast"}};
constexpr Param put_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "what the values go into"},
    {"indices", ParamKind::TensorTuple, "tuple of tensors of integers", "",
     "positions in the first dimensions; the shapes broadcast"},
    {"values", ParamKind::Tensor, "tensor", "", "broadcasts to the shape of what the indices choose"},
    {"accumulate", ParamKind::Attribute, "bool", "False", "add to what is there; else the last value stays"}};

struct Chosen {
  int count = 0;          // dimensions that are indexed
  BroadcastShape places;  // the broadcast shape of the indices
  BroadcastShape result;  // places, then the other dimensions of data
};

// Nothing when the tuple is not known.
std::optional<Chosen> chosen_by(const CallView& call) {
  const TupleType* tuple = call.args[1].type().tuple();
  if (!tuple) return std::nullopt;
  Chosen chosen{static_cast<int>(tuple->fields.size()), {Dims{}, 0}, {}};
  if (chosen.count == 0) call.reject("indices", call.span_of(1), "the tuple of indices is empty");
  for (const Type& field : tuple->fields) {
    const TensorType* tensor = field.tensor();
    if (!tensor || (tensor->dtype && !is_int(*tensor->dtype))) {
      call.reject("indices", call.span_of(1),
                  fmt::format("an index has type {}, expected a tensor of integers", print(field)));
    }
    chosen.places = broadcast(call, chosen.places, shape_of(*tensor));
  }
  const BroadcastShape data = shape_of(call.tensor(0));
  if (data.rank >= 0 && chosen.count > data.rank) {
    call.reject("rank", call.span_of(1),
                fmt::format("{} dimensions of data of rank {} are indexed", chosen.count, data.rank));
  }
  chosen.result = replaced_dims(data, 0, chosen.count, chosen.places);
  return chosen;
}

std::int64_t broadcast_position(const Shape& from, const Shape& to, const Shape& index) {
  const Shape strides = broadcast_strides(from, to);
  std::int64_t position = 0;
  for (std::size_t d = 0; d < to.size(); ++d) position += strides[d] * index[d];
  return position;
}

// The broadcast shape of the indices at run time, which are checked.
Shape places_of(const EvalCall& c) {
  Shape shape;
  for (std::size_t k = 0; k < c.args[1].fields().size(); ++k) {
    check_indices(c.call, fmt::format("{}[{}]", c.call.op.params[1].name, k), c.args[1].fields()[k].tensor(),
                  {c.call.op.params[0].name, k, c.in(0).shape()[k]});
  }
  for (const Value& field : c.args[1].fields())
    shape = broadcast_values(c.call, shape, field.tensor().shape());
  return shape;
}

std::int64_t target_of(const EvalCall& c, const Shape& places, const Shape& index) {
  const Shape& shape = c.in(0).shape();
  const auto rank = static_cast<std::ptrdiff_t>(places.size());
  const Shape place(index.begin(), index.begin() + rank);
  Shape to;
  for (const Value& field : c.args[1].fields()) {
    const Tensor& indices = field.tensor();
    const std::int64_t value = index_at(indices, broadcast_position(indices.shape(), places, place));
    to.push_back(from_start(value, shape[to.size()]));
  }
  to.insert(to.end(), index.begin() + rank, index.end());
  return position_of(shape, to);
}

Dims lowered_target(Lowering& lowering, const Buffer& data, const std::vector<Buffer>& indices,
                    const Dims& places, const Dims& place, const Dims& rest) {
  Dims to;
  for (const Buffer& each : indices) {
    const Scalar index = lowering.loops().load(each, lowering.broadcast_index(each, places, place));
    to.push_back(checked_place(index, data.shape()[to.size()]));
  }
  to.insert(to.end(), rest.begin(), rest.end());
  return to;
}

Dims known_places(const CallView& call, const Chosen& chosen) {
  if (!chosen.places.dims)
    call.reject("lowering", call.span_of(1), "lowering needs the broadcast shape of the indices");
  return *chosen.places.dims;
}

// --- index_tensor

Type infer_get(const CallView& call) {
  const TensorType& data = call.tensor(0);
  const auto chosen = chosen_by(call);
  if (!chosen) return TensorType{data.dtype, std::nullopt, -1};
  return tensor_of(chosen->result, data.dtype);
}

Value evaluate_get(const EvalCall& c) {
  const Shape places = places_of(c);
  return gathered(c.in(0), result_shape(c), [&](const Shape& index) { return target_of(c, places, index); });
}

PrimFunc lower_get(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0);
  const std::vector<Buffer> indices = lowering.inputs(1);
  const Buffer result = lowering.output();
  const Dims places = known_places(c.call, *chosen_by(c.call));
  for (std::size_t k = 0; k < indices.size(); ++k) check_indices(lowering, indices[k], data, k);
  const auto rank = static_cast<std::ptrdiff_t>(places.size());
  lowering.map("gather", result, [&](const Dims& i) {
    return lowering.loops().load(
        data, lowered_target(lowering, data, indices, places, Dims(i.begin(), i.begin() + rank),
                             Dims(i.begin() + rank, i.end())));
  });
  return lowering.finish();
}

Partials vjp_get(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent();
  return {
      call_op("index_put", {zeros_of(rule.dims(0), g), rule.argument(1), g}, {{"accumulate", true}}).expr(),
      std::nullopt};
}

constexpr Sample get_samples[] = {
    {"[[1.0, 2.0], [3.0, 4.0]], (R.const([0, 1, 1], \"int64\"), R.const([1, 0, -1], \"int64\"))",
     "[2.0, 3.0, 4.0]"},
    {"[[1.0, 2.0], [3.0, 4.0]], (R.const([1], \"int32\"),)", "[[3.0, 4.0]]"},
    {"rand((3, 4, 2), \"float64\"), (R.const([[0], [2]], \"int64\"), R.const([1, 3, 3], \"int32\"))"},
    {"rand((3, 4), \"float64\"), (R.const(2, \"int64\"), R.const([0, 0], \"int64\"))"},
    {"rand((3, 4), \"float64\"), (R.const(-1, \"int64\"),)"},
    {"rand((3, 0), \"float32\"), (R.const([1, 1], \"int64\"),)"},
};
constexpr Reject get_rejects[] = {
    {"index_tensor.indices", "rand((2, 2), \"float32\"), ()", "is empty"},
    {"index_tensor.indices", "rand((2, 2), \"float32\"), ([0.0],)", "expected a tensor of integers"},
    {"index_tensor.rank", "rand((2,), \"float32\"), (R.const([0], \"int64\"), R.const([0], \"int64\"))",
     "are indexed"},
    {"index_tensor.shape",
     "rand((2, 2), \"float32\"), (R.const([0, 1], \"int64\"), R.const([0, 1, 0], \"int64\"))",
     "do not broadcast"},
};

// --- index_put

scatter::Reduction reduction_of(const CallView& call) {
  return *call.attribute("accumulate").as<bool>() ? scatter::Reduction::Add : scatter::Reduction::Update;
}

Type infer_put(const CallView& call) {
  const TensorType& data = call.tensor(0);
  require_same_dtype(call, 0, 2);
  const auto chosen = chosen_by(call);
  if (!chosen) return data;
  const BroadcastShape values = shape_of(call.tensor(2));
  const BroadcastShape whole = broadcast(call, chosen->result, values);
  bool fits = chosen->result.rank < 0 || values.rank <= chosen->result.rank;
  for (std::size_t d = 0; fits && whole.dims && chosen->result.dims && d < whole.dims->size(); ++d)
    fits = !prove_different((*whole.dims)[d], (*chosen->result.dims)[d]);
  if (!fits) {
    call.reject("values", call.span_of(2),
                fmt::format("values have type {}, which does not broadcast to {}", print(call.args[2].type()),
                            print(Type(tensor_of(chosen->result, data.dtype)))));
  }
  return data;
}

Value evaluate_put(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const Tensor& values = c.in(2);
  const Shape places = places_of(c);
  Shape shape = places;
  const auto count = static_cast<std::ptrdiff_t>(c.args[1].fields().size());
  shape.insert(shape.end(), data.shape().begin() + count, data.shape().end());
  if (broadcast_values(c.call, shape, values.shape()) != shape) {
    fail(ErrorClass::Runtime, c.call.span, "index_put.values",
         fmt::format("index_put: values of shape ({}) do not broadcast to what the indices choose, ({})",
                     fmt::join(values.shape(), ", "), fmt::join(shape, ", ")));
  }
  const Tensor updates = gathered(
      values, shape, [&](const Shape& index) { return broadcast_position(values.shape(), shape, index); });
  return scatter::evaluate(data, updates, reduction_of(c.call),
                           [&](const Shape& index) { return target_of(c, places, index); });
}

PrimFunc lower_put(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0);
  const std::vector<Buffer> indices = lowering.inputs(1);
  const Buffer values = lowering.input(2);
  const Buffer result = lowering.output();
  const Chosen chosen = *chosen_by(c.call);
  const Dims places = known_places(c.call, chosen);
  const Dims rest(data.shape().begin() + chosen.count, data.shape().end());
  for (std::size_t k = 0; k < indices.size(); ++k) check_indices(lowering, indices[k], data, k);
  scatter::lower(lowering, data, values, result, reduction_of(c.call), rest, places,
                 [&](const Dims& around, const Dims& place) {
                   Dims whole = place;
                   whole.insert(whole.end(), around.begin(), around.end());
                   return scatter::Step{lowering.broadcast_index(values, *chosen.result.dims, whole),
                                        lowered_target(lowering, data, indices, places, place, around)};
                 });
  return lowering.finish();
}

Partials vjp_put(const VjpCall& c) {
  const GradientRule rule(c);
  const auto chosen = chosen_by(c.call);
  if (!chosen || !chosen->result.dims)
    c.call.reject("gradient", c.call.span, "the gradient needs the shape of what the indices choose");
  const GraphValue indices = rule.argument(1);
  const GraphValue shape = shape_value(*chosen->result.dims, c.builder);
  scatter::Operations to;
  to.put = [&](const GraphValue& into, const GraphValue& updates, std::string_view reduction) {
    // Positions grow, so the largest is the last one that an update stores.
    return call_op("index_put", {into, indices, updates}, {{"accumulate", reduction == "add"}});
  };
  to.get = [&](const GraphValue& x) { return call_op("index_tensor", {x, indices}); };
  to.order = [&] {
    Dims dims = *chosen->places.dims;
    const GraphValue flat = positions({product(dims)}, 0, c.builder);
    dims.insert(dims.end(), chosen->result.dims->size() - dims.size(), Scalar(1));
    return call_op("broadcast_to", {reshaped(flat, dims), shape});
  };
  GraphValue values = rule.argument(2);
  if (!provably_equal(known_dims(values.type()), chosen->result.dims))
    values = call_op("broadcast_to", {values, shape});
  const scatter::DataAndUpdates partials =
      scatter::gradients(reduction_of(c.call), to, rule.cotangent(), rule.argument(0), values, rule.result());
  return {partials.data.expr(), std::nullopt, rule.fit(partials.updates, 2).expr()};
}

constexpr Sample put_samples[] = {
    {"[1.0, 2.0, 3.0], (R.const([2, 0], \"int64\"),), [8.0, 9.0]", "[9.0, 2.0, 8.0]"},
    {"[1.0, 2.0, 3.0], (R.const([2, -1], \"int32\"),), [8.0, 9.0]", "[1.0, 2.0, 9.0]"},
    {"[1.0, 2.0, 3.0], (R.const([2, 2], \"int64\"),), [8.0, 9.0], accumulate=True", "[1.0, 2.0, 20.0]"},
    {"rand((3, 4), \"float64\"), (R.const([[0], [2]], \"int64\"), R.const([1, 3], \"int32\")), "
     "rand((2, 2), \"float64\")"},
    {"rand((3, 4), \"float64\"), (R.const([1, 1], \"int64\"),), rand((4,), \"float64\")"},
    {"rand((3, 4), \"float64\"), (R.const([1, 1], \"int64\"),), rand((), \"float64\"), accumulate=True"},
    {"rand((3, 0), \"float32\"), (R.const([1, 1], \"int64\"),), rand((2, 0), \"float32\")"},
};
constexpr Reject put_rejects[] = {
    {"index_put.values", "rand((3,), \"float32\"), (R.const([0], \"int64\"),), rand((2,), \"float32\")",
     "does not broadcast to"},
    {"index_put.indices", "rand((2, 2), \"float32\"), (), rand((1,), \"float32\")", "is empty"},
    {"index_put.rank",
     "rand((2,), \"float32\"), (R.const([0], \"int64\"), R.const([0], \"int64\")), rand((1,), \"float32\")",
     "are indexed"},
    {"index_put.dtype", "rand((3,), \"float32\"), (R.const([0], \"int64\"),), rand((1,), \"float64\")",
     "expected the same"},
    {"index_put.shape", "rand((3,), \"float32\"), (R.const([0, 1], \"int64\"),), rand((3,), \"float32\")",
     "do not broadcast"},
};

}  // namespace

extern const Op op_index_tensor{
    .name = "index_tensor",
    .summary = "Elements of data at positions given for each of its first dimensions.",
    .params = get_params,
    .infer = infer_get,
    .eval = evaluate_get,
    .lower = lower_get,
    .vjp = vjp_get,
    .gradient_doc = "ddata = index_put(zeros, indices, g, accumulate=True)",
    .agreement = Agreement::DataMovement,
    .samples = get_samples,
    .rejects = get_rejects,
    .doc =
        "data[i, j, …] of NumPy with tensors of integers. Negative indices count from the end; one out of "
        "range "
        "is a RuntimeError."};

extern const Op op_index_put{
    .name = "index_put",
    .summary = "A copy of data with values at positions given for each of its first dimensions.",
    .params = put_params,
    .infer = infer_put,
    .eval = evaluate_put,
    .lower = lower_put,
    .vjp = vjp_put,
    .gradient_doc =
        "accumulate: ddata = g, dvalues = g at the indices. Else ddata = g with zeros there, dvalues = g at "
        "the "
        "indices for the values that stay; summed to the shape of values.",
    .agreement = Agreement::Sum,
    .agreement_by = [](const CallView& call) { return scatter::agreement(reduction_of(call)); },
    .terms = scatter::terms,
    .samples = put_samples,
    .rejects = put_rejects,
    .doc =
        "Of several values for one place the last in row-major order of the indices stays, or all are added "
        "to "
        "what was there."};

}  // namespace relish::ops_index_tensor
