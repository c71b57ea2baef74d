// Sums by columns alone: threads take parts of the row that all terms are summed to.
#include <fmt/format.h>

#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// C[j] = init + sum of A[i, j]; `block`: in a block of its own, which begins with that number.
ModulePtr column_sums(std::int64_t rows, std::int64_t columns, const char* dtype, bool block) {
  const std::string header = fmt::format(
      "@I.ir_module\nclass M:\n    @T.prim_func\n"
      "    def f(A: T.Buffer(({0}, {1}), \"{2}\"), C: T.Buffer(({1},), \"{2}\")):\n",
      rows, columns, dtype);
  const std::string nest =
      block ? fmt::format(
                  "        for j, i in T.grid({1}, {0}):\n            with T.sblock(\"C\"):\n"
                  "                j0, i0 = T.axis.remap(\"SR\", [j, i])\n"
                  "                with T.init():\n                    C[j0] = T.{2}(2)\n"
                  "                C[j0] = C[j0] + A[i0, j0]\n",
                  rows, columns, dtype)
            : fmt::format(
                  "        for z in range({1}):\n            C[z] = T.{2}(2)\n"
                  "        for i, j in T.grid({0}, {1}):\n            C[j] = C[j] + A[i, j]\n",
                  rows, columns, dtype);
  return read_module("test.relish", header + nest);
}

bool in_parts(const ModulePtr& module, const std::string& parts) {
  return print(schedule(*module, {})).find("_0 in T.parallel(" + parts + ")") != std::string::npos;
}

}  // namespace

TEST_CASE("column sums: long rows are summed in parts that threads take") {
  // More terms than are summed one after the other, and fewer.
  for (const std::int64_t rows : {1100, 270})
    for (const bool block : {true, false}) {
      INFO(rows << " " << block);
      const ModulePtr module = column_sums(rows, 1030, "float32", block);
      CHECK(in_parts(module, "2"));
      check_schedules(module, {small_numbers(DType::Float32, {rows, 1030}, 7)}, "");
    }
  CHECK(in_parts(column_sums(300, 1536, "float64", true), "6"));
  check_schedules(column_sums(300, 1536, "float64", true), {small_numbers(DType::Float64, {300, 1536}, 7)},
                  "");
}

TEST_CASE("column sums: short rows, few terms and rows without equal parts stay whole") {
  for (const auto& [rows, columns] :
       std::vector<std::array<std::int64_t, 2>>{{1100, 1022}, {200, 1024}, {1100, 1031}}) {
    INFO(rows << " " << columns);
    const std::string text = print(schedule(*column_sums(rows, columns, "float32", true), {}));
    CHECK(text.find("j_0") == std::string::npos);
  }
}
