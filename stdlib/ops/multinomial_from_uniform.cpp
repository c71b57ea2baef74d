// Samples of categories: for each uniform number the category in whose part of the cumulative probabilities
// it falls.
#include "ir/calls/fault.h"
#include "ir/printer/printer.h"
#include "stdlib/families/language/random.h"
#include "stdlib/families/shapes/movement.h"

namespace relish::ops_multinomial_from_uniform {
namespace {

constexpr Param params[] = {
    {"prob", ParamKind::Tensor, "tensor", "", "probabilities, (batch, categories); each row sums to 1"},
    {"uniform_sample", ParamKind::Tensor, "tensor", "", "numbers of [0, 1), (n, 1)"},
    {"sample_indices", ParamKind::Tensor, "tensor of integers", "",
     "which row of prob each number draws from, (n, 1)"},
    {"dtype", ParamKind::Attribute, "dtype", "\"int64\"", "an integer dtype, that of the categories"}};

std::string empty_message(const CallView& call) { return fmt::format("{} of no categories", call.op.name); }

// The dims of argument `i`, which is a matrix.
std::optional<Dims> matrix(const CallView& call, std::size_t i) {
  const BroadcastShape shape = shape_of(call.tensor(i));
  if (shape.rank >= 0 && shape.rank != 2) {
    call.reject("rank", call.span_of(i),
                fmt::format("{} has rank {}, expected 2", call.op.params[i].name, shape.rank));
  }
  return shape.dims;
}

Type infer(const CallView& call) {
  require_float(call, 0);
  require_float(call, 1);
  require_indices(call, 2);
  const std::optional<DType> dtype = dtype_attribute(call, "dtype");
  if (!dtype || !is_int(*dtype)) {
    call.reject("dtype", call.span,
                fmt::format("dtype is {}, expected integers", dtype ? name_of(*dtype) : "None"));
  }
  const std::optional<Dims> prob = matrix(call, 0), samples = matrix(call, 1), rows = matrix(call, 2);
  if (prob && is_zero((*prob)[1])) call.reject("empty", call.span_of(0), "prob has no categories");
  const std::optional<std::int64_t> categories = prob ? (*prob)[1].as_int() : std::nullopt;
  const int bits = 8 * size_of(*dtype) - (is_signed_int(*dtype) ? 1 : 0);
  if (categories && bits < 63 && *categories - 1 >= std::int64_t{1} << bits) {
    call.reject("dtype", call.span,
                fmt::format("prob has {} categories, which {} does not count", *categories, name_of(*dtype)));
  }
  for (std::size_t i = 1; i < 3; ++i) {
    const std::optional<Dims>& dims = i == 1 ? samples : rows;
    if (!dims || !prove_different((*dims)[1], 1)) continue;
    call.reject(
        "shape", call.span_of(i),
        fmt::format("{} has shape {}, expected (n, 1)", call.op.params[i].name, describe_dims(*dims)));
  }
  if (samples && rows && prove_different((*samples)[0], (*rows)[0])) {
    call.reject("shape", call.span_of(2),
                fmt::format("sample_indices has {} rows and uniform_sample {}, expected the same",
                            print((*rows)[0]), print((*samples)[0])));
  }
  if (!samples) return TensorType{dtype, std::nullopt, 2};
  return TensorType{dtype, Dims{(*samples)[0], 1}, 2};
}

// Of a row the parts before the last that lie at or below the number are counted; the sums are made in the
// dtype in which prob is computed, one term after the other, as the nest makes them.
Value evaluate(const EvalCall& c) {
  const Tensor &prob = c.in(0), &samples = c.in(1), &rows = c.in(2);
  const std::int64_t categories = prob.shape()[1];
  if (categories == 0) fail_fault(Fault{FaultKind::AssertFailed, empty_message(c.call)}, c.call.span);
  check_indices(c.call, c.call.op.params[2].name, rows, {c.call.op.params[0].name, 0, prob.shape()[0]});
  Tensor result = Tensor::empty(*c.result_type.tensor()->dtype, result_shape(c));
  visit_float(prob.dtype(), [&](auto element) {
    using T = decltype(element);
    Pace pace;
    for (std::int64_t i = 0; i < result.size(); ++i) {
      const T* row = prob.view<T>().data() + from_start(rows.get_int(i), prob.shape()[0]) * categories;
      const double sample = samples.get_double(i);
      Compute<T> total = 0;
      std::int64_t below = 0;
      for (std::int64_t k = 0; k + 1 < categories; ++k, pace()) {
        total += to_compute(row[k]);
        if (!(static_cast<double>(total) > sample)) ++below;
      }
      result.set_int(i, below);
    }
  });
  return Value(result);
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer prob = lowering.input(0), samples = lowering.input(1), rows = lowering.input(2);
  const Buffer result = lowering.output();
  const Scalar categories = prob.shape()[1];
  if (!categories.as_int()) lowering.require(categories > Scalar(0), empty_message(c.call));
  lowering.require_equal(rows.shape()[0], samples.shape()[0],
                         "multinomial_from_uniform: sample_indices must have the rows of uniform_sample");
  for (const Buffer& column : {samples, rows}) {
    lowering.require_equal(column.shape()[1], 1,
                           fmt::format("multinomial_from_uniform: {} must have one column", column.name()));
  }
  check_indices(lowering, rows, prob, 0);
  const DType wide = compute_dtype(prob.dtype());
  lowering.loops().spatial("sample", result.shape(), [&](const Dims& i) {
    LocalStatements body(c.call.span);
    const Scalar sample = body.let("sample", lowering.load_as(DType::Float64, samples, i));
    const Scalar row = body.let("row", from_start(lowering.loops().load(rows, i), prob.shape()[0]));
    const ScalarVar total = body.variable("total", zero(wide));
    const ScalarVar below = body.variable("below", int_literal(DType::Int64, 0));
    body.append(repeat("k", categories - Scalar(1), c.call.span, [&](const Scalar& k) {
      LocalStatements step(c.call.span);
      step.assign(total, use(total) + lowering.load_as(wide, prob, {row, k}));
      const Scalar above = cast(DType::Float64, use(total)) > sample;
      step.assign(below, use(below) + select(above, Scalar(0), Scalar(1)));
      return step.finish();
    }));
    body.append(lowering.store_as(result, i, use(below)));
    return body.finish();
  });
  return lowering.finish();
}

constexpr Sample samples[] = {
    {"[[0.25, 0.25, 0.5], [0.5, 0.25, 0.25]], [[0.3], [0.9]], tensor([[0], [1]])", "[[1], [2]]"},
    {"[[0.25, 0.25, 0.5], [0.5, 0.25, 0.25]], [[0.0], [0.25], [0.5], [0.5], [0.49]], tensor([[0], [0], [0], "
     "[1], [1]], \"int32\"), dtype=\"int32\"",
     "tensor([[0], [1], [2], [1], [0]], \"int32\")"},
    {"[[0.0, 0.0, 1.0, 0.0], [0.25, 0.0, 0.0, 0.5]], [[0.0], [0.75], [0.1], [0.25]], tensor([[0], [-1], "
     "[-1], "
     "[-1]])",
     "[[2], [3], [0], [3]]"},
    {"R.const([[0.5, 0.5]], \"float16\"), R.const([[0.5], [0.25]], \"float64\"), tensor([[0], [0]], "
     "\"int8\"), "
     "\"int8\"",
     "tensor([[1], [0]], \"int8\")"},
    {"rand((3, 5), \"float32\") / 3, rand((4, 1), \"float32\"), tensor([[0], [2], [2], [1]])"},
    {"rand((3, 5), \"float64\") / 3, rand((2, 1), \"float32\"), tensor([[-3], [2]])"},
    {"rand((2, 1), \"float32\"), rand((1, 1), \"float32\"), tensor([[1]])", "[[0]]"},
    {"rand((2, 3), \"float32\"), rand((0, 1), \"float32\"), rand((0, 1), \"float32\").astype(\"int64\")"},
};
constexpr Reject rejects[] = {
    {"multinomial_from_uniform.rank", "[0.5, 0.5], [[0.5]], tensor([[0]])", "prob has rank 1"},
    {"multinomial_from_uniform.shape", "[[0.5, 0.5]], [[0.5, 0.5]], tensor([[0]])", "expected (n, 1)"},
    {"multinomial_from_uniform.shape", "[[0.5, 0.5]], [[0.5]], tensor([[0], [0]])",
     "has 2 rows and uniform_sample 1"},
    {"multinomial_from_uniform.dtype", "[[0.5, 0.5]], [[0.5]], tensor([[0]]), \"float32\"",
     "expected integers"},
    {"multinomial_from_uniform.dtype", "tensor([[1, 0]]), [[0.5]], tensor([[0]])",
     "expected a floating dtype"},
    {"multinomial_from_uniform.indices", "[[0.5, 0.5]], [[0.5]], [[0.0]]", "expected integers"},
    {"multinomial_from_uniform.empty", "rand((2, 0), \"float32\"), [[0.5]], tensor([[0]])", "no categories"},
    {"multinomial_from_uniform.dtype",
     "rand((1, 300), \"float32\"), rand((1, 1), \"float32\"), tensor([[0]], \"int64\"), dtype=\"uint8\"",
     "prob has 300 categories, which uint8 does not count"},
};

}  // namespace

extern const Op op_multinomial_from_uniform{
    .name = "multinomial_from_uniform",
    .summary = "Categories drawn by uniform numbers from rows of probabilities.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .no_gradient = "the result is a position",
    .zero_gradient = true,
    .agreement = Agreement::Index,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "result[i, 0] is the first category whose cumulative probability in row sample_indices[i, 0] of prob "
        "is above uniform_sample[i, 0], and the last category where none is. The probabilities are summed in "
        "their dtype (16-bit floats in float32), in order. Negative indices count from the end; one out of "
        "range is a RuntimeError (TVM reads beyond the tensor)."};

}  // namespace relish::ops_multinomial_from_uniform
