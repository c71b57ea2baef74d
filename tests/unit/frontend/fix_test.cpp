// Fixes: applying what the first diagnostic of a text proposes gives the text that was meant, which is
// accepted.
#include <catch2/catch.hpp>

#include "frontend/reader.h"
#include "support/fix.h"

namespace relish {
namespace {

// The text with the fixes of its first error applied.
std::string mended(const std::string& text) {
  Diagnostics diagnostics;
  read_source(Sources::instance().add("<wrong>", text), {}, diagnostics);
  diagnostics.sort();
  REQUIRE(diagnostics.has_errors());
  return apply_fixes(text, fixes_of(diagnostics.all().front()));
}

bool accepted(const std::string& text) {
  Diagnostics diagnostics;
  read_source(Sources::instance().add("<right>", text), {}, diagnostics);
  return !diagnostics.has_errors();
}

struct Slip {
  const char *wrong, *right;
};

// In the body of `def main(x: R.Tensor((2, 3), "float32"), y: …)`, which returns z.
const Slip graph_slips[] = {
    {"z = R.add(x y)", "z = R.add(x, y)"},
    {"z = R.add(x, , y)", "z = R.add(x,  y)"},
    {"z = R.add(x, y", "z = R.add(x, y)"},
    {"z = R.add(R.exp(x), R.exp(y)", "z = R.add(R.exp(x), R.exp(y))"},
    {"z = R.add(x, y]", "z = R.add(x, y)"},
    {"z = R.add(x, y))", "z = R.add(x, y)"},
    {"z = R.addd(x, y)", "z = R.add(x, y)"},
    {"z = R.relu(x)", "z = R.nn.relu(x)"},
    {"z = RR.add(x, y)", "z = R.add(x, y)"},
    {"z = R.add(x, yy)", "z = R.add(x, y)"},
    {"z = R.add(x, y, x)", "z = R.add(x, y)"},
    {"z = R.sum(x, axiss=0)", "z = R.sum(x, axis=0)"},
    {"z = R.cosnt(1.0)", "z = R.const(1.0)"},
    {"z = R.const(1.0, \"flaot32\")", "z = R.const(1.0, \"float32\")"},
    {"z = R.const(1.0, \"float32)", "z = R.const(1.0, \"float32\")"},
    {"z: R.Tensor((3, 2), \"float32\") = R.add(x, y)",
     "z: R.Tensor((2, 3), dtype=\"float32\") = R.add(x, y)"},
    {"with R.dataflow()\n        z = R.exp(x)\n        R.output(z)",
     "with R.dataflow():\n        z = R.exp(x)\n        R.output(z)"},
    {"wiht R.dataflow():\n        z = R.exp(x)\n        R.output(z)",
     "with R.dataflow():\n        z = R.exp(x)\n        R.output(z)"},
    {"with R.dataflo():\n        z = R.exp(x)\n        R.output(z)",
     "with R.dataflow():\n        z = R.exp(x)\n        R.output(z)"},
    {"with R.dataflow():\n        a = R.exp(x)\n        R.output()\n    z = a",
     "with R.dataflow():\n        a = R.exp(x)\n        R.output(a)\n    z = a"},
    {"with R.dataflow():\n        a = R.exp(x)\n        b = R.exp(x)\n        R.output(b)\n    z = a",
     "with R.dataflow():\n        a = R.exp(x)\n        b = R.exp(x)\n        R.output(b, a)\n    z = a"},
    {"z = R.exp(x)\n      a = z", "z = R.exp(x)\n    a = z"},
    {"z = R.exp(x)\n  a = z", "z = R.exp(x)\n    a = z"},
};

// In the body of `def f(A: T.Buffer((2, 3), "float32"), B: T.Buffer((2,), "int32"))`.
const Slip loop_slips[] = {
    {"for i in T.gird(2):\n        A[i, 0] = T.float32(0)",
     "for i in T.grid(2):\n        A[i, 0] = T.float32(0)"},
    {"for i of range(2):\n        A[i, 0] = T.float32(0)",
     "for i in range(2):\n        A[i, 0] = T.float32(0)"},
    {"fro i in range(2):\n        A[i, 0] = T.float32(0)",
     "for i in range(2):\n        A[i, 0] = T.float32(0)"},
    {"with T.sblok(\"B\"):\n        A[0, 0] = T.float32(0)",
     "with T.sblock(\"B\"):\n        A[0, 0] = T.float32(0)"},
    {"with T.sblock(\"B\"):\n        v = T.axis.spatail(2, 0)\n        A[v, 0] = T.float32(0)",
     "with T.sblock(\"B\"):\n        v = T.axis.spatial(2, 0)\n        A[v, 0] = T.float32(0)"},
    {"A[0, 0] = T.epx(A[0, 1])", "A[0, 0] = T.exp(A[0, 1])"},
    {"A[0, 0] = T.exp(A[0, 1], A[0, 2])", "A[0, 0] = T.exp(A[0, 1])"},
    {"A[0, 0, 0] = A[0, 1]", "A[0, 0] = A[0, 1]"},
    {"B[A[0, 0]] = 1", "B[T.Cast(\"int32\", A[0, 0])] = 1"},
    {"A[0, 0] = AA[0, 1]", "A[0, 0] = A[0, 1]"},
    {"C = T.alocc_buffer((2,), \"int32\")\n    C[0] = 1",
     "C = T.alloc_buffer((2,), \"int32\")\n    C[0] = 1"},
    {"A[0, 0] = T.float32(0)\n    return", "A[0, 0] = T.float32(0)\n    "},
};

const Slip whole_slips[] = {
    {"@R.functoin\ndef main(x: R.Tensor((2,), \"float32\")):\n    return x\n",
     "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    return x\n"},
    {"@R.function\ndfe main(x: R.Tensor((2,), \"float32\")):\n    return x\n",
     "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    return x\n"},
    {"@R.function\ndef main(x: R.Tensor((2,), \"float32\")) -> R.Tensor((3,), \"float32\"):\n    return x\n",
     "@R.function\ndef main(x: R.Tensor((2,), \"float32\")) -> R.Tensor((2,), dtype=\"float32\"):\n    "
     "return x\n"},
    {"@T.prim_func\ndef f(A: T.Bufer((2,), \"float32\")):\n    A[0] = T.float32(1)\n",
     "@T.prim_func\ndef f(A: T.Buffer((2,), \"float32\")):\n    A[0] = T.float32(1)\n"},
};

void check(const std::string& wrong, const std::string& right) {
  INFO(wrong);
  CHECK(accepted(right));
  CHECK(mended(wrong) == right);
}

}  // namespace

TEST_CASE("slips in Relax functions are mended by their fixes") {
  const std::string head =
      "@R.function\ndef main(x: R.Tensor((2, 3), \"float32\"), y: R.Tensor((2, 3), \"float32\")):\n    ";
  for (const Slip& slip : graph_slips) {
    const std::string end = "\n    return z\n";
    check(head + slip.wrong + end, head + slip.right + end);
  }
}

TEST_CASE("slips in prim_funcs are mended by their fixes") {
  const std::string head =
      "@T.prim_func\ndef f(A: T.Buffer((2, 3), \"float32\"), B: T.Buffer((2,), \"int32\")):\n    ";
  for (const Slip& slip : loop_slips) check(head + slip.wrong + "\n", head + slip.right + "\n");
}

TEST_CASE("slips in headers are mended by their fixes") {
  for (const Slip& slip : whole_slips) check(slip.wrong, slip.right);
}

TEST_CASE("what is not near a known name has no fix") {
  Diagnostics diagnostics;
  read_source(Sources::instance().add("<wrong>",
                                      "@R.function\ndef main(x: R.Tensor((2,))):\n    return quite_other\n"),
              {}, diagnostics);
  REQUIRE(diagnostics.has_errors());
  CHECK(fixes_of(diagnostics.all().front()).empty());
}

}  // namespace relish
