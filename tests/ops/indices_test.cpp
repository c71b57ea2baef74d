// Indices that are data: one out of range is the same RuntimeError in both tiers, for every operator that
// takes them, and slopes where updates meet in one place.
#include <catch2/catch.hpp>

#include "ir/operators/op.h"
#include "tests/ops/gradient_case.h"
#include "tests/ops/operator_case.h"

namespace relish::testing {
namespace {

std::string outcome(Evaluator& engine, const BuiltCall& call) {
  try {
    engine.call(call.module, "main", call.values);
    return "success";
  } catch (const Failure& failure) {
    const Diagnostic& first = failure.diagnostics().front();
    return fmt::format("{}: {}", name_of(first.error_class), first.message);
  }
}

struct Wrong {
  std::string_view op, args, message;
};

std::vector<double> partial_of(std::string_view op, std::string_view args, std::string_view cotangent,
                               std::size_t which) {
  const OperatorCase sample = case_of_sample(*find_op(op), args, std::string(op));
  const OperatorCase wide = *with_dtype(sample, DType::Float64);
  const GradientCase gradient = gradient_case(wide, {tensor_of_text(cotangent, DType::Float64)});
  const std::vector<Tensor> interpreted = gradient.partials(interpreter(), gradient.inputs);
  const std::vector<Tensor> compiled = gradient.partials(jit(2), gradient.inputs);
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < interpreted.at(which).size(); ++i) {
    numbers.push_back(interpreted[which].get_double(i));
    CHECK(compiled.at(which).get_double(i) == numbers.back());
  }
  return numbers;
}

using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("an index out of range is a RuntimeError in both tiers", "[ops]") {
  operators_under_test();  // starts the language
  const Wrong wrong[] = {
      {"take", "rand((3, 2), \"float32\"), R.const([0, 3], \"int64\"), axis=0",
       "take: index 3 at [1] of indices is out of range for axis 0 of x, which has length 3"},
      {"take", "rand((3, 2), \"float32\"), R.const([-3], \"int32\"), axis=1",
       "take: index -3 at [0] of indices is out of range for axis 1 of x, which has length 2"},
      {"take", "rand((0,), \"float32\"), R.const([0], \"int32\"), mode=\"clip\"",
       "assertion failed: take: axis 0 of x has length 0, so mode \"clip\" finds no position"},
      {"take", "rand((0,), \"float32\"), R.const([0], \"int32\"), mode=\"wrap\"",
       "assertion failed: take: axis 0 of x has length 0, so mode \"wrap\" finds no position"},
      {"take", "rand((3,), \"float32\"), 3, axis=0",
       "take: index 3 is out of range for axis 0 of x, which has length 3"},
      {"grad.take_backward", "rand((1,), \"float32\"), rand((3,), \"float32\"), R.const([3], \"int64\")",
       "grad.take_backward: index 3 at [0] of indices is out of range for axis 0 of x, which has length 3"},
      {"gather_elements", "rand((3, 2), \"float32\"), R.const([[0, -4]], \"int64\")",
       "gather_elements: index -4 at [0, 1] of indices is out of range for axis 0 of data, which has length "
       "3"},
      {"scatter_elements", "rand((3,), \"float32\"), R.const([3], \"int64\"), rand((1,), \"float32\")",
       "scatter_elements: index 3 at [0] of indices is out of range for axis 0 of data, which has length 3"},
      {"scatter_elements",
       "rand((3,), \"float32\"), R.const([-4], \"int64\"), rand((1,), \"float32\"), reduction=\"add\"",
       "scatter_elements: index -4 at [0] of indices is out of range for axis 0 of data, which has length 3"},
      {"gather_nd", "rand((3, 2), \"float32\"), R.const([[2, 2]], \"int64\")",
       "gather_nd: index 2 at [0, 1] of indices is out of range for axis 1 of data, which has length 2"},
      {"gather_nd", "rand((3, 0), \"float32\"), R.const([[3]], \"int64\")",
       "gather_nd: index 3 at [0, 0] of indices is out of range for axis 0 of data, which has length 3"},
      {"scatter_nd", "rand((3, 2), \"float32\"), R.const([[-4]], \"int64\"), rand((1, 2), \"float32\")",
       "scatter_nd: index -4 at [0, 0] of indices is out of range for axis 0 of data, which has length 3"},
      {"index_tensor", "rand((3, 2), \"float32\"), (R.const([0, 1], \"int64\"), R.const([[2]], \"int64\"))",
       "index_tensor: index 2 at [0, 0] of indices[1] is out of range for axis 1 of data, which has length "
       "2"},
      {"index_put", "rand((3,), \"float32\"), (R.const([3], \"int64\"),), rand((1,), \"float32\")",
       "index_put: index 3 at [0] of indices[0] is out of range for axis 0 of data, which has length 3"},
  };
  for (const Wrong& each : wrong) {
    INFO(each.op << "(" << each.args << ")");
    const BuiltCall call = build_call(case_of_sample(*find_op(each.op), each.args, std::string(each.op)));
    const std::string wanted = fmt::format("RuntimeError: {}", each.message);
    CHECK(outcome(interpreter(), call) == wanted);
    CHECK(outcome(jit(1), call) == wanted);
    CHECK(outcome(jit(2), call) == wanted);
  }
  const BuiltCall lengths = build_call(case_of_sample(
      *find_op("reverse_sequence"), "rand((2, 3), \"float32\"), R.const([1, 4], \"int64\")", "lengths"));
  CHECK(outcome(interpreter(), lengths) ==
        "RuntimeError: reverse_sequence: length 4 at [1] of seq_lengths is out of range for axis 1 of data, "
        "which has length 3");
  CHECK(outcome(jit(1), lengths) == outcome(interpreter(), lengths));
}

TEST_CASE("gradients where several updates meet in one place", "[ops]") {
  operators_under_test();  // starts the language
  // The last update stays, the others and what was there get nothing.
  const std::string_view twice = "[1.0, 2.0, 3.0], R.const([1, 1, 0], \"int64\"), [5.0, 6.0, 7.0]";
  CHECK(partial_of("scatter_elements", twice, "[10.0, 20.0, 30.0]", 0) == Numbers{0, 0, 30});
  CHECK(partial_of("scatter_elements", twice, "[10.0, 20.0, 30.0]", 1) == Numbers{0, 20, 10});
  // Equal ones share evenly.
  const std::string_view ties =
      "[5.0, 2.0, 3.0], R.const([0, 0, 1], \"int64\"), [5.0, 5.0, 1.0], reduction=\"max\"";
  CHECK(partial_of("scatter_elements", ties, "[12.0, 20.0, 30.0]", 0) == Numbers{4, 20, 30});
  CHECK(partial_of("scatter_elements", ties, "[12.0, 20.0, 30.0]", 1) == Numbers{4, 4, 0});
  // One zero among the factors has the product of the others as its slope, two have none.
  const std::string_view zero =
      "[2.0, 3.0], R.const([0, 0, 1, 1], \"int64\"), [0.0, 5.0, 0.0, 0.0], reduction=\"mul\"";
  CHECK(partial_of("scatter_elements", zero, "[1.0, 1.0]", 0) == Numbers{0, 0});
  CHECK(partial_of("scatter_elements", zero, "[1.0, 1.0]", 1) == Numbers{10, 0, 0, 0});
  // Sorting and topk follow the chosen index: of equal elements the first.
  CHECK(partial_of("sort", "[2.0, 1.0, 2.0]", "[1.0, 2.0, 3.0]", 0) == Numbers{2, 1, 3});
  CHECK(partial_of("sort", "[2.0, 1.0, 2.0], descending=True", "[1.0, 2.0, 3.0]", 0) == Numbers{1, 3, 2});
  CHECK(partial_of("topk", "[2.0, 1.0, 2.0], k=1", "[5.0]", 0) == Numbers{5, 0, 0});
}

}  // namespace relish::testing
