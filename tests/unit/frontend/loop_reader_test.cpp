// Reading of prim_funcs: their statements and scalars, and faults with their places.
#include <catch2/catch.hpp>

#include "reading.h"

namespace relish {
namespace {

using test::canonical;
using test::Read;
using test::read;

// A prim_func body over A, C: (8, 8) float32, I: (8,) int64 and n: int32.
std::string with_loops(const std::string& body) {
  return test::function_of(
      "@T.prim_func\n"
      "def f(A: T.Buffer((8, 8), \"float32\"), I: T.Buffer((8,), \"int64\"), n: T.int32, C: T.Buffer((8, 8), "
      "\"float32\")):\n",
      body);
}

std::string loop_errors(const std::string& body) { return read(with_loops(body)).errors; }

// The printed body.
std::string loop_text(const std::string& body) {
  Read result = read(with_loops(body));
  if (!result.errors.empty()) return result.errors;
  canonical(with_loops(body));
  return print(result.result.free_functions->prim_func("f")->body);
}

}  // namespace

TEST_CASE("statements of prim_funcs") {
  CHECK(loop_text("for i, j in T.grid(8, 8):\n  C[i, j] = A[i, j] * 2") ==
        "for i, j in T.grid(8, 8):\n    C[i, j] = A[i, j] * T.float32(2.0)\n");
  CHECK(loop_text("for i in range(2, 8):\n  C[i, 0] += 1") ==
        "for i in range(2, 8):\n    C[i, 0] = C[i, 0] + T.float32(1.0)\n");
  CHECK(loop_text("for i in T.serial(8):\n  C[0, 0] = T.exp(A[i, i], dtype=\"float32\")") ==
        "for i in range(8):\n    C[0, 0] = T.exp(A[i, i])\n");
  CHECK(loop_text("s: T.int32 = 0\nwhile s < n:\n  s += 1\nC[0, 0] = s") ==
        "s: T.int32 = 0\nwhile s < n:\n    s = s + 1\nC[0, 0] = T.Cast(\"float32\", s)\n");
  CHECK(
      loop_text(
          "if n > 3:\n  C[0, 0] = 1\nelif n == 2:\n  C[0, 0] = 2\nelse:\n  C[0, 0] = T.float32(\"-inf\")") ==
      "if n > 3:\n    C[0, 0] = T.float32(1.0)\nelif n == 2:\n    C[0, 0] = T.float32(2.0)\nelse:\n"
      "    C[0, 0] = T.float32(\"-inf\")\n");
  CHECK(
      loop_text(
          "B = T.alloc_buffer((8,), \"int32\")\nfor i in range(8):\n  B[i] = T.Cast(\"int32\", I[i]) + i") ==
      "for i in range(8):\n    B[i] = T.Cast(\"int32\", I[i]) + i\n");
  CHECK(
      loop_text(
          "for i in range(8):\n  with T.sblock(\"b\"):\n    vi = T.axis.spatial(8, i)\n    T.where(vi < n)\n"
          "    C[vi, 0] = T.Select(vi < 3 and not (n == 2), A[vi, 0], T.max(A[0, vi], 0))") ==
      "for i in range(8):\n    with T.sblock(\"b\"):\n        vi = T.axis.spatial(8, i)\n        T.where(vi "
      "< n)\n"
      "        T.reads(A[0:8, 0:8])\n        T.writes(C[vi, 0])\n"
      "        C[vi, 0] = T.Select(vi < 3 and not n == 2, A[vi, 0], T.max(A[0, vi], T.float32(0.0)))\n");
  CHECK(loop_text("assert n > 0, \"n is positive\"\nT.evaluate(0)") == "assert n > 0, \"n is positive\"\n");
}

TEST_CASE("scalars convert as TVM has it") {
  auto value = [](const std::string& expression) {
    std::string text = loop_text("for i in range(8):\n  x = " + expression + "\n  C[0, 0] = x");
    std::size_t begin = text.find("x: ");
    return begin == std::string::npos ? text : text.substr(begin + 3, text.find('\n', begin) - begin - 3);
  };
  CHECK(value("i + 1") == "T.int32 = i + 1");
  CHECK(value("I[i] + i") == "T.int64 = I[i] + T.Cast(\"int64\", i)");
  CHECK(value("I[i] + 1") == "T.int64 = I[i] + T.int64(1)");
  CHECK(value("i + T.int64(1)") == "T.int64 = T.Cast(\"int64\", i) + T.int64(1)");
  CHECK(value("A[0, 0] + i") == "T.float32 = A[0, 0] + T.Cast(\"float32\", i)");
  CHECK(value("i * 0.5") == "T.float32 = T.Cast(\"float32\", i) * T.float32(0.5)");
  CHECK(value("i / 2") == "T.int32 = T.Div(i, 2)");
  CHECK(value("i // 2 + i % 3") == "T.int32 = i // 2 + i % 3");
  CHECK(value("T.cast(i, \"float32\") + T.Cast(\"float32\", i)") ==
        "T.float32 = T.Cast(\"float32\", i) + T.Cast(\"float32\", i)");
  CHECK(value("T.float16(0.5)") == "T.float16 = T.float16(0.5)");
  CHECK(value("T.min_value(\"float32\")").substr(0, 22) == "T.float32 = T.float32(");
  CHECK(value("T.uint64(18446744073709551615)") == "T.uint64 = T.max_value(\"uint64\")");
  CHECK(value("T.int64(18446744073709551615)").find("does not fit int64") != std::string::npos);
  CHECK(value("T.uint64(18446744073709551616)").find("does not fit int64") != std::string::npos);
  CHECK(value("T.uint8(300)").find("300, which is no value of uint8") != std::string::npos);
}

TEST_CASE("faults of prim_funcs, with their places") {
  CHECK(loop_errors("C[0] = 1") ==
        "3:3 TypeError found 1 index for C; expected 2\n  note 2:79 C has rank 2\n");
  CHECK(loop_errors("D[0, 0] = 1") == "3:3 TypeError found the name 'D', which is not defined here\n");
  CHECK(loop_errors("C[0, 0] = Q") == "3:13 TypeError found the name 'Q', which is not defined here\n");
  CHECK(loop_errors("C[0, 0] = A") ==
        "3:13 TypeError found the buffer 'A' as a value; expected an element of it\n  note 2:7 it is "
        "declared here\n");
  CHECK(loop_errors("C[0.5, 0] = 1") ==
        "3:5 TypeError found an index of dtype float32; expected an integer\n");
  CHECK(loop_errors("C[0, 0] = T.expp(A[0, 0])") ==
        "3:13 TypeError T.expp is not a function that Relish knows; did you mean 'T.exp'?\n");
  CHECK(loop_errors("C[0, 0] = T.call_extern(\"float32\", \"system\", 1)") == "");
  CHECK(loop_errors("for i in T.grid(8, 8):\n  C[i, i] = 1") ==
        "4:5 TypeError found 4 indices for C; expected 2\n  note 2:79 C has rank 2\n");
  CHECK(
      loop_errors("for i in [1, 2]:\n  C[i, i] = 1\nC[0, 0] = zz") ==
      "3:12 TypeError found a loop over a list; expected T.grid, range, T.serial, T.parallel, T.vectorized, "
      "T.unroll or T.thread_binding\n"
      "5:13 TypeError found the name 'zz', which is not defined here\n");
  CHECK(loop_errors("for i in T.thread_binding(8):\n  C[i, i] = 1") ==
        "3:12 TypeError found T.thread_binding without thread=, such as \"blockIdx.x\"\n");
  CHECK(loop_errors("n = 3") ==
        "3:3 TypeError found an assignment to 'n', which is no scalar of the body\n  note 2:67 it is bound "
        "here\n");
  CHECK(loop_errors("for i in range(8):\n  if i:\n    C[i, i] = 1") == "");
  CHECK(loop_errors("for i in range(8):\n  if C[i, i]:\n    C[i, i] = 1") ==
        "4:8 TypeError found a condition of dtype float32; expected a comparison or a bool\n");
  CHECK(loop_errors("break") == "3:3 TypeError found break outside a loop\n");
  CHECK(loop_errors("return C") ==
        "3:10 TypeError found the buffer 'C' as a value; expected an element of it\n  note 2:79 it is "
        "declared here\n");
  CHECK(read("@T.prim_func\ndef f(a: T.handle):\n  pass\n").errors == "");
}

TEST_CASE("a scalar expression has 10,000 levels at most") {
  std::string scalar = "C[0, 0] = A[0, 0]";
  for (int i = 0; i < 20000; ++i) scalar += " + A[0, 1]";
  CHECK(loop_errors(scalar).find("ResourceLimit found a scalar expression nested deeper than 10000") !=
        std::string::npos);
}

}  // namespace relish
