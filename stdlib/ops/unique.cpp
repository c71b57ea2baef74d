// Results whose size depends on the data: distinct elements, positions of what is not zero. They have no loop
// nest: compiled code calls the evaluation.
#include <algorithm>
#include <numeric>

#include "stdlib/families/language/pace.h"
#include "stdlib/families/shapes/movement.h"

namespace relish::ops_unique {
namespace {

constexpr Param unique_params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "input"},
    {"sorted", ParamKind::Scalar, "bool", "True", "in ascending order, else in that of first occurrence"},
    {"return_index", ParamKind::Scalar, "bool", "False", "also where each first occurs"},
    {"return_inverse", ParamKind::Scalar, "bool", "False", "also which one each element of x is"},
    {"return_counts", ParamKind::Scalar, "bool", "False", "also how often each occurs"},
    {"axis", ParamKind::Scalar, "int or None", "None",
     "distinct slices of this dimension; None means the elements of the flattened tensor"}};
constexpr Param nonzero_params[] = {{"x", ParamKind::Tensor, "tensor", "", "input"}};

// The value of a flag, which must stand in the text: it decides the number of results.
std::int64_t literal_of(const CallView& call, std::size_t i) {
  const auto* scalar = call.args[i].as<ScalarValueExpr>();
  const auto value = scalar ? canonical(scalar->value).as_int() : std::nullopt;
  if (!value)
    call.reject("flag", call.span_of(i), fmt::format("{} is not a constant integer", call.op.params[i].name));
  return *value;
}

Type infer_unique(const CallView& call) {
  const TensorType& x = call.tensor(0);
  for (std::size_t i = 1; i < call.args.size(); ++i) literal_of(call, i);
  const BroadcastShape shape = shape_of(x);
  Type values = TensorType{x.dtype, std::nullopt, 1};
  if (call.has(5)) {
    if (shape.rank >= 0) normal_axis(call, literal_of(call, 5), shape.rank);
    values = TensorType{x.dtype, std::nullopt, shape.rank};
  }
  const Type positions = TensorType{DType::Int64, std::nullopt, 1};
  std::vector<Type> results{values};
  for (std::size_t i = 2; i < 5; ++i) {
    if (literal_of(call, i) != 0) results.push_back(positions);
  }
  return results.size() == 1 ? results[0] : Type(TupleType{results});
}

// Elements of one dtype as numbers that compare exactly: -1, 0 or 1. NaN equals NaN and comes last.
template <class T>
int compared(T a, T b) {
  if constexpr (StorageFloat<T>) {
    const auto x = to_compute(a), y = to_compute(b);
    if (std::isnan(x) || std::isnan(y))
      return static_cast<int>(std::isnan(x)) - static_cast<int>(std::isnan(y));
    return static_cast<int>(x > y) - static_cast<int>(x < y);
  } else {
    return static_cast<int>(a > b) - static_cast<int>(a < b);
  }
}

Value evaluate_unique(const EvalCall& c) {
  const Tensor& x = c.in(0);
  // As (outer, items, inner): what is compared are items.
  std::int64_t outer = 1, items = x.size(), inner = 1;
  std::size_t axis = 0;
  if (c.call.has(5)) {
    axis = static_cast<std::size_t>(normal_axis(c.call, literal_of(c.call, 5), x.rank()));
    items = x.shape()[axis];
    for (std::size_t d = 0; d < axis; ++d) outer *= x.shape()[d];
    for (std::size_t d = axis + 1; d < x.shape().size(); ++d) inner *= x.shape()[d];
  }
  const auto at = [&](std::int64_t item, std::int64_t o, std::int64_t i) {
    return (o * items + item) * inner + i;
  };
  std::vector<std::int64_t> order(static_cast<std::size_t>(items));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::vector<std::vector<std::int64_t>> groups;  // items that are equal, the first one first
  visit_dtype(x.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* source = x.view<T>().data();
    Pace pace;
    const auto compare_items = [&](std::int64_t a, std::int64_t b) {
      pace();
      for (std::int64_t o = 0; o < outer; ++o) {
        for (std::int64_t i = 0; i < inner; ++i, pace()) {
          if (const int sign = compared(source[at(a, o, i)], source[at(b, o, i)])) return sign;
        }
      }
      return 0;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return compare_items(a, b) < 0; });
    for (std::int64_t item : order) {
      if (groups.empty() || compare_items(groups.back().front(), item) != 0) groups.emplace_back();
      groups.back().push_back(item);
    }
  });
  if (literal_of(c.call, 1) == 0)
    std::sort(groups.begin(), groups.end(),
              [](const auto& a, const auto& b) { return a.front() < b.front(); });

  const auto count = static_cast<std::int64_t>(groups.size());
  Shape shape{count};
  if (c.call.has(5)) {
    shape = x.shape();
    shape[axis] = count;
  }
  Tensor values = Tensor::empty(x.dtype(), shape), first = Tensor::empty(DType::Int64, {count});
  Tensor inverse = Tensor::empty(DType::Int64, {items}), counts = Tensor::empty(DType::Int64, {count});
  Pace pace;
  for (std::int64_t group = 0; group < count; ++group) {
    const std::vector<std::int64_t>& members = groups[static_cast<std::size_t>(group)];
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t i = 0; i < inner; ++i, pace())
        copy_element(values, (o * count + group) * inner + i, x, at(members.front(), o, i));
    }
    first.set_int(group, members.front());
    counts.set_int(group, static_cast<std::int64_t>(members.size()));
    pace(static_cast<std::int64_t>(members.size()));
    for (std::int64_t item : members) inverse.set_int(item, group);
  }
  std::vector<Value> results{values};
  if (literal_of(c.call, 2) != 0) results.emplace_back(first);
  if (literal_of(c.call, 3) != 0) results.emplace_back(inverse);
  if (literal_of(c.call, 4) != 0) results.emplace_back(counts);
  return results.size() == 1 ? results[0] : Value::tuple(std::move(results));
}

constexpr Sample unique_samples[] = {
    {"[3.0, 1.0, 3.0, 2.0]", "[1.0, 2.0, 3.0]", false},
    {"[3.0, 1.0, 3.0, 2.0], sorted=False", "[3.0, 1.0, 2.0]", false},
    {"R.const([[1, 2], [1, 2], [0, 5]], \"int32\"), axis=0", "[[0, 5], [1, 2]]", false},
    {"R.const([[1, 2], [2, 1]], \"int64\"), True, True, True, True", "", false},
    {"R.const([[1, 1, 2], [3, 3, 0]], \"int8\"), False, False, True, False, -1", "", false},
    {"rand((0,), \"float32\")", "", false},
    {"rand((), \"float64\")", "", false},
};
constexpr Reject unique_rejects[] = {
    {"unique.axis", "rand((2,), \"float32\"), axis=1", "out of range"},
    {"unique.flag", "rand((2,), \"float32\"), 0.5", "not a constant integer"},
};

// --- nonzero

Type infer_nonzero(const CallView& call) {
  call.tensor(0);
  return TensorType{DType::Int64, std::nullopt, 2};
}

Value evaluate_nonzero(const EvalCall& c) {
  const Tensor& x = c.in(0);
  std::vector<Shape> found;
  std::int64_t at = 0;
  for_each_index(x.shape(), [&](const Shape& index) {
    // A NaN is not zero; integers of 64 bits are told apart as such.
    const bool zero = is_float(x.dtype()) ? x.get_double(at) == 0 : x.get_int(at) == 0;
    if (!zero) found.push_back(index);
    ++at;
  });
  const auto count = static_cast<std::int64_t>(found.size());
  Tensor result = Tensor::empty(DType::Int64, {x.rank(), count});
  for (std::size_t k = 0; k < found.size(); ++k) {
    for (std::size_t d = 0; d < found[k].size(); ++d)
      result.set_int(static_cast<std::int64_t>(d) * count + static_cast<std::int64_t>(k), found[k][d]);
  }
  return result;
}

constexpr Sample nonzero_samples[] = {
    {"[0.0, 2.0, 0.0, -1.0]", "[[1, 3]]"},
    {"R.const([[0, 1], [2, 0]], \"int32\")", "[[0, 1], [1, 0]]"},
    {"R.const([[True, False], [True, True]], \"bool\")", "[[0, 1, 1], [0, 0, 1]]"},
    {"rand((0, 2), \"float32\")"},
    {"R.const([0, 0], \"int8\")"},
    {"rand((), \"float64\")"},
};
constexpr Reject nonzero_rejects[] = {{"nonzero.tensor", "R.shape([2])", "expected a tensor"}};

}  // namespace

extern const Op op_unique{
    .name = "unique",
    .summary = "The distinct elements of a tensor, or the distinct slices of a dimension.",
    .params = unique_params,
    .infer = infer_unique,
    .eval = evaluate_unique,
    .no_gradient = "which elements are distinct jumps with their values",
    .agreement = Agreement::Index,
    .samples = unique_samples,
    .rejects = unique_rejects,
    .doc =
        "The number of results is known only at run time. Flags add results in the order of the parameters, "
        "as "
        "int64; one result alone is no tuple. Slices compare as lists. NaN equals NaN and is last. The "
        "inverse "
        "is 1-D; in TVM too it refers to the flattened tensor when there is no axis."};

extern const Op op_nonzero{.name = "nonzero",
                           .summary = "The indices of the elements that are not zero, one column for each.",
                           .params = nonzero_params,
                           .infer = infer_nonzero,
                           .eval = evaluate_nonzero,
                           .no_gradient = "the result is a position",
                           .zero_gradient = true,
                           .agreement = Agreement::Index,
                           .samples = nonzero_samples,
                           .rejects = nonzero_rejects,
                           .doc =
                               "int64 of shape (rank, n) in row-major order; n is known only at run time. A "
                               "tensor of rank 0 gives shape (0, n)."};

}  // namespace relish::ops_unique
