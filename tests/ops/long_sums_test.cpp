// Sums of very many terms: the compiled ones must stay within their class however the terms lie in memory,
// over one axis or several, with sizes known or not. Equal terms are the worst case, as their roundings
// agree.
#include <catch2/catch.hpp>

#include "tests/ops/agreement.h"

namespace relish::testing {
namespace {

struct LongSum {
  std::string_view arguments;
  std::set<std::int64_t> symbolic = {};
};

}  // namespace

TEST_CASE("compiled sums of many equal terms stay within their class", "[ops]") {
  const LongSum sums[] = {
      {"ones((33, 33, 33)) * 0.9"},
      {"ones((33, 33, 33)) * 0.7", {33}},
      {"ones((1000, 100, 10)) * 0.1"},
      {"ones((1000, 100, 10)) * 0.7", {1000, 100, 10}},
      {"ones((3, 400, 500)) * 0.9, axis=[1, 2]"},
      {"ones((100000, 8)) * 0.9, axis=[0]"},
      {"ones((300, 400, 8)) * 0.1, axis=[0, 1]"},
      {"ones((1000000,)) * 0.1"},
      {"ones((1000000,)) * 0.7", {1000000}},
  };
  for (const Op* op : operators_under_test()) {
    if (op->name != "sum") continue;
    for (const LongSum& sum : sums) {
      const OperatorCase operator_case = case_of_sample(*op, sum.arguments, std::string(sum.arguments));
      INFO(operator_case.label << (sum.symbolic.empty() ? "" : ", symbolic"));
      const BuiltCall call = build_call(operator_case, sum.symbolic);
      const Value wanted = interpreter().call(call.module, "main", call.values);
      const Value compiled = jit(1).call(call.module, "main", call.values);
      CHECK(disagreement_by_class(operator_case, compiled, wanted) == "");
      CHECK(disagreement_by_class(operator_case, jit(2).call(call.module, "main", call.values), compiled) ==
            "");
    }
  }
}

}  // namespace relish::testing
