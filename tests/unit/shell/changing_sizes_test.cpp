// Operators of statements on tensors whose sizes change: compiled once for all sizes, with the results,
// shapes and refusals of each size by itself.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <ctime>

#include "tests/unit/shell/script_harness.h"

namespace relish::testing {
namespace {

Settings compiled() {
  Settings settings;
  settings.tier = "jit";
  return settings;
}

// What a text prints in each tier.
void check_alike(const std::string& text, const std::string& error_class = "") {
  INFO(text);
  const Ran expected = Harness().run(text), found = Harness(compiled()).run(text);
  INFO(expected.error);
  CHECK(expected.error_class == error_class);
  CHECK(found.output == expected.output);
  CHECK(found.error == expected.error);
  CHECK(found.error_class == expected.error_class);
  CHECK(found.line == expected.line);
  CHECK(found.exit_code == expected.exit_code);
}

// Whole numbers, so that no order of adding them makes a difference.
std::string over_sizes(std::string_view body, int from, int to) {
  return fmt::format("for i in range({}, {}):\n    x = R.round(rand((i, 3), seed=1) * 8.0)\n    {}\n", from,
                     to, body);
}

TEST_CASE("statements on changing sizes give what each size by itself gives") {
  // 0 and 1 among the sizes, sizes that are equal by chance, attributes that name sizes.
  for (const char* body :
       {"print(x + x, x * 2.0)", "print(R.sum(x, axis=[0]), R.max(x))",
        "print(R.matmul(R.permute_dims(x), x))", "print(R.concat([x, x], axis=0).shape)",
        "print(R.split(x, [1], axis=1)[1])", "print(R.split(R.concat([x, x], axis=0), 2, axis=0)[1])",
        "print(R.reshape(x, (3, i)), R.reshape(x, (-1,)).shape)",
        "print(R.strided_slice(x, axes=[0], begin=[0], end=[2]))",
        "print(R.take(x, tensor([0, 0], dtype=\"int64\"), axis=0))",
        "print(R.nn.max_pool2d(R.reshape(x, (1, 1, i, 3)), pool_size=[1, 3]))",
        "print(R.topk(x, k=2, axis=0) if i > 1 else 0)"})
    check_alike(over_sizes(body, 1, 9));
}

TEST_CASE("a statement whose sizes do not fit is refused as before, however many fitted") {
  check_alike(over_sizes("print(x + x)", 2, 9) + "print(R.add(zeros((4, 3)), zeros((5, 3))))\n", "TypeError");
  check_alike(over_sizes("print(R.matmul(x, R.permute_dims(x)))", 2, 9) +
                  "print(R.matmul(zeros((4, 3)), zeros((2, 4))))\n",
              "TypeError");
  check_alike(over_sizes("print(R.take(x, tensor([i - 1], dtype=\"int64\"), axis=0))", 2, 9) +
                  "print(R.take(zeros((5, 3)), tensor([5], dtype=\"int64\"), axis=0))\n",
              "RuntimeError");
}

TEST_CASE("a statement on changing sizes is compiled a bounded number of times") {
  Harness harness(compiled());
  const auto time_of = [&](int from, int to) {
    const std::clock_t begin = std::clock();
    const Ran ran =
        harness.run(over_sizes("y = R.nn.softmax(R.matmul(x, R.permute_dims(x)), axis=-1) + 1.0", from, to));
    CHECK(ran.error.empty());
    return static_cast<double>(std::clock() - begin);
  };
  const double some = time_of(2, 12), many = time_of(12, 112);
  // Ten times as many sizes; each compiled by itself would take ten times as long.
  CHECK(many < 4 * some);
}

}  // namespace
}  // namespace relish::testing
