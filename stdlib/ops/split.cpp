// Division of a tensor into parts along a dimension.
#include <algorithm>

#include "stdlib/families/shapes/movement.h"

namespace relish::ops_split {
namespace {

constexpr Param params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "input"},
    {"indices_or_sections", ParamKind::Attribute, "int or list[int]", "",
     "the number of parts of equal length (the last may be shorter), or the positions of the cuts"},
    {"axis", ParamKind::Attribute, "int", "0", "dimension that is divided"}};

// Parts are values of their own.
constexpr std::int64_t most_parts = 65536;

int axis_of(const CallView& call, int rank) { return normal_axis(call, call.int_attribute("axis"), rank); }

bool in_sections(const CallView& call) {
  return call.attribute("indices_or_sections").as<std::int64_t>() != nullptr;
}

// The cuts, those before the start moved to it; of sections their number alone, checked.
std::vector<std::int64_t> division(const CallView& call) {
  std::vector<std::int64_t> cuts = int_list(call.attribute("indices_or_sections"));
  if (in_sections(call)) {
    if (cuts[0] < 1)
      call.reject("sections", call.span, fmt::format("{} parts, expected at least 1", cuts[0]));
    if (cuts[0] > most_parts) {
      call.reject("sections", call.span, fmt::format("{} parts, expected at most {}", cuts[0], most_parts));
    }
    return cuts;
  }
  for (std::int64_t& cut : cuts) cut = std::max<std::int64_t>(cut, 0);
  return cuts;
}

std::size_t count_of(const CallView& call) {
  const std::vector<std::int64_t> cuts = division(call);
  return in_sections(call) ? static_cast<std::size_t>(cuts[0]) : cuts.size() + 1;
}

// Whether a cut lies before the one before it: the part between them is empty, and the next begins there.
bool goes_back(const CallView& call) {
  if (in_sections(call)) return false;
  const std::vector<std::int64_t> cuts = division(call);
  return !std::is_sorted(cuts.begin(), cuts.end());
}

// Where the parts begin, and the end of the last: count + 1 positions of a dimension of that length.
std::vector<Scalar> bounds_of(const CallView& call, const Scalar& length) {
  const std::vector<std::int64_t> cuts = division(call);
  std::vector<Scalar> bounds{0};
  const auto clamped = [&](const Scalar& position) { return canonical(min(position, length)); };
  if (in_sections(call)) {
    const Scalar n = cuts[0];
    const Scalar whole = canonical(floor_div(length, n));
    const bool even = prove_equal(whole * n, length);
    const Scalar part = even ? whole : canonical(floor_div(length + n - Scalar(1), n));
    for (std::int64_t k = 1; k < cuts[0]; ++k)
      bounds.push_back(even ? canonical(part * Scalar(k)) : clamped(part * Scalar(k)));
  } else {
    for (std::int64_t cut : cuts) bounds.push_back(cut == 0 ? Scalar(0) : clamped(cut));
  }
  bounds.push_back(length);
  return bounds;
}

// The lengths of the parts between these bounds.
std::vector<Scalar> lengths_of(const CallView& call, const std::vector<Scalar>& bounds) {
  const std::vector<std::int64_t> cuts = division(call);
  std::vector<Scalar> lengths;
  for (std::size_t k = 0; k + 1 < bounds.size(); ++k) {
    const bool back = !in_sections(call) && k > 0 && k < cuts.size() && cuts[k] < cuts[k - 1];
    lengths.push_back(back ? Scalar(0) : canonical(bounds[k + 1] - bounds[k]));
  }
  return lengths;
}

Type infer(const CallView& call) {
  const TensorType& x = call.tensor(0);
  const std::size_t count = count_of(call);
  const BroadcastShape shape = shape_of(x);
  std::vector<Type> parts(count, TensorType{x.dtype, std::nullopt, shape.rank});
  if (shape.rank >= 0) {
    const int axis = axis_of(call, shape.rank);
    if (shape.dims) {
      const std::vector<Scalar> bounds = bounds_of(call, (*shape.dims)[static_cast<std::size_t>(axis)]);
      const std::vector<Scalar> lengths = lengths_of(call, bounds);
      for (std::size_t k = 0; k < count; ++k) {
        Dims dims = replaced_dim(*shape.dims, axis, lengths[k]);
        parts[k] = TensorType{x.dtype, std::move(dims), shape.rank};
      }
    }
  }
  if (count == 1) return parts[0];
  return TupleType{std::move(parts)};
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const auto axis = static_cast<std::size_t>(axis_of(c.call, x.rank()));
  const std::int64_t length = x.shape()[axis];
  const Shape bounds = literal_shape(bounds_of(c.call, Scalar(length)));
  std::vector<Value> parts;
  for (std::size_t k = 0; k + 1 < bounds.size(); ++k) {
    Shape shape = x.shape();
    shape[axis] = std::max<std::int64_t>(bounds[k + 1] - bounds[k], 0);
    parts.emplace_back(gathered(x, shape, [&](Shape index) {
      index[axis] += bounds[k];
      return position_of(x.shape(), index);
    }));
  }
  return parts.size() == 1 ? parts[0] : Value::tuple(std::move(parts));
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const int axis = axis_of(c.call, x.rank());
  const std::vector<Scalar> bounds = bounds_of(c.call, x.shape()[static_cast<std::size_t>(axis)]);
  const std::size_t count = lowering.result_count();
  for (std::size_t k = 0; k < count; ++k) {
    const Buffer part = count == 1 ? lowering.output() : lowering.output(k, fmt::format("part_{}", k));
    lowering.map("split", part, [&](const Dims& i) {
      const Scalar& along = i[static_cast<std::size_t>(axis)];
      const Scalar from = bounds[k].as_int() == 0 ? along : along + bounds[k];
      return lowering.loops().load(x, replaced_dim(i, axis, from));
    });
  }
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const std::size_t count = count_of(c.call);
  if (count == 1) return {c.cotangent};
  const int rank = shape_of(c.call.tensor(0)).rank;
  if (rank < 0) c.call.reject("gradient", c.call.span, "the gradient needs the rank of x");
  if (goes_back(c.call)) {
    const int axis = axis_of(c.call, rank);
    const Dims dims = rule.dims(0);
    const std::vector<Scalar> bounds = bounds_of(c.call, dims[static_cast<std::size_t>(axis)]);
    const std::vector<Scalar> lengths = lengths_of(c.call, bounds);
    std::optional<GraphValue> sum;
    for (std::size_t k = 0; k < count; ++k) {
      if (is_zero(lengths[k])) continue;
      const GraphValue part =
          padded(rule.cotangent(k), dims, axis, bounds[k], canonical(bounds[k] + lengths[k]));
      sum = sum ? call_op("add", {*sum, part}) : part;
    }
    return {sum ? sum->expr() : zeros_of(dims, rule.argument(0)).expr()};
  }
  std::vector<GraphValue> parts;
  for (std::size_t k = 0; k < count; ++k) parts.push_back(rule.cotangent(k));
  const GraphValue whole(tuple_of(parts, c.builder), c.builder);
  return {call_op("concat", {whole}, {{"axis", axis_of(c.call, rank)}}).expr()};
}

constexpr Sample samples[] = {
    {"rand((4, 3), \"float64\"), 2"},
    {"rand((2, 5), \"float32\"), 3, axis=1"},
    {"rand((7,), \"float64\"), [2, 5]"},
    {"rand((2, 3), \"float32\"), [1, 1, 8], axis=-1"},
    {"rand((3, 2), \"float32\"), [0]"},
    {"[1.0, 2.0, 3.0], 1", "[1.0, 2.0, 3.0]"},
    {"[1.0, 2.0], []", "[1.0, 2.0]"},
    {"rand((0, 2), \"float32\"), 2"},
    {"rand((3,), \"float32\"), 5"},
    {"[1.0, 2.0, 3.0, 4.0, 5.0], [4, 2]",
     "(tensor([1.0, 2.0, 3.0, 4.0], \"float32\"), tensor([], \"float32\"), tensor([3.0, 4.0, 5.0], "
     "\"float32\"))"},
    {"rand((2, 5), \"float64\"), [3, 1, 4, 0], axis=1"},
    {"rand((3,), \"float64\"), [8, 7]"},
    {"rand((2, 15), \"float64\"), [-2, 2, 6, 4, 8, 12, 9], axis=1"},
};
constexpr Reject rejects[] = {
    {"split.axis", "rand((2, 3), \"float32\"), 2, axis=2", "out of range"},
    {"split.sections", "rand((2, 3), \"float32\"), 0", "expected at least 1"},
};

}  // namespace

extern const Op op_split{
    .name = "split",
    .summary = "Divide a tensor into parts along a dimension.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc =
        "dx = concat(g, axis), with zeros for the parts that are not used; of cuts that "
        "decrease, the sum of the parts at their places",
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "A number n gives parts of ceil(length / n), of which the last ones are shorter or empty (TVM gives "
        "them a negative length). Cuts beyond either end are clamped to it (NumPy counts negative ones from "
        "the end). A cut "
        "before the one before it ends an empty part, and the next begins at it, as in NumPy. One part (n of "
        "1, or no cuts) is a "
        "tensor, "
        "not a tuple of one, as in TVM."};

}  // namespace relish::ops_split
