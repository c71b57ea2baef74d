// Which results may take the memory of an argument: elementwise updates, and nothing that reads an element
// behind its write or at another place.
#include "loops/write_over.h"

#include <catch2/catch.hpp>

#include "frontend/reader.h"

using namespace relish;

namespace {

// A prim_func of A and B to C (of (8, 8) each) with such a body, indented by four.
PrimFuncPtr function(const std::string& body, const std::string& shapes = "(8, 8)") {
  std::string text = "@T.prim_func\ndef f(";
  for (const char* name : {"A", "B", "C"})
    text +=
        std::string(name == std::string("A") ? "" : ", ") + name + ": T.Buffer(" + shapes + ", \"float32\")";
  return read_module("test.relish", text + "):\n" + body)->prim_func("f");
}

bool over(const std::string& body, std::size_t argument = 0) {
  return may_write_over(*function(body), {argument, 2});
}

const char* const update =
    "    for i, j in T.grid(8, 8):\n"
    "        with T.sblock(\"update\"):\n"
    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "            g: T.let[T.float32] = B[vi, vj] * T.float32(0.5)\n"
    "            C[vi, vj] = A[vi, vj] - g\n";

}  // namespace

TEST_CASE("an elementwise update may be written over what it reads", "[loops]") {
  CHECK(over(update, 0));
  CHECK(over(update, 1));
  CHECK(
      over("    for i in range(8):\n        for j in range(8):\n            C[i, j] = A[i, j] + A[i, j]\n"));
  CHECK(over("    for i in range(8):\n        for j in range(8):\n            C[j, i] = A[j, i]\n"));
  // What else is read may be anywhere.
  CHECK(over("    for i, j in T.grid(8, 8):\n        C[i, j] = A[i, j] + B[j, i]\n"));
}

TEST_CASE("what is read at another place, or behind the write, may not be", "[loops]") {
  CHECK_FALSE(over("    for i, j in T.grid(8, 8):\n        C[i, j] = A[i, j] + B[j, i]\n", 1));
  CHECK_FALSE(over("    for i, j in T.grid(8, 8):\n        C[i, j] = A[7 - i, j]\n"));
  CHECK_FALSE(over("    for i, j in T.grid(8, 7):\n        C[i, j] = A[i, j] + A[i, j + 1]\n"));
  CHECK_FALSE(over(
      "    for i, j in T.grid(8, 8):\n        C[i, j] = B[i, j]\n    for i, j in T.grid(8, 8):\n        B[i, j] = A[i, j]\n"));
  CHECK_FALSE(over("    for i, j in T.grid(8, 8):\n        C[i, j] = B[i, j]\n        B[i, j] = A[i, j]\n"));
}

TEST_CASE("an element that several iterations meet may not be", "[loops]") {
  CHECK_FALSE(over("    for i, j, k in T.grid(8, 8, 2):\n        C[i, j] = A[i, j] + T.float32(1.0)\n"));
  CHECK_FALSE(over("    for i, j in T.grid(8, 8):\n        C[i, 0] = A[i, 0]\n"));
  CHECK_FALSE(over("    for i, j in T.grid(8, 8):\n        C[i, j] = C[i, j] + A[i, j]\n"));
  CHECK_FALSE(over("    for i, j in T.grid(8, 8):\n        if i > j:\n            C[i, j] = A[i, j]\n"));
  // A loop that runs once moves nothing.
  CHECK(over("    for i, j, k in T.grid(8, 8, 1):\n        C[i, j] = A[i, j] + T.float32(1.0)\n"));
}

TEST_CASE("buffers of other makes, and one buffer, are no pair", "[loops]") {
  const PrimFuncPtr written = function(update);
  CHECK_FALSE(may_write_over(*written, {2, 2}));
  const PrimFuncPtr mixed =
      read_module("test.relish",
                  "@T.prim_func\n"
                  "def f(A: T.Buffer((8,), \"float64\"), C: T.Buffer((8,), \"float32\")):\n"
                  "    for i in range(8):\n"
                  "        C[i] = T.cast(A[i], \"float32\")\n")
          ->prim_func("f");
  CHECK_FALSE(may_write_over(*mixed, {0, 1}));
}

TEST_CASE("the joined function has the result's parameter in the argument's place", "[loops]") {
  const PrimFuncPtr joined = written_over(*function(update), {{0, 2}}, "g");
  REQUIRE(joined->params.size() == 2);
  CHECK(joined->name == "g");
  CHECK(joined->params[0].name() == "C");
  CHECK(joined->params[1].name() == "B");
  const std::vector<ParamAccess> accesses = param_accesses(*joined);
  CHECK(accesses[0].read);
  CHECK(accesses[0].written);
  CHECK(never_faults(*joined));
  CHECK_FALSE(never_faults(*function("    for i, j in T.grid(8, 9):\n        C[i, j] = A[i, j]\n")));
  CHECK_FALSE(never_faults(*function("    for i, j in T.grid(9, 8):\n        C[i, j] = A[0, 0]\n")));
}
