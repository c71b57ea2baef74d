// Which loops are shown to have iterations that depend on each other, and in which words.
#include "loops/dependence.h"
#include "tests/unit/loops/helpers.h"

using namespace relish;
using namespace relish::test;

TEST_CASE("dependences: what is told of a loop") {
  const auto [body, told] = GENERATE(table<const char*, const char*>({
      {"B[i, 0] = A[i, 0]", ""},
      {"B[i, 0] = B[i, 1]", ""},
      {"C[0] = A[i, 0]", "each stores to C[T.int32(0)]"},
      {"C[0] = A[0, 0]", ""},  // all the same value
      {"B[i + 1, 0] = B[i, 0]", "one stores B[i + 1, T.int32(0)], which another loads"},
      {"B[i, 0] = B[i - 1, 0]", "one stores B[i, T.int32(0)], which another loads"},
      {"B[i, 0] = B[3, 0]", ""},       // n may be 3
      {"B[i, 0] = B[n, 0]", ""},       // out of range, or of another iteration: not known
      {"B[i // 2, 0] = A[i, 0]", ""},  // not affine: not known
  }));
  const PrimFuncPtr function =
      prim_func(std::string("        for i in range(n):\n            ") + body + "\n");
  CHECK(iteration_dependence(*function->body.as<For>()).value_or("") == told);
}
