// Types and loop nests of softmax and its logarithm.
#include "stdlib/families/reductions/softmax.h"

namespace relish::softmax {

int axis_of(const CallView& call, int rank) { return normal_axis(call, call.int_attribute("axis"), rank); }

Type infer(const CallView& call) {
  require_float(call, 0);
  const TensorType& data = call.tensor(0);
  const int rank = shape_of(data).rank;
  if (rank >= 0) axis_of(call, rank);
  return data;
}

PrimFunc lower(const LowerCall& c, std::string_view block, Takes takes,
               const std::function<Scalar(const Scalar&, const Scalar&)>& finish) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0);
  const Buffer result = lowering.output();
  const int axis = axis_of(c.call, data.rank());
  const DType wide = compute_dtype(data.dtype());

  Dims lines = data.shape();
  const Scalar length = lines[static_cast<std::size_t>(axis)];
  lines.erase(lines.begin() + axis);
  const auto with_axis = [&](Dims line, const Scalar& i) {
    line.insert(line.begin() + axis, i);
    return line;
  };
  const auto without_axis = [&](Dims index) {
    index.erase(index.begin() + axis);
    return index;
  };

  const Buffer largest = lowering.temporary("largest", lines, wide);
  lowering.reduce(
      "largest", largest, lines, {length},
      [&](const Dims& s, const Dims& r) { return lowering.load_as(wide, data, with_axis(s, r[0])); },
      [](const Scalar& a, const Scalar& b) { return maximum_ieee(a, b); }, min_value(wide));
  const auto shifted = [&](const Dims& i, const Dims& line) {
    return lowering.load_as(wide, data, i) - lowering.loops().load(largest, line);
  };
  // The exponentials are kept until their sum is known, where the result is as exact as the sum.
  const bool kept = takes == Takes::Exponential && wide == data.dtype();
  const Buffer exponentials = kept ? lowering.temporary("exponentials", data.shape(), wide) : result;
  if (kept)
    lowering.map("exponentials", exponentials,
                 [&](const Dims& i) { return exp(shifted(i, without_axis(i))); });
  const Buffer total = lowering.temporary("total", lines, wide);
  lowering.reduce("total", total, lines, {length}, [&](const Dims& s, const Dims& r) {
    const Dims i = with_axis(s, r[0]);
    return kept ? lowering.loops().load(exponentials, i) : exp(shifted(i, s));
  });
  lowering.map(block, result, [&](const Dims& i) {
    const Dims line = without_axis(i);
    const Scalar value = kept                          ? lowering.loops().load(exponentials, i)
                         : takes == Takes::Exponential ? exp(shifted(i, line))
                                                       : shifted(i, line);
    return finish(value, lowering.loops().load(total, line));
  });
  return lowering.finish();
}

}  // namespace relish::softmax
