// Distances between all pairs of rows.
#include "ir/printer/printer.h"
#include "stdlib/families/reductions/reduction.h"
#include "stdlib/families/shapes/movement.h"

namespace relish::ops_cdist {
namespace {

constexpr Param params[] = {
    {"x1", ParamKind::Tensor, "tensor", "", "first rows, (…, n, d)"},
    {"x2", ParamKind::Tensor, "tensor", "", "second rows, (…, m, d); the leading dimensions broadcast"},
    {"p", ParamKind::Attribute, "float", "2.0",
     "2: the Euclidean distance; 1: the sum of the magnitudes of the differences"}};

bool is_euclidean(const CallView& call) {
  const double p = *call.attribute("p").as<double>();
  if (p != 1 && p != 2) call.reject("p", call.span, fmt::format("p is {}, expected 1 or 2", p));
  return p == 2;
}

// The dimensions before the rows.
BroadcastShape leading(const BroadcastShape& shape) {
  if (shape.rank < 0) return {};
  BroadcastShape result{std::nullopt, shape.rank - 2};
  if (shape.dims) result.dims = Dims(shape.dims->begin(), shape.dims->end() - 2);
  return result;
}

Type infer(const CallView& call) {
  require_float(call, 0);
  require_float(call, 1);
  is_euclidean(call);
  const std::optional<DType> dtype = common_dtype(call, 0, 1);
  const BroadcastShape a = shape_of(call.tensor(0)), b = shape_of(call.tensor(1));
  for (std::size_t i = 0; i < 2; ++i) {
    const int rank = (i == 0 ? a : b).rank;
    if (rank >= 0 && rank < 2) {
      call.reject("rank", call.span_of(i),
                  fmt::format("{} has rank {}, expected at least 2", params[i].name, rank));
    }
  }
  if (a.dims && b.dims && prove_different(a.dims->back(), b.dims->back())) {
    call.reject("size", call.span,
                fmt::format("rows of x1 have {} elements and rows of x2 {}, expected as many",
                            print(a.dims->back()), print(b.dims->back())));
  }
  BroadcastShape shape = broadcast(call, leading(a), leading(b));
  if (shape.rank < 0) return TensorType{dtype, std::nullopt, -1};
  if (shape.dims && a.dims && b.dims) {
    shape.dims->push_back((*a.dims)[a.dims->size() - 2]);
    shape.dims->push_back((*b.dims)[b.dims->size() - 2]);
  } else {
    shape.dims.reset();
  }
  return tensor_of({shape.dims, shape.rank + 2}, dtype);
}

// Where row `row` of a compact tensor begins, at the leading index of a result to which it broadcasts.
std::int64_t begin_of_row(const Shape& shape, const Shape& index, std::int64_t row) {
  std::int64_t position = 0;
  const std::size_t missing = index.size() - shape.size();
  for (std::size_t i = 0; i + 2 < shape.size(); ++i)
    position = position * shape[i] + (shape[i] == 1 ? 0 : index[missing + i]);
  return (position * shape[shape.size() - 2] + row) * shape.back();
}

// Squares of float32 fit float64.
Value evaluate(const EvalCall& c) {
  const Tensor &a = c.in(0), &b = c.in(1);
  const bool euclidean = is_euclidean(c.call);
  const std::int64_t length = a.shape().back();
  if (length != b.shape().back()) {
    fail(ErrorClass::Runtime, c.call.span, "cdist.size",
         fmt::format("cdist: rows of x1 have {} elements and rows of x2 {}, expected as many", length,
                     b.shape().back()));
  }
  Shape shape = broadcast_values(c.call, Shape(a.shape().begin(), a.shape().end() - 2),
                                 Shape(b.shape().begin(), b.shape().end() - 2));
  shape.push_back(a.shape()[a.shape().size() - 2]);
  shape.push_back(b.shape()[b.shape().size() - 2]);
  Tensor result = Tensor::empty(a.dtype(), shape);
  visit_float(a.dtype(), [&](auto element) {
    using T = decltype(element);
    T* target = result.mutable_view<T>().data();
    Pace pace;
    for_each_index(shape, [&](const Shape& index) {
      const T* x = a.view<T>().data() + begin_of_row(a.shape(), index, index[index.size() - 2]);
      const T* y = b.view<T>().data() + begin_of_row(b.shape(), index, index.back());
      double total = 0;
      for (std::int64_t k = 0; k < length; ++k) {
        const double difference = static_cast<double>(to_sum(x[k])) - static_cast<double>(to_sum(y[k]));
        total += euclidean ? difference * difference : std::fabs(difference);
      }
      pace(length);
      *target++ = T(euclidean ? std::sqrt(total) : total);
    });
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer a = lowering.input(0), b = lowering.input(1);
  const Buffer result = lowering.output();
  const bool euclidean = is_euclidean(c.call);
  lowering.require_equal(a.shape().back(), b.shape().back(),
                         "cdist: rows of x1 and of x2 must have as many elements");
  constexpr DType wide = DType::Float64;
  // Element k of the row that the result's index names, `row` standing before it.
  const auto element = [&](const Buffer& x, const Dims& i, const Scalar& row, const Scalar& k) {
    Dims full(result.shape().begin(), result.shape().end() - 2), index(i.begin(), i.end() - 2);
    full.push_back(x.shape()[x.shape().size() - 2]);
    full.push_back(x.shape().back());
    index.push_back(row);
    index.push_back(k);
    Dims own = lowering.broadcast_index(x, full, index);
    own[own.size() - 2] = row;
    own.back() = k;
    return lowering.load_as(wide, x, own);
  };
  const Buffer total = lowering.temporary("total", result.shape(), wide);
  lowering.reduce(
      "differences", total, result.shape(), {a.shape().back()}, [&](const Dims& i, const Dims& k) {
        const Scalar difference = element(a, i, i[i.size() - 2], k[0]) - element(b, i, i.back(), k[0]);
        return euclidean ? difference * difference : magnitude(difference);
      });
  lowering.map("distance", result, [&](const Dims& i) {
    const Scalar sum = lowering.loops().load(total, i);
    return euclidean ? sqrt(sum) : sum;
  });
  return lowering.finish();
}

// Where two rows are equal the distance has a kink; its slope there is 0.
Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const int rank[] = {static_cast<int>(rule.dims(0).size()), static_cast<int>(rule.dims(1).size())};
  const auto expanded = [](const GraphValue& x, int axis) {
    return call_op("expand_dims", {x}, {{"axis", axes_attribute({axis})}});
  };
  const GraphValue difference =
      expanded(rule.argument(0), rank[0] - 1) - expanded(rule.argument(1), rank[1] - 2);
  difference.leaf();
  const int depth = std::max(rank[0], rank[1]);
  GraphValue g = expanded(rule.cotangent(), depth);
  GraphValue slope = call_op("sign", {difference});
  if (is_euclidean(c.call)) {
    const GraphValue y = expanded(rule.result(), depth);
    y.leaf();
    const GraphValue none = call_op("equal", {y, constant_like(y, 0)});
    none.leaf();
    g = where(none, constant_like(g, 0), g);
    slope = difference / where(none, constant_like(y, 1), y);
  }
  const GraphValue each = g * slope;
  each.leaf();
  const auto sum = [&](int axis) {
    return call_op("sum", {each}, {{"axis", axes_attribute({axis})}, {"keepdims", false}});
  };
  Partials partials(2);
  if (rule.differentiable(0)) partials[0] = rule.fit(sum(depth - 1), 0).expr();
  if (rule.differentiable(1)) partials[1] = rule.fit(-sum(depth - 2), 1).expr();
  return partials;
}

constexpr Sample samples[] = {
    {"[[0.0, 0.0], [3.0, 4.0]], [[0.0, 1.0], [6.0, 8.0], [3.0, 0.0]]",
     "[[1.0, 10.0, 3.0], [4.242640687119285, 5.0, 4.0]]"},
    {"[[0.0, 0.0], [3.0, 4.0]], [[0.5, 1.0], [6.0, 8.0]], p=1", "[[1.5, 14.0], [5.5, 7.0]]"},
    {"[[1.0, 2.0]], [[1.0, 2.0]]", "[[0.0]]", false},
    {"rand((2, 3, 4), \"float64\"), rand((5, 4), \"float64\") + 1.5"},
    {"rand((1, 2, 3), \"float64\"), rand((2, 4, 3), \"float64\") + 1.5, p=1.0"},
    {"rand((3, 17), \"float32\"), rand((2, 17), \"float32\") + 1.5"},
    {"rand((0, 3), \"float32\"), rand((2, 3), \"float32\")"},
    {"rand((2, 0), \"float32\"), rand((2, 0), \"float32\")", "", false},
};
constexpr Reject rejects[] = {
    {"cdist.rank", "rand((3,), \"float32\"), rand((2, 3), \"float32\")", "x1 has rank 1"},
    {"cdist.size", "rand((2, 3), \"float32\"), rand((2, 4), \"float32\")", "expected as many"},
    {"cdist.shape", "rand((2, 2, 3), \"float32\"), rand((3, 2, 3), \"float32\")", "do not broadcast"},
    {"cdist.p", "rand((2, 3), \"float32\"), rand((2, 3), \"float32\"), p=3.0", "expected 1 or 2"},
    {"cdist.dtype", "rand((2, 3), \"float32\"), rand((2, 3), \"float64\")", "expected the same"},
};

}  // namespace

extern const Op op_cdist{
    .name = "cdist",
    .summary = "Distances between all pairs of rows of two tensors.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc =
        "dx1 = the sum over the rows of x2 of g * (x1 - x2) / y, or of g * sign(x1 - x2) for p = 1; dx2 "
        "the same with the other sign; 0 where y is 0",
    .agreement = Agreement::Composite,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "Element (…, i, j) is the distance of row i of x1 and row j of x2, from the differences themselves and not "
        "by way of products, which cancel. Floating dtypes only. The distances of rows that belong together are "
        "R.norm(x1 - x2, axis=-1)."};

}  // namespace relish::ops_cdist
