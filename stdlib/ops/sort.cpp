// Sorting along a dimension: the elements (sort), their positions (argsort), the first of them (topk). Equal
// elements keep their order, and NaN comes last in either direction.
#include "stdlib/families/shapes/movement.h"
#include "stdlib/families/shapes/sorted_lines.h"

namespace relish::ops_sort {
namespace {

constexpr Param sort_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"axis", ParamKind::Attribute, "int", "-1", "dimension along which lines are sorted"},
    {"descending", ParamKind::Attribute, "bool", "False", "the largest first"}};
constexpr Param argsort_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"axis", ParamKind::Attribute, "int", "-1", "dimension along which lines are sorted"},
    {"descending", ParamKind::Attribute, "bool", "False", "the largest first"},
    {"dtype", ParamKind::Attribute, "dtype", "\"int32\"", "dtype of the positions"}};
constexpr Param topk_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"k", ParamKind::Attribute, "int", "1", "how many elements; less than 1 gives all"},
    {"axis", ParamKind::Attribute, "int", "-1", "dimension along which they are found"},
    {"ret_type", ParamKind::Attribute, "str", "\"both\"", "both, values or indices"},
    {"largest", ParamKind::Attribute, "bool", "True", "the largest, else the smallest"},
    {"dtype", ParamKind::Attribute, "dtype", "\"int32\"", "dtype of the positions"}};

int axis_of(const CallView& call, int rank) { return normal_axis(call, call.int_attribute("axis"), rank); }
bool flag(const CallView& call, std::string_view name) { return *call.attribute(name).as<bool>(); }

// Checks the axis; gives the rank.
int checked_rank(const CallView& call) {
  const int rank = shape_of(call.tensor(0)).rank;
  if (rank >= 0) axis_of(call, rank);
  return rank;
}

DType position_dtype(const CallView& call) {
  const std::optional<DType> dtype = dtype_attribute(call, "dtype");
  if (!dtype || !is_int(*dtype))
    call.reject("dtype", call.span, "the dtype of positions is not an integer type");
  return *dtype;
}

// Calls visit(line, order, at): `order` has the positions of each line sorted, or the first `count` of them,
// and at(i) is where element i of the line lies in data.
template <class Visit>
void for_each_line(const Tensor& data, std::size_t axis, bool descending, std::int64_t count, Visit&& visit) {
  const std::int64_t length = data.shape()[axis], inner = row_major_strides(data.shape())[axis];
  const std::int64_t lines = length == 0 ? 0 : data.size() / length;
  visit_dtype(data.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* source = data.view<T>().data();
    std::vector<std::int64_t> order;
    LineSorter sorter;
    for (std::int64_t line = 0; line < lines; ++line) {
      const std::int64_t start = (line / inner) * length * inner + line % inner;
      const auto at = [&](std::int64_t i) { return start + i * inner; };
      sorter.first(source, at, length, descending, count, order);
      visit(line, order, at);
    }
  });
}

// Zeros with g at the positions of one dimension.
GraphValue scattered(const GraphValue& g, const GraphValue& positions, const Dims& dims,
                     const Attribute& axis) {
  return call_op("scatter_elements", {zeros_of(dims, g), positions, g},
                 {{"axis", axis}, {"reduction", "add"}});
}

// --- sort

Type infer_sort(const CallView& call) {
  checked_rank(call);
  return call.tensor(0);
}

Value evaluate_sort(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const auto axis = static_cast<std::size_t>(axis_of(c.call, data.rank()));
  Tensor result = Tensor::empty(data.dtype(), data.shape());
  for_each_line(data, axis, flag(c.call, "descending"), data.shape()[axis],
                [&](std::int64_t, const auto& order, const auto& at) {
                  for (std::size_t i = 0; i < order.size(); ++i)
                    copy_element(result, at(static_cast<std::int64_t>(i)), data, at(order[i]));
                });
  return result;
}

Partials vjp_sort(const VjpCall& c) {
  const GradientRule rule(c);
  const Attribute axis = c.call.attribute("axis");
  const GraphValue positions =
      call_op("argsort", {rule.argument(0)},
              {{"axis", axis}, {"descending", c.call.attribute("descending")}, {"dtype", DType::Int64}});
  return {scattered(rule.cotangent(), positions, rule.dims(0), axis).expr()};
}

constexpr Sample sort_samples[] = {
    {"[3.0, 1.0, 2.0]", "[1.0, 2.0, 3.0]"},
    {"[[3.0, 1.0], [2.0, 5.0]], axis=0, descending=True", "[[3.0, 5.0], [2.0, 1.0]]"},
    {"rand((2, 5, 3), \"float64\"), axis=-2"},
    {"rand((4, 6), \"float64\"), descending=True"},
    {"R.const([3, -1, 3, 0], \"int8\")", "[-1, 0, 3, 3]"},
    {"rand((0, 3), \"float32\"), axis=0"},
    {"rand((3, 1), \"float32\")"},
};
constexpr Reject sort_rejects[] = {
    {"sort.axis", "rand((2, 3), \"float32\"), axis=2", "out of range"},
    {"sort.axis", "rand((), \"float32\")", "out of range"},
};

// --- argsort

Type infer_argsort(const CallView& call) {
  checked_rank(call);
  TensorType result = call.tensor(0);
  result.dtype = position_dtype(call);
  return result;
}

Value evaluate_argsort(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const auto axis = static_cast<std::size_t>(axis_of(c.call, data.rank()));
  Tensor result = Tensor::empty(position_dtype(c.call), data.shape());
  for_each_line(data, axis, flag(c.call, "descending"), data.shape()[axis],
                [&](std::int64_t, const auto& order, const auto& at) {
                  for (std::size_t i = 0; i < order.size(); ++i)
                    result.set_int(at(static_cast<std::int64_t>(i)), order[i]);
                });
  return result;
}

constexpr Sample argsort_samples[] = {
    {"[3.0, 1.0, 2.0, 1.0]", "[1, 3, 2, 0]"},
    {"[3.0, 1.0, 2.0, 1.0], descending=True", "[0, 2, 1, 3]"},
    {"[[3.0, 1.0], [2.0, 5.0]], axis=0, dtype=\"int64\"", "[[1, 0], [0, 1]]"},
    {"rand((2, 5, 3), \"float64\"), axis=-2"},
    {"rand((0, 3), \"float32\"), axis=0"},
    {"R.const([True, False, True], \"bool\")", "[1, 0, 2]"},
};
constexpr Reject argsort_rejects[] = {
    {"argsort.axis", "rand((2, 3), \"float32\"), axis=2", "out of range"},
    {"argsort.dtype", "rand((2, 3), \"float32\"), dtype=\"float32\"", "not an integer type"},
};

// --- topk

Type infer_topk(const CallView& call) {
  const TensorType& data = call.tensor(0);
  const int rank = checked_rank(call);
  const DType positions = position_dtype(call);
  const std::string wanted = call.string_attribute("ret_type");
  if (wanted != "both" && wanted != "values" && wanted != "indices")
    call.reject("ret_type", call.span,
                fmt::format("ret_type is \"{}\", expected both, values or indices", wanted));
  std::optional<Dims> dims = known_dims(data);
  const std::int64_t k = call.int_attribute("k");
  if (dims && k >= 1) {
    Scalar& dim = (*dims)[static_cast<std::size_t>(axis_of(call, rank))];
    if (const auto length = dim.as_int(); length && k > *length)
      call.reject("k", call.span, fmt::format("k is {}, larger than the length {}", k, *length));
    dim = k;
  }
  const Type values = TensorType{data.dtype, dims, rank}, indices = TensorType{positions, dims, rank};
  if (wanted == "both") return TupleType{{values, indices}};
  return wanted == "values" ? values : indices;
}

Value evaluate_topk(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const auto axis = static_cast<std::size_t>(axis_of(c.call, data.rank()));
  Shape shape = data.shape();
  if (const std::int64_t k = c.call.int_attribute("k"); k >= 1) shape[axis] = k;
  Tensor values = Tensor::empty(data.dtype(), shape), indices = Tensor::empty(position_dtype(c.call), shape);
  const std::int64_t inner = row_major_strides(shape)[axis], length = shape[axis];
  for_each_line(data, axis, flag(c.call, "largest"), length,
                [&](std::int64_t line, const auto& order, const auto& at) {
                  const std::int64_t start = (line / inner) * length * inner + line % inner;
                  for (std::int64_t i = 0; i < length; ++i) {
                    copy_element(values, start + i * inner, data, at(order[static_cast<std::size_t>(i)]));
                    indices.set_int(start + i * inner, order[static_cast<std::size_t>(i)]);
                  }
                });
  const std::string wanted = c.call.string_attribute("ret_type");
  if (wanted == "both") return Value::tuple({values, indices});
  return wanted == "values" ? values : indices;
}

Partials vjp_topk(const VjpCall& c) {
  const GradientRule rule(c);
  const std::string wanted = c.call.string_attribute("ret_type");
  if (wanted == "indices") return {std::nullopt};
  const bool both = wanted == "both";
  const GraphValue positions =
      both ? rule.result(1)
           : call_op("topk", {rule.argument(0)}, with_attribute(c.call.attributes, "ret_type", "indices"));
  const GraphValue g = both ? rule.cotangent(0) : rule.cotangent();
  return {scattered(g, positions, rule.dims(0), c.call.attribute("axis")).expr()};
}

constexpr Sample topk_samples[] = {
    {"[1.0, 3.0, 2.0, 3.0], k=2, ret_type=\"values\"", "[3.0, 3.0]", false},
    {"[1.0, 3.0, 2.0, 3.0], k=2, ret_type=\"indices\"", "[1, 3]"},
    {"[[5.0, 1.0], [2.0, 3.0]], k=1, axis=0, largest=False, ret_type=\"values\"", "[[2.0, 1.0]]"},
    {"rand((3, 7), \"float64\"), k=3"},
    {"rand((4, 2, 3), \"float64\"), k=2, axis=0, largest=False, dtype=\"int64\""},
    {"rand((2, 5), \"float64\"), k=0, ret_type=\"values\""},
    {"rand((0, 3), \"float32\"), k=2"},
};
constexpr Reject topk_rejects[] = {
    {"topk.axis", "rand((2, 3), \"float32\"), axis=2", "out of range"},
    {"topk.k", "rand((2, 3), \"float32\"), k=4", "larger than the length 3"},
    {"topk.ret_type", "rand((2, 3), \"float32\"), ret_type=\"all\"", "expected both"},
    {"topk.dtype", "rand((2, 3), \"float32\"), dtype=\"float32\"", "not an integer type"},
};

}  // namespace

extern const Op op_sort{.name = "sort",
                        .summary = "Sort the lines along a dimension.",
                        .params = sort_params,
                        .infer = infer_sort,
                        .eval = evaluate_sort,
                        .vjp = vjp_sort,
                        .gradient_doc = "ddata = g put back at the positions that argsort(data) gives",
                        .agreement = Agreement::Index,
                        .samples = sort_samples,
                        .rejects = sort_rejects,
                        .doc = "Stable; NaN comes last in either direction."};

extern const Op op_argsort{
    .name = "argsort",
    .summary = "The positions of the elements in sorted order.",
    .params = argsort_params,
    .infer = infer_argsort,
    .eval = evaluate_argsort,
    .no_gradient = "the result is a position",
    .zero_gradient = true,
    .agreement = Agreement::Index,
    .samples = argsort_samples,
    .rejects = argsort_rejects,
    .doc = "Of equal elements the first comes first, also when descending; NaN is last."};

extern const Op op_topk{.name = "topk",
                        .summary = "The k largest or smallest elements along a dimension, in order.",
                        .params = topk_params,
                        .infer = infer_topk,
                        .eval = evaluate_topk,
                        .vjp = vjp_topk,
                        .gradient_doc = "ddata = the gradient of the values, put back at the positions",
                        .agreement = Agreement::Index,
                        .samples = topk_samples,
                        .rejects = topk_rejects,
                        .doc =
                            "ret_type both gives (values, positions). Of equal elements the first comes "
                            "first; NaN is last, whether "
                            "the largest or the smallest are wanted. k beyond the length is refused."};

}  // namespace relish::ops_sort
