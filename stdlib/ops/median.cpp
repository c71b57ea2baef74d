// The middle element.
#include "stdlib/families/language/pace.h"
#include "stdlib/families/reductions/reduction.h"
#include "stdlib/families/shapes/lines.h"
#include "stdlib/families/shapes/sorted_lines.h"

namespace relish::ops_median {
namespace {

constexpr Param params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "input"},
    {"axis", ParamKind::Attribute, "int or list[int] or None", "None",
     "the axis to go along; None: the median of all elements, without its index"},
    {"keepdims", ParamKind::Attribute, "bool", "False", "keep the reduced axes with length 1"}};

bool flat(const CallView& call) { return call.attribute("axis").is_none(); }

Type infer(const CallView& call) {
  Type values = reduction::infer(call);
  const std::optional<Dims> dims = known_dims(call.tensor(0));
  std::vector<int> axes;
  if (const int rank = shape_of(call.tensor(0)).rank; rank >= 0) axes = axes_of(call, "axis", rank);
  if (!flat(call) && int_list(call.attribute("axis")).size() != 1) {
    call.reject("axis", call.span,
                fmt::format("found {} axes, expected one or None", int_list(call.attribute("axis")).size()));
  }
  if (dims && prove_equal(reduction::count_of(*dims, axes), Scalar(0)))
    call.reject("empty", call.span_of(0), "the median of no elements does not exist");
  if (flat(call)) return values;
  TensorType indices = *values.tensor();
  indices.dtype = DType::Int64;
  return TupleType{{values, indices}};
}

// Of a line of elements: the first NaN, or else the place of the lower middle in ascending order, where equal
// elements keep their order.
template <class T>
std::int64_t place_of_median(const T* source, const Line& line) {
  if constexpr (StorageFloat<T>) {
    for (std::int64_t i = 0; i < line.length; ++i) {
      if (std::isnan(to_sum(source[line.at(i)]))) return i;
    }
  }
  Pace pace;
  return position_in_order(
      source, [&](std::int64_t i) { return line.at(i); }, line.length, (line.length - 1) / 2, pace);
}

Value evaluate(const EvalCall& c) {
  Tensor x = c.in(0);
  const Shape shape =
      reduction::result_shape(x.shape(), axes_of(c.call, "axis", x.rank()), reduction::keepdims(c.call));
  if (flat(c.call)) x = x.reshaped({x.size()});
  const int axis = axes_of(c.call, "axis", x.rank()).front();
  Tensor values = Tensor::empty(x.dtype(), shape), indices = Tensor::empty(DType::Int64, shape);
  if (values.size() > 0 && x.size() == 0) {
    fail(ErrorClass::Runtime, c.call.span, "median.empty",
         flat(c.call) ? "median: x has no element, so there is no median"
                      : fmt::format("median: axis {} of x has length 0, so there is no median", axis));
  }
  visit_dtype(x.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* source = x.view<T>().data();
    std::size_t next = 0;
    for_each_line(x.shape(), axis, [&](const Line& line) {
      const std::int64_t place = place_of_median(source, line);
      values.mutable_view<T>()[next] = source[line.at(place)];
      indices.mutable_view<std::int64_t>()[next++] = place;
    });
  });
  if (flat(c.call)) return values;
  return Value::tuple({values, indices});
}

// g goes to the chosen place: where the running number along the axis is the index.
Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const Dims dims = rule.dims(0);
  if (flat(c.call)) {
    const Dims line{product(dims)};
    const GraphValue x = reshaped(rule.argument(0), line);
    const GraphValue chosen = call_op("median", {x}, {{"axis", attribute_of({0})}, {"keepdims", true}});
    const GraphValue index = rule.field(chosen.leaf(), 1);
    const GraphValue ones = call_op("ones", {shape_value(line, c.builder)}, {{"dtype", DType::Int64}});
    const GraphValue place =
        call_op("cumsum", {ones}, {{"axis", 0}, {"dtype", Attribute()}, {"exclusive", true}});
    const GraphValue g = reshaped(rule.cotangent(), {Scalar(1)});
    const GraphValue partial = where(call_op("equal", {place, index}), g, constant_like(g, 0));
    return {reshaped(partial, rule.dims(0)).expr()};
  }
  const int axis = axes_of(c.call, "axis", static_cast<int>(dims.size())).front();
  const auto expanded = [&](const GraphValue& value) {
    if (reduction::keepdims(c.call)) return value;
    return call_op("expand_dims", {value}, {{"axis", axes_attribute({axis})}});
  };
  const GraphValue ones = call_op("ones", {rule.shape(0)}, {{"dtype", DType::Int64}});
  const GraphValue place =
      call_op("cumsum", {ones}, {{"axis", axis}, {"dtype", Attribute()}, {"exclusive", true}});
  const GraphValue g = expanded(rule.cotangent(0));
  return {where(call_op("equal", {place, expanded(rule.result(1))}), g, constant_like(g, 0)).expr()};
}

constexpr Sample samples[] = {
    {"[[1.0, 5.0, 3.0], [4.0, 2.0, -6.0]]", "2.0"},
    {"[[1.0, 5.0, 3.0, 7.0], [4.0, 2.0, -6.0, 0.0]], axis=-1", "(tensor([3.0, 0.0]), tensor([2, 3]))"},
    {"[[3, 1], [2, 1], [1, 1]], axis=[0], keepdims=True", "(tensor([[2, 1]]), tensor([[1, 1]]))"},
    {"rand((2, 3, 4), \"float64\"), axis=1"},
    {"rand((2, 3, 4), \"float64\"), keepdims=True"},
    {"rand((1, 5), \"float32\"), axis=0"},
    {"rand((0, 3), \"float32\"), axis=1"},
    {"rand((17,), \"float32\"), axis=0, keepdims=True"},
};
constexpr Reject rejects[] = {
    {"median.axis", "rand((2, 3), \"float32\"), axis=2", "out of range"},
    {"median.axis", "rand((2, 3), \"float32\"), axis=[0, 1]", "found 2 axes"},
    {"median.empty", "rand((2, 0), \"float32\"), axis=1", "of no elements"},
    {"median.dtype", "R.const([True, False], \"bool\")", "expected numbers"},
};

}  // namespace

extern const Op op_median{
    .name = "median",
    .summary = "The lower middle element, along an axis also its index.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .vjp = vjp,
    .gradient_doc = "dx = g at the chosen place, else 0",
    .agreement = Agreement::Index,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "With an even number of elements the lower of the two in the middle. With an axis the result is a "
        "tuple of the values and their int64 indices along it; among equal elements that of a stable "
        "ascending order. A line with NaN gives NaN and the index of the first. No elements have no "
        "median."};

}  // namespace relish::ops_median
