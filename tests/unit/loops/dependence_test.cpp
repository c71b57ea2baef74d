// Which loops are shown to have iterations that depend on each other, and in which words.
#include "loops/dependence.h"
#include "tests/unit/loops/helpers.h"

using namespace relish;
using namespace relish::test;

TEST_CASE("dependences: what is told of a loop") {
  const auto [body, told] = GENERATE(table<const char*, const char*>({
      {"B[i, 0] = A[i, 0]", ""},
      {"B[i, 0] = B[i, 1]", ""},
      {"C[0] = A[i, 0]", "each stores to C[0]"},
      {"C[0] = A[0, 0]", ""},  // all the same value
      {"B[i + 1, 0] = B[i, 0]", "one stores B[i + 1, 0], which another loads"},
      {"B[i, 0] = B[i - 1, 0]", "one stores B[i, 0], which another loads"},
      {"B[i, 0] = B[3, 0]", ""},       // n may be 3
      {"B[i, 0] = B[n, 0]", ""},       // out of range, or of another iteration: not known
      {"B[i // 2, 0] = A[i, 0]", ""},  // not affine: not known
  }));
  const PrimFuncPtr function =
      prim_func(std::string("        for i in range(n):\n            ") + body + "\n");
  CHECK(iteration_dependence(*function->body.as<For>()).value_or("") == told);
}

TEST_CASE("dependences: places that are no polynomials are counted out") {
  const auto [loop, body, told] = GENERATE(table<const char*, const char*, const char*>({
      {"range(8)", "C[i // 4] = A[i, 0]", "two store to C[i // 4]"},
      {"range(8)", "C[i % 4] = A[i, 0]", "two store to C[i % 4]"},
      {"range(4)", "C[i % 4] = A[i, 0]", ""},
      {"range(2, 6)", "C[i % 4] = A[i, 0]", ""},
      {"range(1, 4)", "C[i * 3 // 4] = A[i, 0]", ""},
      {"range(2, 7)", "C[i % 4] = A[i, 0]", "two store to C[i % 4]"},
      {"range(8)", "C[i // 4] = A[i // 4, 0]", ""},  // the same value
      {"range(8)", "C[i // 4] = C[i // 4] + A[i, 0]", "one stores C[i // 4], which another loads"},
      {"range(8)", "B[i // 4, i % 4] = A[i, 0]", ""},
      {"range(8)", "B[i // 4, i % 2] = A[i, 0]", "two store to B[i // 4, i % 2]"},
      {"range(8)", "C[i] = C[(i + 1) % 8]", "one stores C[i], which another loads"},
      {"range(8)", "C[i] = C[i * 2 // 2]", ""},
      {"range(n)", "C[i // 4] = A[i, 0]", ""},  // n may be 1
      {"range(8)", "if A[i, 0] > A[0, 0]: C[i // 4] = A[i, 0]", ""},
  }));
  const PrimFuncPtr function =
      prim_func(std::string("        for i in ") + loop + ":\n            " + body + "\n");
  CHECK(iteration_dependence(*function->body.as<For>()).value_or("") == told);
}
