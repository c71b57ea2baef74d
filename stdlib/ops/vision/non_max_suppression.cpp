// Suppression of boxes that overlap one of a higher score, or decay of their scores. Sorted and counted at
// run time, so compiled code calls the evaluation.
#include <cmath>

#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/language/pace.h"
#include "stdlib/families/shapes/movement.h"
#include "stdlib/families/windows/boxes.h"

namespace relish::ops_vision_non_max_suppression {
namespace {

constexpr Param nms_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "boxes with class and score, (batch, boxes, elements)"},
    {"valid_count", ParamKind::Tensor, "tensor of integers", "", "how many of the boxes count, (batch,)"},
    {"indices", ParamKind::Tensor, "tensor of integers", "",
     "number of each box in the data that the result speaks of, (batch, boxes)"},
    {"max_output_size", ParamKind::Attribute, "int", "-1", "how many boxes are kept at most; up to 0: all"},
    {"iou_threshold", ParamKind::Attribute, "float", "0.5",
     "overlap (intersection over union) from which a box is suppressed"},
    {"force_suppress", ParamKind::Attribute, "bool", "False", "boxes of other classes are suppressed too"},
    {"top_k", ParamKind::Attribute, "int", "-1",
     "how many of the highest scores are looked at; up to 0: all"},
    {"coord_start", ParamKind::Attribute, "int", "2", "first of the four elements with two corners"},
    {"score_index", ParamKind::Attribute, "int", "1", "element with the score"},
    {"id_index", ParamKind::Attribute, "int", "0", "element with the class; -1: none"},
    {"return_indices", ParamKind::Attribute, "bool", "True", "give numbers of boxes, not boxes"},
    {"invalid_to_bottom", ParamKind::Attribute, "bool", "False", "of boxes, the kept ones come first"},
    {"soft_nms_sigma", ParamKind::Attribute, "float", "0.0",
     "above 0: scores decay by exp(-overlap² / (2 sigma)); else boxes are kept or suppressed"},
    {"score_threshold", ParamKind::Attribute, "float", "0.0",
     "with soft_nms_sigma, a box counts as long as its score is higher"}};

// Scores of boxes that overlap a chosen one decay, and the next one is chosen by the scores that are left.
bool is_soft(const CallView& call) { return boxes::number(call, "soft_nms_sigma") > 0; }

Type infer_nms(const CallView& call) {
  require_float(call, 0);
  boxes::require_integers(call, 1);
  boxes::require_integers(call, 2);
  const std::optional<Dims> data = boxes::dims_of(call, 0, 3), counts = boxes::dims_of(call, 1, 1),
                            indices = boxes::dims_of(call, 2, 2);
  boxes::element_index(call, "id_index", -1, data);
  boxes::element_index(call, "score_index", 0, data);
  boxes::element_index(call, "coord_start", 0, data, 4);
  if (data && counts) boxes::require_equal(call, 1, (*counts)[0], (*data)[0], "batches");
  if (data && indices) {
    boxes::require_equal(call, 2, (*indices)[0], (*data)[0], "batches");
    boxes::require_equal(call, 2, (*indices)[1], (*data)[1], "boxes");
  }
  if (call.int_attribute("return_indices") == 0) return boxes::type_of(data, call.tensor(0).dtype, 3);
  const std::optional<Dims> each = data ? std::optional<Dims>({(*data)[0], (*data)[1]}) : std::nullopt;
  const std::optional<Dims> one = data ? std::optional<Dims>({(*data)[0], Scalar(1)}) : std::nullopt;
  std::vector<Type> results = {boxes::type_of(each, DType::Int32, 2), boxes::type_of(one, DType::Int32, 2)};
  if (is_soft(call)) results.insert(results.begin(), boxes::type_of(data, call.tensor(0).dtype, 3));
  return TupleType{std::move(results)};
}

// A place of the result: the number of a box in its batch, -1 for none, and the score that is left of it.
struct Slot {
  std::int64_t box = -1;
  double score = -1;
};

// The boxes of one batch under suppression.
class Batch {
 public:
  Batch(const EvalCall& c, std::int64_t batch)
      : call_(c.call),
        data_(c.in(0)),
        first_(batch * c.in(0).shape()[1]),
        class_at_(c.call.int_attribute("id_index")),
        corners_at_(c.call.int_attribute("coord_start")),
        every_class_(class_at_ < 0 || c.call.int_attribute("force_suppress") != 0),
        overlap_(boxes::number(c.call, "iou_threshold")) {
    const std::int64_t count = data_.shape()[1], valid = c.in(1).get_int(batch);
    if (valid < 0 || valid > count) {
      fail(ErrorClass::Runtime, call_.span, "non_max_suppression.valid_count",
           fmt::format("non_max_suppression: valid_count is {} at [{}], and axis 1 of data has {} boxes",
                       valid, batch, count));
    }
    const std::int64_t score_at = call_.int_attribute("score_index"), top = call_.int_attribute("top_k");
    for (std::int64_t box :
         boxes::by_score(valid, [&](std::int64_t box) { return element(box, score_at); })) {
      if (top > 0 && static_cast<std::int64_t>(slots_.size()) >= top) break;
      slots_.push_back({box, element(box, score_at)});
    }
    const std::int64_t most = call_.int_attribute("max_output_size");
    most_ = most > 0 ? static_cast<std::size_t>(most) : slots_.size();
  }

  // The boxes by descending score; one that overlaps a kept one leaves its place empty.
  std::vector<Slot> suppress() && {
    std::vector<const Slot*> kept;
    Pace pace;
    for (Slot& slot : slots_) {
      pace(static_cast<std::int64_t>(kept.size()));
      bool free = slot.score > 0 && kept.size() < most_;
      for (std::size_t k = 0; k < kept.size() && free; ++k)
        free = !compared(slot, *kept[k]) || !(overlap(slot, *kept[k]) >= overlap_);
      if (free)
        kept.push_back(&slot);
      else
        slot = {};
    }
    return std::move(slots_);
  }

  // In the order in which they are chosen, with the scores that they had then. Of equal scores the one that
  // stands first is chosen; a score is rounded to the dtype of data each time.
  std::vector<Slot> decay() && {
    const double scale = -0.5 / boxes::number(call_, "soft_nms_sigma");
    const double least = boxes::number(call_, "score_threshold");
    Tensor rounded = Tensor::empty(data_.dtype(), {1});
    std::size_t chosen = 0;
    Pace pace;
    for (; chosen < slots_.size() && chosen < most_; ++chosen) {
      pace(static_cast<std::int64_t>(slots_.size()));
      std::size_t best = slots_.size();
      double highest = least;
      for (std::size_t j = chosen; j < slots_.size(); ++j) {
        if (slots_[j].box < 0 || !(slots_[j].score > highest)) continue;
        best = j;
        highest = slots_[j].score;
      }
      if (best == slots_.size()) break;
      std::swap(slots_[chosen], slots_[best]);
      for (std::size_t j = chosen + 1; j < slots_.size(); ++j) {
        Slot& slot = slots_[j];
        if (slot.box < 0 || !(slot.score > least) || !compared(slot, slots_[chosen])) continue;
        const double shared = overlap(slots_[chosen], slot);
        rounded.set_double(0, slot.score * std::exp(scale * shared * shared));
        slot.score = rounded.get_double(0);
        if (shared >= overlap_ || slot.score <= least) slot = {};
      }
    }
    slots_.resize(chosen);
    return std::move(slots_);
  }

 private:
  double element(std::int64_t box, std::int64_t k) const {
    return data_.get_double((first_ + box) * data_.shape()[2] + k);
  }
  bool compared(const Slot& a, const Slot& b) const {
    return every_class_ || element(a.box, class_at_) == element(b.box, class_at_);
  }
  double overlap(const Slot& a, const Slot& b) const {
    const auto box_at = [&](const Slot& slot) {
      return boxes::box_of(data_, (first_ + slot.box) * data_.shape()[2] + corners_at_);
    };
    return boxes::overlap(box_at(a), box_at(b));
  }

  const CallView& call_;
  const Tensor& data_;
  std::int64_t first_;
  std::int64_t class_at_, corners_at_;
  bool every_class_;
  double overlap_;
  std::size_t most_ = 0;
  std::vector<Slot> slots_;
};

Value evaluate_nms(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const std::int64_t batches = data.shape()[0], count = data.shape()[1], elements = data.shape()[2];
  const bool wants_indices = c.call.int_attribute("return_indices") != 0, soft = is_soft(c.call);
  const bool to_top = c.call.int_attribute("invalid_to_bottom") != 0;
  const std::int64_t score_at = c.call.int_attribute("score_index");
  Tensor boxes_kept = Tensor::empty(data.dtype(), data.shape());
  Tensor indices = Tensor::empty(DType::Int32, {batches, count});
  Tensor counts = Tensor::zeros(DType::Int32, {batches, 1});
  for (std::int64_t i = 0; i < boxes_kept.size(); ++i) boxes_kept.set_double(i, -1);
  for (std::int64_t i = 0; i < indices.size(); ++i) indices.set_int(i, -1);
  for (std::int64_t b = 0; b < batches; ++b) {
    const std::vector<Slot> slots = soft ? Batch(c, b).decay() : Batch(c, b).suppress();
    std::int64_t used = 0;
    for (std::size_t j = 0; j < slots.size(); ++j) {
      const Slot& slot = slots[j];
      if (slot.box < 0 || (to_top && !wants_indices && slot.score < 0)) continue;
      const std::int64_t to = b * count + (wants_indices || to_top ? used : static_cast<std::int64_t>(j));
      indices.set_int(to, c.in(2).get_int(b * count + slot.box));
      for (std::int64_t k = 0; k < elements; ++k)
        copy_element(boxes_kept, to * elements + k, data, (b * count + slot.box) * elements + k);
      boxes_kept.set_double(to * elements + score_at, slot.score);
      ++used;
    }
    counts.set_int(b, used);
  }
  if (!wants_indices) return Value(boxes_kept);
  if (soft) return Value::tuple({Value(boxes_kept), Value(indices), Value(counts)});
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
    {"[[[0.0, 0.8, 0.0, 0.0, 2.0, 2.0], [0.0, 0.9, 0.0, 0.0, 2.0, 2.5], [1.0, 0.7, 0.0, 0.0, 2.0, 2.0], "
     "[0.0, 0.6, 1.0, 0.0, 3.0, 2.0], [0.0, 0.5, 5.0, 5.0, 6.0, 6.0]]], tensor([5], \"int32\"), tensor([[4, "
     "5, 6, 7, 8]], \"int32\"), "
     "iou_threshold=0.85, soft_nms_sigma=0.5",
     "(tensor([[[0.0, 0.9, 0.0, 0.0, 2.0, 2.5], [1.0, 0.7, 0.0, 0.0, 2.0, 2.0], [0.0, 0.552966297, 1.0, 0.0, "
     "3.0, 2.0], [0.0, 0.5, 5.0, 5.0, 6.0, 6.0], [0.0, 0.377473593, 0.0, 0.0, 2.0, 2.0]]], \"float32\"), "
     "tensor([[5, 6, 7, 8, 4]], \"int32\"), tensor([[5]], \"int32\"))"},
    {"[[[0.0, 0.8, 0.0, 0.0, 2.0, 2.0], [0.0, 0.9, 0.0, 0.0, 2.0, 2.5], [1.0, 0.7, 0.0, 0.0, 2.0, 2.0], "
     "[0.0, 0.6, 1.0, 0.0, 3.0, 2.0], [0.0, 0.5, 5.0, 5.0, 6.0, 6.0]]], tensor([5], \"int32\"), tensor([[0, "
     "1, 2, 3, 4]], \"int32\"), "
     "iou_threshold=1.1, force_suppress=True, top_k=4, soft_nms_sigma=0.25, score_threshold=0.2",
     "(tensor([[[0.0, 0.9, 0.0, 0.0, 2.0, 2.5], [0.0, 0.509619534, 1.0, 0.0, 3.0, 2.0], [-1.0, -1.0, -1.0, "
     "-1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0]]], "
     "\"float32\"), tensor([[1, 3, -1, -1, -1]], \"int32\"), tensor([[2]], \"int32\"))"},
    {"[[[0.0, 0.8, 0.0, 0.0, 2.0, 2.0], [0.0, 0.9, 0.0, 0.0, 2.0, 2.5], [1.0, 0.7, 0.0, 0.0, 2.0, 2.0], "
     "[0.0, 0.6, 1.0, 0.0, 3.0, 2.0], [0.0, 0.5, 5.0, 5.0, 6.0, 6.0]]], tensor([5], \"int32\"), tensor([[0, "
     "1, 2, 3, 4]], \"int32\"), 3, "
     "iou_threshold=0.85, soft_nms_sigma=0.5, id_index=-1, return_indices=False",
     "[[[0.0, 0.9, 0.0, 0.0, 2.0, 2.5], [0.0, 0.552966297, 1.0, 0.0, 3.0, 2.0], [0.0, 0.5, 5.0, 5.0, 6.0, "
     "6.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0]]]"},
    {"rand((2, 6, 6), \"float64\"), tensor([6, 3], \"int32\"), tensor([[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, "
     "5]], \"int32\"), 2, soft_nms_sigma=1.0, id_index=-1"},
    {"[[[0.0, 0.8, 0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 5.0, 5.0, 6.0, 6.0], [0.0, 0.6, 7.0, 7.0, 8.0, 8.0]]], "
     "tensor([3], \"int32\"), tensor([[0, 1, 2]], \"int32\"), 0, iou_threshold=0.0",
     "(tensor([[0, -1, -1]], \"int32\"), tensor([[1]], \"int32\"))"},
};
constexpr Reject nms_rejects[] = {
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

}  // namespace

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
        "The boxes of each batch are taken by descending score (equal ones in order); one whose score is not "
        "above 0, or whose overlap with a kept one of its class reaches iou_threshold, is dropped. Gives "
        "(numbers, counts), the numbers filled up with -1; with return_indices=False the boxes, -1 in the "
        "place of dropped ones. With soft_nms_sigma above 0 the box of the highest score is chosen until "
        "none "
        "is above score_threshold; those of its class that overlap it less than iou_threshold stay, their "
        "score times exp(-overlap² / (2 sigma)). That gives (boxes, numbers, counts), the boxes in the order "
        "in which they were chosen, with the scores that they had then."};

}  // namespace relish::ops_vision_non_max_suppression
