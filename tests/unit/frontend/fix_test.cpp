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
    {"with R.dataflow():\n        a = R.exp(x)\n        b = R.exp(x)\n    z = a",
     "with R.dataflow():\n        a = R.exp(x)\n        b = R.exp(x)\n        R.output(a)\n    z = a"},
    {"z = R.exp(x)\n      a = z", "z = R.exp(x)\n    a = z"},
    {"z = R.exp(x)\n  a = z", "z = R.exp(x)\n    a = z"},
    {"z = R.add(x? y)", "z = R.add(x, y)"},
    {"z = R.add(x\u201C y)", "z = R.add(x, y)"},
    {"z = R.const(1.0, \u201Cfloat32\u201D)", "z = R.const(1.0, \"float32\")"},
    {"z = R.exp(x)$", "z = R.exp(x)"},
    {"z = R.const(08)", "z = R.const(8)"},
    {"if R.const(1, \"int64\"):\n        z = x\n    else:\n        z = y",
     "if R.not_equal(R.const(1, \"int64\"), R.const(0, \"int64\")):\n        z = x\n    else:\n        z = "
     "y"},
    {"z = x\n    for i in range(3):\n        if i - 1:\n            z = R.exp(z)",
     "z = x\n    for i in range(3):\n        if i - 1 != 0:\n            z = R.exp(z)"},
    {"z = x\n    for i in T.serial(3):\n        z = R.exp(z)",
     "z = x\n    for i in range(3):\n        z = R.exp(z)"},
    {"z = x\n    for i in [2, 4, 6]:\n        z = R.exp(z)",
     "z = x\n    for i in range(2, 8, 2):\n        z = R.exp(z)"},
    {"z = x\n    for i in range(0, 3, 0):\n        z = R.exp(z)",
     "z = x\n    for i in range(0, 3, 1):\n        z = R.exp(z)"},
    {"z = x\n    for i in range(3.0):\n        z = R.exp(z)",
     "z = x\n    for i in range(3):\n        z = R.exp(z)"},
    {"z = x\n    for i in range(3):\n    z = R.exp(z)",
     "z = x\n    for i in range(3):\n        z = R.exp(z)"},
    {"z = x\n    for i in range(3):\n        # later", "z = x\n    for i in range(3): pass\n        # later"},
    {"with R.dataflow():\n        z = x\n        for i in range(3):\n            z = R.exp(z)\n        "
     "R.output(z)",
     "\n    z = x\n    for i in range(3):\n        z = R.exp(z)\n    "},
    {"z = R.exp(x)\n    R.output(z)", "z = R.exp(x)\n    "},
    {"a = z = R.exp(x)", "z = R.exp(x)\n    a = z"},
    {"p = (x, y)\n    p[1] = x\n    z = p[1]", "p = (x, y)\n    p = (p[0], x)\n    z = p[1]"},
    {"p = (x,)\n    p[0] = y\n    z = p[0]", "p = (x,)\n    p = (y,)\n    z = p[0]"},
    {"p = (x, y)\n    q = R.builtin.stop_lift_params(x)\n    t = R.tuple(x)\n    z = t[1]",
     "p = (x, y)\n    q = R.builtin.stop_lift_params(x)\n    t = R.tuple(x)\n    z = t[0]"},
    {"3 = R.exp(x)\n    z = R.exp(a)", "a = R.exp(x)\n    z = R.exp(a)"},
    {"3 = R.exp(x)\n    z = x", "_ = R.exp(x)\n    z = x"},
    {"z = R.match_cast(x, 3)", "z = R.match_cast(x, R.Tensor((2, 3), dtype=\"float32\"))"},
    {"z = R.match_cast(x, R.Tensor((2, 3, 1), \"float32\"))",
     "z = R.match_cast(x, R.Tensor((2, 3), dtype=\"float32\"))"},
    {"z = R.const([[1], 2, 3], \"int32\")", "z = R.const([1, 2, 3], \"int32\")"},
    {"z = R.const(300, \"int8\")", "z = R.const(300, \"int16\")"},
    {"z = R.const([1, 40000], \"uint8\")", "z = R.const([1, 40000], \"uint16\")"},
    {"z = R.const([1.5], \"int8\")", "z = R.const([1.5], \"float32\")"},
    {"z = R.zeros_like(x, dtype=\"flot32\")", "z = R.zeros_like(x, dtype=\"float32\")"},
    {"z = R.nn.log_softmax(x, y, axis=0)", "z = R.nn.log_softmax(x, axis=0)"},
    {"z = x\n    import os", "z = x\n    "},
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
    {"for i, j in T.grid(2, 3):\n        A[i, j] = A",
     "for i, j in T.grid(2, 3):\n        A[i, j] = A[i, j]"},
    {"for i, j in T.grid(2, 3):\n        A[j] = 0.0", "for i, j in T.grid(2, 3):\n        A[i, j] = 0.0"},
    {"for i, j in T.grid(2, 3):\n        A[i] = 0.0", "for i, j in T.grid(2, 3):\n        A[i, j] = 0.0"},
    {"for i, j, k in T.grid(2, 3, 4):\n        A[i] = A[i, k] + 1.0",
     "for i, j, k in T.grid(2, 3, 4):\n        A[i, k] = A[i, k] + 1.0"},
    {"for i, j in T.grid(2, 3, 4):\n        A[i, j] = 0.0",
     "for i, j in T.grid(2, 3):\n        A[i, j] = 0.0"},
    {"for i in [0, 1]:\n        B[i] = 1", "for i in range(2):\n        B[i] = 1"},
    {"for i in range(0, 2, 0):\n        B[i] = 1", "for i in range(0, 2, 1):\n        B[i] = 1"},
    {"for i in range(2.0):\n        B[i] = 1", "for i in range(2):\n        B[i] = 1"},
    {"B[T.float32(1.0)] = 1", "B[1] = 1"},
    {"for i in T.thread_binding(2):\n        B[i] = 1",
     "for i in T.thread_binding(2, thread=\"blockIdx.x\"):\n        B[i] = 1"},
    {"for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n        for i in T.thread_binding(2):\n"
     "            B[i] = b",
     "for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n"
     "        for i in T.thread_binding(2, thread=\"threadIdx.x\"):\n            B[i] = b"},
    {"assert B[0], \"no\"\n    B[0] = 0", "assert B[0] != 0, \"no\"\n    B[0] = 0"},
    {"T.where(B[0] > 1)\n    B[0] = 0\n    for i in range(2):\n        B[i] = 1",
     "if B[0] > 1:\n        B[0] = 0\n        for i in range(2):\n            B[i] = 1"},
    {"B[0] = 0\n    T.where(B[0] > 1)", "B[0] = 0\n    "},
    {"with T.init():\n        B[0] = 0\n        B[1] = 0\n    B[1] = 1",
     "\n    B[0] = 0\n    B[1] = 0\n    B[1] = 1"},
    {"for i in range(2):\n        v = T.axis.spatial(2, i)\n        B[v] = 1",
     "for i in range(2):\n        with T.sblock(\"block\"):\n            v = T.axis.spatial(2, i)\n          "
     "  B[v] = 1"},
    {"for i in range(2):\n        with T.sblock(\"B\"):\n            v = T.axis.remap(\"s\", [i])\n          "
     "  B[v] = 1",
     "for i in range(2):\n        with T.sblock(\"B\"):\n            v = T.axis.remap(\"S\", [i])\n          "
     "  B[v] = 1"},
    {"for i in range(2):\n        with T.sblock(\"B\"):\n            v = T.axis.remap(\"X\", [i])\n          "
     "  B[0] = v",
     "for i in range(2):\n        with T.sblock(\"B\"):\n            v = T.axis.remap(\"R\", [i])\n          "
     "  B[0] = v"},
    {"a: T.let[T.int32] = 1\n    a = 2", "a: T.int32 = 1\n    a = 2"},
    {"a: T.let[T.int32]\n    B[0] = a", "a: T.let[T.int32] = 0\n    B[0] = a"},
    {"a: T.let[T.bool]\n    B[0] = T.Cast(\"int32\", a)",
     "a: T.let[T.bool] = False\n    B[0] = T.Cast(\"int32\", a)"},
    {"a = b = 1\n    B[0] = a", "b = 1\n    a = b\n    B[0] = a"},
    {"3 = T.alloc_buffer((2,), \"int32\")\n    C[0] = 1",
     "C = T.alloc_buffer((2,), \"int32\")\n    C[0] = 1"},
    {"C = T.decl_bufer((2,), \"int32\", data=B.data)\n    C[0] = 1",
     "C = T.decl_buffer((2,), \"int32\", data=B.data)\n    C[0] = 1"},
    {"assert B[0] > 0, 3", "assert B[0] > 0, \"3\""},
    {"B[0] = 1\n    T.tvm_storage_sync(\"shared\")", "B[0] = 1\n    "},
};

const Slip whole_slips[] = {
    {"@R.functoin\ndef main(x: R.Tensor((2,), \"float32\")):\n    return x\n",
     "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    return x\n"},
    {"@R.function\ndfe main(x: R.Tensor((2,), \"float32\")):\n    return x\n",
     "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    return x\n"},
    {"@R.function\ndef main(x: R.Tensor((2,), \"float32\")) -> R.Tensor((3,), \"float32\"):\n    return x\n",
     "@R.function\ndef main(x: R.Tensor((2,), \"float32\")) -> R.Tensor((2,), dtype=\"float32\"):\n    "
     "return x\n"},
    {"@R.function\ndef main(x: R.Tensor((2,), \"float32\"), x: R.Tensor((2,), \"float32\")):\n    return x\n",
     "@R.function\ndef main(x: R.Tensor((2,), \"float32\"), x_1: R.Tensor((2,), \"float32\")):\n    return "
     "x\n"},
    {"@R.function\ndef main(x: R.Tensor((2,), \"float32\"), x: R.Tensor((2,), \"float32\")):\n    return (x, "
     "y)\n",
     "@R.function\ndef main(x: R.Tensor((2,), \"float32\"), y: R.Tensor((2,), \"float32\")):\n    return (x, "
     "y)\n"},
    {"@T.prim_func\ndef f(a: T.int32, a: T.int32) -> T.int32:\n    return a + b\n",
     "@T.prim_func\ndef f(a: T.int32, b: T.int32) -> T.int32:\n    return a + b\n"},
    {"@R.function\ndef main(x):\n    return R.exp(x)\n",
     "@R.function\ndef main(x: R.Tensor):\n    return R.exp(x)\n"},
    {"@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    y = R.exp(x)\n",
     "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    y = R.exp(x)\n    return y\n"},
    {"@R.function\ndef main(x: R.Tensor((2,), \"float32\")) -> R.Tensor((2,), \"float32\"):\n    y = "
     "R.exp(x)\n"
     "    with R.dataflow():\n        n = R.sum(y)\n        R.output(n)\n",
     "@R.function\ndef main(x: R.Tensor((2,), \"float32\")) -> R.Tensor((2,), \"float32\"):\n    y = "
     "R.exp(x)\n"
     "    with R.dataflow():\n        n = R.sum(y)\n        R.output(n)\n    return y\n"},
    {"@R.function\ndef main(x: R.Tensor((2,), \"float32\")) -> R.Tuple(R.Tensor((2,), \"float32\"), "
     "R.Tensor((), \"float32\")):\n    y = R.exp(x)\n    n = R.sum(y)\n",
     "@R.function\ndef main(x: R.Tensor((2,), \"float32\")) -> R.Tuple(R.Tensor((2,), \"float32\"), "
     "R.Tensor((), \"float32\")):\n    y = R.exp(x)\n    n = R.sum(y)\n    return (y, n)\n"},
    {"class M:\n    @R.function\n    def main(x: R.Tensor((2,))):\n        return x\n",
     "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((2,))):\n        return x\n"},
    {"import numpy as np\n@R.function\ndef main(x: R.Tensor((2,))):\n    return x\n",
     "\n@R.function\ndef main(x: R.Tensor((2,))):\n    return x\n"},
    {"@R.function\ndef main(x: R.Tensor((2,))):\n    assert True, \"never\"\n    return x\n",
     "@R.function(pure=False)\ndef main(x: R.Tensor((2,))):\n    R.assert_op(R.const(True, \"bool\"), "
     "format=\"never\")\n    return x\n"},
    {"@R.function(private=True)\ndef main(x: R.Tensor((2,))):\n    R.print(x, format=\"{}\")\n    return x\n",
     "@R.function(private=True, pure=False)\ndef main(x: R.Tensor((2,))):\n    R.print(x, format=\"{}\")\n   "
     " return x\n"},
    {"@R.function(pure=True)\ndef main(x: R.Tensor((2,))):\n    R.print(x, format=\"{}\")\n    return x\n",
     "@R.function(pure=False)\ndef main(x: R.Tensor((2,))):\n    R.print(x, format=\"{}\")\n    return x\n"},
    {"@I.ir_module\nclass M:\n    lib = R.ExternFunc(3)\n    @R.function\n    def f(x: R.Tensor((2,))):\n    "
     "    return x\n",
     "@I.ir_module\nclass M:\n    lib = R.ExternFunc(\"lib\")\n    @R.function\n    def f(x: "
     "R.Tensor((2,))):\n        return x\n"},
    {"@I.ir_module\nclass M:\n    lib = R.ExternFunc(native)\n    @R.function\n    def f(x: "
     "R.Tensor((2,))):\n        return x\n",
     "@I.ir_module\nclass M:\n    lib = R.ExternFunc(\"native\")\n    @R.function\n    def f(x: "
     "R.Tensor((2,))):\n        return x\n"},
    {"@I.ir_module\nclass M:\n    @R.function\n    def f(x: R.Tensor((2,))):\n        return x\n    "
     "@R.function\n    def f(x: R.Tensor((3,))):\n        return x\n",
     "@I.ir_module\nclass M:\n    @R.function\n    def f(x: R.Tensor((2,))):\n        return x\n    "
     "@R.function\n    def f_1(x: R.Tensor((3,))):\n        return x\n"},
    {"@I.ir_module\nclass M:\n    @R.function\n    def f(x: R.Tensor((2,))):\n        return x\n    "
     "@R.function\n    def g(x: R.Tensor((2,)), s: R.Shape([2])):\n        y = M.f(s, x)\n        return "
     "y\n",
     "@I.ir_module\nclass M:\n    @R.function\n    def f(x: R.Tensor((2,))):\n        return x\n    "
     "@R.function\n    def g(x: R.Tensor((2,)), s: R.Shape([2])):\n        y = M.f(x)\n        return y\n"},
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

// Where it is not clear what was meant, nothing is proposed.
TEST_CASE("faults with several repairs have no fix") {
  const std::string graph = "@R.function\ndef main(x: R.Tensor((2, 3), \"float32\")):\n    ";
  const std::string loops =
      "@T.prim_func\ndef f(A: T.Buffer((2, 3), \"float32\"), B: T.Buffer((2,), \"int32\")):\n    ";
  for (const std::string& text : {
           graph + "for i in [1, 2, 4]:\n        y = x\n    return x\n",
           graph + "for i in range(2.5):\n        y = x\n    return x\n",
           graph + "3 = R.exp(x)\n    return R.add(a, b)\n",
           graph + "p = (x, x)\n    q = p[7]\n    return q\n",
           graph + "x[0] = x\n    return x\n",
           graph + "y = R.const([[1, 2], 3])\n    return y\n",
           graph + "y = R.add(x)\n    return y\n",
           "import numpy as np\n" + graph + "y = np.exp(x)\n    return y\n",
           loops + "for i, j, k in T.grid(2, 3):\n        A[i, j] = 0.0\n",
           loops + "for i, j, k in T.grid(2, 3, 4):\n        A[i] = 0.0\n",
           loops + "B[0.5] = 1\n",
           loops + "B[0] = A\n",
           loops + "T.evaluate(T.tvm_storage_sync(\"shared\"))\n",
       }) {
    INFO(text);
    Diagnostics diagnostics;
    read_source(Sources::instance().add("<wrong>", text), {}, diagnostics);
    diagnostics.sort();
    REQUIRE(diagnostics.has_errors());
    CHECK(fixes_of(diagnostics.all().front()).empty());
  }
}

TEST_CASE("of insertions at one place the first comes first") {
  const std::uint32_t file = Sources::instance().add("<text>", "a\n");
  const Span at{file, 0, 0};
  CHECK(apply_fixes("a\n", {{at, "1"}, {at, "2"}, {{file, 1, 1}, "3"}}) == "12a3\n");
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
