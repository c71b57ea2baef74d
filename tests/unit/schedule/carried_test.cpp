// Recurrences: what an iteration has stored is handed to the next one.
#include <fmt/format.h>

#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

ModulePtr recurrence(const std::string& body, const std::string& dtype = "float32") {
  return read_module(
      "test.relish",
      fmt::format("@I.ir_module\nclass M:\n    @T.prim_func\n    def f(A: T.Buffer((\"n\", \"m\"), \"{0}\"), "
                  "C: T.Buffer((\"n\", \"m\"), \"{0}\")):\n{1}",
                  dtype, body));
}

bool carries(const ModulePtr& module) {
  bool found = false;
  const Module after = schedule(*module, small_tiles);
  for_each_stmt(after.prim_func("f")->body,
                [&](const Stmt& stmt) { found = found || stmt.as<AssignScalar>() != nullptr; });
  return found;
}

void check_recurrence(const ModulePtr& module, DType dtype) {
  std::vector<std::vector<Value>> sets;
  for (const auto& [n, m] : {std::pair{0, 4}, {1, 1}, {3, 1}, {2, 2}, {5, 17}, {40, 33}})
    sets.push_back({small_numbers(dtype, {n, m}, 7)});
  check_schedules_for(module, sets, "");
}

}  // namespace

TEST_CASE("carried elements: sums so far of a row") {
  for (const char* dtype : {"float32", "float64", "float16", "int32", "int8", "uint8"}) {
    INFO(dtype);
    const ModulePtr module = recurrence(
        "        for i in range(n):\n            C[i, 0] = A[i, 0]\n            for j in range(1, m):\n"
        "                C[i, j] = C[i, j - 1] + A[i, j]\n",
        dtype);
    CHECK(carries(module));
    check_recurrence(module, *dtype_from_name(dtype));
  }
}

TEST_CASE("carried elements: in a block, upwards and of what another loop has begun") {
  const ModulePtr block = recurrence(
      "        for i in range(n):\n            C[i, 0] = A[i, 0]\n            for j in range(m - 1):\n"
      "                with T.sblock(\"C\"):\n                    vi, vj = T.axis.remap(\"SS\", [i, j])\n"
      "                    C[vi, vj + 1] = T.max(C[vi, vj], A[vi, vj + 1])\n");
  CHECK(carries(block));
  check_recurrence(block, DType::Float32);
  const ModulePtr twice = recurrence(
      "        for i in range(n):\n            C[i, 0] = A[i, 0]\n            for j in range(m - 1):\n"
      "                C[i, j + 1] = C[i, j] * T.float32(2) - C[i, j] + A[i, j]\n");
  CHECK(carries(twice));
  check_recurrence(twice, DType::Float32);
}

TEST_CASE("carried elements: where the first iteration reads none") {
  // The condition is about one iteration; what lies before the first element must not be read ahead of it.
  for (const char* dtype : {"float32", "float16", "int8"}) {
    INFO(dtype);
    const ModulePtr sums = recurrence(
        fmt::format(
            "        for i, j in T.grid(n, m):\n            C[i, j] = A[i, j]\n"
            "        for i, j in T.grid(n, m):\n            C[i, j] = T.if_then_else(j > 0, C[i, j - 1], "
            "T.{}(0)) + A[i, j]\n",
            dtype),
        dtype);
    CHECK(carries(sums));
    check_recurrence(sums, *dtype_from_name(dtype));
  }
  const ModulePtr down = recurrence(
      "        for i, j in T.grid(n, m):\n            C[i, j] = A[i, j]\n"
      "        for i, j in T.grid(n, m):\n            C[i, m - 1 - j] = T.if_then_else(j == 0, A[i, m - 1 - j], "
      "T.max(C[i, T.min(m - j, m - 1)], A[i, m - 1 - j]))\n");
  check_recurrence(down, DType::Float32);
  const ModulePtr upwards = recurrence(
      "        for i, j in T.grid(n, m):\n            C[i, j] = A[i, j]\n"
      "        for i, j in T.grid(n, m):\n            C[i, m - 1 - j] = T.if_then_else(j > 0, C[i, m - j], "
      "T.float32(1)) * A[i, m - 1 - j]\n");
  CHECK(carries(upwards));
  check_recurrence(upwards, DType::Float32);
}

TEST_CASE("carried elements: not where any other element is read, or something may fail") {
  const auto in_loop = [](const std::string& value) {
    return carries(
        recurrence("        for i in range(n):\n            for j in range(2, m):\n"
                   "                C[i, j] = " +
                   value + "\n"));
  };
  CHECK(in_loop("C[i, j - 1] + A[i, j]"));
  CHECK_FALSE(in_loop("C[i, j - 1] + C[i, j - 2]"));
  CHECK_FALSE(in_loop("C[i, j - 2] + A[i, j]"));
  CHECK_FALSE(in_loop("C[i, j] + A[i, j]"));
  CHECK_FALSE(in_loop("C[0, j - 1] + A[i, j]"));
  CHECK_FALSE(in_loop("C[i, j - 1] + A[i, j + 1]"));
  CHECK_FALSE(in_loop("A[i, j - 1]"));
  // The element stays the same: a sum.
  CHECK_FALSE(
      carries(recurrence("        for i, j in T.grid(n, m):\n            C[i, 0] = C[i, 0] + A[i, j]\n")));
  // The first read is out of range.
  CHECK_FALSE(carries(
      recurrence("        for i, j in T.grid(n, m):\n            C[i, j] = C[i, j - 1] + A[i, j]\n")));
}
