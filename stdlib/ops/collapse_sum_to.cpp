// The transpose of broadcasting: a sum over everything that broadcasting would stretch.
#include "stdlib/families/reductions/reduction.h"

#include "ir/printer/printer.h"

namespace relish::ops_collapse_sum_to {
namespace {

constexpr Param params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"shape", ParamKind::Shape, "shape", "", "shape of the result, which broadcasts to data's"}};

constexpr Param like_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"collapse_target", ParamKind::Tensor, "tensor", "", "has the shape of the result"}};

// The shape to which data is summed: that of a tensor, or the shape itself.
BroadcastShape target_of(const CallView& call) {
  return call.args[1].type().tensor() ? shape_of(call.tensor(1)) : shape_argument(call, 1);
}

Type infer(const CallView& call) {
  require_number(call, 0);
  const TensorType& data = call.tensor(0);
  const BroadcastShape from = shape_of(data), to = target_of(call);
  if (from.rank >= 0 && to.rank > from.rank) {
    call.reject("rank", call.span,
                fmt::format("data has rank {}, the shape has rank {}", from.rank, to.rank));
  }
  if (from.dims && to.dims) {
    const std::size_t extra = from.dims->size() - to.dims->size();
    for (std::size_t i = 0; i < to.dims->size(); ++i) {
      const Scalar& want = (*to.dims)[i];
      const Scalar& have = (*from.dims)[extra + i];
      if (!is_one(want) && want.as_int() && have.as_int() && *want.as_int() != *have.as_int()) {
        call.reject("shape", call.span,
                    fmt::format("data of shape {} does not collapse to {}: dimension {} would be {}",
                                describe_dims(*from.dims), describe_dims(*to.dims), i, *want.as_int()));
      }
    }
  }
  return tensor_of(to, data.dtype);
}

Value evaluate(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const Shape shape = result_shape(c);
  if (broadcast_values(c.call, shape, data.shape()) != data.shape()) {
    fail(ErrorClass::Runtime, c.call.span, fmt::format("{}.shape", c.call.op.name),
         fmt::format("{}: the shape ({}) does not broadcast to that of data, ({})", c.call.op.name,
                     fmt::join(shape, ", "), fmt::join(data.shape(), ", ")));
  }
  std::vector<int> axes;
  const std::size_t extra = data.shape().size() - shape.size();
  for (std::size_t i = 0; i < data.shape().size(); ++i) {
    if (i < extra || (shape[i - extra] == 1 && data.shape()[i] != 1)) axes.push_back(static_cast<int>(i));
  }
  Tensor result = Tensor::empty(data.dtype(), shape);
  visit_dtype(data.dtype(), [&](auto element) {
    using T = decltype(element);
    T* target = result.mutable_view<T>().data();
    for (const Sum<T>& total : reduction::sums<T>(data, axes)) *target++ = from_sum<T>(total);
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0);
  if (c.call.args[1].type().tensor()) lowering.input(1);
  const Buffer result = lowering.output();
  const Dims& shape = lowering.result_dims();
  const std::size_t extra = data.shape().size() - shape.size();
  // Which dims of data are summed must be known: it decides the loops.
  std::vector<int> axes;
  Dims reduced;
  for (std::size_t i = 0; i < data.shape().size(); ++i) {
    const Scalar& have = data.shape()[i];
    const bool sum = i < extra || (is_one(shape[i - extra]) && !is_one(have));
    if (sum) {
      axes.push_back(static_cast<int>(i));
      reduced.push_back(have);
    } else if (!prove_equal(have, shape[i - extra])) {
      c.call.reject(
          "lowering", c.call.span,
          fmt::format(
              "dimension {} of data is {} and of the shape {}; lowering needs to know whether it is summed",
              i, print(have), print(shape[i - extra])));
    }
  }
  const DType wide = compute_dtype(data.dtype());
  const Buffer total = wide == data.dtype() ? result : lowering.temporary("total", shape, wide);
  lowering.reduce("collapse", total, shape, reduced, [&](const Dims& s, const Dims& r) {
    Dims index;
    std::size_t next = 0;
    for (std::size_t i = 0; i < data.shape().size(); ++i) {
      index.push_back(contains(axes, static_cast<int>(i)) ? r[next++] : s[i - extra]);
    }
    return lowering.load_as(wide, data, index);
  });
  if (!(total == result)) {
    lowering.map("round", result, [&](const Dims& i) { return lowering.loops().load(total, i); });
  }
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  return {call_op("broadcast_to", {rule.cotangent(), rule.shape(0)}).expr(), std::nullopt};
}

constexpr Sample samples[] = {
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], R.shape([3])", "[5.0, 7.0, 9.0]"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], R.shape([2, 1])", "[[6.0], [15.0]]"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], R.shape([])", "21.0"},
    {"rand((3, 2, 5, 4), \"float64\"), R.shape([2, 1, 4])"},
    {"rand((0, 3), \"float32\"), R.shape([3])"},
    {"rand((2, 1), \"float32\"), R.shape([2, 1])"},
};
constexpr Reject rejects[] = {
    {"collapse_sum_to.shape", "rand((2, 3), \"float32\"), R.shape([2])", "does not collapse"},
    {"collapse_sum_to.rank", "rand((3,), \"float32\"), R.shape([2, 3])", "data has rank 1"},
    {"collapse_sum_to.dtype", "R.const([True, False], \"bool\"), R.shape([])", "expected numbers"},
};

constexpr Sample like_samples[] = {
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [0.0, 0.0, 0.0]", "[5.0, 7.0, 9.0]"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[0.0], [0.0]]", "[[6.0], [15.0]]"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], R.const(0, \"int32\")", "21.0"},
    {"rand((3, 2, 5, 4), \"float64\"), rand((2, 1, 4), \"float64\")"},
    {"rand((0, 3), \"float32\"), rand((3,), \"float32\")"},
    {"rand((2, 1), \"float32\"), rand((2, 1), \"float32\")"},
};
constexpr Reject like_rejects[] = {
    {"collapse_sum_like.shape", "rand((2, 3), \"float32\"), rand((2,), \"float32\")", "does not collapse"},
    {"collapse_sum_like.rank", "rand((3,), \"float32\"), rand((2, 3), \"float32\")", "data has rank 1"},
    {"collapse_sum_like.dtype", "R.const([True, False], \"bool\"), 0.0", "expected numbers"},
};

}  // namespace

extern const Op op_collapse_sum_like{
    .name = "collapse_sum_like",
    .summary = "Sum a tensor to the shape of another one, which broadcasts to its own.",
    .params = like_params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "ddata = broadcast_to(g, shape of data)",
    .agreement = Agreement::Sum,
    .samples = like_samples,
    .rejects = like_rejects,
    .doc = "As collapse_sum_to; collapse_target gives its shape only and has no gradient."};

extern const Op op_collapse_sum_to{
    .name = "collapse_sum_to",
    .summary = "Sum a tensor to a shape that broadcasts to its own.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "ddata = broadcast_to(g, shape of data)",
    .agreement = Agreement::Sum,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "The transpose of broadcast_to; gradients of broadcasting operators use it. Sums are those of sum."};

}  // namespace relish::ops_collapse_sum_to
