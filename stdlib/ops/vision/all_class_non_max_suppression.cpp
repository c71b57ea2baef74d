// Suppression of boxes for each class, as ONNX and TensorFlow have it. Sorted and counted at run time, so
// compiled code calls the evaluation.
#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/language/pace.h"
#include "stdlib/families/windows/boxes.h"

namespace relish::ops_vision_all_class_non_max_suppression {
namespace {

constexpr Param all_params[] = {
    {"boxes", ParamKind::Tensor, "tensor", "", "two corners of each box, (batch, boxes, 4)"},
    {"scores", ParamKind::Tensor, "tensor", "", "(batch, classes, boxes)"},
    {"max_output_boxes_per_class", ParamKind::Tensor, "tensor of integers", "",
     "how many boxes a class keeps at most, one number"},
    {"iou_threshold", ParamKind::Tensor, "tensor", "", "overlap above which a box is suppressed, one number"},
    {"score_threshold", ParamKind::Tensor, "tensor", "", "a box that counts has a higher score, one number"},
    {"output_format", ParamKind::Attribute, "str", "\"onnx\"", "onnx or tensorflow"}};

bool onnx_format(const CallView& call) {
  const std::string format = call.string_attribute("output_format");
  if (format == "onnx" || format == "tensorflow") return format == "onnx";
  call.reject("output_format", call.span,
              fmt::format("output_format is \"{}\", expected onnx or tensorflow", format));
}

Type infer_all(const CallView& call) {
  const bool onnx = onnx_format(call);
  require_float(call, 0);
  common_dtype(call, 0, 1);
  boxes::require_integers(call, 2);
  require_float(call, 3);
  require_float(call, 4);
  const std::optional<Dims> all = boxes::dims_of(call, 0, 3), scores = boxes::dims_of(call, 1, 3);
  for (std::size_t i = 2; i < 5; ++i) {
    const BroadcastShape shape = shape_of(call.tensor(i));
    if (shape.rank > 1 || (shape.dims && prove_different(product(*shape.dims), Scalar(1)))) {
      call.reject("rank", call.span_of(i),
                  fmt::format("{} has type {}, expected one number", call.op.params[i].name,
                              print(call.args[i].type())));
    }
  }
  if (all) boxes::require_equal(call, 0, (*all)[2], Scalar(4), "coordinates");
  if (all && scores) {
    boxes::require_equal(call, 1, (*scores)[0], (*all)[0], "batches");
    boxes::require_equal(call, 1, (*scores)[2], (*all)[1], "boxes");
  }
  if (onnx) {
    const std::optional<Dims> rows =
        scores ? std::optional<Dims>({product(*scores), Scalar(3)}) : std::nullopt;
    return TupleType{{boxes::type_of(rows, DType::Int64, 2), boxes::type_of(Dims{1}, DType::Int64, 1)}};
  }
  std::optional<Dims> rows, values, counts;
  if (scores) {
    const Scalar each = canonical((*scores)[1] * (*scores)[2]);
    rows = Dims{(*scores)[0], each, Scalar(2)};
    values = Dims{(*scores)[0], each};
    counts = Dims{(*scores)[0]};
  }
  return TupleType{{boxes::type_of(rows, DType::Int64, 3), boxes::type_of(values, call.tensor(1).dtype, 2),
                    boxes::type_of(counts, DType::Int64, 1)}};
}

Value evaluate_all(const EvalCall& c) {
  const Tensor &all = c.in(0), &scores = c.in(1);
  const std::int64_t batches = scores.shape()[0], classes = scores.shape()[1], count = scores.shape()[2];
  const std::int64_t most = c.in(2).get_int(0);
  const double iou = c.in(3).get_double(0), least = c.in(4).get_double(0);
  const bool onnx = onnx_format(c.call);
  const std::int64_t rows = classes * count;
  const Shape shape = onnx ? Shape{batches * rows, 3} : Shape{batches, rows, 2};
  Tensor indices = Tensor::empty(DType::Int64, shape);
  Tensor values = Tensor::zeros(scores.dtype(), {batches, rows});
  Tensor totals = Tensor::zeros(DType::Int64, {onnx ? 1 : batches});
  for (std::int64_t i = 0; i < indices.size(); ++i) indices.set_int(i, -1);
  std::int64_t row = 0;
  Pace pace;
  for (std::int64_t b = 0; b < batches; ++b) {
    if (!onnx) row = b * rows;
    for (std::int64_t k = 0; k < classes; ++k) {
      const auto score = [&](std::int64_t box) { return scores.get_double((b * classes + k) * count + box); };
      const auto box_at = [&](std::int64_t box) { return boxes::box_of(all, (b * count + box) * 4); };
      std::vector<std::int64_t> kept;
      for (std::int64_t box : boxes::by_score(count, score)) {
        if (static_cast<std::int64_t>(kept.size()) >= most) break;
        if (!(score(box) > least)) continue;
        bool free = true;
        pace(static_cast<std::int64_t>(kept.size()));
        for (std::int64_t other : kept) free = free && !(boxes::overlap(box_at(box), box_at(other)) > iou);
        if (!free) continue;
        kept.push_back(box);
        if (onnx) indices.set_int(row * 3, b);
        indices.set_int(onnx ? row * 3 + 1 : row * 2, k);
        indices.set_int(onnx ? row * 3 + 2 : row * 2 + 1, box);
        if (!onnx) values.set_double(row, score(box));
        ++row;
      }
    }
    if (!onnx) totals.set_int(b, row - b * rows);
  }
  if (onnx) totals.set_int(0, row);
  if (onnx) return Value::tuple({Value(indices), Value(totals)});
  return Value::tuple({Value(indices), Value(values), Value(totals)});
}

constexpr Sample all_samples[] = {
    {"[[[0.0, 0.0, 2.0, 2.0], [2.0, 2.5, 0.0, 0.0], [5.0, 5.0, 6.0, 6.0]]], [[[0.8, 0.9, 0.6], [0.3, 0.1, "
     "0.7]]], tensor(2, \"int64\"), tensor(0.5, \"float32\"), tensor(0.2, \"float32\")",
     "(tensor([[0, 0, 1], [0, 0, 2], [0, 1, 2], [0, 1, 0], [-1, -1, -1], [-1, -1, -1]]), tensor([4]))"},
    {"[[[0.0, 0.0, 2.0, 2.0], [2.0, 2.5, 0.0, 0.0]]], [[[0.75, 1.0], [0.25, 0.5]]], tensor([1]), [0.5], "
     "[0.0], \"tensorflow\"",
     "(tensor([[[0, 1], [1, 1], [-1, -1], [-1, -1]]]), tensor([[1.0, 0.5, 0.0, 0.0]], \"float32\"), "
     "tensor([2]))"},
    {"rand((2, 6, 4), \"float32\"), rand((2, 3, 6), \"float32\"), tensor(3), tensor(0.3, \"float32\"), "
     "tensor(0.1, \"float32\")"},
    {"rand((1, 0, 4), \"float64\"), rand((1, 2, 0), \"float64\"), tensor(3), tensor(0.3, \"float64\"), "
     "tensor(0.1, \"float64\")"},
};
constexpr Reject all_rejects[] = {
    {"all_class_non_max_suppression.output_format",
     "rand((1, 2, 4), \"float32\"), rand((1, 2, 2), \"float32\"), tensor(3), [0.3], [0.1], \"coco\"",
     "expected onnx or tensorflow"},
    {"all_class_non_max_suppression.shape",
     "rand((1, 2, 5), \"float32\"), rand((1, 2, 2), \"float32\"), tensor(3), [0.3], [0.1]", "5 coordinates"},
    {"all_class_non_max_suppression.rank",
     "rand((1, 2, 4), \"float32\"), rand((1, 2, 2), \"float32\"), tensor(3), [0.3, 0.4], [0.1]",
     "expected one number"},
    {"all_class_non_max_suppression.dtype",
     "rand((1, 2, 4), \"float32\"), rand((1, 2, 2), \"float32\"), [3.0], [0.3], [0.1]", "expected integers"},
};

}  // namespace

extern const Op op_vision_all_class_non_max_suppression{
    .name = "vision.all_class_non_max_suppression",
    .summary = "For each class, boxes without those that overlap one of a higher score.",
    .params = all_params,
    .infer = infer_all,
    .eval = evaluate_all,
    .no_gradient = boxes::no_gradient,
    .agreement = Agreement::Index,
    .samples = all_samples,
    .rejects = all_rejects,
    .doc =
        "As NonMaxSuppression of ONNX: a box is suppressed when its overlap with a kept one is above the "
        "threshold. onnx gives (rows of batch, class and box; their number), tensorflow (rows of class and "
        "box, "
        "scores, numbers) for each batch. The rows have the size of all boxes of all classes; those behind "
        "the "
        "last one hold -1, where TVM may cut them off."};

}  // namespace relish::ops_vision_all_class_non_max_suppression
