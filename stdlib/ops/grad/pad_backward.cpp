// The gradient of padding.
#include "stdlib/families/shapes/padding.h"

namespace relish::ops_grad_pad_backward {
namespace {

constexpr Param params[] = {{"output_grad", ParamKind::Tensor, "tensor", "", "gradient of the padded tensor"},
                            {"pad_width", ParamKind::Attribute, "list[int]", "", "as of the padding"},
                            {"pad_mode", ParamKind::Attribute, "str", "\"constant\"", "as of the padding"}};

Type infer(const CallView& call) { return padding::infer(call, true); }
Value evaluate(const EvalCall& call) { return padding::evaluate(call, true); }
PrimFunc lower(const LowerCall& call) { return padding::lower(call, true); }
Partials vjp(const VjpCall& call) { return padding::vjp(call, true); }

constexpr Sample samples[] = {
    {"[1.0, 2.0, 4.0, 8.0, 16.0, 32.0], pad_width=[1, 2]", "[2.0, 4.0, 8.0]"},
    {"[1.0, 2.0, 4.0, 8.0, 16.0, 32.0], pad_width=[2, 1], pad_mode=\"reflect\"", "[4.0, 42.0, 17.0]"},
    {"[1.0, 2.0, 4.0, 8.0, 16.0, 32.0], pad_width=[2, 1], pad_mode=\"replicate\"", "[7.0, 8.0, 48.0]"},
    {"[1.0, 2.0, 4.0, 8.0, 16.0, 32.0], pad_width=[2, 1], pad_mode=\"circular\"", "[36.0, 9.0, 18.0]"},
    {"rand((2, 6, 8), \"float64\"), pad_width=[0, 0, 2, 1, 1, 3], pad_mode=\"reflect\""},
    {"rand((3, 8), \"float64\"), pad_width=[1, 0, 2, 3], pad_mode=\"replicate\""},
    {"rand((4, 2, 6), \"float64\"), pad_width=[0, 2, 1, 0, 3, 0], pad_mode=\"circular\""},
    {"rand((2, 2), \"float32\"), pad_width=[1, 1, 0, 0]"},
};
constexpr Reject rejects[] = {
    {"pad_backward.pad_width", "rand((2, 3), \"float32\"), pad_width=[1, 1]", "output_grad has 2"},
    {"pad_backward.size", "rand((2,), \"float32\"), pad_width=[2, 1]", "is -1"},
    {"pad_backward.size", "rand((4,), \"float32\"), pad_width=[2, 0], pad_mode=\"reflect\"",
     "needs at least 3"},
    {"pad_backward.dtype", "R.const([1, 2], \"int32\"), pad_width=[0, 1]", "expected a floating dtype"},
};

}  // namespace

extern const Op op_grad_pad_backward{.name = "grad.pad_backward",
                                     .summary = "Gradient of nn.pad for its data.",
                                     .params = params,
                                     .infer = infer,
                                     .eval = evaluate,
                                     .lower = lower,
                                     .vjp = vjp,
                                     .gradient_doc = "doutput_grad = nn.pad(g) with the value 0",
                                     .agreement = Agreement::Composite,
                                     .samples = samples,
                                     .rejects = rejects,
                                     .doc =
                                         "Each cell is added to the one from which the padding took it; in "
                                         "the mode constant the padding is cut "
                                         "off. TVM has no such operator."};

}  // namespace relish::ops_grad_pad_backward
