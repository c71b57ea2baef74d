// Pools over regions of images. How many cells a region has is data, so compiled code calls the evaluations.
#include <cmath>

#include "ir/printer.h"
#include "stdlib/families/boxes.h"
#include "stdlib/families/dtypes.h"
#include "stdlib/families/windows.h"

namespace relish {
namespace {

constexpr Param data_param{"data", ParamKind::Tensor, "tensor", "", "images, in the order of layout"};
constexpr Param rois_param{"rois", ParamKind::Tensor, "tensor", "",
                           "regions (number, 5): number of the image, left, top, right, bottom"};
constexpr Param size_param{"pooled_size", ParamKind::Attribute, "int or list[int]", "",
                           "rows and columns of the result"};
constexpr Param scale_param{"spatial_scale", ParamKind::Attribute, "float", "",
                            "factor from the coordinates of rois to cells of data"};
constexpr Param layout_param{"layout", ParamKind::Attribute, "str", "\"NCHW\"",
                             "order of the dimensions of data and result"};

constexpr Param align_params[] = {
    data_param,
    rois_param,
    size_param,
    scale_param,
    {"sample_ratio", ParamKind::Attribute, "int", "-1",
     "samples of a bin in each direction; up to 0: one for each cell of data in it"},
    {"aligned", ParamKind::Attribute, "bool", "False", "regions may be smaller than a cell"},
    layout_param,
    {"mode", ParamKind::Attribute, "str", "\"avg\"", "avg or max of the samples"}};
constexpr Param pool_params[] = {data_param, rois_param, size_param, scale_param, layout_param};

Type infer(const CallView& call) {
  require_float(call, 0);
  const std::optional<DType> dtype = common_dtype(call, 0, 1);
  const windows::Layout layout(call, "layout", "NCHW");
  const windows::Sizes size = windows::sizes(call, "pooled_size", 2, 1);
  const std::optional<Dims> data = layout.dims(call, 0), rois = boxes::dims_of(call, 1, 2);
  if (rois) boxes::require_equal(call, 1, (*rois)[1], Scalar(5), "numbers for a region");
  if (!data || !rois) return TensorType{dtype, std::nullopt, 4};
  return TensorType{dtype, layout.stored(Dims{(*rois)[0], (*data)[1], size[0], size[1]}), 4};
}

Type infer_align(const CallView& call) {
  const std::string mode = call.string_attribute("mode");
  if (mode != "avg" && mode != "max")
    call.reject("mode", call.span, fmt::format("mode is \"{}\", expected avg or max", mode));
  return infer(call);
}

// Data and result with their strides, in the order N, C, H, W.
struct Regions {
  const Tensor &data, &rois;
  Tensor result;
  Shape x, x_strides, y, y_strides;
  double scale;

  explicit Regions(const EvalCall& c)
      : data(c.in(0)),
        rois(c.in(1)),
        result(Tensor::zeros(c.in(0).dtype(), result_shape(c))),
        scale(boxes::number(c.call, "spatial_scale")) {
    const windows::Layout layout(c.call, "layout", "NCHW");
    x = layout.ordered(data.shape());
    x_strides = layout.ordered(row_major_strides(data.shape()));
    y = layout.ordered(result.shape());
    y_strides = layout.ordered(row_major_strides(result.shape()));
    for (std::int64_t r = 0; r < rois.shape()[0]; ++r) {
      const double image = rois.get_double(r * 5);
      if (image >= 0 && image < static_cast<double>(x[0])) continue;
      fail(ErrorClass::Runtime, c.call.span, fmt::format("{}.image", short_name_of(c.call.op)),
           fmt::format("{}: region {} is of image {}, and there are {}", short_name_of(c.call.op), r, image,
                       x[0]));
    }
  }

  double edge(std::int64_t region, int k) const { return rois.get_double(region * 5 + k) * scale; }
  double cell(std::int64_t region, std::int64_t channel, std::int64_t row, std::int64_t column) const {
    const auto image = static_cast<std::int64_t>(rois.get_double(region * 5));
    return data.get_double(windows::offset(x_strides, {image, channel, row, column}));
  }
  // Between the four cells around a point; beyond the border its cells, and 0 more than a cell outside.
  double sample(std::int64_t region, std::int64_t channel, double row, double column) const {
    const auto rows = static_cast<double>(x[2]), columns = static_cast<double>(x[3]);
    if (!(row >= -1 && column >= -1 && row <= rows && column <= columns) || x[2] == 0 || x[3] == 0) return 0;
    row = std::min(std::max(row, 0.0), rows - 1);
    column = std::min(std::max(column, 0.0), columns - 1);
    const auto top = static_cast<std::int64_t>(row), left = static_cast<std::int64_t>(column);
    const std::int64_t below = std::min(top + 1, x[2] - 1), right = std::min(left + 1, x[3] - 1);
    const double down = row - static_cast<double>(top), across = column - static_cast<double>(left);
    return (1 - down) * ((1 - across) * cell(region, channel, top, left) +
                         across * cell(region, channel, top, right)) +
           down * ((1 - across) * cell(region, channel, below, left) +
                   across * cell(region, channel, below, right));
  }
};

Value evaluate_align(const EvalCall& c) {
  Regions regions(c);
  const bool aligned = c.call.int_attribute("aligned") != 0,
             average = c.call.string_attribute("mode") == "avg";
  const std::int64_t ratio = c.call.int_attribute("sample_ratio");
  windows::for_each_index(regions.y, [&](const Shape& p) {
    const double left = regions.edge(p[0], 1), top = regions.edge(p[0], 2);
    double width = regions.edge(p[0], 3) - left, height = regions.edge(p[0], 4) - top;
    if (!aligned) width = std::max(width, 1.0), height = std::max(height, 1.0);
    const double bin_height = height / static_cast<double>(regions.y[2]),
                 bin_width = width / static_cast<double>(regions.y[3]);
    const auto samples = [&](double bin) {
      return ratio > 0 ? ratio : static_cast<std::int64_t>(std::ceil(std::min(bin, 1e6)));
    };
    const std::int64_t rows = samples(bin_height), columns = samples(bin_width);
    double total = average ? 0 : -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        const auto part = [](std::int64_t bin, std::int64_t k, std::int64_t count, double size) {
          return static_cast<double>(bin) * size +
                 (static_cast<double>(k) + 0.5) * size / static_cast<double>(count);
        };
        const double value = regions.sample(p[0], p[1], top + part(p[2], i, rows, bin_height),
                                            left + part(p[3], j, columns, bin_width));
        total = average ? total + value : std::max(total, value);
      }
    }
    if (average) total = rows > 0 && columns > 0 ? total / static_cast<double>(rows * columns) : 0;
    regions.result.set_double(windows::offset(regions.y_strides, p), total);
  });
  return Value(regions.result);
}

Value evaluate_pool(const EvalCall& c) {
  Regions regions(c);
  windows::for_each_index(regions.y, [&](const Shape& p) {
    const auto edge = [&](int k) {
      return static_cast<std::int64_t>(
          std::floor(std::min(std::max(regions.edge(p[0], k), -1e9), 1e9) + 0.5));
    };
    // The cells of bin `bin` of `count` along one dimension, within the data.
    const auto cells = [&](int k, std::int64_t bin, std::int64_t count, std::int64_t size) {
      const std::int64_t start = edge(k);
      const double length = static_cast<double>(std::max<std::int64_t>(edge(k + 2) - start + 1, 1)) /
                            static_cast<double>(count);
      const auto at = [&](double x) {
        return std::min(std::max(static_cast<std::int64_t>(x) + start, std::int64_t{0}), size);
      };
      return std::pair(at(std::floor(static_cast<double>(bin) * length)),
                       at(std::ceil(static_cast<double>(bin + 1) * length)));
    };
    const auto [top, bottom] = cells(2, p[2], regions.y[2], regions.x[2]);
    const auto [left, right] = cells(1, p[3], regions.y[3], regions.x[3]);
    if (bottom <= top || right <= left) return;  // 0
    double best = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = top; i < bottom; ++i)
      for (std::int64_t j = left; j < right; ++j) best = std::max(best, regions.cell(p[0], p[1], i, j));
    regions.result.set_double(windows::offset(regions.y_strides, p), best);
  });
  return Value(regions.result);
}

constexpr std::string_view no_gradient =
    "there is no rule for the places of the cells, which depend on the regions";

constexpr Sample align_samples[] = {
    {"[[[[1.0, 2.0], [3.0, 4.0]]]], [[0.0, 0.0, 0.0, 1.0, 1.0]], pooled_size=1, spatial_scale=1.0",
     "[[[[2.5]]]]"},
    {"[[[[1.0, 2.0], [3.0, 4.0]]]], [[0.0, 0.0, 0.0, 2.0, 2.0]], 2, 0.5, 1, mode=\"max\"",
     "[[[[1.75, 2.25], [2.75, 3.25]]]]"},
    {"[[[[1.0, 2.0], [3.0, 4.0]]]], [[0.0, -9.0, -9.0, -7.0, -7.0]], 1, 1.0", "[[[[0.0]]]]"},
    {"rand((2, 3, 8, 9), \"float64\"), tensor([[0.0, 1.0, 2.0, 6.5, 7.0], [1.0, 0.0, 0.0, 3.0, 8.0]], "
     "\"float64\"), [3, 2], 0.75"},
    {"rand((2, 8, 9, 3), \"float32\"), [[1.0, 1.0, 2.0, 1.5, 2.25]], 2, 1.0, 2, True, \"NHWC\""},
    {"rand((1, 3, 4, 4), \"float32\"), rand((0, 5), \"float32\"), 2, 1.0"},
};
constexpr Reject align_rejects[] = {
    {"roi_align.mode", "rand((1, 1, 2, 2), \"float32\"), rand((1, 5), \"float32\"), 1, 1.0, mode=\"sum\"",
     "expected avg or max"},
    {"roi_align.shape", "rand((1, 1, 2, 2), \"float32\"), rand((1, 4), \"float32\"), 1, 1.0",
     "4 numbers for a region"},
    {"roi_align.pooled_size", "rand((1, 1, 2, 2), \"float32\"), rand((1, 5), \"float32\"), 0, 1.0",
     "expected at least 1"},
    {"roi_align.layout", "rand((1, 1, 2, 2), \"float32\"), rand((1, 5), \"float32\"), 1, 1.0, layout=\"NC\"",
     "expected the letters"},
};
constexpr Sample pool_samples[] = {
    {"[[[[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]]], [[0.0, 0.0, 0.0, 1.0, 1.0]], pooled_size=1, spatial_scale=1.0",
     "[[[[4.0]]]]"},
    {"[[[[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]]], [[0.0, 0.0, 0.0, 4.0, 2.0]], pooled_size=[1, 2], "
     "spatial_scale=0.5",
     "[[[[4.0, 6.0]]]]"},
    {"[[[[1.0, 2.0]]]], [[0.0, 5.0, 5.0, 6.0, 6.0]], 1, 1.0", "[[[[0.0]]]]"},
    {"rand((2, 3, 8, 9), \"float64\"), tensor([[0.0, 1.0, 2.0, 6.5, 7.0], [1.0, 0.0, 0.0, 3.0, 8.0]], "
     "\"float64\"), [3, 2], 0.75"},
    {"rand((1, 3, 4, 4), \"float32\"), rand((0, 5), \"float32\"), 2, 1.0"},
};
constexpr Reject pool_rejects[] = {
    {"roi_pool.shape", "rand((1, 1, 2, 2), \"float32\"), rand((1, 4), \"float32\"), 1, 1.0",
     "4 numbers for a region"},
    {"roi_pool.rank", "rand((1, 2, 2), \"float32\"), rand((1, 5), \"float32\"), 1, 1.0", "expected 4"},
};

}  // namespace

extern const Op op_vision_roi_align{
    .name = "vision.roi_align",
    .summary = "Samples of regions, averaged or the largest, for each bin of a raster.",
    .params = align_params,
    .infer = infer_align,
    .eval = evaluate_align,
    .no_gradient = no_gradient,
    .agreement = Agreement::Composite,
    .samples = align_samples,
    .rejects = align_rejects,
    .doc =
        "Samples lie in the middle of equal parts of a bin and are interpolated between four cells; a sample "
        "more "
        "than a cell outside is 0. Coordinates are not moved by half a cell. A region of an image that is "
        "not "
        "there is a RuntimeError."};

extern const Op op_vision_roi_pool{
    .name = "vision.roi_pool",
    .summary = "The largest cell of each bin of regions.",
    .params = pool_params,
    .infer = infer,
    .eval = evaluate_pool,
    .no_gradient = no_gradient,
    .agreement = Agreement::Exact,
    .samples = pool_samples,
    .rejects = pool_rejects,
    .doc = "As MaxRoiPool of ONNX: edges are rounded to cells, halves up; a bin without cells is 0."};

}  // namespace relish
