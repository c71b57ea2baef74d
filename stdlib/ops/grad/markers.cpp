// Marks for the gradient transform: where gradients stop, TVM's for regions that it computes again, and what
// keeps other passes from undoing that.
#include "stdlib/families/elementwise/identity.h"

namespace relish::ops_grad_markers {
namespace {

constexpr Param params[] = {{"input", ParamKind::Tensor, "tensor", "", "input"}};
constexpr Sample samples[] = {
    {"[1.0, 2.0]", "[1.0, 2.0]"},         {"R.const([[1], [2]], \"int32\")", "[[1], [2]]"},
    {"R.const(3.5, \"float64\")", "3.5"}, {"rand((0, 3), \"float64\")", "rand((0, 3), \"float64\")"},
    {"[True, False]", "[True, False]"},
};
constexpr Reject no_grad_rejects[] = {{"no_grad.tensor", "R.shape([2])", "expected a tensor"}};
constexpr std::string_view no_grad_aliases[] = {"grad.stop_gradient"};
constexpr Reject start_checkpoint_rejects[] = {
    {"start_checkpoint.tensor", "R.shape([2])", "expected a tensor"}};
constexpr Reject end_checkpoint_rejects[] = {{"end_checkpoint.tensor", "R.shape([2])", "expected a tensor"}};

}  // namespace

extern const Op op_grad_no_grad{.name = "grad.no_grad",
                                .summary = "The tensor as it is, through which no gradient passes.",
                                .params = params,
                                .infer = infer_identity,
                                .eval = evaluate_identity,
                                .no_gradient = "it stops gradients",
                                .zero_gradient = true,
                                .agreement = Agreement::DataMovement,
                                .samples = samples,
                                .rejects = no_grad_rejects,
                                .aliases = no_grad_aliases};

namespace {

constexpr Reject barrier_rejects[] = {{"barrier.tensor", "R.shape([2])", "expected a tensor"}};

constexpr Op mark(Op op) {
  op.params = params;
  op.samples = samples;
  return identity_of_tensor(op);
}

}  // namespace

extern const Op op_grad_start_checkpoint =
    mark({.name = "grad.start_checkpoint",
          .summary = "The tensor as it is; the mark of a region that the gradient computes again.",
          .rejects = start_checkpoint_rejects,
          .doc = "What is made of it is not kept for the way back but computed again there, up to an "
                 "R.grad.end_checkpoint. The tensor that is marked is kept."});
extern const Op op_grad_end_checkpoint =
    mark({.name = "grad.end_checkpoint",
          .summary = "The tensor as it is; the end of a region that the gradient computes again.",
          .rejects = end_checkpoint_rejects,
          .doc = "What is made of it is kept for the way back again, as far as it is made of nothing else "
                 "that is not kept."});
extern const Op op_grad_barrier = mark(
    {.name = "grad.barrier",
     .summary = "The tensor as it is, which passes take for another value.",
     .rejects = barrier_rejects,
     .doc = "What a gradient computes again it computes of tensors behind barriers, so that cse and fold "
            "do not take it for what was computed before. In compiled code it is nothing."});

}  // namespace relish::ops_grad_markers
