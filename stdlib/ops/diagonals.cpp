// Diagonals and triangles of matrices. Diagonal k holds the elements whose column is k more than their row.
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/elementwise/scalars.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/pace.h"

namespace relish::ops_diagonals {
namespace {

constexpr Param eye_params[] = {
    {"n", ParamKind::Scalar, "int", "", "number of rows"},
    {"m", ParamKind::Scalar, "int or None", "None", "number of columns; None: as many as rows"},
    {"k", ParamKind::Scalar, "int or None", "None", "which diagonal; 0 when absent"},
    {"dtype", ParamKind::Attribute, "dtype", "\"float32\"", "element type of the result"}};
constexpr Param eye_like_params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "gives the shape, of rank 2, and the dtype by default"},
    {"k", ParamKind::Scalar, "int", "0", "which diagonal"},
    {"dtype", ParamKind::Attribute, "dtype or None", "None", "element type of the result"}};
constexpr Param triangle_params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "matrices in the last two axes"},
    {"k", ParamKind::Scalar, "int", "0", "the diagonal up to which, or from which, elements are kept"}};

// --- eye

// The argument k, when it is given.
std::optional<std::size_t> diagonal_of_eye(const CallView& call) {
  return call.args.size() > 2 ? std::optional<std::size_t>(2) : std::nullopt;
}

Type infer_eye(const CallView& call) {
  for (std::size_t i = 0; i < call.args.size(); ++i) require_integer_scalar(call, i);
  const std::optional<DType> dtype = dtype_attribute(call, "dtype");
  const std::size_t columns = call.args.size() > 1 ? 1 : 0;
  const std::optional<Scalar> n = integer_expression(call, 0), m = integer_expression(call, columns);
  for (const auto& extent : {n, m}) {
    if (extent && extent->as_int().value_or(0) < 0)
      call.reject("extent", call.span, fmt::format("an extent is {}, which is negative", *extent->as_int()));
  }
  if (!n || !m) return TensorType{dtype, std::nullopt, 2};
  return TensorType{dtype, Dims{*n, *m}, 2};
}

// --- eye_like

Type infer_eye_like(const CallView& call) {
  require_integer_scalar(call, 1);
  TensorType type = call.tensor(0);
  if (type.rank >= 0 && type.rank != 2) {
    call.reject("rank", call.span_of(0), fmt::format("x has rank {}, expected 2", type.rank));
  }
  if (const auto dtype = dtype_attribute(call, "dtype")) type.dtype = dtype;
  return type;
}

Value diagonal(const EvalCall& c, std::int64_t k) {
  const DType dtype = *c.result_type.tensor()->dtype;
  const Shape shape = result_shape(c);
  Tensor result = Tensor::zeros(dtype, shape);
  Pace pace;
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    for (std::int64_t column = 0; column < shape[1]; ++column, pace()) {
      if (column - row != k) continue;
      if (is_float(dtype))
        result.set_double(row * shape[1] + column, 1);
      else
        result.set_int(row * shape[1] + column, 1);
    }
  }
  return result;
}

Value evaluate_eye(const EvalCall& c) {
  const auto k = diagonal_of_eye(c.call);
  return diagonal(c, k ? integer_value(c, *k) : 0);
}
Value evaluate_eye_like(const EvalCall& c) { return diagonal(c, integer_value(c, 1)); }

PrimFunc lower_diagonal(Lowering& lowering, const Scalar& k) {
  const Buffer result = lowering.output();
  lowering.map("eye", result, [&](const Dims& i) {
    return select(equal(i[1] - i[0], k), literal(result.dtype(), 1), literal(result.dtype(), 0));
  });
  return lowering.finish();
}

PrimFunc lower_eye(const LowerCall& c) {
  Lowering lowering(c);
  const auto k = diagonal_of_eye(c.call);
  return lower_diagonal(lowering, k ? scalar_input(lowering, *k, DType::Int64) : Scalar(0));
}
PrimFunc lower_eye_like(const LowerCall& c) {
  Lowering lowering(c);
  lowering.input(0);
  return lower_diagonal(lowering, scalar_input(lowering, 1, DType::Int64));
}

// --- tril, triu

Type infer_triangle(const CallView& call) {
  require_integer_scalar(call, 1);
  const TensorType& x = call.tensor(0);
  if (x.rank >= 0 && x.rank < 2) {
    call.reject("rank", call.span_of(0), fmt::format("x has rank {}, expected at least 2", x.rank));
  }
  return x;
}

template <bool lower_part>
Value evaluate_triangle(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const std::int64_t k = integer_value(c, 1);
  const std::int64_t rows = x.shape()[x.shape().size() - 2], columns = x.shape().back();
  Tensor result = Tensor::zeros(x.dtype(), x.shape());
  visit_dtype(x.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* source = x.view<T>().data();
    T* target = result.mutable_view<T>().data();
    Pace pace;
    for (std::int64_t i = 0; i < x.size(); ++i, pace()) {
      const std::int64_t off = i % columns - i / columns % rows;
      if (lower_part ? off <= k : off >= k) target[i] = source[i];
    }
  });
  return result;
}

template <bool lower_part>
PrimFunc lower_triangle(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Scalar k = scalar_input(lowering, 1, DType::Int64);
  const Buffer result = lowering.output();
  lowering.map("triangle", result, [&](const Dims& i) {
    const Scalar off = i.back() - i[i.size() - 2];
    return select(lower_part ? off <= k : off >= k, lowering.loops().load(x, i), zero(x.dtype()));
  });
  return lowering.finish();
}

Partials vjp_triangle(const VjpCall& c) {
  const GradientRule rule(c);
  return {call_op(c.call.op.name, {rule.cotangent(), rule.argument(1)}).expr(), std::nullopt};
}

constexpr Sample eye_samples[] = {
    {"2", "[[1.0, 0.0], [0.0, 1.0]]", false},
    {"2, 3, 1", "[[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]", false},
    {"3, 2, -1, dtype=\"int32\"", "[[0, 0], [1, 0], [0, 1]]", false},
    {"2, 2, 5", "[[0.0, 0.0], [0.0, 0.0]]", false},
    {"1, m=2, dtype=\"bool\"", "[[1, 0]]", false},
    {"0, 3", "", false},
};
constexpr Sample eye_like_samples[] = {
    {"[[5.0, 6.0], [7.0, 8.0]]", "[[1.0, 0.0], [0.0, 1.0]]", false},
    {"[[5.0, 6.0, 7.0]], 1", "[[0.0, 1.0, 0.0]]", false},
    {"[[5.0], [6.0]], k=-1, dtype=\"int64\"", "[[0], [1]]", false},
    {"R.const([[1, 2]], \"int8\")", "[[1, 0]]", false},
    {"rand((0, 3), \"float32\")", "", false},
};
constexpr Sample tril_samples[] = {
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", "[[1.0, 0.0, 0.0], [4.0, 5.0, 0.0]]"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], 1", "[[1.0, 2.0, 0.0], [4.0, 5.0, 6.0]]"},
    {"R.const([[1, 2], [3, 4]], \"int8\"), k=-1", "[[0, 0], [3, 0]]", false},
    {"rand((2, 3, 4), \"float64\"), -2"},
    {"rand((0, 3), \"float32\"), 5"},
    {"rand((2, 0, 3), \"float32\")"},
    {"rand((1, 1), \"float64\"), 0"},
};
constexpr Sample triu_samples[] = {
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", "[[1.0, 2.0, 3.0], [0.0, 5.0, 6.0]]"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], 1", "[[0.0, 2.0, 3.0], [0.0, 0.0, 6.0]]"},
    {"R.const([[1, 2], [3, 4]], \"int8\"), k=-1", "[[1, 2], [3, 4]]", false},
    {"rand((2, 3, 4), \"float64\"), -2"},
    {"rand((0, 3), \"float32\"), 5"},
    {"rand((2, 0, 3), \"float32\")"},
    {"rand((1, 1), \"float64\"), 0"},
};
constexpr Reject eye_rejects[] = {
    {"eye.n", "2.5", "expected an integer"},
    {"eye.extent", "-1", "is negative"},
    {"eye.missing", "2, k=1", "k is given without m"},
};
constexpr Reject eye_like_rejects[] = {
    {"eye_like.rank", "[1.0]", "expected 2"},
    {"eye_like.k", "[[1.0]], 0.5", "expected an integer"},
};
constexpr Reject tril_rejects[] = {
    {"tril.rank", "[1.0]", "expected at least 2"},
    {"tril.k", "[[1.0]], 0.5", "expected an integer"},
};
constexpr Reject triu_rejects[] = {
    {"triu.rank", "[1.0]", "expected at least 2"},
    {"triu.k", "[[1.0]], 0.5", "expected an integer"},
};

}  // namespace

extern const Op op_eye{.name = "eye",
                       .summary = "A matrix of zeros with ones on a diagonal.",
                       .params = eye_params,
                       .infer = infer_eye,
                       .eval = evaluate_eye,
                       .lower = lower_eye,
                       .no_gradient = "the result is constant",
                       .zero_gradient = true,
                       .agreement = Agreement::DataMovement,
                       .samples = eye_samples,
                       .rejects = eye_rejects,
                       .doc =
                           "Diagonal k holds the elements whose column is k more than their row; k is given "
                           "together with m."};
extern const Op op_eye_like{.name = "eye_like",
                            .summary = "Zeros in the shape of a matrix, with ones on a diagonal.",
                            .params = eye_like_params,
                            .infer = infer_eye_like,
                            .eval = evaluate_eye_like,
                            .lower = lower_eye_like,
                            .no_gradient = "the result is constant",
                            .zero_gradient = true,
                            .agreement = Agreement::DataMovement,
                            .samples = eye_like_samples,
                            .rejects = eye_like_rejects,
                            .doc = "Diagonal k holds the elements whose column is k more than their row."};
extern const Op op_tril{
    .name = "tril",
    .summary = "The part of matrices up to a diagonal, with zeros above it.",
    .params = triangle_params,
    .infer = infer_triangle,
    .eval = evaluate_triangle<true>,
    .lower = lower_triangle<true>,
    .vjp = vjp_triangle,
    .gradient_doc = "dx = tril(g, k)",
    .agreement = Agreement::DataMovement,
    .samples = tril_samples,
    .rejects = tril_rejects,
    .doc = "Elements whose column is at most k more than their row. TVM has no gradient."};
extern const Op op_triu{.name = "triu",
                        .summary = "The part of matrices from a diagonal on, with zeros below it.",
                        .params = triangle_params,
                        .infer = infer_triangle,
                        .eval = evaluate_triangle<false>,
                        .lower = lower_triangle<false>,
                        .vjp = vjp_triangle,
                        .gradient_doc = "dx = triu(g, k)",
                        .agreement = Agreement::DataMovement,
                        .samples = triu_samples,
                        .rejects = triu_rejects,
                        .doc = "Elements whose column is at least k more than their row."};

}  // namespace relish::ops_diagonals
