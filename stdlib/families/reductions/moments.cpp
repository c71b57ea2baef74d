// Loop nests of means and variances.
#include "stdlib/families/reductions/moments.h"

namespace relish {

MomentBuffers lower_moments(Lowering& lowering, const Dims& shape, const std::vector<int>& axes, DType wide,
                            const ElementAt& element, bool centred) {
  const reduction::ReducedLoops loops(shape, axes, false);
  const Scalar count = product(loops.reduce);
  const Scalar divisor =
      count.as_int() ? literal(wide, static_cast<double>(*count.as_int())) : cast(wide, count);
  const auto load = [&](const Buffer& buffer, const Dims& s) { return lowering.loops().load(buffer, s); };
  MomentBuffers result;
  if (centred) {
    const Buffer total = lowering.temporary("total", loops.spatial, wide);
    result.mean = lowering.temporary("mean", loops.spatial, wide);
    lowering.reduce("total", total, loops.spatial, loops.reduce,
                    [&](const Dims& s, const Dims& r) { return element(loops.input_index(s, r)); });
    lowering.map("mean", result.mean, [&](const Dims& s) { return load(total, s) / divisor; });
  }
  const Buffer squares = lowering.temporary("squares", loops.spatial, wide);
  result.variance = lowering.temporary("variance", loops.spatial, wide);
  lowering.reduce("squares", squares, loops.spatial, loops.reduce, [&](const Dims& s, const Dims& r) {
    const Scalar x = element(loops.input_index(s, r));
    const Scalar deviation = centred ? x - load(result.mean, s) : x;
    return deviation * deviation;
  });
  lowering.map("variance", result.variance, [&](const Dims& s) { return load(squares, s) / divisor; });
  return result;
}

GraphValue mean_over(const GraphValue& x, const std::vector<int>& axes) {
  return call_op("mean", {x}, {{"axis", axes_attribute(axes)}, {"keepdims", true}});
}

}  // namespace relish
