// The boxes whose score is above a threshold. Counted at run time, so compiled code calls the evaluation.
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/language/pace.h"
#include "stdlib/families/windows/boxes.h"

namespace relish::ops_vision_get_valid_counts {
namespace {

constexpr Param counts_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "boxes with class and score, (batch, boxes, elements)"},
    {"score_threshold", ParamKind::Attribute, "float", "0.0", "a valid box has a higher score"},
    {"id_index", ParamKind::Attribute, "int", "0",
     "element with the class, at least 0 for a valid box; -1: no class"},
    {"score_index", ParamKind::Attribute, "int", "1", "element with the score"}};

Type infer_counts(const CallView& call) {
  require_float(call, 0);
  const std::optional<DType> dtype = call.tensor(0).dtype;
  const std::optional<Dims> data = boxes::dims_of(call, 0, 3);
  boxes::element_index(call, "id_index", -1, data);
  boxes::element_index(call, "score_index", 0, data);
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

}  // namespace relish::ops_vision_get_valid_counts
