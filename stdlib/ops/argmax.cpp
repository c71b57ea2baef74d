// Positions of the largest and the smallest elements.
#include "stdlib/families/shapes/movement.h"

#include "stdlib/families/elementwise/scalar_math.h"
#include "stdlib/families/language/pace.h"

namespace relish::ops_argmax {
namespace {

constexpr Param params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "input"},
    {"axis", ParamKind::Attribute, "int or None", "None",
     "dimension to search; None searches all, flattened"},
    {"keepdims", ParamKind::Attribute, "bool", "False", "keep the searched dimension with length 1"}};

bool keepdims(const CallView& call) { return *call.attribute("keepdims").as<bool>(); }
bool flattened(const CallView& call) { return call.attribute("axis").is_none(); }
int axis_of(const CallView& call, int rank) { return normal_axis(call, call.int_attribute("axis"), rank); }

std::string empty_message(const CallView& call) { return fmt::format("{} of no elements", call.op.name); }

Type infer(const CallView& call) {
  const BroadcastShape x = shape_of(call.tensor(0));
  if (flattened(call)) {
    for (const Scalar& dim : x.dims.value_or(Dims{})) {
      if (is_zero(dim)) call.reject("empty", call.span, "x has no elements");
    }
    if (!keepdims(call)) return tensor_type({}, DType::Int64);
    if (x.rank < 0) return TensorType{DType::Int64, std::nullopt, -1};
    return tensor_type(Dims(static_cast<std::size_t>(x.rank), Scalar(1)), DType::Int64);
  }
  if (x.rank < 0) return TensorType{DType::Int64, std::nullopt, -1};
  const int axis = axis_of(call, x.rank);
  if (!x.dims) return TensorType{DType::Int64, std::nullopt, keepdims(call) ? x.rank : x.rank - 1};
  if (is_zero((*x.dims)[static_cast<std::size_t>(axis)]))
    call.reject("empty", call.span, fmt::format("dimension {} of x has no elements", axis));
  return tensor_type(keepdims(call) ? replaced_dim(*x.dims, axis, 1) : without_dim(*x.dims, axis),
                     DType::Int64);
}

// Whether `a` is found before `b`: a NaN before any number.
template <bool largest, class T>
bool better(T a, T b) {
  if constexpr (std::floating_point<T>) {
    if (std::isnan(a)) return !std::isnan(b);
    if (std::isnan(b)) return false;
  }
  return largest ? a > b : a < b;
}

template <bool largest>
Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  // As (outer, length, inner).
  std::int64_t outer = 1, length = x.size(), inner = 1;
  if (!flattened(c.call)) {
    const auto axis = static_cast<std::size_t>(axis_of(c.call, x.rank()));
    length = x.shape()[axis];
    for (std::size_t d = 0; d < axis; ++d) outer *= x.shape()[d];
    for (std::size_t d = axis + 1; d < x.shape().size(); ++d) inner *= x.shape()[d];
  }
  Tensor result = Tensor::empty(DType::Int64, result_shape(c));
  visit_dtype(x.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* source = x.view<T>().data();
    Pace pace;
    for (std::int64_t line = 0; line < outer * inner; ++line) {
      const T* first = source + (line / inner) * length * inner + line % inner;
      std::int64_t best = 0;
      for (std::int64_t i = 1; i < length; ++i, pace()) {
        if (better<largest>(to_compute(first[i * inner]), to_compute(first[best * inner]))) best = i;
      }
      result.set_int(line, best);
    }
  });
  return result;
}

// First the extreme value of each line, then the lowest position that has it.
template <bool largest>
PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  const DType wide = is_bool(x.dtype()) ? DType::Int32 : compute_dtype(x.dtype());
  const bool all = flattened(c.call);
  const int axis = all ? 0 : axis_of(c.call, x.rank());
  const Dims lines = all ? Dims{} : without_dim(x.shape(), axis);
  const Dims searched = all ? x.shape() : Dims{x.shape()[static_cast<std::size_t>(axis)]};
  const Scalar length = product(searched);
  if (!length.as_int()) lowering.require(length > Scalar(0), empty_message(c.call));
  const auto element = [&](const Dims& s, const Dims& r) {
    if (all) return lowering.load_as(wide, x, r);
    Dims index = s;
    index.insert(index.begin() + axis, r[0]);
    return lowering.load_as(wide, x, index);
  };
  const Buffer extreme = lowering.temporary(largest ? "largest" : "smallest", lines, wide);
  lowering.reduce(
      "extreme", extreme, lines, searched, element,
      [](const Scalar& a, const Scalar& b) { return largest ? maximum_ieee(a, b) : minimum_ieee(a, b); },
      largest ? min_value(wide) : max_value(wide));
  const Buffer position = keepdims(c.call) ? lowering.temporary("position", lines, DType::Int64) : result;
  const auto candidate = [&](const Dims& s, const Dims& r) {
    const Scalar value = element(s, r), wanted = lowering.loops().load(extreme, s);
    Scalar found = equal(value, wanted);
    if (is_float(wide)) {
      const auto is_nan = [](const Scalar& v) { return compare(CompareOp::Ne, v, v); };
      found = logical(LogicalOp::Or, found, logical(LogicalOp::And, is_nan(value), is_nan(wanted)));
    }
    Scalar flat = 0;
    for (std::size_t d = 0; d < r.size(); ++d) flat = d == 0 ? r[0] : flat * searched[d] + r[d];
    return select(found, flat, length);
  };
  lowering.reduce(
      "position", position, lines, searched, candidate,
      [](const Scalar& a, const Scalar& b) { return min(a, b); }, max_value(DType::Int64));
  if (keepdims(c.call)) {
    lowering.map("keep", result, [&](const Dims& i) {
      return lowering.loops().load(position, all ? Dims{} : without_dim(i, axis));
    });
  }
  return lowering.finish();
}

constexpr Sample largest_samples[] = {
    {"[[1.0, 5.0, 5.0], [4.0, 2.0, 3.0]]", "1"},
    {"[[1.0, 5.0, 5.0], [4.0, 2.0, 3.0]], axis=0", "[1, 0, 0]"},
    {"[[1.0, 5.0, 5.0], [4.0, 2.0, 3.0]], axis=-1, keepdims=True", "[[1], [0]]"},
    {"rand((2, 3, 4), \"float64\"), axis=1"},
    {"rand((2, 3), \"float32\"), keepdims=True"},
    {"rand((), \"float32\")", "0"},
    {"rand((0, 3), \"float32\"), axis=1"},
    {"R.const([-128, 127, 127], \"int8\"), axis=0", "1"},
    {"R.const([False, True, True], \"bool\")", "1"},
};
constexpr Reject largest_rejects[] = {
    {"argmax.axis", "rand((2, 3), \"float32\"), axis=2", "out of range"},
    {"argmax.empty", "rand((0, 3), \"float32\"), axis=0", "dimension 0"},
    {"argmax.empty", "rand((0, 3), \"float32\")", "no elements"},
};
constexpr Sample smallest_samples[] = {
    {"[[3.0, 1.0, 1.0], [4.0, 2.0, 0.5]]", "5"},
    {"[[3.0, 1.0, 1.0], [4.0, 2.0, 0.5]], axis=1", "[1, 2]"},
    {"[[3.0, 1.0, 1.0], [4.0, 2.0, 0.5]], axis=-2, keepdims=True", "[[0, 0, 1]]"},
    {"rand((2, 3, 4), \"float64\"), axis=1"},
    {"rand((2, 3), \"float32\"), keepdims=True"},
    {"rand((), \"float32\")", "0"},
    {"rand((2, 0), \"float32\"), axis=0"},
    {"R.const([255, 0, 0], \"uint8\"), axis=0", "1"},
};
constexpr Reject smallest_rejects[] = {
    {"argmin.axis", "rand((2, 3), \"float32\"), axis=-3", "out of range"},
    {"argmin.empty", "rand((2, 0), \"float32\"), axis=1", "dimension 1"},
};

template <bool largest>
constexpr Op search(Op op) {
  op.params = params;
  op.infer = infer;
  op.eval = evaluate<largest>;
  op.lower = lower<largest>;
  op.no_gradient = "the result is a position";
  op.zero_gradient = true;
  op.agreement = Agreement::Index;
  op.doc =
      "As int64. The first of equal elements counts, and the first NaN before all numbers. Without an axis "
      "the "
      "position is that in row-major order. To search no elements is an error.";
  return op;
}

}  // namespace

extern const Op op_argmax = search<true>({.name = "argmax",
                                          .summary = "Position of the largest element.",
                                          .samples = largest_samples,
                                          .rejects = largest_rejects});

extern const Op op_argmin = search<false>({.name = "argmin",
                                           .summary = "Position of the smallest element.",
                                           .samples = smallest_samples,
                                           .rejects = smallest_rejects});

}  // namespace relish::ops_argmax
