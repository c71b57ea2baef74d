// The gradient of adaptive average pools.
#include "stdlib/families/elementwise/member.h"
#include "stdlib/families/windows/resampling.h"

namespace relish::ops_grad_adaptive_avg_pool_backward {
namespace {

constexpr resampling::Member member{resampling::Source::Adaptive, 0, true};

constexpr Param params_any[] = {
    {"output_grad", ParamKind::Tensor, "tensor", "", "gradient of the pool's result"},
    {"shape", ParamKind::Shape, "shape", "", "shape of the pool's data"},
    {"layout", ParamKind::Attribute, "str", "\"NCHW\"",
     "order of the dimensions of data; its length tells the number of spatial dimensions"},
    {"out_layout", ParamKind::Attribute, "str or None", "None",
     "order of the dimensions of output_grad; None: as layout"}};

constexpr std::string_view gradient_doc = "doutput_grad = nn.adaptive_avg_pool(g)";
constexpr std::string_view doc =
    "Each cell is spread evenly over its part of the data. TVM has no such operator.";

constexpr Sample samples_any[] = {
    {"[[[[3.0, 8.0]]]], R.shape([1, 1, 1, 4])", "[[[[1.5, 1.5, 4.0, 4.0]]]]"},
    {"rand((2, 1, 3), \"float64\"), R.shape([2, 1, 7]), layout=\"NCW\""},
    {"rand((1, 2, 3, 5), \"float64\"), R.shape([1, 2, 5, 4])"},
    {"rand((1, 1, 2, 3, 2), \"float32\"), R.shape([1, 3, 4, 3, 1]), layout=\"NDHWC\", out_layout=\"NCDHW\""},
    {"rand((0, 2, 3, 3), \"float32\"), R.shape([0, 2, 4, 4])"},
};
constexpr Reject rejects_any[] = {
    {"adaptive_avg_pool_backward.shape", "rand((1, 2, 3, 3), \"float32\"), R.shape([2, 2, 4, 4])",
     "1 where the shape of data has 2 batches"},
    {"adaptive_avg_pool_backward.rank", "rand((1, 2, 3, 3), \"float32\"), R.shape([1, 2, 4])", "expected 4"},
    {"adaptive_avg_pool_backward.size", "rand((1, 2, 3, 3), \"float32\"), R.shape([1, 2, 0, 4])",
     "the result has cells"},
};

}  // namespace

extern const Op op_grad_adaptive_avg_pool_backward = member_of<member>(
    {.name = "grad.adaptive_avg_pool_backward",
     .summary = "Gradient of nn.adaptive_avg_pool for its data.",
     .params = params_any,
     .gradient_doc = gradient_doc,
     .agreement = Agreement::Sum,
     .terms = [](const CallView& call,
                 const Type& result) { return resampling::adaptive_terms(call, result, member); },
     .samples = samples_any,
     .rejects = rejects_any,
     .doc = doc});

}  // namespace relish::ops_grad_adaptive_avg_pool_backward
