// What composite operators really differ by: their class allows one width for all of them, so the largest
// difference between the tiers over the samples is printed for each, as a share of what is allowed. One above
// 1 is an exception, of which there may be five. Hidden: `test_ops "[errors]"`.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>

#include "tests/golden/tolerance.h"
#include "tests/ops/agreement.h"

namespace relish::testing {
namespace {

constexpr int most_exceptions = 5;

struct Measured {
  double difference = 0;  // relative to the larger of 1 and the element
  double share = 0;       // of what the class allows
};

void measure(const Value& actual, const Value& wanted, Measured& into) {
  if (wanted.is_tuple()) {
    for (std::size_t k = 0; k < wanted.fields().size(); ++k)
      measure(actual.fields()[k], wanted.fields()[k], into);
    return;
  }
  if (!wanted.is_tensor() || !is_float(wanted.tensor().dtype())) return;
  const Tensor& found = actual.tensor();
  const Tensor& expected = wanted.tensor();
  const Closeness allowed = closeness(static_cast<int>(Agreement::Composite), expected.dtype());
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    const double a = found.get_double(i), b = expected.get_double(i);
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    into.difference = std::max(into.difference, std::abs(a - b) / std::max(1.0, std::abs(b)));
    into.share = std::max(into.share, std::abs(a - b) / (allowed.rtol * std::abs(b) + allowed.atol));
  }
}

Measured measured(const Op& op, DType dtype) {
  Measured result;
  for (const Sample& sample : op.samples) {
    const auto converted = with_dtype(case_of_sample(op, sample.args, std::string(op.name)), dtype);
    if (!converted) continue;
    try {
      const BuiltCall call = build_call(*converted);
      if (agreement_of(call) != Agreement::Composite) continue;
      measure(jit(1).call(call.module, "main", call.values),
              interpreter().call(call.module, "main", call.values), result);
    } catch (const Failure&) {
      continue;  // the type rule or the values refuse this dtype, as the other tests see
    }
  }
  return result;
}

}  // namespace

TEST_CASE("measured differences of composite operators", "[.][errors]") {
  constexpr DType dtypes[] = {DType::Float64, DType::Float32, DType::Float16, DType::BFloat16};
  std::printf("%-36s %20s %20s %20s %20s\n", "operator: difference (share)", "float64", "float32", "float16",
              "bfloat16");
  int exceptions = 0;
  for (const Op* op : operators_under_test()) {
    if (op->agreement != Agreement::Composite) continue;
    std::string row = fmt::format("{:<36}", op->name);
    for (DType dtype : dtypes) {
      const Measured found = measured(*op, dtype);
      row += fmt::format(" {:>11.2g} ({:>6.2f})", found.difference, found.share);
      exceptions += found.share > 1;
    }
    std::printf("%s\n", row.c_str());
  }
  std::printf("exceptions: %d\n", exceptions);
  CHECK(exceptions <= most_exceptions);
}

}  // namespace relish::testing
