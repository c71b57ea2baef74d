// Coordinates of a grid.
#include "stdlib/families/shapes/movement.h"

#include "ir/printer/printer.h"

namespace relish::ops_meshgrid {
namespace {

constexpr Param params[] = {
    {"tensors", ParamKind::TensorTuple, "tuple of tensors", "",
     "1-D tensors, the coordinates of each dimension"},
    {"indexing", ParamKind::Attribute, "str", "\"ij\"", "ij, or xy to exchange the first two dimensions"}};

// The dimension of the results along which tensor `k` of `count` runs.
int dimension_of(const CallView& call, int k, int count) {
  const std::string indexing = call.string_attribute("indexing");
  if (indexing != "ij" && indexing != "xy")
    call.reject("indexing", call.span, fmt::format("indexing is \"{}\", expected ij or xy", indexing));
  return indexing == "xy" && count > 1 && k < 2 ? 1 - k : k;
}

Type infer(const CallView& call) {
  const TupleType* tuple = call.args[0].type().tuple();
  if (!tuple) return Type();
  const int count = static_cast<int>(tuple->fields.size());
  if (count == 0) call.reject("tensors", call.span_of(0), "the tuple is empty");
  Dims dims(static_cast<std::size_t>(count));
  bool known = true;
  for (int k = 0; k < count; ++k) {
    const TensorType* tensor = tuple->fields[static_cast<std::size_t>(k)].tensor();
    if (!tensor || (tensor->rank >= 0 && tensor->rank != 1)) {
      call.reject("tensors", call.span_of(0),
                  fmt::format("field {} has type {}, expected a 1-D tensor", k,
                              print(tuple->fields[static_cast<std::size_t>(k)])));
    }
    const auto own = known_dims(*tensor);
    known = known && own;
    if (own) dims[static_cast<std::size_t>(dimension_of(call, k, count))] = own->front();
  }
  TupleType result;
  for (const Type& field : tuple->fields)
    result.fields.push_back(
        TensorType{field.tensor()->dtype, known ? std::optional(dims) : std::nullopt, count});
  return result;
}

Value evaluate(const EvalCall& c) {
  const std::vector<Value>& fields = c.args[0].fields();
  const int count = static_cast<int>(fields.size());
  Shape shape(fields.size());
  for (int k = 0; k < count; ++k)
    shape[static_cast<std::size_t>(dimension_of(c.call, k, count))] =
        fields[static_cast<std::size_t>(k)].tensor().size();
  std::vector<Value> grids;
  for (int k = 0; k < count; ++k) {
    const auto along = static_cast<std::size_t>(dimension_of(c.call, k, count));
    grids.emplace_back(gathered(fields[static_cast<std::size_t>(k)].tensor(), shape,
                                [&](const Shape& index) { return index[along]; }));
  }
  return Value::tuple(std::move(grids));
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const std::vector<Buffer> tensors = lowering.inputs(0);
  const int count = static_cast<int>(tensors.size());
  for (int k = 0; k < count; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const auto along = static_cast<std::size_t>(dimension_of(c.call, k, count));
    const Buffer grid = lowering.output(at, fmt::format("grid_{}", k));
    lowering.map("grid", grid, [&](const Dims& i) { return lowering.loops().load(tensors[at], {i[along]}); });
  }
  return lowering.finish();
}

// g summed over the dimensions along which a tensor does not run.
Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const int count = static_cast<int>(rule.fields(0).size());
  std::vector<GraphValue> partials;
  for (int k = 0; k < count; ++k) {
    std::vector<int> others;
    for (int d = 0; d < count; ++d) {
      if (d != dimension_of(c.call, k, count)) others.push_back(d);
    }
    const GraphValue g = rule.cotangent(static_cast<std::size_t>(k));
    partials.push_back(
        others.empty() ? g : call_op("sum", {g}, {{"axis", axes_attribute(others)}, {"keepdims", false}}));
  }
  return {tuple_of(partials, c.builder)};
}

constexpr Sample samples[] = {
    {"(rand((2,), \"float64\"), rand((3,), \"float64\"))"},
    {"(rand((2,), \"float64\"), rand((3,), \"float64\"), rand((4,), \"float64\")), indexing=\"xy\""},
    {"(rand((3,), \"float64\"),), indexing=\"xy\""},
    {"(rand((1,), \"float32\"), rand((5,), \"float32\"))"},
    {"(rand((0,), \"float32\"), rand((2,), \"float32\"))"},
    {"(R.const([1, 2], \"int32\"), R.const([3, 4], \"int64\"))"},
};
constexpr Reject rejects[] = {
    {"meshgrid.tensors", "()", "is empty"},
    {"meshgrid.tensors", "(rand((2, 2), \"float32\"),)", "expected a 1-D tensor"},
    {"meshgrid.indexing", "(rand((2,), \"float32\"),), indexing=\"yx\"", "expected ij or xy"},
};

}  // namespace

extern const Op op_meshgrid{.name = "meshgrid",
                            .summary = "One tensor of coordinates for each dimension of a grid.",
                            .params = params,
                            .infer = infer,
                            .eval = evaluate,
                            .lower = lower,
                            .vjp = vjp,
                            .gradient_doc = "dtensors[k] = the sum of g[k] over all dimensions but its own",
                            .agreement = Agreement::DataMovement,
                            .samples = samples,
                            .rejects = rejects,
                            .doc = "As numpy.meshgrid; the results are a tuple."};

}  // namespace relish::ops_meshgrid
