// Anchors around every cell of an image.
#include <cmath>

#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/language/lowering.h"
#include "stdlib/families/windows/boxes.h"
#include "stdlib/families/windows/windows.h"

namespace relish::ops_vision_multibox_prior {
namespace {

constexpr Param params[] = {
    {"data", ParamKind::Tensor, "tensor", "",
     "image (batch, channels, rows, columns); only its shape matters"},
    {"sizes", ParamKind::Attribute, "float or list[float] or list[int]", "[1.0]",
     "heights of the anchors, as shares of the image"},
    {"ratios", ParamKind::Attribute, "float or list[float] or list[int]", "[1.0]",
     "width to height, of the first size"},
    {"steps", ParamKind::Attribute, "list[float] or list[int]", "[-1.0, -1.0]",
     "distance of rows and columns; negative: one cell"},
    {"offsets", ParamKind::Attribute, "list[float] or list[int]", "[0.5, 0.5]",
     "place of the anchor in a cell, down and across"},
    {"clip", ParamKind::Attribute, "bool", "False", "anchors are cut to the range from 0 to 1"}};

std::vector<double> numbers(const CallView& call, std::string_view name) {
  const Attribute& attribute = call.attribute(name);
  const AttributeList one = {attribute};
  const auto* list = attribute.as<AttributeList>();
  std::vector<double> result;
  for (const Attribute& item : list ? *list : one) {
    if (const auto* real = item.as<double>()) result.push_back(*real);
    if (const auto* integer = item.as<std::int64_t>()) result.push_back(static_cast<double>(*integer));
  }
  return result;
}

// Half of the width (before it is scaled by rows / columns) and half of the height of each anchor of a cell.
struct Anchor {
  double width, height;
};

std::vector<Anchor> anchors_of(const CallView& call) {
  const std::vector<double> sizes = numbers(call, "sizes"), ratios = numbers(call, "ratios");
  if (sizes.empty()) call.reject("sizes", call.span, "sizes has no number, expected at least one");
  std::vector<Anchor> result;
  for (double size : sizes) result.push_back({size / 2, size / 2});
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    if (!(ratios[i] > 0))
      call.reject("ratios", call.span, fmt::format("ratios has {}, expected more than 0", ratios[i]));
    const double root = std::sqrt(ratios[i]);
    if (i > 0) result.push_back({sizes.front() * root / 2, sizes.front() / root / 2});
  }
  return result;
}

std::array<double, 2> pair_of(const CallView& call, std::string_view name) {
  const std::vector<double> values = numbers(call, name);
  if (values.size() != 2)
    call.reject(name, call.span, fmt::format("{} has {} numbers, expected 2", name, values.size()));
  return {values[0], values[1]};
}

Type infer(const CallView& call) {
  require_float(call, 0);
  pair_of(call, "steps");
  pair_of(call, "offsets");
  const auto each = static_cast<std::int64_t>(anchors_of(call).size());
  const std::optional<Dims> data = boxes::dims_of(call, 0, 4);
  if (!data) return TensorType{call.tensor(0).dtype, std::nullopt, 3};
  return TensorType{call.tensor(0).dtype,
                    Dims{Scalar(1), canonical((*data)[2] * (*data)[3] * Scalar(each)), Scalar(4)}, 3};
}

Value evaluate(const EvalCall& c) {
  const Shape& image = c.in(0).shape();
  const auto rows = static_cast<double>(image[2]), columns = static_cast<double>(image[3]);
  const std::vector<Anchor> anchors = anchors_of(c.call);
  const auto steps = pair_of(c.call, "steps"), offsets = pair_of(c.call, "offsets");
  const double down = steps[0] > 0 ? steps[0] : 1 / rows, across = steps[1] > 0 ? steps[1] : 1 / columns;
  const bool clip = c.call.int_attribute("clip") != 0;
  Tensor result = Tensor::empty(c.in(0).dtype(), result_shape(c));
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < image[2]; ++i) {
    for (std::int64_t j = 0; j < image[3]; ++j) {
      const double y = (static_cast<double>(i) + offsets[0]) * down,
                   x = (static_cast<double>(j) + offsets[1]) * across;
      for (const Anchor& anchor : anchors) {
        const double width = anchor.width * rows / columns;
        for (double edge : {x - width, y - anchor.height, x + width, y + anchor.height})
          result.set_double(at++, clip ? std::min(std::max(edge, 0.0), 1.0) : edge);
      }
    }
  }
  return Value(result);
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0), result = lowering.output();
  const std::vector<Anchor> anchors = anchors_of(c.call);
  const auto steps = pair_of(c.call, "steps"), offsets = pair_of(c.call, "offsets");
  const auto real = [](double value) { return float_literal(DType::Float64, value); };
  const Scalar rows = cast(DType::Float64, data.shape()[2]), columns = cast(DType::Float64, data.shape()[3]);
  const Scalar each(static_cast<std::int64_t>(anchors.size()));
  const bool clip = c.call.int_attribute("clip") != 0;
  lowering.map("anchor", result, [&](const Dims& i) {
    const Scalar cell = floor_div(i[1], each), which = floor_mod(i[1], each);
    const Scalar row = floor_div(cell, data.shape()[3]), column = floor_mod(cell, data.shape()[3]);
    const Scalar down = steps[0] > 0 ? real(steps[0]) : real(1) / rows;
    const Scalar across = steps[1] > 0 ? real(steps[1]) : real(1) / columns;
    const Scalar y = (cast(DType::Float64, row) + real(offsets[0])) * down;
    const Scalar x = (cast(DType::Float64, column) + real(offsets[1])) * across;
    Scalar width = real(anchors[0].width), height = real(anchors[0].height);
    for (std::size_t k = 1; k < anchors.size(); ++k) {
      const Scalar chosen = equal(which, Scalar(static_cast<std::int64_t>(k)));
      width = select(chosen, real(anchors[k].width), width);
      height = select(chosen, real(anchors[k].height), height);
    }
    width = width * rows / columns;
    const Scalar edge = select(
        equal(i[2], Scalar(0)), x - width,
        select(equal(i[2], Scalar(1)), y - height, select(equal(i[2], Scalar(2)), x + width, y + height)));
    return clip ? min(max(edge, real(0)), real(1)) : edge;
  });
  return lowering.finish();
}

constexpr Sample samples[] = {
    {"rand((1, 1, 1, 2), \"float32\"), sizes=[0.5]",
     "[[[0.125, 0.25, 0.375, 0.75], [0.625, 0.25, 0.875, 0.75]]]"},
    {"rand((1, 1, 1, 1), \"float32\"), sizes=[0.5, 1.0], ratios=[1.0, 4.0]",
     "[[[0.25, 0.25, 0.75, 0.75], [0.0, 0.0, 1.0, 1.0], [0.0, 0.375, 1.0, 0.625]]]"},
    {"rand((2, 3, 4, 3), \"float64\"), sizes=[0.2, 0.5, 0.8], ratios=[1.0, 2.0, 0.5], steps=[0.2, 0.3], "
     "offsets=[0.4, 0.6]"},
    {"rand((2, 3, 3, 5), \"float32\"), sizes=[0.9], ratios=[1, 3], clip=True"},
    {"rand((1, 1, 0, 3), \"float32\")"},
    {"rand((1, 1, 2, 2), \"float16\"), 0.25, 1.0"},
};
constexpr Reject rejects[] = {
    {"multibox_prior.sizes", "rand((1, 1, 2, 2), \"float32\"), sizes=[]", "expected at least one"},
    {"multibox_prior.ratios", "rand((1, 1, 2, 2), \"float32\"), ratios=[1.0, -1.0]", "expected more than 0"},
    {"multibox_prior.steps", "rand((1, 1, 2, 2), \"float32\"), steps=[1.0]", "expected 2"},
    {"multibox_prior.rank", "rand((2, 2), \"float32\")", "expected 4"},
};

}  // namespace

extern const Op op_vision_multibox_prior{
    .name = "vision.multibox_prior",
    .summary = "Anchors around every cell of an image.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .no_gradient = "the anchors depend on the shape of the image alone",
    .zero_gradient = true,
    .agreement = Agreement::Composite,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "Gives (1, rows * columns * anchors, 4): left, top, right and bottom, from 0 to 1 across the image. "
        "A "
        "cell has an anchor for each size, and one of the first size for each ratio but the first. Widths "
        "are "
        "scaled by rows / columns, so that a ratio of 1 is square in cells. TVM has no such operator today."};

}  // namespace relish::ops_vision_multibox_prior
