// Suppression of boxes that overlap one of a higher score. Sorted and counted at run time, so compiled code
// calls the evaluations.
#include <cmath>

#include "ir/printer.h"
#include "stdlib/families/boxes.h"
#include "stdlib/families/dtypes.h"
#include "stdlib/families/pace.h"

namespace relish::ops_vision_non_max_suppression {
namespace {

// --- get_valid_counts.

constexpr Param counts_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "boxes with class and score, (batch, boxes, elements)"},
    {"score_threshold", ParamKind::Attribute, "float", "0.0", "a valid box has a higher score"},
    {"id_index", ParamKind::Attribute, "int", "0",
     "element with the class, at least 0 for a valid box; -1: no class"},
    {"score_index", ParamKind::Attribute, "int", "1", "element with the score"}};

// An attribute that is the index of an element; `least` is -1 where it may be absent.
std::int64_t element_index(const CallView& call, std::string_view name, std::int64_t least,
                           const std::optional<Dims>& data, std::int64_t length = 1) {
  const std::int64_t index = call.int_attribute(name);
  const auto elements = data ? data->back().as_int() : std::nullopt;
  if (index < least || (elements && index + length > *elements)) {
    call.reject("index", call.span,
                fmt::format("{} is {}, and a box has {} elements", name, index,
                            data ? print(data->back()) : "unknown"));
  }
  return index;
}

Type infer_counts(const CallView& call) {
  require_float(call, 0);
  const std::optional<DType> dtype = call.tensor(0).dtype;
  const std::optional<Dims> data = boxes::dims_of(call, 0, 3);
  element_index(call, "id_index", -1, data);
  element_index(call, "score_index", 0, data);
  const auto part = [&](std::size_t count) {
    return data ? std::optional<Dims>(Dims(data->begin(), data->begin() + static_cast<std::ptrdiff_t>(count)))
                : std::nullopt;
  };
  return TupleType{{boxes::type_of(part(1), DType::Int32, 1), boxes::type_of(data, dtype, 3),
                    boxes::type_of(part(2), DType::Int32, 2)}};
}

Value evaluate_counts(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const std::int64_t batches = data.shape()[0], count = data.shape()[1], elements = data.shape()[2];
  const std::int64_t id = c.call.int_attribute("id_index"), score = c.call.int_attribute("score_index");
  const double threshold = boxes::number(c.call, "score_threshold");
  Tensor counts = Tensor::zeros(DType::Int32, {batches});
  Tensor kept = Tensor::empty(data.dtype(), data.shape());
  Tensor indices = Tensor::empty(DType::Int32, {batches, count});
  for (std::int64_t i = 0; i < kept.size(); ++i) kept.set_double(i, -1);
  for (std::int64_t i = 0; i < indices.size(); ++i) indices.set_int(i, -1);
  for (std::int64_t b = 0; b < batches; ++b) {
    std::int64_t valid = 0;
    for (std::int64_t j = 0; j < count; ++j) {
      const std::int64_t at = (b * count + j) * elements;
      if (!(data.get_double(at + score) > threshold)) continue;
      if (id >= 0 && !(data.get_double(at + id) >= 0)) continue;
      for (std::int64_t k = 0; k < elements; ++k)
        kept.set_double((b * count + valid) * elements + k, data.get_double(at + k));
      indices.set_int(b * count + valid++, j);
    }
    counts.set_int(b, valid);
  }
  return Value::tuple({Value(counts), Value(kept), Value(indices)});
}

constexpr Sample counts_samples[] = {
    {"[[[0.0, 0.5, 1.0], [1.0, 0.1, 2.0], [-1.0, 0.9, 3.0], [2.0, 0.8, 4.0]]], score_threshold=0.3",
     "(tensor([2], \"int32\"), tensor([[[0.0, 0.5, 1.0], [2.0, 0.8, 4.0], [-1.0, -1.0, -1.0], [-1.0, -1.0, "
     "-1.0]]], \"float32\"), "
     "tensor([[0, 3, -1, -1]], \"int32\"))"},
    {"rand((2, 5, 6), \"float32\") - 0.3, 0.2, -1, 3"},
    {"rand((2, 0, 6), \"float32\")"},
    {"rand((0, 3, 2), \"float64\")"},
};
constexpr Reject counts_rejects[] = {
    {"get_valid_counts.rank", "rand((2, 6), \"float32\")", "expected 3"},
    {"get_valid_counts.index", "rand((1, 2, 6), \"float32\"), score_index=6", "a box has 6 elements"},
    {"get_valid_counts.dtype", "R.const([[[1, 2]]], \"int32\")", "expected a floating dtype"},
};

// --- non_max_suppression.

constexpr Param nms_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "boxes with class and score, (batch, boxes, elements)"},
    {"valid_count", ParamKind::Tensor, "tensor of integers", "", "how many of the boxes count, (batch,)"},
    {"indices", ParamKind::Tensor, "tensor of integers", "",
     "number of each box in the data that the result speaks of, (batch, boxes)"},
    {"max_output_size", ParamKind::Attribute, "int", "-1", "how many boxes are kept at most; -1: all"},
    {"iou_threshold", ParamKind::Attribute, "float", "0.5",
     "overlap (intersection over union) from which a box is suppressed; up to 0: none is"},
    {"force_suppress", ParamKind::Attribute, "bool", "False", "boxes of other classes are suppressed too"},
    {"top_k", ParamKind::Attribute, "int", "-1", "how many of the highest scores are looked at; -1: all"},
    {"coord_start", ParamKind::Attribute, "int", "2", "first of the four elements with two corners"},
    {"score_index", ParamKind::Attribute, "int", "1", "element with the score"},
    {"id_index", ParamKind::Attribute, "int", "0", "element with the class; -1: none"},
    {"return_indices", ParamKind::Attribute, "bool", "True", "give numbers of boxes, not boxes"},
    {"invalid_to_bottom", ParamKind::Attribute, "bool", "False", "of boxes, the kept ones come first"},
    {"soft_nms_sigma", ParamKind::Attribute, "float", "0.0", "only 0: boxes are kept or suppressed"},
    {"score_threshold", ParamKind::Attribute, "float", "0.0", "without meaning where soft_nms_sigma is 0"}};

void require_integers(const CallView& call, std::size_t i) {
  const std::optional<DType> dtype = call.tensor(i).dtype;
  if (!dtype || is_int(*dtype)) return;
  call.reject("dtype", call.span_of(i),
              fmt::format("{} has dtype {}, expected integers", call.op.params[i].name, name_of(*dtype)));
}

Type infer_nms(const CallView& call) {
  require_float(call, 0);
  require_integers(call, 1);
  require_integers(call, 2);
  const std::optional<Dims> data = boxes::dims_of(call, 0, 3), counts = boxes::dims_of(call, 1, 1),
                            indices = boxes::dims_of(call, 2, 2);
  element_index(call, "id_index", -1, data);
  element_index(call, "score_index", 0, data);
  element_index(call, "coord_start", 0, data, 4);
  if (data && counts) boxes::require_equal(call, 1, (*counts)[0], (*data)[0], "batches");
  if (data && indices) {
    boxes::require_equal(call, 2, (*indices)[0], (*data)[0], "batches");
    boxes::require_equal(call, 2, (*indices)[1], (*data)[1], "boxes");
  }
  if (boxes::number(call, "soft_nms_sigma") != 0) {
    call.reject("soft_nms_sigma", call.span,
                fmt::format("soft_nms_sigma is {}, expected 0: scores are not decayed",
                            boxes::number(call, "soft_nms_sigma")));
  }
  if (call.int_attribute("return_indices") == 0) return boxes::type_of(data, call.tensor(0).dtype, 3);
  const std::optional<Dims> each = data ? std::optional<Dims>({(*data)[0], (*data)[1]}) : std::nullopt;
  const std::optional<Dims> one = data ? std::optional<Dims>({(*data)[0], Scalar(1)}) : std::nullopt;
  return TupleType{{boxes::type_of(each, DType::Int32, 2), boxes::type_of(one, DType::Int32, 2)}};
}

// One batch: which boxes stand where in the result, -1 for none.
std::vector<std::int64_t> kept_boxes(const EvalCall& c, std::int64_t batch) {
  const Tensor& data = c.in(0);
  const std::int64_t count = data.shape()[1], elements = data.shape()[2];
  const std::int64_t valid = c.in(1).get_int(batch);
  if (valid < 0 || valid > count) {
    fail(ErrorClass::Runtime, c.call.span, "non_max_suppression.valid_count",
         fmt::format("non_max_suppression: valid_count is {} at [{}], and axis 1 of data has {} boxes", valid,
                     batch, count));
  }
  const auto element = [&](std::int64_t box, std::string_view name) {
    return data.get_double((batch * count + box) * elements + c.call.int_attribute(name));
  };
  std::vector<std::int64_t> kept(static_cast<std::size_t>(count), -1);
  const double threshold = boxes::number(c.call, "iou_threshold");
  if (!(threshold > 0)) {
    for (std::int64_t j = 0; j < valid; ++j) kept[static_cast<std::size_t>(j)] = j;
    return kept;
  }
  const std::vector<std::int64_t> order =
      boxes::by_score(valid, [&](std::int64_t box) { return element(box, "score_index"); });
  const std::int64_t top = c.call.int_attribute("top_k"), most = c.call.int_attribute("max_output_size");
  const bool classes = c.call.int_attribute("id_index") >= 0,
             force = c.call.int_attribute("force_suppress") != 0;
  const auto box_at = [&](std::int64_t box) {
    return boxes::box_of(data, (batch * count + box) * elements + c.call.int_attribute("coord_start"));
  };
  std::int64_t used = 0;
  Pace pace;
  for (std::size_t j = 0; j < order.size() && used != most; ++j) {
    if (top > 0 && static_cast<std::int64_t>(j) >= top) break;
    const std::int64_t box = order[j];
    if (!(element(box, "score_index") > 0)) {
      kept[j] = box;  // stays as it is, and suppresses none
      continue;
    }
    bool free = true;
    pace(static_cast<std::int64_t>(j));
    for (std::size_t k = 0; k < j && free; ++k) {
      if (kept[k] < 0 || !(element(kept[k], "score_index") > 0)) continue;
      if (classes && !(element(kept[k], "id_index") >= 0)) continue;
      const bool compared = force || !classes || element(box, "id_index") == element(kept[k], "id_index");
      free = !compared || boxes::overlap(box_at(box), box_at(kept[k])) < threshold;
    }
    if (!free) continue;
    kept[j] = box;
    ++used;
  }
  return kept;
}

Value evaluate_nms(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const std::int64_t batches = data.shape()[0], count = data.shape()[1], elements = data.shape()[2];
  const bool wants_indices = c.call.int_attribute("return_indices") != 0;
  const bool first = wants_indices || c.call.int_attribute("invalid_to_bottom") != 0;
  Tensor boxes_kept = Tensor::empty(data.dtype(), data.shape());
  Tensor indices = Tensor::empty(DType::Int32, {batches, count});
  Tensor counts = Tensor::zeros(DType::Int32, {batches, 1});
  for (std::int64_t i = 0; i < boxes_kept.size(); ++i) boxes_kept.set_double(i, -1);
  for (std::int64_t i = 0; i < indices.size(); ++i) indices.set_int(i, -1);
  for (std::int64_t b = 0; b < batches; ++b) {
    const std::vector<std::int64_t> kept = kept_boxes(c, b);
    std::int64_t used = 0;
    for (std::int64_t j = 0; j < count; ++j) {
      const std::int64_t box = kept[static_cast<std::size_t>(j)];
      if (box < 0) continue;
      const std::int64_t to = b * count + (first ? used : j);
      indices.set_int(to, c.in(2).get_int(b * count + box));
      for (std::int64_t k = 0; k < elements; ++k)
        boxes_kept.set_double(to * elements + k, data.get_double((b * count + box) * elements + k));
      ++used;
    }
    counts.set_int(b, used);
  }
  if (!wants_indices) return Value(boxes_kept);
  return Value::tuple({Value(indices), Value(counts)});
}

constexpr Sample nms_samples[] = {
    {"[[[0.0, 0.8, 0.0, 0.0, 2.0, 2.0], [0.0, 0.9, 0.0, 0.0, 2.0, 2.5], [1.0, 0.7, 0.0, 0.0, 2.0, 2.0], "
     "[0.0, 0.6, 5.0, 5.0, 6.0, 6.0]]], tensor([4], \"int32\"), tensor([[0, 1, 2, 3]], \"int32\")",
     "(tensor([[1, 2, 3, -1]], \"int32\"), tensor([[3]], \"int32\"))"},
    {"[[[0.0, 0.8, 0.0, 0.0, 2.0, 2.0], [0.0, 0.9, 0.0, 0.0, 2.0, 2.5], [1.0, 0.7, 2.0, 2.0, 0.0, 0.0], "
     "[0.0, 0.6, 5.0, 5.0, 6.0, 6.0]]], tensor([4], \"int32\"), tensor([[5, 6, 7, 8]], \"int32\"), "
     "force_suppress=True",
     "(tensor([[6, 8, -1, -1]], \"int32\"), tensor([[2]], \"int32\"))"},
    {"[[[0.0, 0.8, 0.0, 0.0, 2.0, 2.0], [0.0, 0.9, 0.0, 0.0, 2.0, 2.5], [0.0, 0.6, 5.0, 5.0, 6.0, 6.0]]], "
     "tensor([3], \"int32\"), tensor([[0, 1, 2]], \"int32\"), return_indices=False",
     "[[[0.0, 0.9, 0.0, 0.0, 2.0, 2.5], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [0.0, 0.6, 5.0, 5.0, 6.0, "
     "6.0]]]"},
    {"[[[0.0, 0.8, 0.0, 0.0, 2.0, 2.0], [0.0, 0.9, 0.0, 0.0, 2.0, 2.5], [0.0, 0.6, 5.0, 5.0, 6.0, 6.0]]], "
     "tensor([3], \"int32\"), tensor([[0, 1, 2]], \"int32\"), return_indices=False, invalid_to_bottom=True",
     "[[[0.0, 0.9, 0.0, 0.0, 2.0, 2.5], [0.0, 0.6, 5.0, 5.0, 6.0, 6.0], [-1.0, -1.0, -1.0, -1.0, -1.0, "
     "-1.0]]]"},
    {"[[[0.8, 0.0, 0.0, 2.0, 2.0], [0.9, 0.0, 0.0, 2.0, 2.5], [0.6, 5.0, 5.0, 6.0, 6.0]]], tensor([3], "
     "\"int32\"), tensor([[0, 1, 2]], \"int32\"), 1, coord_start=1, score_index=0, id_index=-1",
     "(tensor([[1, -1, -1]], \"int32\"), tensor([[1]], \"int32\"))"},
    {"rand((2, 6, 6), \"float32\"), tensor([6, 3], \"int32\"), tensor([[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, "
     "5]], \"int32\"), top_k=4, iou_threshold=0.2, id_index=-1"},
    {"rand((1, 3, 6), \"float64\"), tensor([2], \"int32\"), tensor([[0, 1, 2]], \"int32\"), "
     "iou_threshold=0.0"},
};
constexpr Reject nms_rejects[] = {
    {"non_max_suppression.soft_nms_sigma",
     "rand((1, 3, 6), \"float64\"), tensor([2], \"int32\"), tensor([[0, 1, 2]], \"int32\"), "
     "soft_nms_sigma=0.5",
     "expected 0"},
    {"non_max_suppression.shape",
     "rand((1, 3, 6), \"float64\"), tensor([2], \"int32\"), tensor([[0, 1]], \"int32\")", "2 boxes"},
    {"non_max_suppression.index",
     "rand((1, 3, 5), \"float64\"), tensor([2], \"int32\"), tensor([[0, 1, 2]], \"int32\")",
     "a box has 5 elements"},
    {"non_max_suppression.dtype", "rand((1, 3, 6), \"float64\"), [2.0], tensor([[0, 1, 2]], \"int32\")",
     "expected integers"},
    {"non_max_suppression.rank",
     "rand((3, 6), \"float64\"), tensor([2], \"int32\"), tensor([[0]], \"int32\")", "expected 3"},
};

// --- all_class_non_max_suppression.

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
  require_integers(call, 2);
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

extern const Op op_vision_get_valid_counts{
    .name = "vision.get_valid_counts",
    .summary = "Boxes with a score above a threshold, in order, and how many they are.",
    .params = counts_params,
    .infer = infer_counts,
    .eval = evaluate_counts,
    .no_gradient = boxes::no_gradient,
    .agreement = Agreement::Index,
    .samples = counts_samples,
    .rejects = counts_rejects,
    .doc =
        "Gives (counts, boxes, numbers of the boxes in data); what is left of each batch is filled with -1."};

extern const Op op_vision_non_max_suppression{
    .name = "vision.non_max_suppression",
    .summary = "Boxes without those that overlap one of a higher score.",
    .params = nms_params,
    .infer = infer_nms,
    .eval = evaluate_nms,
    .no_gradient = boxes::no_gradient,
    .agreement = Agreement::Index,
    .samples = nms_samples,
    .rejects = nms_rejects,
    .doc =
        "The boxes of each batch are taken by descending score (equal ones in order); one is suppressed when "
        "its overlap with a kept one of its class reaches iou_threshold. Gives (numbers, counts), the "
        "numbers "
        "filled up with -1; with return_indices=False the boxes, -1 in the place of suppressed ones. A box "
        "whose "
        "score is not above 0 stays and suppresses none. Decay of scores (soft_nms_sigma) is refused."};

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

}  // namespace relish::ops_vision_non_max_suppression
