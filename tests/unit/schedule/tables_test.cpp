// Values that a nest computes again and again: tables of them.
#include <fmt/format.h>

#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// The shape of each table of f, in order.
std::vector<std::string> tables_of(const Module& module) {
  std::vector<std::string> found;
  for_each_stmt(module.prim_func("f")->body, [&](const Stmt& stmt) {
    const auto* block = stmt.as<BlockStmt>();
    if (!block || block->name != "tables") return;
    for (const Buffer& table : block->allocations) {
      std::string shape;
      for (const Scalar& dim : table.shape())
        shape += (shape.empty() ? "" : " x ") + (dim.as_int() ? std::to_string(*dim.as_int()) : print(dim));
      found.push_back(std::string(name_of(table.dtype())) + " " + shape);
    }
  });
  return found;
}

ModulePtr nest_over(const std::string& parameters, const std::string& body) {
  return read_module("test.relish",
                     "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(" + parameters + "):\n" + body);
}

using Found = std::vector<std::string>;
Found scheduled_tables(const ModulePtr& module) { return tables_of(schedule(*module, small_tiles)); }

// Rows and columns of an image, each from the place that a quotient rounds to.
ModulePtr nearest(const std::string& planes, const std::string& size, int from) {
  return nest_over(
      fmt::format("A: T.Buffer(({0}, {2}, {2}), \"float32\"), C: T.Buffer(({0}, {1}, {1}), \"float32\")",
                  planes, size, from),
      fmt::format(
          "        for p, y, x in T.grid({0}, {1}, {1}):\n"
          "            C[p, y, x] = A[p, T.max(T.min(T.Cast(\"int32\", T.round(T.Cast(\"float64\", y) * "
          "T.float64(0.4))), {2} - 1), 0), T.max(T.min(T.Cast(\"int32\", T.round(T.Cast(\"float64\", x) "
          "* T.float64(0.4))), {2} - 1), 0)]\n",
          planes, size, from));
}

}  // namespace

TEST_CASE("tables: a place that decides an index is computed once for a row") {
  const ModulePtr module = nearest("3", "10", 4);
  // That of a column stays the same along a row anyway.
  CHECK(scheduled_tables(module) == Found{"int32 10"});
  check_schedules(module, {small_numbers(DType::Float32, {3, 4, 4}, 7)}, "tables");
  const ModulePtr open = nest_over(
      "A: T.Buffer((\"p\", 4), \"float32\"), B: T.Buffer((\"n\",), \"float32\"), C: T.Buffer((\"p\", \"n\"), \"float32\")",
      "        for i, x in T.grid(p, n):\n            C[i, x] = A[i, T.max(T.min(T.Cast(\"int64\", T.round("
      "T.Cast(\"float64\", x) * T.float64(0.4))), 3), 0)] + B[x]\n");
  CHECK(scheduled_tables(open) == Found{"int64 n"});
  std::vector<std::vector<Value>> sets;
  for (const auto& [p, n] : {std::pair{0, 5}, {5, 0}, {1, 1}, {3, 33}, {40, 9}})
    sets.push_back({small_numbers(DType::Float32, {p, 4}, 7), small_numbers(DType::Float32, {n}, 5)});
  check_schedules_for(open, sets, "tables");
}

TEST_CASE("tables: steps of a short sum stand outside of what lies along memory") {
  const ModulePtr module = nest_over(
      "A: T.Buffer((4, 5, 8), \"float32\"), C: T.Buffer((4, 5, 16), \"float32\")",
      "        for p, y, x, k in T.grid(4, 5, 16, 2):\n            with T.sblock(\"C\"):\n"
      "                vp, vy, vx, vk = T.axis.remap(\"SSSR\", [p, y, x, k])\n                with T.init():\n"
      "                    C[vp, vy, vx] = T.float32(0)\n"
      "                C[vp, vy, vx] = C[vp, vy, vx] + T.floor(T.Cast(\"float32\", vx) / T.float32(3) + "
      "T.Cast(\"float32\", vk)) - A[vp, vy, T.min(vx // 2 + vk, 7)]\n");
  CHECK(scheduled_tables(module) == Found{"float32 2 x 16"});
  check_schedules(module, {small_numbers(DType::Float32, {4, 5, 8}, 7)}, "tables");
}

TEST_CASE("tables: an outer loop that all have in common stays around them") {
  // As of a grid of points for each item of a batch, and of its channels.
  const ModulePtr module = nest_over(
      "A: T.Buffer((3, 9, 6), \"float32\"), G: T.Buffer((3, 7), \"float32\"), C: T.Buffer((3, 9, 7), \"float32\")",
      "        for n, c, x in T.grid(3, 9, 7):\n            with T.sblock(\"C\"):\n"
      "                vn, vc, vx = T.axis.remap(\"SSS\", [n, c, x])\n"
      "                C[vn, vc, vx] = A[vn, vc, T.max(T.min(T.Cast(\"int32\", T.floor(G[vn, vx])), 5), 0)] * "
      "T.sqrt(T.abs(G[vn, vx]))\n");
  CHECK(scheduled_tables(module).size() == 2);
  CHECK(scheduled_tables(module)[0].ends_with(" 7"));
  CHECK(scheduled_tables(module)[1].ends_with(" 7"));
  check_schedules(module,
                  {small_numbers(DType::Float32, {3, 9, 6}, 7), small_numbers(DType::Float32, {3, 7}, 4)},
                  "tables");
}

TEST_CASE("tables: none of what is cheap, changes, may fail or is seldom used") {
  const auto of = [](const std::string& value, const std::string& extents = "8, 16") {
    return scheduled_tables(nest_over(
        "A: T.Buffer((16,), \"float32\"), B: T.Buffer((16,), \"int32\"), C: T.Buffer((8, 16), \"float32\")",
        "        for i, j in T.grid(" + extents + "):\n            C[i, j] = " + value + "\n"));
  };
  CHECK(of("T.exp(A[j])") == Found{"float32 16"});
  CHECK(of("T.exp(A[j]) + T.exp(A[j]) * T.float32(2)") == Found{"float32 16"});
  CHECK(of("A[j] + A[j] * T.float32(2)").empty());
  CHECK(of("T.exp(A[i])").empty());                        // stays the same along a row
  CHECK(of("T.exp(A[j])", "7, 16").empty());               // seven rows
  CHECK(of("T.exp(A[j + 1])").empty());                    // may fail
  CHECK(of("T.Cast(\"float32\", B[j] // B[j])").empty());  // likewise
  CHECK(of("T.exp(A[j] + C[i, j])").empty());              // both axes
  CHECK(of("T.exp(C[0, j])").empty());                     // what the nest writes
  CHECK(of("T.exp(A[j] * A[i])").empty());
}

TEST_CASE("tables: what other loops show of sizes does not hold before the nest") {
  // Without a row there is no B[n - 1]; the part of the value that does not read it has its table.
  const ModulePtr module = nest_over(
      "B: T.Buffer((\"n\",), \"float32\"), D: T.Buffer((\"m\",), \"float32\"), C: T.Buffer((\"n\", \"m\"), \"float32\")",
      "        for i, j in T.grid(n, m):\n"
      "            C[i, j] = T.sqrt(T.abs(D[j])) / B[n - 1] + B[i]\n");
  CHECK(scheduled_tables(module) == Found{"float32 m"});
  std::vector<std::vector<Value>> sets;
  for (const auto& [n, m] : {std::pair{0, 20}, {20, 0}, {1, 1}, {9, 33}})
    sets.push_back({small_numbers(DType::Float32, {n}, 7), small_numbers(DType::Float32, {m}, 5)});
  check_schedules_for(module, sets, "tables");
  // A sum of no terms begins all the same, and reads none of them.
  const ModulePtr sum = nest_over(
      "B: T.Buffer((\"n\",), \"float32\"), D: T.Buffer((\"m\",), \"float32\"), C: T.Buffer((8, \"m\"), \"float32\")",
      "        for i, j, k in T.grid(8, m, n):\n            with T.sblock(\"C\"):\n"
      "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n                with T.init():\n"
      "                    C[vi, vj] = T.float32(3)\n"
      "                C[vi, vj] = C[vi, vj] + T.floor(T.sqrt(T.abs(D[vj] * B[n - 1]))) + "
      "T.floor(T.sqrt(T.abs(D[vj])))\n");
  CHECK(scheduled_tables(sum) == Found{"float32 m"});
  check_schedules_for(sum, sets, "tables");
  // Nor has a table a negative extent.
  const ModulePtr shorter = nest_over(
      "B: T.Buffer((\"n\",), \"float32\"), C: T.Buffer((\"n\", \"n\"), \"float32\")",
      "        for i, j in T.grid(n, n):\n            C[i, j] = T.float32(0)\n"
      "        for i, j in T.grid(n, n - 1):\n            C[i, j] = T.sqrt(T.abs(B[j])) / T.float32(3)\n");
  CHECK(scheduled_tables(shorter).empty());
  check_schedules_for(
      shorter, {{small_numbers(DType::Float32, {0}, 7)}, {small_numbers(DType::Float32, {17}, 7)}}, "");
}

TEST_CASE("tables: none that is larger than what the run has in memory, or whose size the nest changes") {
  const auto of = [](const std::string& loops, const std::string& value) {
    return scheduled_tables(nest_over(
        "A: T.Buffer((\"n\",), \"float32\"), B: T.Buffer((\"m\",), \"float32\"), C: T.Buffer((8,), \"float32\")",
        "        for " + loops + ":\n            C[j] = C[j] + " + value + " * T.Cast(\"float32\", j)\n"));
  };
  CHECK(of("j, i in T.grid(8, n)", "T.sqrt(A[i])") == Found{"float32 n"});
  CHECK(of("j, i, k in T.grid(8, n, m)", "T.sqrt(A[i] * B[k])").empty());
  CHECK(of("j, i in T.grid(8, n * m)", "T.sqrt(T.Cast(\"float32\", i))").empty());
  const std::string buffers =
      "A: T.Buffer((\"n\",), \"float32\"), B: T.Buffer((\"m\",), \"float32\"), C: T.Buffer((8, \"n\", \"m\"), "
      "\"float32\")";
  // The result is eight times as large.
  CHECK(scheduled_tables(nest_over(
            buffers,
            "        for j, i, k in T.grid(8, n, m):\n            C[j, i, k] = T.sqrt(A[i] * B[k])\n")) ==
        Found{"float32 n x m"});
  const ModulePtr grows = nest_over(
      "B: T.Buffer((40,), \"float32\"), C: T.Buffer((8, 40), \"int32\")",
      "        for i, j in T.grid(8, 40):\n            C[i, j] = 5\n"
      "        for i in range(8):\n            for j in range(T.max(C[0, 0], 0)):\n"
      "                C[i, j] = 30 + T.Cast(\"int32\", T.floor(T.sqrt(T.Cast(\"float32\", j))))\n");
  CHECK(scheduled_tables(grows).empty());
  check_schedules(grows, {small_numbers(DType::Float32, {40}, 7)}, "");
}
