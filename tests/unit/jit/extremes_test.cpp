// Maxima and minima in vectorized reductions: where NaN and zeros of either sign stand does not matter.
#include "tests/unit/jit/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// R[i] = the extreme of the row X[i, :].
PrimFunc row_extremes(DType dtype, bool largest, const Scalar& columns) {
  const ScalarVar n("n", DType::Int64);
  LoopBuilder b;
  const Buffer x = b.input("X", tensor_type({n, columns}, dtype));
  const Buffer r = b.output("R", tensor_type({n}, dtype));
  b.spatial_reduce(
      "R", {n}, {columns},
      [&](const auto& s, const auto& k) {
        const Scalar known = b.load(r, {s[0]}), next = b.load(x, {s[0], k[0]});
        return b.store(r, {s[0]}, largest ? maximum_ieee(known, next) : minimum_ieee(known, next));
      },
      [&](const auto& s) { return b.store(r, {s[0]}, largest ? min_value(dtype) : max_value(dtype)); });
  return b.finish("extremes");
}

}  // namespace

TEST_CASE("maxima and minima of rows equal the interpreter wherever NaN and zeros stand", "[jit]") {
  constexpr std::int64_t columns = 37;
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Float16}) {
    for (const bool largest : {true, false}) {
      INFO(name_of(dtype) << (largest ? " maximum" : " minimum"));
      // Rows of numbers; of one sign beside zeros of both; the same with a NaN at each place in turn.
      Tensor x = numbers(dtype, {4 * columns, columns});
      for (std::int64_t row = columns; row < 4 * columns; ++row) {
        for (std::int64_t i = 0; i < columns; ++i) {
          const double zero = i == row % columns ? (largest ? 0.0 : -0.0) : (largest ? -0.0 : 0.0);
          const double nan = std::numeric_limits<double>::quiet_NaN();
          if (row < 2 * columns)
            x.set_double(row * columns + i, zero);
          else if (row < 3 * columns && i == row % columns)
            x.set_double(row * columns + i, nan);
          else if (row >= 3 * columns && i % 3)
            x.set_double(row * columns + i, zero);
        }
      }
      in_both_tiers(module_of(row_extremes(dtype, largest, Scalar(columns))), "extremes", {x});
    }
  }
}
