// What profiles count: operations on numbers, not on indices, and bytes of buffers, for the sizes of a run.
#include "loops/operations.h"

#include "tests/unit/loops/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// For n = 5.
const SizeOf five = [](const ScalarVar& var) -> std::optional<std::int64_t> {
  return var.name() == "n" ? std::optional<std::int64_t>(5) : std::nullopt;
};

std::optional<double> operations(const std::string& body) { return operations_of(*prim_func(body), five); }

}  // namespace

TEST_CASE("operations: sums, products and elementary functions, over every iteration") {
  CHECK(operations("        for i, j in T.grid(n, 8): B[i, j] = A[i, j] * A[i, j] + T.exp(A[i, j])\n") ==
        120);
  CHECK(operations("        for i, j in T.grid(n, 8): B[i, j] = A[i, j]\n") == 0);
}

TEST_CASE("operations: indices and choices count nothing") {
  CHECK(operations("        for i in range(4): C[i + 1] = A[0, i + 3] + A[0, 2 * i]\n") == 4);
  CHECK(
      operations(
          "        for i in range(8): C[i] = T.if_then_else(i + 1 > 3, A[0, i] + T.float32(1), T.float32(0))\n") ==
      8);
}

TEST_CASE("operations: unknown where iterations depend on data or on other loops") {
  CHECK_FALSE(
      operations("        for i in range(8):\n            for j in range(i): C[j] = C[j] + A[0, i]\n"));
  CHECK_FALSE(operations_of(*prim_func("        for i, j in T.grid(n, 8): B[i, j] = A[i, j] + B[i, j]\n"),
                            [](const ScalarVar&) { return std::optional<std::int64_t>(); }));
}

TEST_CASE("bytes: every buffer once") {
  CHECK(bytes_of(*prim_func("        for i in range(8): C[i] = A[0, i]\n"), five) == 4 * (5 * 8 * 2 + 8));
}
