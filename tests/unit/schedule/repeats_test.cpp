// Rows that are read again and again: a loop over the repetitions around one along memory.
#include <fmt/format.h>

#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

ModulePtr tiled(const std::string& from, const std::string& to, const std::string& loops,
                const std::string& value, const std::string& dtype = "float32") {
  return read_module(
      "test.relish",
      fmt::format("@I.ir_module\nclass M:\n    @T.prim_func\n    def f(A: T.Buffer(({}), \"{}\"), "
                  "C: T.Buffer(({}), \"{}\")):\n        for i, j in T.grid({}):\n"
                  "            with T.sblock(\"C\"):\n                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                  "                C[vi, vj] = {}\n",
                  from, dtype, to, dtype, loops, value));
}

bool parts(const ModulePtr& module) {
  return print(schedule(*module, small_tiles)).find("vj_0") != std::string::npos;
}

}  // namespace

TEST_CASE("repeats: rows of known and of open length") {
  for (const char* dtype : {"float32", "int8", "float16"}) {
    INFO(dtype);
    const ModulePtr module = tiled("4, 9", "8, 27", "8, 27", "A[vi % 4, vj % 9]", dtype);
    CHECK(parts(module));
    check_schedules(module, {small_numbers(*dtype_from_name(dtype), {4, 9}, 7)}, "");
  }
  const ModulePtr open =
      read_module("test.relish",
                  "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(a: T.handle, c: T.handle):\n"
                  "        n = T.int64()\n        m = T.int64()\n        A = T.match_buffer(a, (n, m))\n"
                  "        C = T.match_buffer(c, (n * 2, m * 3))\n        for i, j in T.grid(n * 2, m * 3):\n"
                  "            with T.sblock(\"C\"):\n                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                  "                C[vi, vj] = A[vi % n, vj % m]\n");
  CHECK(parts(open));
  std::vector<std::vector<Value>> sets;
  for (const auto& [n, m] : {std::pair{0, 4}, {3, 0}, {1, 1}, {2, 9}, {3, 17}})
    sets.push_back({small_numbers(DType::Float32, {n, m}, 7)});
  check_schedules_for(open, sets, "");
}

TEST_CASE("repeats: what is no row again and again stays as it is") {
  // Of three elements, of rows that do not end with the result, and of digits that lie side by side anyway.
  CHECK(!parts(tiled("4, 3", "4, 27", "4, 27", "A[vi, vj % 3]")));
  CHECK(!parts(tiled("4, 9", "4, 25", "4, 25", "A[vi, vj % 9]")));
  CHECK(!parts(tiled("4, 3, 9", "4, 27", "4, 27", "A[vi, vj // 9, vj % 9]")));
  check_schedules(tiled("4, 9", "4, 25", "4, 25", "A[vi, vj % 9]"),
                  {small_numbers(DType::Float32, {4, 9}, 7)}, "");
}
