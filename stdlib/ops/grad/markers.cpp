// Marks for the gradient transform: where gradients stop, and which region is computed again.
#include "stdlib/families/identity.h"

namespace relish {
namespace {

constexpr Param params[] = {{"input", ParamKind::Tensor, "tensor", "", "input"}};
constexpr Sample samples[] = {
    {"[1.0, 2.0]", "[1.0, 2.0]"},         {"R.const([[1], [2]], \"int32\")", "[[1], [2]]"},
    {"R.const(3.5, \"float64\")", "3.5"}, {"rand((0, 3), \"float64\")", "rand((0, 3), \"float64\")"},
    {"[True, False]", "[True, False]"},
};
constexpr Reject no_grad_rejects[] = {{"no_grad.tensor", "R.shape([2])", "expected a tensor"}};
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
                                .rejects = no_grad_rejects};
extern const Op op_grad_start_checkpoint = identity_of_tensor(
    {.name = "grad.start_checkpoint",
     .summary = "The tensor as it is; it enters a region that the gradient computes again.",
     .params = params,
     .samples = samples,
     .rejects = start_checkpoint_rejects,
     .doc = "What stands between start_checkpoint and end_checkpoint need not be kept for "
            "the backward pass."});
extern const Op op_grad_end_checkpoint = identity_of_tensor(
    {.name = "grad.end_checkpoint",
     .summary = "The tensor as it is; it leaves a region that the gradient computes again.",
     .params = params,
     .samples = samples,
     .rejects = end_checkpoint_rejects,
     .doc = "What stands between start_checkpoint and end_checkpoint need not be kept for "
            "the backward pass."});

}  // namespace relish
