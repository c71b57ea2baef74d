// Pooling over whole images.
#include "stdlib/families/dtypes.h"
#include "stdlib/families/shapes.h"
#include "stdlib/families/synonym.h"

namespace relish {
namespace {

constexpr Param params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "images, of rank 4"},
    {"layout", ParamKind::Attribute, "str", "\"NCHW\"", "order of batch N, channels C, rows H, columns W"}};

template <bool largest>
Meaning meaning(const CallView& call) {
  const std::string layout = call.string_attribute("layout");
  const auto axis = [&](char dim) { return static_cast<std::int64_t>(layout.find(dim)); };
  return {find_op(largest ? "max" : "mean"),
          {call.args.begin(), call.args.end()},
          {{"axis", attribute_of({axis('H'), axis('W')})}, {"keepdims", true}}};
}

template <bool largest>
Type infer(const CallView& call) {
  std::string letters = call.string_attribute("layout");
  std::sort(letters.begin(), letters.end());
  if (letters != "CHNW") {
    call.reject("layout", call.span,
                fmt::format("layout is \"{}\", expected an order of the letters NCHW",
                            call.string_attribute("layout")));
  }
  require_number(call, 0);
  const int rank = shape_of(call.tensor(0)).rank;
  if (rank < 0) return TensorType{call.tensor(0).dtype, std::nullopt, 4};
  if (rank != 4) call.reject("rank", call.span_of(0), fmt::format("data has rank {}, expected 4", rank));
  return synonym::infer<meaning<largest>>(call);
}

constexpr Sample max_samples[] = {
    {"[[[[1.0, 2.0], [3.0, 5.0]], [[-4.0, -2.0], [-1.0, -3.0]]]]", "[[[[5.0]], [[-1.0]]]]"},
    {"[[[[1.0, 7.0], [3.0, 5.0]]]], layout=\"NHWC\"", "[[[[3.0, 7.0]]]]"},
    {"rand((2, 3, 4, 5), \"float64\")"},
    {"rand((2, 4, 5, 3), \"float32\"), layout=\"NHWC\""},
    {"rand((0, 3, 2, 2), \"float32\")"},
    {"rand((1, 1, 1, 1), \"float32\")"},
};
constexpr Sample avg_samples[] = {
    {"[[[[1.0, 2.0], [3.0, 6.0]], [[-4.0, -2.0], [-1.0, -3.0]]]]", "[[[[3.0]], [[-2.5]]]]"},
    {"[[[[1.0, 7.0], [3.0, 5.0]]]], layout=\"NHWC\"", "[[[[2.0, 6.0]]]]"},
    {"rand((2, 3, 4, 5), \"float64\")"},
    {"rand((2, 4, 5, 3), \"float32\"), layout=\"NHWC\""},
    {"rand((0, 3, 2, 2), \"float32\")"},
    {"rand((1, 1, 1, 1), \"float32\")"},
};
constexpr Reject max_rejects[] = {
    {"global_max_pool2d.rank", "rand((3, 4, 5), \"float32\")", "data has rank 3"},
    {"global_max_pool2d.layout", "rand((2, 3, 4, 5), \"float32\"), layout=\"NCWW\"", "layout is \"NCWW\""},
    {"global_max_pool2d.dtype", "R.const([[[[True]]]], \"bool\")", "expected numbers"},
};
constexpr Reject avg_rejects[] = {
    {"global_avg_pool2d.rank", "rand((3, 4, 5), \"float32\")", "data has rank 3"},
    {"global_avg_pool2d.layout", "rand((2, 3, 4, 5), \"float32\"), layout=\"CHW\"", "layout is \"CHW\""},
    {"global_avg_pool2d.dtype", "R.const([[[[True]]]], \"bool\")", "expected numbers"},
};

}  // namespace

extern const Op op_nn_global_max_pool2d = synonym_of<meaning<true>>(
    {.name = "nn.global_max_pool2d",
     .summary = "The largest element of each channel of an image.",
     .params = params,
     .infer = infer<true>,
     .gradient_doc = "as max over rows and columns: equal largest elements share g evenly",
     .agreement = Agreement::Exact,
     .samples = max_samples,
     .rejects = max_rejects,
     .doc = "R.max over rows and columns with keepdims. A name of Relay from 2019 that TVM has no more."});

extern const Op op_nn_global_avg_pool2d = synonym_of<meaning<false>>(
    {.name = "nn.global_avg_pool2d",
     .summary = "The mean of each channel of an image.",
     .params = params,
     .infer = infer<false>,
     .gradient_doc = "as mean over rows and columns: g / (rows * columns) everywhere",
     .agreement = Agreement::Sum,
     .samples = avg_samples,
     .rejects = avg_rejects,
     .doc = "R.mean over rows and columns with keepdims. A name of Relay from 2019 that TVM has no more."});

}  // namespace relish
