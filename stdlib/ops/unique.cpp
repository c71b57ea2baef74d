// Results whose size depends on the data: distinct elements, positions of what is not zero. They have no loop
// nest: compiled code calls the evaluation.
#include <algorithm>
#include <numeric>

#include "stdlib/families/language/pace.h"
#include "stdlib/families/shapes/movement.h"
#include "stdlib/families/shapes/sorted_lines.h"

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
  // Items that are equal, the first one first, as a part of `order`.
  struct Group {
    std::size_t begin, end;
  };
  std::vector<Group> groups;
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
    if (outer == 1 && inner == 1)
      LineSorter().first(source, [](std::int64_t i) { return i; }, items, false, items, order);
    else
      std::stable_sort(order.begin(), order.end(),
                       [&](std::int64_t a, std::int64_t b) { return compare_items(a, b) < 0; });
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (groups.empty() || compare_items(order[groups.back().begin], order[i]) != 0)
        groups.push_back({i, i});
      groups.back().end = i + 1;
    }
  });
  if (literal_of(c.call, 1) == 0)
    std::sort(groups.begin(), groups.end(),
              [&](const Group& a, const Group& b) { return order[a.begin] < order[b.begin]; });

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
    const Group& members = groups[static_cast<std::size_t>(group)];
    const std::int64_t front = order[members.begin];
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t i = 0; i < inner; ++i, pace())
        copy_element(values, (o * count + group) * inner + i, x, at(front, o, i));
    }
    const auto size = static_cast<std::int64_t>(members.end - members.begin);
    first.set_int(group, front);
    counts.set_int(group, size);
    pace(size);
    for (std::size_t i = members.begin; i < members.end; ++i) inverse.set_int(order[i], group);
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
  std::vector<std::int64_t> found;  // where they lie
  Pace pace;
  visit_dtype(x.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* source = x.view<T>().data();
    // A NaN is not zero.
    for (std::int64_t at = 0; at < x.size(); ++at, pace()) {
      if constexpr (StorageFloat<T>) {
        if (to_compute(source[at]) != 0) found.push_back(at);
      } else {
        if (source[at] != T{}) found.push_back(at);
      }
    }
  });
  const std::vector<std::int64_t> strides = row_major_strides(x.shape());
  Tensor result = Tensor::empty(DType::Int64, {x.rank(), static_cast<std::int64_t>(found.size())});
  std::int64_t* next = result.mutable_view<std::int64_t>().data();
  for (std::size_t d = 0; d < strides.size(); ++d) {
    for (const std::int64_t at : found) {
      *next++ = at / strides[d] % x.shape()[d];
      pace();
    }
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
