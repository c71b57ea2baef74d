// Marks for the gradient transform: where gradients stop, and TVM's for regions that it computes again.
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

namespace {

constexpr std::string_view not_computed_again =
    "the gradient keeps what it needs and computes no region again; without the mark the numbers are the "
    "same";

constexpr Op mark_of_region(Op op) {
  op.params = params;
  op.infer = infer_identity;
  op.eval = evaluate_identity;
  op.no_gradient = not_computed_again;
  op.agreement = Agreement::DataMovement;
  op.samples = samples;
  return op;
}

}  // namespace

extern const Op op_grad_start_checkpoint = mark_of_region(
    {.name = "grad.start_checkpoint",
     .summary = "The tensor as it is; in TVM the mark of a region that its gradient computes again.",
     .rejects = start_checkpoint_rejects});
extern const Op op_grad_end_checkpoint = mark_of_region(
    {.name = "grad.end_checkpoint",
     .summary = "The tensor as it is; in TVM the end of a region that its gradient computes again.",
     .rejects = end_checkpoint_rejects});

}  // namespace relish::ops_grad_markers
