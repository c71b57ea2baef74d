// Reshapes whose shape follows from a tensor: flatten, nn.batch_flatten, reshape_like.
#include "stdlib/families/shapes/movement.h"

namespace relish::ops_flatten {
namespace {

constexpr Param one_param[] = {{"x", ParamKind::Tensor, "tensor", "", "input"}};
constexpr Param data_param[] = {{"data", ParamKind::Tensor, "tensor", "", "input"}};
constexpr Param like_params[] = {{"data", ParamKind::Tensor, "tensor", "", "input"},
                                 {"shape_like", ParamKind::Tensor, "tensor", "", "gives the shape"}};

Value evaluate(const EvalCall& c) { return c.in(0).reshaped(result_shape(c)); }

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  Partials partials(c.call.args.size());
  partials[0] = reshaped(rule.cotangent(), rule.dims(0)).expr();
  return partials;
}

Type infer_flatten(const CallView& call) {
  const TensorType& x = call.tensor(0);
  const std::optional<Dims> dims = known_dims(x);
  if (!dims) return TensorType{x.dtype, std::nullopt, 1};
  return TensorType{x.dtype, Dims{product(*dims)}, 1};
}

Type infer_batch(const CallView& call) {
  const TensorType& data = call.tensor(0);
  const BroadcastShape shape = shape_of(data);
  if (shape.rank == 0) call.reject("rank", call.span_of(0), "data has rank 0, expected at least 1");
  if (!shape.dims) return TensorType{data.dtype, std::nullopt, 2};
  const Dims rest(shape.dims->begin() + 1, shape.dims->end());
  return TensorType{data.dtype, Dims{shape.dims->front(), product(rest)}, 2};
}

Type infer_like(const CallView& call) {
  const TensorType& data = call.tensor(0);
  const BroadcastShape from = shape_of(data), to = shape_of(call.tensor(1));
  if (from.dims && to.dims && prove_different(product(*from.dims), product(*to.dims))) {
    call.reject("shape", call.span,
                fmt::format("data of shape {} does not reshape to {}: the number of elements differs",
                            describe_dims(*from.dims), describe_dims(*to.dims)));
  }
  return tensor_of(to, data.dtype);
}

constexpr Op reshaping(Op op) {
  op.eval = evaluate;
  op.lower = lower_same_order;
  op.vjp = vjp;
  op.agreement = Agreement::DataMovement;
  return op;
}

constexpr Sample flatten_samples[] = {
    {"[[1.0, 2.0], [3.0, 4.0]]", "[1.0, 2.0, 3.0, 4.0]"},
    {"rand((), \"float64\")"},
    {"rand((2, 3, 4), \"float64\")"},
    {"rand((0, 3), \"float32\")"},
    {"rand((5,), \"float32\")"},
    {"rand((1, 3, 1), \"float64\")"},
};
constexpr Reject flatten_rejects[] = {{"flatten.missing", "", "argument 'x' is missing"}};
constexpr Sample batch_samples[] = {
    {"[[[1.0, 2.0], [3.0, 4.0]]]", "[[1.0, 2.0, 3.0, 4.0]]"},
    {"[1.0, 2.0]", "[[1.0], [2.0]]"},
    {"rand((2, 3, 4), \"float64\")"},
    {"rand((2, 3), \"float64\")"},
    {"rand((0, 3, 2), \"float32\")"},
    {"rand((2, 0, 3), \"float32\")"},
};
constexpr Reject batch_rejects[] = {{"batch_flatten.rank", "rand((), \"float32\")", "expected at least 1"}};
constexpr Sample like_samples[] = {
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]",
     "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]"},
    {"rand((2, 6), \"float64\"), rand((3, 4), \"float64\")"},
    {"rand((4,), \"float64\"), R.const([[1, 2], [3, 4]], \"int32\")"},
    {"rand((1,), \"float32\"), rand((), \"float32\")"},
    {"rand((0, 3), \"float32\"), rand((2, 0), \"float32\")"},
    {"rand((2, 2), \"float64\"), rand((2, 2), \"float64\")"},
};
constexpr Reject like_rejects[] = {
    {"reshape_like.shape", "rand((2, 3), \"float32\"), rand((4,), \"float32\")",
     "number of elements differs"},
};

}  // namespace

extern const Op op_flatten = reshaping({.name = "flatten",
                                        .summary = "All elements in one dimension.",
                                        .params = one_param,
                                        .infer = infer_flatten,
                                        .gradient_doc = "dx = reshape(g, shape of x)",
                                        .samples = flatten_samples,
                                        .rejects = flatten_rejects,
                                        .doc = "A tensor of rank 0 becomes one of a single element."});

extern const Op op_nn_batch_flatten =
    reshaping({.name = "nn.batch_flatten",
               .summary = "All dimensions but the first in one.",
               .params = data_param,
               .infer = infer_batch,
               .gradient_doc = "ddata = reshape(g, shape of data)",
               .samples = batch_samples,
               .rejects = batch_rejects,
               .doc = "The result has rank 2: a tensor of rank 1 gets a dimension of length 1."});

extern const Op op_reshape_like = reshaping(
    {.name = "reshape_like",
     .summary = "The elements under the shape of another tensor.",
     .params = like_params,
     .infer = infer_like,
     .gradient_doc = "ddata = reshape(g, shape of data)",
     .samples = like_samples,
     .rejects = like_rejects,
     .doc = "An operator of 2019: reshape(data, shape_of(shape_like)). shape_like has no gradient."});

}  // namespace relish::ops_flatten
