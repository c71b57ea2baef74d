// Reversal along a dimension: of all of it (flip), of the first part of each row (reverse_sequence).
#include "stdlib/families/shapes/movement.h"

#include "ir/calls/fault.h"
#include "ir/printer/printer.h"

namespace relish::ops_flip {
namespace {

constexpr Param flip_params[] = {{"data", ParamKind::Tensor, "tensor", "", "input"},
                                 {"axis", ParamKind::Attribute, "int", "", "dimension that is reversed"}};
constexpr Param sequence_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"seq_lengths", ParamKind::Tensor, "tensor of integers", "",
     "how many elements are reversed, for each index of batch_axis"},
    {"seq_axis", ParamKind::Attribute, "int", "1", "dimension that is reversed"},
    {"batch_axis", ParamKind::Attribute, "int", "0", "dimension of the rows"}};

int axis_of(const CallView& call, std::string_view name, int rank) {
  return normal_axis(call, call.int_attribute(name), rank);
}

// --- flip

Type infer_flip(const CallView& call) {
  const TensorType& data = call.tensor(0);
  const int rank = shape_of(data).rank;
  if (rank >= 0) axis_of(call, "axis", rank);
  return data;
}

Value evaluate_flip(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const auto axis = static_cast<std::size_t>(axis_of(c.call, "axis", data.rank()));
  return gathered(data, data.shape(), [&](Shape index) {
    index[axis] = data.shape()[axis] - 1 - index[axis];
    return position_of(data.shape(), index);
  });
}

PrimFunc lower_flip(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0);
  const Buffer result = lowering.output();
  const int axis = axis_of(c.call, "axis", data.rank());
  const auto at = static_cast<std::size_t>(axis);
  lowering.map("flip", result, [&](const Dims& i) {
    return lowering.loops().load(data, replaced_dim(i, axis, data.shape()[at] - Scalar(1) - i[at]));
  });
  return lowering.finish();
}

Partials vjp_flip(const VjpCall& c) {
  const GradientRule rule(c);
  return {call_op("flip", {rule.cotangent()}, {{"axis", c.call.attribute("axis")}}).expr()};
}

constexpr Sample flip_samples[] = {
    {"[1.0, 2.0, 3.0], axis=0", "[3.0, 2.0, 1.0]"},
    {"[[1.0, 2.0], [3.0, 4.0]], axis=-1", "[[2.0, 1.0], [4.0, 3.0]]"},
    {"rand((2, 3, 4), \"float64\"), axis=1"},
    {"rand((2, 3), \"float64\"), axis=-2"},
    {"rand((0, 3), \"float32\"), axis=0"},
    {"rand((1, 1), \"float32\"), axis=1"},
};
constexpr Reject flip_rejects[] = {
    {"flip.axis", "rand((2, 3), \"float32\"), axis=2", "out of range"},
    {"flip.axis", "rand((), \"float32\"), axis=0", "out of range"},
};

// --- reverse_sequence

Type infer_sequence(const CallView& call) {
  const TensorType& data = call.tensor(0);
  require_indices(call, 1);
  const BroadcastShape shape = shape_of(data), lengths = shape_of(call.tensor(1));
  if (lengths.rank >= 0 && lengths.rank != 1)
    call.reject("rank", call.span_of(1), fmt::format("seq_lengths has rank {}, expected 1", lengths.rank));
  if (shape.rank < 0) return data;
  const int seq = axis_of(call, "seq_axis", shape.rank), batch = axis_of(call, "batch_axis", shape.rank);
  if (seq == batch) call.reject("axes", call.span, "seq_axis and batch_axis are the same dimension");
  if (shape.dims && lengths.dims &&
      prove_different((*shape.dims)[static_cast<std::size_t>(batch)], lengths.dims->front())) {
    call.reject("shape", call.span_of(1),
                fmt::format("seq_lengths has {} elements, expected {}", print(lengths.dims->front()),
                            print((*shape.dims)[static_cast<std::size_t>(batch)])));
  }
  return data;
}

Value evaluate_sequence(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const auto seq = static_cast<std::size_t>(axis_of(c.call, "seq_axis", data.rank()));
  const auto batch = static_cast<std::size_t>(axis_of(c.call, "batch_axis", data.rank()));
  for (std::int64_t i = 0; i < c.in(1).size(); ++i) {
    const std::int64_t length = index_at(c.in(1), i);
    if (length >= 0 && length <= data.shape()[seq]) continue;
    fail(ErrorClass::Runtime, c.call.span, "reverse_sequence.length",
         fmt::format("reverse_sequence: length {}{} is out of range for axis {} of data, which has length {}",
                     index_text(c.in(1), i), at_place("seq_lengths", c.in(1).shape(), i), seq,
                     data.shape()[seq]));
  }
  return gathered(data, data.shape(), [&](Shape index) {
    const std::int64_t length = index_at(c.in(1), index[batch]);
    if (index[seq] < length) index[seq] = length - 1 - index[seq];
    return position_of(data.shape(), index);
  });
}

PrimFunc lower_sequence(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0), lengths = lowering.input(1);
  const Buffer result = lowering.output();
  const int seq = axis_of(c.call, "seq_axis", data.rank()),
            batch = axis_of(c.call, "batch_axis", data.rank());
  const auto along = static_cast<std::size_t>(seq), row = static_cast<std::size_t>(batch);
  lowering.require_equal(lengths.shape()[0], data.shape()[row],
                         "reverse_sequence: seq_lengths must have one element for each row");
  lowering.loops().spatial("check", lengths.shape(), [&](const Dims& i) {
    const Scalar length = wide_index(lowering.loops().load(lengths, i));
    const Scalar inside = logical(LogicalOp::And, Scalar(0) <= length, length <= data.shape()[along]);
    return make_stmt(
        AssertStmt{inside,
                   fmt::format("a length of reverse_sequence is out of range for axis {} of data", seq)},
        c.call.span);
  });
  lowering.map("reverse", result, [&](const Dims& i) {
    const Scalar length = wide_index(lowering.loops().load(lengths, {i[row]}));
    const Scalar at = select(i[along] < length, length - Scalar(1) - i[along], i[along]);
    return lowering.loops().load(data, replaced_dim(i, seq, at));
  });
  return lowering.finish();
}

Partials vjp_sequence(const VjpCall& c) {
  const GradientRule rule(c);
  return {call_op("reverse_sequence", {rule.cotangent(), rule.argument(1)}, c.call.attributes).expr(),
          std::nullopt};
}

constexpr Sample sequence_samples[] = {
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], R.const([2, 3], \"int32\")", "[[2.0, 1.0, 3.0], [6.0, 5.0, 4.0]]"},
    {"[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], R.const([0, 3], \"int64\"), seq_axis=0, batch_axis=1",
     "[[1.0, 6.0], [3.0, 4.0], [5.0, 2.0]]"},
    {"rand((2, 3, 4), \"float64\"), R.const([1, 4], \"int64\"), seq_axis=-1"},
    {"rand((3, 2, 2), \"float64\"), R.const([3, 0], \"int64\"), seq_axis=0, batch_axis=2"},
    {"rand((1, 5), \"float32\"), R.const([4], \"int32\")"},
    {"rand((2, 4, 0), \"float32\"), R.const([4, 2], \"int32\")"},
};
constexpr Reject sequence_rejects[] = {
    {"reverse_sequence.axis", "rand((2, 3), \"float32\"), R.const([1, 1], \"int32\"), seq_axis=2",
     "out of range"},
    {"reverse_sequence.axes", "rand((2, 3), \"float32\"), R.const([1, 1], \"int32\"), batch_axis=-1",
     "the same dimension"},
    {"reverse_sequence.rank", "rand((2, 3), \"float32\"), R.const([[1, 1]], \"int32\")", "expected 1"},
    {"reverse_sequence.shape", "rand((2, 3), \"float32\"), R.const([1], \"int32\")", "expected 2"},
    {"reverse_sequence.indices", "rand((2, 3), \"float32\"), [1.0, 2.0]", "expected integers"},
};

}  // namespace

extern const Op op_flip{.name = "flip",
                        .summary = "Reverse a tensor along a dimension.",
                        .params = flip_params,
                        .infer = infer_flip,
                        .eval = evaluate_flip,
                        .lower = lower_flip,
                        .vjp = vjp_flip,
                        .gradient_doc = "ddata = flip(g, axis)",
                        .agreement = Agreement::DataMovement,
                        .samples = flip_samples,
                        .rejects = flip_rejects};

extern const Op op_reverse_sequence{
    .name = "reverse_sequence",
    .summary = "Reverse the first elements of every row, as many as given for the row.",
    .params = sequence_params,
    .infer = infer_sequence,
    .eval = evaluate_sequence,
    .lower = lower_sequence,
    .vjp = vjp_sequence,
    .gradient_doc = "ddata = reverse_sequence(g, seq_lengths, seq_axis, batch_axis)",
    .agreement = Agreement::DataMovement,
    .samples = sequence_samples,
    .rejects = sequence_rejects,
    .doc = "A length below 0 or beyond the dimension is a RuntimeError."};

}  // namespace relish::ops_flip
