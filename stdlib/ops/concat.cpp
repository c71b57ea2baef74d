// Joining of tensors along a dimension: an existing one (concat) or a new one (stack).
#include "stdlib/families/shapes/movement.h"

#include "ir/printer/printer.h"

namespace relish::ops_concat {
namespace {

constexpr Param concat_params[] = {
    {"tensors", ParamKind::TensorTuple, "tuple of tensors", "", "tensors of one dtype and rank"},
    {"axis", ParamKind::Attribute, "int or None", "0",
     "dimension along which they are joined; None is for 1-D tensors"}};
constexpr Param stack_params[] = {
    {"tensors", ParamKind::TensorTuple, "tuple of tensors", "", "tensors of one dtype and shape"},
    {"axis", ParamKind::Attribute, "int or None", "0", "position of the new dimension in the result"}};

// The types of the fields; nothing when the argument is a tuple of which nothing is known.
std::optional<std::vector<TensorType>> field_types(const CallView& call) {
  const TupleType* tuple = call.args[0].type().tuple();
  if (!tuple) return std::nullopt;
  if (tuple->fields.empty()) call.reject("tensors", call.span_of(0), "the tuple is empty");
  std::vector<TensorType> types;
  for (const Type& field : tuple->fields) {
    const TensorType* tensor = field.tensor();
    if (!tensor) {
      call.reject("tensors", call.span_of(0),
                  fmt::format("the tuple has a field of type {}, expected tensors", print(field)));
    }
    types.push_back(*tensor);
  }
  return types;
}

std::optional<DType> common_field_dtype(const CallView& call, const std::vector<TensorType>& types) {
  std::optional<DType> dtype;
  bool known = true;
  for (const TensorType& type : types) {
    if (!type.dtype) {
      known = false;
    } else if (!dtype) {
      dtype = type.dtype;
    } else if (*dtype != *type.dtype) {
      call.reject("dtype", call.span_of(0),
                  fmt::format("the tensors have dtypes {} and {}, expected the same", name_of(*dtype),
                              name_of(*type.dtype)));
    }
  }
  return known ? dtype : std::nullopt;
}

int common_rank(const CallView& call, const std::vector<TensorType>& types) {
  int rank = -1;
  for (const TensorType& type : types) {
    const int found = shape_of(type).rank;
    if (rank >= 0 && found >= 0 && found != rank) {
      call.reject("rank", call.span_of(0),
                  fmt::format("the tensors have ranks {} and {}, expected the same", rank, found));
    }
    if (found >= 0) rank = found;
  }
  return rank;
}

// The dimensions that all tensors share: the first known ones. `free` need not be equal (-1: none).
std::optional<Dims> common_dims(const CallView& call, const std::vector<TensorType>& types, int free) {
  std::optional<Dims> common;
  for (const TensorType& type : types) {
    const std::optional<Dims> dims = known_dims(type);
    if (!dims) continue;
    if (!common) common = dims;
    for (std::size_t i = 0; i < dims->size(); ++i) {
      if (static_cast<int>(i) == free || !prove_different((*common)[i], (*dims)[i])) continue;
      call.reject("shape", call.span_of(0),
                  fmt::format("dimension {} of the tensors is {} and {}, expected the same", i,
                              print((*common)[i]), print((*dims)[i])));
    }
  }
  return common;
}

int concat_axis(const CallView& call, int rank) {
  if (!call.attribute("axis").is_none()) return normal_axis(call, call.int_attribute("axis"), rank);
  if (rank != 1)
    call.reject("axis", call.span, fmt::format("axis is None beside tensors of rank {}, expected 1", rank));
  return 0;
}

int stack_axis(const CallView& call, int rank) {
  if (call.attribute("axis").is_none()) return 0;
  return normal_axis(call, call.int_attribute("axis"), rank + 1);
}

// The sum of [begin, end), in halves: a sum of many terms nests no deeper than the logarithm of their number.
Scalar sum_of(const Dims& lengths, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return lengths[begin];
  const std::size_t middle = begin + (end - begin) / 2;
  return sum_of(lengths, begin, middle) + sum_of(lengths, middle, end);
}

// --- concat

Type infer_concat(const CallView& call) {
  const auto types = field_types(call);
  if (!types) return TensorType{};
  const std::optional<DType> dtype = common_field_dtype(call, *types);
  const int rank = common_rank(call, *types);
  if (rank < 0) return TensorType{dtype, std::nullopt, -1};
  const int axis = concat_axis(call, rank);
  std::optional<Dims> dims = common_dims(call, *types, axis);
  Dims lengths;
  for (const TensorType& type : *types) {
    const std::optional<Dims> each = known_dims(type);
    if (!each) return TensorType{dtype, std::nullopt, rank};
    lengths.push_back((*each)[static_cast<std::size_t>(axis)]);
  }
  (*dims)[static_cast<std::size_t>(axis)] = canonical(sum_of(lengths, 0, lengths.size()));
  return TensorType{dtype, std::move(dims), rank};
}

Value evaluate_concat(const EvalCall& c) {
  const std::vector<Value>& fields = c.args[0].fields();
  const Shape shape = result_shape(c);
  const int axis = concat_axis(c.call, static_cast<int>(shape.size()));
  const auto along = static_cast<std::size_t>(axis);
  Tensor result = Tensor::empty(*c.result_type.tensor()->dtype, shape);
  std::int64_t offset = 0;
  for (const Value& field : fields) {
    const Tensor& part = field.tensor();
    std::int64_t from = 0;
    for_each_index(part.shape(), [&](Shape index) {
      index[along] += offset;
      copy_element(result, position_of(shape, index), part, from++);
    });
    offset += part.shape()[along];
  }
  return result;
}

PrimFunc lower_concat(const LowerCall& c) {
  Lowering lowering(c);
  const std::vector<Buffer> parts = lowering.inputs(0);
  const Buffer result = lowering.output();
  const int axis = concat_axis(c.call, result.rank());
  Scalar offset = 0;
  for (const Buffer& part : parts) {
    for (int d = 0; d < result.rank(); ++d) {
      if (d == axis) continue;
      const auto at = static_cast<std::size_t>(d);
      lowering.require_equal(part.shape()[at], result.shape()[at],
                             fmt::format("concat: dimension {} of the tensors must be the same", d));
    }
    lowering.loops().spatial("concat", part.shape(), [&](const Dims& i) {
      const Scalar& along = i[static_cast<std::size_t>(axis)];
      const Scalar to = offset.as_int() == 0 ? along : along + offset;
      return lowering.loops().store(result, replaced_dim(i, axis, to), lowering.loops().load(part, i));
    });
    offset = canonical(offset + part.shape()[static_cast<std::size_t>(axis)]);
  }
  return lowering.finish();
}

Partials vjp_concat(const VjpCall& c) {
  const GradientRule rule(c);
  const std::vector<GraphValue> parts = rule.fields(0);
  const GraphValue g = rule.cotangent();
  if (parts.size() == 1) return {tuple_of({g}, c.builder)};
  const int rank = shape_of(parts.front().type()).rank;
  if (rank < 0) c.call.reject("gradient", c.call.span, "the gradient needs the rank of the tensors");
  const int axis = concat_axis(c.call, rank);
  std::vector<Scalar> cuts{0};
  std::vector<std::int64_t> literals;
  for (const GraphValue& part : parts) {
    const std::optional<Dims> dims = known_dims(part.type());
    if (!dims) {
      c.call.reject("gradient", c.call.span_of(0),
                    fmt::format("the gradient needs the shapes of the tensors, one of which has type {}",
                                print(part.expr().type())));
    }
    cuts.push_back(canonical(cuts.back() + (*dims)[static_cast<std::size_t>(axis)]));
    if (const auto cut = cuts.back().as_int()) literals.push_back(*cut);
  }
  std::vector<GraphValue> partials;
  if (literals.size() == parts.size()) {
    literals.pop_back();
    const GraphValue pieces =
        call_op("split", {g}, {{"indices_or_sections", attribute_of(literals)}, {"axis", axis}});
    const Expr& all = pieces.leaf();
    for (std::size_t k = 0; k < parts.size(); ++k) partials.push_back(rule.field(all, k));
  } else {
    for (std::size_t k = 0; k < parts.size(); ++k) partials.push_back(sliced(g, axis, cuts[k], cuts[k + 1]));
  }
  return {tuple_of(partials, c.builder)};
}

constexpr Sample concat_samples[] = {
    {"([1.0, 2.0], [3.0])", "[1.0, 2.0, 3.0]"},
    {"([[1.0], [2.0]], [[3.0, 4.0], [5.0, 6.0]]), axis=1", "[[1.0, 3.0, 4.0], [2.0, 5.0, 6.0]]"},
    {"([[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]), axis=-2", "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]"},
    {"([1.0], [2.0, 3.0]), axis=None", "[1.0, 2.0, 3.0]"},
    {"(rand((2, 3, 4), \"float64\"), rand((2, 1, 4), \"float64\")), axis=1"},
    {"(rand((0, 3), \"float32\"), rand((2, 3), \"float32\"))"},
    {"(rand((2, 3), \"float32\"),), axis=0"},
    {"(rand((5, 0), \"float32\"), rand((5, 0), \"float32\")), axis=-1"},
};
constexpr Reject concat_rejects[] = {
    {"concat.tensors", "()", "is empty"},
    {"concat.axis", "(rand((2, 3), \"float32\"), rand((2, 3), \"float32\")), axis=2", "out of range"},
    {"concat.axis", "(rand((2, 3), \"float32\"), rand((2, 3), \"float32\")), axis=None", "expected 1"},
    {"concat.dtype", "(rand((2,), \"float32\"), rand((2,), \"float64\"))", "expected the same"},
    {"concat.rank", "(rand((2,), \"float32\"), rand((2, 1), \"float32\"))", "ranks 1 and 2"},
    {"concat.shape", "(rand((2, 3), \"float32\"), rand((2, 4), \"float32\")), axis=0", "is 3 and 4"},
};

// --- stack

Type infer_stack(const CallView& call) {
  const auto types = field_types(call);
  if (!types) return TensorType{};
  const std::optional<DType> dtype = common_field_dtype(call, *types);
  const int rank = common_rank(call, *types);
  if (rank < 0) return TensorType{dtype, std::nullopt, -1};
  const int axis = stack_axis(call, rank);
  std::optional<Dims> dims = common_dims(call, *types, -1);
  if (dims) dims->insert(dims->begin() + axis, Scalar(static_cast<std::int64_t>(types->size())));
  return TensorType{dtype, std::move(dims), rank + 1};
}

Value evaluate_stack(const EvalCall& c) {
  const std::vector<Value>& fields = c.args[0].fields();
  const Shape shape = result_shape(c);
  const int axis = stack_axis(c.call, static_cast<int>(shape.size()) - 1);
  Tensor result = Tensor::empty(*c.result_type.tensor()->dtype, shape);
  for (std::size_t k = 0; k < fields.size(); ++k) {
    std::int64_t from = 0;
    for_each_index(fields[k].tensor().shape(), [&](Shape index) {
      index.insert(index.begin() + axis, static_cast<std::int64_t>(k));
      copy_element(result, position_of(shape, index), fields[k].tensor(), from++);
    });
  }
  return result;
}

PrimFunc lower_stack(const LowerCall& c) {
  Lowering lowering(c);
  const std::vector<Buffer> parts = lowering.inputs(0);
  const Buffer result = lowering.output();
  const int axis = stack_axis(c.call, result.rank() - 1);
  const Dims shared = without_dim(result.shape(), axis);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    for (std::size_t d = 0; d < shared.size(); ++d) {
      lowering.require_equal(parts[k].shape()[d], shared[d],
                             fmt::format("stack: dimension {} of the tensors must be the same", d));
    }
    lowering.loops().spatial("stack", parts[k].shape(), [&](const Dims& i) {
      Dims to = i;
      to.insert(to.begin() + axis, Scalar(static_cast<std::int64_t>(k)));
      return lowering.loops().store(result, to, lowering.loops().load(parts[k], i));
    });
  }
  return lowering.finish();
}

Partials vjp_stack(const VjpCall& c) {
  const GradientRule rule(c);
  const std::vector<GraphValue> parts = rule.fields(0);
  const GraphValue g = rule.cotangent();
  const int rank = shape_of(parts.front().type()).rank;
  if (rank < 0) c.call.reject("gradient", c.call.span, "the gradient needs the rank of the tensors");
  const int axis = stack_axis(c.call, rank);
  const Attributes along{{"axis", attribute_of({axis})}};
  if (parts.size() == 1) return {tuple_of({call_op("squeeze", {g}, along)}, c.builder)};
  const GraphValue pieces = call_op(
      "split", {g}, {{"indices_or_sections", static_cast<std::int64_t>(parts.size())}, {"axis", axis}});
  const Expr& all = pieces.leaf();
  std::vector<GraphValue> partials;
  for (std::size_t k = 0; k < parts.size(); ++k)
    partials.push_back(call_op("squeeze", {rule.field(all, k)}, along));
  return {tuple_of(partials, c.builder)};
}

constexpr Sample stack_samples[] = {
    {"([1.0, 2.0], [3.0, 4.0])", "[[1.0, 2.0], [3.0, 4.0]]"},
    {"([1.0, 2.0], [3.0, 4.0]), axis=1", "[[1.0, 3.0], [2.0, 4.0]]"},
    {"([1.0, 2.0], [3.0, 4.0]), axis=None", "[[1.0, 2.0], [3.0, 4.0]]"},
    {"(rand((), \"float64\"), rand((), \"float64\"), rand((), \"float64\")), axis=-1"},
    {"(rand((2, 3), \"float64\"), rand((2, 3), \"float64\")), axis=-2"},
    {"(rand((0, 3), \"float32\"), rand((0, 3), \"float32\")), axis=1"},
    {"(rand((1, 4), \"float32\"),), axis=2"},
};
constexpr Reject stack_rejects[] = {
    {"stack.tensors", "()", "is empty"},
    {"stack.axis", "([1.0], [2.0]), axis=2", "out of range"},
    {"stack.dtype", "(rand((2,), \"float32\"), rand((2,), \"float64\"))", "expected the same"},
    {"stack.rank", "(rand((2,), \"float32\"), rand((2, 1), \"float32\"))", "ranks 1 and 2"},
    {"stack.shape", "(rand((2,), \"float32\"), rand((3,), \"float32\"))", "is 2 and 3"},
};

constexpr std::string_view concat_aliases[] = {"concatenate"};

}  // namespace

extern const Op op_concat{.name = "concat",
                          .summary = "Join tensors along a dimension.",
                          .params = concat_params,
                          .infer = infer_concat,
                          .eval = evaluate_concat,
                          .lower = lower_concat,
                          .vjp = vjp_concat,
                          .gradient_doc = "dtensors = split(g, the cumulative lengths along axis, axis)",
                          .agreement = Agreement::DataMovement,
                          .samples = concat_samples,
                          .rejects = concat_rejects,
                          .aliases = concat_aliases,
                          .doc =
                              "All dimensions but that of axis are the same; where types do not tell, a run "
                              "checks it. concatenate is the name of 2019."};

extern const Op op_stack{.name = "stack",
                         .summary = "Join tensors of one shape along a new dimension.",
                         .params = stack_params,
                         .infer = infer_stack,
                         .eval = evaluate_stack,
                         .lower = lower_stack,
                         .vjp = vjp_stack,
                         .gradient_doc = "dtensors[k] = g at position k of axis",
                         .agreement = Agreement::DataMovement,
                         .samples = stack_samples,
                         .rejects = stack_rejects,
                         .doc = "An axis of None is 0. Negative axes count from the end of the result."};

}  // namespace relish::ops_concat
