// Products of matrices, batched and with vectors.
#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/elementwise/iteration.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"
#include "stdlib/families/language/pace.h"

namespace relish::ops_matmul {
namespace {

constexpr Param params[] = {{"x1", ParamKind::Tensor, "tensor", "", "left operand, (..., m, k) or (k,)"},
                            {"x2", ParamKind::Tensor, "tensor", "", "right operand, (..., k, n) or (k,)"},
                            {"out_dtype", ParamKind::Attribute, "dtype or None", "None",
                             "dtype of the result and of the sums; None: the operands'"}};

std::optional<DType> result_dtype(const CallView& call) {
  require_number(call, 0);
  require_number(call, 1);
  if (const auto dtype = dtype_attribute(call, "out_dtype")) {
    if (is_bool(*dtype)) call.reject("dtype", call.span, "out_dtype is bool, expected a dtype of numbers");
    return dtype;
  }
  return common_dtype(call, 0, 1);
}

BroadcastShape batch_of(const BroadcastShape& operand) {
  if (operand.rank <= 2) return {Dims{}, 0};
  BroadcastShape batch{std::nullopt, operand.rank - 2};
  if (operand.dims) batch.dims = Dims(operand.dims->begin(), operand.dims->end() - 2);
  return batch;
}

Type infer(const CallView& call) {
  const std::optional<DType> dtype = result_dtype(call);
  const BroadcastShape a = shape_of(call.tensor(0)), b = shape_of(call.tensor(1));
  for (std::size_t i = 0; i < 2; ++i) {
    if ((i == 0 ? a : b).rank == 0) {
      call.reject("rank", call.span_of(i), fmt::format("{} has rank 0, expected at least 1", params[i].name));
    }
  }
  if (a.rank < 0 || b.rank < 0) return TensorType{dtype, std::nullopt, -1};
  if (a.dims && b.dims) {
    const Scalar& left = a.dims->back();
    const Scalar& right = b.rank == 1 ? b.dims->front() : (*b.dims)[b.dims->size() - 2];
    if (prove_different(left, right)) {
      call.reject("inner", call.span,
                  fmt::format("x1 of shape {} and x2 of shape {} do not multiply: {} columns against {} rows",
                              describe_dims(*a.dims), describe_dims(*b.dims), print(left), print(right)));
    }
  }
  const BroadcastShape batch = broadcast(call, batch_of(a), batch_of(b));
  const int rank = batch.rank + (a.rank > 1) + (b.rank > 1);
  if (rank == 0) return TensorType{dtype, Dims{}, 0};
  if (!batch.dims || !a.dims || !b.dims) return TensorType{dtype, std::nullopt, rank};
  Dims dims = *batch.dims;
  if (a.rank > 1) dims.push_back((*a.dims)[a.dims->size() - 2]);
  if (b.rank > 1) dims.push_back(b.dims->back());
  return TensorType{dtype, std::move(dims), rank};
}

// --- Evaluation: every operand as a batch of matrices; a vector is a row on the left and a column on the
// right.

struct Matrices {
  Shape batch;
  std::int64_t rows, columns;

  Matrices(const Shape& shape, bool left) {
    const std::size_t rank = shape.size();
    if (rank == 1) {
      rows = left ? 1 : shape[0];
      columns = left ? shape[0] : 1;
    } else {
      batch.assign(shape.begin(), shape.end() - 2);
      rows = shape[rank - 2];
      columns = shape[rank - 1];
    }
  }
};

// target (m, n) = a (m, k) times b (k, n), with sums in the accumulating type.
template <class T>
void multiply(const T* a, const T* b, T* target, std::int64_t m, std::int64_t n, std::int64_t k) {
  Pace pace;
  std::vector<Sum<T>> row(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < m; ++i) {
    std::fill(row.begin(), row.end(), Sum<T>{});
    for (std::int64_t inner = 0; inner < k; ++inner, pace(n)) {
      const Sum<T> left = to_sum(a[i * k + inner]);
      for (std::int64_t j = 0; j < n; ++j) {
        Sum<T>& total = row[static_cast<std::size_t>(j)];
        total = total + left * to_sum(b[inner * n + j]);
      }
    }
    for (std::int64_t j = 0; j < n; ++j) target[i * n + j] = from_sum<T>(row[static_cast<std::size_t>(j)]);
  }
}

Value evaluate(const EvalCall& c) {
  const Matrices left(c.in(0).shape(), true), right(c.in(1).shape(), false);
  if (left.columns != right.rows) {
    fail(ErrorClass::Runtime, c.call.span, "matmul.inner",
         fmt::format("matmul: x1 has {} columns and x2 has {} rows, expected the same", left.columns,
                     right.rows));
  }
  const DType dtype = dtype_attribute(c.call, "out_dtype").value_or(c.in(0).dtype());
  const Tensor a = convert_tensor(c.in(0), dtype), b = convert_tensor(c.in(1), dtype);
  const Shape batch = broadcast_values(c.call, left.batch, right.batch);
  Shape shape = batch;
  if (a.rank() > 1) shape.push_back(left.rows);
  if (b.rank() > 1) shape.push_back(right.columns);
  Tensor result = Tensor::empty(dtype, shape);
  if (result.size() == 0) return result;
  const std::int64_t m = left.rows, n = right.columns, k = left.columns;
  visit_dtype(dtype, [&](auto element) {
    using T = decltype(element);
    const T* x = a.view<T>().data();
    const T* y = b.view<T>().data();
    T* target = result.mutable_view<T>().data();
    for_each_row<2>(batch, {broadcast_strides(left.batch, batch), broadcast_strides(right.batch, batch)},
                    [&](const auto& at, const auto& step, std::int64_t count) {
                      for (std::int64_t i = 0; i < count; ++i, target += m * n) {
                        multiply<T>(x + (at[0] + i * step[0]) * m * k, y + (at[1] + i * step[1]) * k * n,
                                    target, m, n, k);
                      }
                    });
  });
  return result;
}

// --- Lowering: one grid over batch, rows, columns and the inner dimension.

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer a = lowering.input(0), b = lowering.input(1);
  const Buffer result = lowering.output();
  const Dims& shape = lowering.result_dims();
  const bool matrix_a = a.rank() > 1, matrix_b = b.rank() > 1;
  const std::size_t batch = shape.size() - matrix_a - matrix_b;
  const Dims batch_dims(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(batch));
  const Scalar inner = a.shape().back();
  lowering.require_equal(inner, b.shape()[matrix_b ? b.shape().size() - 2 : 0],
                         "matmul: x1 must have as many columns as x2 has rows");

  // Index of an operand's batch part, right-aligned with the result's.
  const auto batch_index = [&](const Buffer& operand, const Dims& s) {
    Dims index;
    const std::size_t own = operand.rank() > 2 ? static_cast<std::size_t>(operand.rank()) - 2 : 0;
    for (std::size_t i = 0; i < own; ++i) {
      index.push_back(is_one(operand.shape()[i]) ? Scalar(0) : s[batch - own + i]);
    }
    return index;
  };
  const DType wide = compute_dtype(result.dtype());
  const Buffer total = wide == result.dtype() ? result : lowering.temporary("total", shape, wide);
  const auto operand = [&](const Buffer& buffer, const Dims& index) {
    return cast(wide, lowering.load_as(result.dtype(), buffer, index));
  };
  lowering.reduce("matmul", total, shape, {inner}, [&](const Dims& s, const Dims& r) {
    Dims left = batch_index(a, s), right = batch_index(b, s);
    if (matrix_a) left.push_back(s[batch]);
    left.push_back(r[0]);
    right.push_back(r[0]);
    if (matrix_b) right.push_back(s.back());
    return operand(a, left) * operand(b, right);
  });
  if (!(total == result)) {
    lowering.map("round", result, [&](const Dims& i) { return lowering.loops().load(total, i); });
  }
  return lowering.finish();
}

// --- Gradient.

GraphValue transposed(const GraphValue& x, int rank) {
  std::vector<int> order;
  for (int i = 0; i < rank; ++i) order.push_back(i);
  std::swap(order[order.size() - 2], order[order.size() - 1]);
  return call_op("permute_dims", {x}, {{"axes", axes_attribute(order)}});
}

GraphValue product_of(const GraphValue& a, const GraphValue& b) {
  return call_op("matmul", {a, b}, {{"out_dtype", Attribute()}});
}

GraphValue as_dtype(const GraphValue& x, std::optional<DType> dtype) {
  if (!dtype || x.type().dtype == dtype) return x;
  return call_op("astype", {x}, {{"dtype", *dtype}});
}

GraphValue expanded(const GraphValue& x, int axis) {
  return call_op("expand_dims", {x}, {{"axis", axes_attribute({axis})}});
}
GraphValue squeezed(const GraphValue& x, int axis) {
  return call_op("squeeze", {x}, {{"axis", axes_attribute({axis})}});
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const int rank_a = shape_of(c.call.tensor(0)).rank, rank_b = shape_of(c.call.tensor(1)).rank;
  if (rank_a < 0 || rank_b < 0)
    c.call.reject("gradient", c.call.span, "the gradient needs the ranks of x1 and x2");
  const std::optional<DType> out_dtype = dtype_attribute(c.call, "out_dtype");
  const GraphValue g = rule.cotangent();
  const auto operand = [&](std::size_t i) { return as_dtype(rule.argument(i), out_dtype); };
  const auto finished = [&](const GraphValue& partial, std::size_t i) {
    return as_dtype(rule.fit(partial, i), c.call.tensor(i).dtype).expr();
  };
  Partials partials(2);
  if (rule.differentiable(0)) {
    const GraphValue b = operand(1);
    if (rank_a == 1 && rank_b == 1) {
      partials[0] = finished(g * b, 0);
    } else if (rank_b == 1) {
      partials[0] = finished(product_of(expanded(g, -1), expanded(b, 0)), 0);
    } else if (rank_a == 1) {
      partials[0] = finished(squeezed(product_of(expanded(g, -2), transposed(b, rank_b)), -2), 0);
    } else {
      partials[0] = finished(product_of(g, transposed(b, rank_b)), 0);
    }
  }
  if (rule.differentiable(1)) {
    const GraphValue a = operand(0);
    if (rank_a == 1 && rank_b == 1) {
      partials[1] = finished(g * a, 1);
    } else if (rank_b == 1) {
      partials[1] = finished(squeezed(product_of(transposed(a, rank_a), expanded(g, -1)), -1), 1);
    } else if (rank_a == 1) {
      partials[1] = finished(product_of(expanded(a, 1), expanded(g, -2)), 1);
    } else {
      partials[1] = finished(product_of(transposed(a, rank_a), g), 1);
    }
  }
  return partials;
}

constexpr Sample samples[] = {
    {"[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]", "[[19.0, 22.0], [43.0, 50.0]]"},
    {"[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]", "32.0"},
    {"[[1.0, 2.0], [3.0, 4.0]], [10.0, 1.0]", "[12.0, 34.0]"},
    {"[1.0, 10.0], [[1.0, 2.0], [3.0, 4.0]]", "[31.0, 42.0]"},
    {"rand((2, 3, 4), \"float64\"), rand((4, 5), \"float64\")"},
    {"rand((2, 1, 3, 4), \"float64\"), rand((5, 4, 2), \"float64\")"},
    {"rand((3, 0), \"float32\"), rand((0, 2), \"float32\")"},
    {"rand((2, 3, 4), \"float32\"), rand((4,), \"float32\")"},
    {"rand((4,), \"float32\"), rand((2, 4, 3), \"float32\")"},
    {"rand((2, 3), \"float16\"), rand((3, 2), \"float16\"), out_dtype=\"float32\""},
};
constexpr Reject rejects[] = {
    {"matmul.inner", "rand((2, 3), \"float32\"), rand((4, 2), \"float32\")", "do not multiply"},
    {"matmul.rank", "rand((), \"float32\"), rand((2, 2), \"float32\")", "expected at least 1"},
    {"matmul.dtype", "rand((2, 2), \"float32\"), rand((2, 2), \"float64\")", "expected the same"},
    {"matmul.shape", "rand((2, 3, 3), \"float32\"), rand((4, 3, 3), \"float32\")", "do not broadcast"},
};

}  // namespace

extern const Op op_matmul{
    .name = "matmul",
    .summary = "Product of matrices over the last two dimensions.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc =
        "dx1 = sum_to(g @ transposed x2, x1), dx2 = sum_to(transposed x1 @ g, x2); a vector counts as a row "
        "on "
        "the left and as a column on the right",
    .agreement = Agreement::Sum,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "A vector on the left counts as a row and on the right as a column, and that dimension is dropped "
        "from the "
        "result. Leading dimensions broadcast. With out_dtype the operands are converted first. The "
        "interpreter "
        "accumulates floats in float64; a lowered product in the result's dtype, 16-bit floats in float32."};

}  // namespace relish::ops_matmul
