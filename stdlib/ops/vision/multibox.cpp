// Boxes of anchors: decoding of what a network says of them.
#include <cmath>

#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/scalar_math.h"
#include "stdlib/families/language/lowering.h"
#include "stdlib/families/language/pace.h"
#include "stdlib/families/windows/boxes.h"

namespace relish::ops_vision_multibox {
namespace {

constexpr Param params[] = {
    {"cls_pred", ParamKind::Tensor, "tensor", "", "logits of the classes, (batch, classes, anchors)"},
    {"loc_pred", ParamKind::Tensor, "tensor", "",
     "x, y, width and height of each anchor, (batch, 4 * anchors)"},
    {"anchor", ParamKind::Tensor, "tensor", "", "left, top, right and bottom, (1, anchors, 4)"},
    {"clip", ParamKind::Attribute, "bool", "False", "boxes are cut to the range from 0 to 1"},
    {"threshold", ParamKind::Attribute, "float", "0.0", "smaller scores become 0"},
    {"variances", ParamKind::Attribute, "list[float] or list[int]", "[1.0, 1.0, 1.0, 1.0]",
     "factors of x, y, width and height"},
    {"keep_background", ParamKind::Attribute, "bool", "True", "else the scores of class 0 become 0"}};

std::vector<double> variances_of(const CallView& call) {
  std::vector<double> result;
  if (const auto* list = call.attribute("variances").as<AttributeList>()) {
    for (const Attribute& item : *list) {
      if (const auto* real = item.as<double>()) result.push_back(*real);
      if (const auto* integer = item.as<std::int64_t>()) result.push_back(static_cast<double>(*integer));
    }
  }
  if (result.size() == 4) return result;
  call.reject("variances", call.span,
              fmt::format("variances is {}, expected four numbers", print(call.attribute("variances"))));
}

Type infer(const CallView& call) {
  require_float(call, 0);
  variances_of(call);
  std::optional<DType> dtype = common_dtype(call, 0, 1);
  if (dtype) dtype = common_dtype(call, 0, 2);
  const std::optional<Dims> classes = boxes::dims_of(call, 0, 3), places = boxes::dims_of(call, 1, 2),
                            anchors = boxes::dims_of(call, 2, 3);
  if (classes && places) {
    boxes::require_equal(call, 1, (*places)[0], (*classes)[0], "batches");
    boxes::require_equal(call, 1, (*places)[1], canonical((*classes)[2] * Scalar(4)), "numbers");
  }
  if (anchors) {
    boxes::require_equal(call, 2, (*anchors)[0], Scalar(1), "batches");
    boxes::require_equal(call, 2, (*anchors)[2], Scalar(4), "coordinates");
    if (classes) boxes::require_equal(call, 2, (*anchors)[1], (*classes)[2], "anchors");
  }
  const std::optional<Dims> decoded =
      classes ? std::optional<Dims>({(*classes)[0], (*classes)[2], Scalar(4)}) : std::nullopt;
  return TupleType{{boxes::type_of(decoded, dtype, 3), boxes::type_of(classes, dtype, 3)}};
}

Value evaluate(const EvalCall& c) {
  const Tensor &classes = c.in(0), &places = c.in(1), &anchors = c.in(2);
  const std::int64_t batches = classes.shape()[0], count = classes.shape()[1],
                     boxes_each = classes.shape()[2];
  const std::vector<double> variances = variances_of(c.call);
  const bool clip = c.call.int_attribute("clip") != 0,
             background = c.call.int_attribute("keep_background") != 0;
  const double threshold = boxes::number(c.call, "threshold");
  Tensor decoded = Tensor::empty(classes.dtype(), {batches, boxes_each, 4});
  Tensor scores = Tensor::empty(classes.dtype(), classes.shape());
  Pace pace;
  for (std::int64_t b = 0; b < batches; ++b) {
    for (std::int64_t n = 0; n < boxes_each; ++n) {
      pace(count + 4);
      const std::int64_t at = (b * boxes_each + n) * 4;
      const auto place = [&](int k) {
        return places.get_double(at + k) * variances[static_cast<std::size_t>(k)];
      };
      const double left = anchors.get_double(n * 4), top = anchors.get_double(n * 4 + 1);
      const double width = anchors.get_double(n * 4 + 2) - left, height = anchors.get_double(n * 4 + 3) - top;
      const double x = place(0) * width + (left + width / 2), y = place(1) * height + (top + height / 2);
      const double half_width = std::exp(place(2)) * width / 2, half_height = std::exp(place(3)) * height / 2;
      const double corners[] = {y - half_height, x - half_width, y + half_height, x + half_width};
      for (int k = 0; k < 4; ++k)
        decoded.set_double(at + k, clip ? std::max(0.0, std::min(1.0, corners[k])) : corners[k]);

      double largest = -std::numeric_limits<double>::infinity(), sum = 0;
      const auto logit = [&](std::int64_t k) { return classes.get_double((b * count + k) * boxes_each + n); };
      for (std::int64_t k = 0; k < count; ++k) largest = std::max(largest, logit(k));
      for (std::int64_t k = 0; k < count; ++k) sum += std::exp(logit(k) - largest);
      for (std::int64_t k = 0; k < count; ++k) {
        const double score = std::exp(logit(k) - largest) / sum;
        const bool kept = !(score < threshold) && (background || k > 0);
        scores.set_double((b * count + k) * boxes_each + n, kept ? score : 0);
      }
    }
  }
  return Value::tuple({Value(decoded), Value(scores)});
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer classes = lowering.input(0), places = lowering.input(1), anchors = lowering.input(2);
  const Buffer decoded = lowering.output(0, "boxes"), scores = lowering.output(1, "scores");
  const DType wide = compute_dtype(classes.dtype());
  const Dims& shape = classes.shape();
  lowering.require_equal(places.shape()[0], shape[0], "multibox_transform_loc: batches differ");
  lowering.require_equal(places.shape()[1], canonical(shape[2] * Scalar(4)),
                         "multibox_transform_loc: loc_pred needs four numbers for each anchor");
  lowering.require_equal(anchors.shape()[0], Scalar(1), "multibox_transform_loc: anchor needs one batch");
  lowering.require_equal(anchors.shape()[1], shape[2], "multibox_transform_loc: anchors differ");
  lowering.require_equal(anchors.shape()[2], Scalar(4), "multibox_transform_loc: anchor needs four edges");
  const std::vector<double> variances = variances_of(c.call);
  const auto real = [&](double value) { return float_literal(wide, value); };
  const bool clip = c.call.int_attribute("clip") != 0;
  lowering.map("decode", decoded, [&](const Dims& i) {
    // The centre and half of the size along x (0) or y (1).
    const auto corner = [&](int d, bool far) {
      const auto edge = [&](int k) { return lowering.load_as(wide, anchors, {Scalar(0), i[1], Scalar(k)}); };
      const auto place = [&](int k) {
        return lowering.load_as(wide, places, {i[0], i[1] * Scalar(4) + Scalar(k)}) *
               real(variances[static_cast<std::size_t>(k)]);
      };
      const Scalar size = edge(d + 2) - edge(d);
      const Scalar centre = place(d) * size + (edge(d) + size / real(2));
      const Scalar half = exp(place(d + 2)) * size / real(2);
      const Scalar value = far ? centre + half : centre - half;
      return clip ? max(real(0), min(real(1), value)) : value;
    };
    return select(equal(i[2], Scalar(0)), corner(1, false),
                  select(equal(i[2], Scalar(1)), corner(0, false),
                         select(equal(i[2], Scalar(2)), corner(1, true), corner(0, true))));
  });
  const Dims rows = {shape[0], shape[2]};
  const Buffer largest = lowering.temporary("largest", rows, wide),
               sum = lowering.temporary("sum", rows, wide);
  const auto logit = [&](const Dims& s, const Scalar& k) {
    return lowering.load_as(wide, classes, {s[0], k, s[1]});
  };
  lowering.reduce(
      "largest", largest, rows, {shape[1]}, [&](const Dims& s, const Dims& r) { return logit(s, r[0]); },
      [](const Scalar& a, const Scalar& b) { return maximum_ieee(a, b); }, min_value(wide));
  lowering.reduce("sum", sum, rows, {shape[1]}, [&](const Dims& s, const Dims& r) {
    return exp(logit(s, r[0]) - lowering.loops().load(largest, s));
  });
  const double threshold = boxes::number(c.call, "threshold");
  const bool background = c.call.int_attribute("keep_background") != 0;
  lowering.map("score", scores, [&](const Dims& i) {
    const Dims row = {i[0], i[2]};
    const Scalar score =
        exp(logit(row, i[1]) - lowering.loops().load(largest, row)) / lowering.loops().load(sum, row);
    Scalar dropped = score < real(threshold);
    if (!background) dropped = logical(LogicalOp::Or, dropped, equal(i[1], Scalar(0)));
    return select(dropped, real(0), score);
  });
  return lowering.finish();
}

constexpr Sample samples[] = {
    {"[[[0.0, 2.0], [0.0, 2.0]]], [[0.0, 0.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0]], [[[0.0, 0.0, 2.0, 4.0], [1.0, "
     "1.0, 2.0, 3.0]]]",
     "(tensor([[[0.0, 0.0, 4.0, 2.0], [-1.0, 2.0, 1.0, 3.0]]], \"float32\"), tensor([[[0.5, 0.5], [0.5, "
     "0.5]]], \"float32\"))"},
    {"rand((2, 3, 4), \"float64\"), rand((2, 16), \"float64\"), rand((1, 4, 4), \"float64\"), "
     "variances=[0.1, 0.1, 0.2, 0.2]"},
    {"rand((2, 3, 4), \"float32\"), rand((2, 16), \"float32\"), rand((1, 4, 4), \"float32\"), clip=True, "
     "threshold=0.1, keep_background=False"},
    {"rand((0, 3, 4), \"float32\"), rand((0, 16), \"float32\"), rand((1, 4, 4), \"float32\")"},
};
constexpr Reject rejects[] = {
    {"multibox_transform_loc.shape",
     "rand((2, 3, 4), \"float32\"), rand((2, 12), \"float32\"), rand((1, 4, 4), \"float32\")", "12 numbers"},
    {"multibox_transform_loc.variances",
     "rand((2, 3, 4), \"float32\"), rand((2, 16), \"float32\"), rand((1, 4, 4), \"float32\"), "
     "variances=[1.0]",
     "expected four numbers"},
    {"multibox_transform_loc.dtype",
     "rand((2, 3, 4), \"float32\"), rand((2, 16), \"float64\"), rand((1, 4, 4), \"float32\")",
     "expected the same"},
    {"multibox_transform_loc.rank",
     "rand((3, 4), \"float32\"), rand((2, 16), \"float32\"), rand((1, 4, 4), \"float32\")", "expected 3"},
};

}  // namespace

extern const Op op_vision_multibox_transform_loc{
    .name = "vision.multibox_transform_loc",
    .summary = "Boxes and scores from what a network says of anchors.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .no_gradient = "boxes are decoded for detection; training compares them in their encoded form",
    .agreement = Agreement::Composite,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "Gives (boxes as top, left, bottom, right; scores). A box has its centre at the anchor's plus x and "
        "y "
        "times "
        "its size, and the size times exp(width) and exp(height); scores are a softmax over the classes, 0 "
        "below "
        "the threshold."};

}  // namespace relish::ops_vision_multibox
