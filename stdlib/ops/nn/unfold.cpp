// Sliding windows as columns, and columns added back into images: each is the gradient of the other.
#include "ir/printer/printer.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"
#include "stdlib/families/shapes/movement.h"
#include "stdlib/families/windows/windows.h"

namespace relish::ops_nn_unfold {
namespace {

using windows::Axis;

constexpr Param kernel_param = {"kernel_size", ParamKind::Attribute, "int or list[int]", "",
                                "height and width of a window"};
constexpr Param dilation_param = {"dilation", ParamKind::Attribute, "int or list[int]", "1",
                                  "distance of neighbours within a window"};
constexpr Param padding_param = {"padding", ParamKind::Attribute, "int or list[int]", "0",
                                 "zeros around each image: one number, two, or four"};
constexpr Param strides_param = {"strides", ParamKind::Attribute, "int or list[int]", "1",
                                 "distance of windows"};
constexpr Param unfold_params[] = {{"data", ParamKind::Tensor, "tensor", "", "images, (N, C, H, W)"},
                                   kernel_param,
                                   dilation_param,
                                   padding_param,
                                   strides_param};
constexpr Param fold_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "columns, (N, C * kernel, L)"},
    {"output_size", ParamKind::Shape, "shape", "", "height and width of the images"},
    kernel_param,
    dilation_param,
    padding_param,
    strides_param};

// The windows of a call: sizes, and where they lie along height and width.
struct Windows {
  std::int64_t kernel[2];
  Axis axis[2];

  explicit Windows(const CallView& call) {
    const windows::Sizes sizes = windows::sizes(call, "kernel_size", 2, 1);
    const std::vector<Axis> axes = windows::axes(call, 2);
    for (std::size_t k = 0; k < 2; ++k) {
      kernel[k] = sizes[k];
      axis[k] = axes[k];
    }
    if (kernel[0] > INT32_MAX / kernel[1])
      call.reject("kernel_size", call.span,
                  fmt::format("windows have {} times {} elements", kernel[0], kernel[1]));
  }

  std::int64_t area() const { return kernel[0] * kernel[1]; }
  // How many fit into an image of that height or width.
  Scalar count(std::size_t k, const Scalar& extent) const { return axis[k].count(extent, Scalar(kernel[k])); }
};

// How many windows lie along each axis of images of that size. Rejects by "size" when one does not fit.
Dims counts_of(const CallView& call, const Windows& windows, const Dims& image) {
  Dims counts;
  for (std::size_t k = 0; k < 2; ++k) {
    counts.push_back(windows.count(k, image[k]));
    if (counts.back().as_int().value_or(1) < 1) {
      call.reject("size", call.span,
                  fmt::format("a window of {} elements, {} apart, does not fit a {} of {} with its padding",
                              windows.kernel[k], windows.axis[k].dilation, k == 0 ? "height" : "width",
                              print(image[k])));
    }
  }
  return counts;
}

Type infer_unfold(const CallView& call) {
  const TensorType& data = call.tensor(0);
  const Windows windows(call);
  const BroadcastShape shape = shape_of(data);
  if (shape.rank >= 0 && shape.rank != 4)
    call.reject("rank", call.span_of(0),
                fmt::format("data has rank {}, expected 4: (N, C, H, W)", shape.rank));
  if (!shape.dims) return TensorType{data.dtype, std::nullopt, 3};
  const Dims& dims = *shape.dims;
  const Dims counts = counts_of(call, windows, {dims[2], dims[3]});
  return TensorType{
      data.dtype,
      Dims{dims[0], canonical(dims[1] * Scalar(windows.area())), canonical(counts[0] * counts[1])}, 3};
}

Dims output_size(const CallView& call) {
  const BroadcastShape size = shape_argument(call, 1);
  if (size.rank >= 0 && size.rank != 2)
    call.reject("output_size", call.span_of(1),
                fmt::format("output_size has {} dimensions, expected height and width", size.rank));
  for (const Scalar& dim : size.dims.value_or(Dims{})) {
    if (dim.as_int().value_or(0) > windows::most_step)
      call.reject("output_size", call.span_of(1),
                  fmt::format("output_size has {}, expected at most {}", *dim.as_int(), windows::most_step));
  }
  return size.dims.value_or(Dims{});
}

Type infer_fold(const CallView& call) {
  const TensorType& data = call.tensor(0);
  const Windows windows(call);
  const Dims size = output_size(call);
  const BroadcastShape shape = shape_of(data);
  if (shape.rank >= 0 && shape.rank != 3)
    call.reject("rank", call.span_of(0),
                fmt::format("data has rank {}, expected 3: (N, C * kernel, L)", shape.rank));
  if (!shape.dims || size.empty()) return TensorType{data.dtype, std::nullopt, 4};
  const Dims& dims = *shape.dims;
  const Dims counts = counts_of(call, windows, size);
  const Scalar area(windows.area());
  if (dims[1].as_int().value_or(0) % windows.area() != 0) {
    call.reject("channels", call.span_of(0),
                fmt::format("data has {} rows, expected a multiple of the {} elements of a window",
                            *dims[1].as_int(), windows.area()));
  }
  const Scalar all = canonical(counts[0] * counts[1]);
  if (prove_different(dims[2], all)) {
    call.reject("size", call.span_of(0),
                fmt::format("data has {} columns, expected one for each of the {} windows of the images",
                            print(dims[2]), print(all)));
  }
  return TensorType{data.dtype, Dims{dims[0], canonical(floor_div(dims[1], area)), size[0], size[1]}, 4};
}

// Row r of the columns is element (i, j) of a window of channel c, column l the window (p, q).
struct Place {
  std::int64_t channel, h, w;
};

Value evaluate_unfold(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const Windows windows(c.call);
  const Shape shape = result_shape(c);
  const std::int64_t across = *windows.count(1, Scalar(data.shape()[3])).as_int();
  const auto place_of_column = [&](std::int64_t row, std::int64_t column) {
    const auto along = [&](std::size_t k, std::int64_t window, std::int64_t inside) {
      return window * windows.axis[k].stride + inside * windows.axis[k].dilation - windows.axis[k].before;
    };
    return Place{row / windows.area(), along(0, column / across, row % windows.area() / windows.kernel[1]),
                 along(1, column % across, row % windows.kernel[1])};
  };
  Tensor result = Tensor::zeros(data.dtype(), shape);
  std::int64_t target = 0;
  for_each_index(shape, [&](const Shape& index) {
    const Place place = place_of_column(index[1], index[2]);
    if (place.h >= 0 && place.h < data.shape()[2] && place.w >= 0 && place.w < data.shape()[3])
      copy_element(result, target, data,
                   position_of(data.shape(), {index[0], place.channel, place.h, place.w}));
    ++target;
  });
  return result;
}

Value evaluate_fold(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const Windows windows(c.call);
  const Shape shape = result_shape(c);
  element_count(shape);  // a size that no image has is told before the columns that it would need
  std::int64_t counts[2];
  for (std::size_t k = 0; k < 2; ++k) counts[k] = *windows.count(k, Scalar(shape[2 + k])).as_int();
  if (data.shape()[1] % windows.area() != 0 || data.shape()[2] != counts[0] * counts[1]) {
    fail(ErrorClass::Runtime, c.call.span, "fold.size",
         fmt::format("fold: data has shape ({}), expected {} columns of a multiple of {} elements",
                     fmt::join(data.shape(), ", "), counts[0] * counts[1], windows.area()));
  }
  Tensor result = Tensor::empty(data.dtype(), shape);
  visit_dtype(data.dtype(), [&](auto element) {
    using T = decltype(element);
    T* target = result.mutable_view<T>().data();
    Pace pace;
    for_each_index(shape, [&](const Shape& index) {
      auto total = to_sum(convert_element<T>(0.0));
      for (std::int64_t inside = 0; inside < windows.area(); ++inside) {
        const std::int64_t at[2] = {inside / windows.kernel[1], inside % windows.kernel[1]};
        std::int64_t column = 0;
        bool covered = true;
        for (std::size_t k = 0; k < 2; ++k) {
          const Axis& axis = windows.axis[k];
          const std::int64_t steps = index[2 + k] + axis.before - at[k] * axis.dilation;
          covered = covered && steps >= 0 && steps % axis.stride == 0 && steps / axis.stride < counts[k];
          column = column * counts[k] + (covered ? steps / axis.stride : 0);
        }
        if (covered)
          total = total + to_sum(data.view<T>()[static_cast<std::size_t>(position_of(
                              data.shape(), {index[0], index[1] * windows.area() + inside, column}))]);
      }
      pace(windows.area());
      *target++ = from_sum<T>(total);
    });
  });
  return result;
}

PrimFunc lower_unfold(const LowerCall& c) {
  Lowering lowering(c);
  const Windows windows(c.call);
  const Buffer data = lowering.input(0);
  const Buffer result = lowering.output();
  const Scalar across = windows.count(1, data.shape()[3]);
  lowering.map("unfold", result, [&](const Dims& i) {
    const Scalar inside = floor_mod(i[1], Scalar(windows.area()));
    const Scalar place[2] = {
        windows.axis[0].position(floor_div(i[2], across), floor_div(inside, Scalar(windows.kernel[1]))),
        windows.axis[1].position(floor_mod(i[2], across), floor_mod(inside, Scalar(windows.kernel[1])))};
    std::vector<Scalar> conditions;
    for (std::size_t k = 0; k < 2; ++k) {
      if (windows.axis[k].before > 0) conditions.push_back(place[k] >= Scalar(0));
      if (windows.axis[k].after > 0) conditions.push_back(place[k] < data.shape()[2 + k]);
    }
    return windows::guarded(
        windows::all_of(conditions),
        lowering.loops().load(data, {i[0], floor_div(i[1], Scalar(windows.area())), place[0], place[1]}));
  });
  return lowering.finish();
}

PrimFunc lower_fold(const LowerCall& c) {
  Lowering lowering(c);
  const Windows windows(c.call);
  const Buffer data = lowering.input(0);
  const Buffer result = lowering.output();
  const DType wide = compute_dtype(result.dtype());
  Dims counts;
  for (std::size_t k = 0; k < 2; ++k) counts.push_back(windows.count(k, result.shape()[2 + k]));
  lowering.require_equal(data.shape()[2], counts[0] * counts[1],
                         "fold: data must have one column for each window of the images");
  lowering.require_equal(data.shape()[1], result.shape()[1] * Scalar(windows.area()),
                         "fold: the rows of data must be a multiple of the elements of a window");
  const Buffer total = wide == result.dtype() ? result : lowering.temporary("total", result.shape(), wide);
  lowering.reduce(
      "fold", total, result.shape(), {Scalar(windows.kernel[0]), Scalar(windows.kernel[1])},
      [&](const Dims& i, const Dims& r) {
        std::vector<Scalar> conditions;
        Dims window;
        for (std::size_t k = 0; k < 2; ++k) {
          const Axis& axis = windows.axis[k];
          const Scalar steps = i[2 + k] + Scalar(axis.before) - r[k] * Scalar(axis.dilation);
          const Scalar at = axis.stride == 1 ? steps : floor_div(steps, Scalar(axis.stride));
          conditions.push_back(steps >= Scalar(0));
          conditions.push_back(at < counts[k]);
          if (axis.stride != 1)
            conditions.push_back(compare(CompareOp::Eq, floor_mod(steps, Scalar(axis.stride)), Scalar(0)));
          window.push_back(at);
        }
        const Scalar row = i[1] * Scalar(windows.area()) + r[0] * Scalar(windows.kernel[1]) + r[1];
        return windows::guarded(windows::all_of(conditions),
                                lowering.load_as(wide, data, {i[0], row, window[0] * counts[1] + window[1]}));
      });
  if (!(total == result))
    lowering.map("round", result, [&](const Dims& i) { return lowering.loops().load(total, i); });
  return lowering.finish();
}

Attributes attributes_of_windows(const CallView& call) {
  Attributes result;
  for (const std::string_view name : {"kernel_size", "dilation", "padding", "strides"})
    result.emplace_back(std::string(name), call.attribute(name));
  return result;
}

Partials vjp_unfold(const VjpCall& c) {
  const GradientRule rule(c);
  const Dims dims = rule.dims(0);
  const GraphValue size = shape_value({dims[2], dims[3]}, c.builder);
  return {call_op("nn.fold", {rule.cotangent(), size}, attributes_of_windows(c.call)).expr()};
}

Partials vjp_fold(const VjpCall& c) {
  const GradientRule rule(c);
  return {call_op("nn.unfold", {rule.cotangent()}, attributes_of_windows(c.call)).expr(), std::nullopt};
}

constexpr Sample unfold_samples[] = {
    {"[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]], kernel_size=2",
     "[[[1.0, 2.0], [2.0, 3.0], [4.0, 5.0], [5.0, 6.0]]]"},
    {"[[[[1.0, 2.0], [3.0, 4.0]]]], kernel_size=[1, 2], padding=[0, 1], strides=2",
     "[[[0.0, 2.0], [1.0, 0.0]]]"},
    {"R.const([[[[1, 2, 3, 4]]]], \"int32\"), kernel_size=[1, 2], dilation=2", "[[[1, 2], [3, 4]]]"},
    {"rand((2, 3, 5, 4), \"float64\"), [3, 2], padding=[1, 0, 2, 1], strides=[2, 1]"},
    {"rand((1, 2, 7, 6), \"float64\"), 3, dilation=2, padding=1, strides=2"},
    {"rand((0, 2, 3, 3), \"float32\"), 2"},
    {"rand((2, 1, 4, 4), \"float32\"), 4"},
};
constexpr Sample fold_samples[] = {
    {"[[[1.0, 2.0], [2.0, 3.0], [4.0, 5.0], [5.0, 6.0]]], (2, 3), kernel_size=2",
     "[[[[1.0, 4.0, 3.0], [4.0, 10.0, 6.0]]]]"},
    {"[[[7.0, 2.0], [1.0, 9.0]]], (1, 2), kernel_size=[1, 2], padding=[0, 1], strides=2", "[[[[1.0, 2.0]]]]"},
    {"rand((2, 18, 12), \"float64\"), (5, 4), [3, 2], padding=[1, 0, 2, 1], strides=[2, 1]"},
    {"rand((1, 18, 6), \"float64\"), (7, 6), 3, dilation=2, padding=1, strides=2"},
    {"rand((0, 8, 4), \"float32\"), (3, 3), 2"},
    {"rand((2, 16, 1), \"float32\"), (4, 4), 4"},
};
constexpr Reject unfold_rejects[] = {
    {"unfold.rank", "rand((3, 4, 4), \"float32\"), 2", "data has rank 3"},
    {"unfold.size", "rand((1, 1, 2, 4), \"float32\"), 3", "does not fit a height of"},
    {"unfold.kernel_size", "rand((1, 1, 4, 4), \"float32\"), 0", "expected at least 1"},
    {"unfold.kernel_size", "rand((1, 1, 4, 4), \"float32\"), 65536", "elements"},
};
constexpr Reject fold_rejects[] = {
    {"fold.rank", "rand((1, 1, 4, 4), \"float32\"), (4, 4), 2", "data has rank 4"},
    {"fold.channels", "rand((1, 6, 9), \"float32\"), (4, 4), 2", "a multiple of the 4 elements"},
    {"fold.size", "rand((1, 4, 8), \"float32\"), (4, 4), 2", "expected one for each of the"},
    {"fold.size", "rand((1, 4, 8), \"float32\"), (1, 4), 2", "does not fit a height of"},
    {"fold.output_size", "rand((1, 4, 9), \"float32\"), (4, 4, 1), 2", "expected height and width"},
    {"fold.kernel_size", "rand((1, 4, 9), \"float32\"), (4, 4), 65536", "elements"},
};
constexpr std::string_view unfold_aliases[] = {"nn.im2col"};
constexpr std::string_view fold_aliases[] = {"nn.col2im"};

}  // namespace

extern const Op op_nn_unfold{
    .name = "nn.unfold",
    .summary = "Sliding windows of images as columns: (N, C, H, W) to (N, C * kernel, L).",
    .params = unfold_params,
    .infer = infer_unfold,
    .eval = evaluate_unfold,
    .lower = lower_unfold,
    .vjp = vjp_unfold,
    .gradient_doc = "ddata = nn.fold(g, (H, W), …)",
    .agreement = Agreement::DataMovement,
    .samples = unfold_samples,
    .rejects = unfold_rejects,
    .aliases = unfold_aliases,
    .doc =
        "As PyTorch's nn.Unfold: column l holds the window l, row by row of the image, each channel by channel. "
        "What lies in the padding is 0."};

extern const Op op_nn_fold{
    .name = "nn.fold",
    .summary = "Columns of windows added into images: (N, C * kernel, L) to (N, C, H, W).",
    .params = fold_params,
    .infer = infer_fold,
    .eval = evaluate_fold,
    .lower = lower_fold,
    .vjp = vjp_fold,
    .gradient_doc = "ddata = nn.unfold(g, …)",
    .agreement = Agreement::Sum,
    .samples = fold_samples,
    .rejects = fold_rejects,
    .aliases = fold_aliases,
    .doc =
        "As PyTorch's nn.Fold: where windows overlap their elements are added, and what lies in the padding is "
        "dropped. The gradient of nn.unfold."};

}  // namespace relish::ops_nn_unfold
