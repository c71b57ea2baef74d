// Movement: nests that read along another axis than they store are cut into tiles, for every dtype and tail.
#include <fmt/format.h>

#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

ModulePtr copy_of(const std::string& dtype, const std::string& from, const std::string& to,
                  const std::string& loops, const std::string& store) {
  return read_module("test.relish", fmt::format("@I.ir_module\nclass M:\n    @T.prim_func\n"
                                                "    def f(a: T.handle, b: T.handle):\n"
                                                "        n = T.int64()\n        m = T.int64()\n"
                                                "        A = T.match_buffer(a, ({}), \"{}\")\n"
                                                "        B = T.match_buffer(b, ({}), \"{}\")\n"
                                                "        for {}:\n            {}\n",
                                                from, dtype, to, dtype, loops, store));
}

// The axis of the innermost loop around the last store.
std::string innermost(const Module& module) {
  std::string name;
  for_each_stmt(module.prim_func("f")->body, [&](const Stmt& stmt) {
    if (const auto* loop = stmt.as<For>()) name = loop->var.name();
  });
  return name;
}

}  // namespace

TEST_CASE("movement: transposes of every dtype and length") {
  for (const char* dtype : {"float32", "float64", "int32", "int64", "int8", "float16", "bool"}) {
    for (const auto& [n, m] :
         std::vector<std::array<std::int64_t, 2>>{{16, 16}, {33, 35}, {7, 64}, {64, 7}, {1, 9}}) {
      INFO(dtype << " " << n << " " << m);
      const ModulePtr module = copy_of(dtype, fmt::format("{}, {}", m, n), fmt::format("{}, {}", n, m),
                                       fmt::format("i, j in T.grid({}, {})", n, m), "B[i, j] = A[j, i]");
      check_schedules(module, {small_numbers(*dtype_from_name(dtype), {m, n}, 7)}, "");
    }
  }
}

TEST_CASE("movement: a square goes through registers") {
  const ModulePtr module =
      copy_of("float32", "3, 33, 34", "3, 34, 33", "b, i, j in T.grid(3, 34, 33)", "B[b, i, j] = A[b, j, i]");
  check_schedules(module, {small_numbers(DType::Float32, {3, 33, 34}, 7)}, "square");
}

TEST_CASE("movement: what is computed from a transpose") {
  const ModulePtr module = copy_of("float32", "40, 40", "40, 40", "i, j in T.grid(40, 40)",
                                   "B[i, j] = A[j, i] * T.float32(2) + A[i, j]");
  check_schedules(module, {small_numbers(DType::Float32, {40, 40}, 7)}, "");
  CHECK_FALSE(print(schedule(*module, many_targets()[0])) == print(*module));
}

TEST_CASE("movement: extents that the run knows") {
  const ModulePtr module = copy_of("float32", "m, n", "n, m", "i, j in T.grid(n, m)", "B[i, j] = A[j, i]");
  std::vector<std::vector<Value>> sets;
  for (const auto& [n, m] : std::vector<std::array<std::int64_t, 2>>{{33, 20}, {3, 70}, {1, 1}, {0, 5}})
    sets.push_back({small_numbers(DType::Float32, {m, n}, 7)});
  check_schedules_for(module, sets, "square");
}

TEST_CASE("movement: the loop along what is stored becomes the innermost") {
  const ModulePtr module =
      copy_of("float32", "20, 30", "20, 30", "j, i in T.grid(30, 20)", "B[i, j] = A[i, j]");
  CHECK(innermost(*module) == "i");
  CHECK(innermost(schedule(*module, small_tiles)) == "j");
  check_schedules(module, {small_numbers(DType::Float32, {20, 30}, 7)}, "");
}

TEST_CASE("movement: what needs its order, or may fail, keeps it") {
  for (const char* store : {"B[i, j] = B[j, i] + A[i, j]", "B[i, j] = A[j, i + 1]"}) {
    INFO(store);
    const ModulePtr module = copy_of("float32", "20, 20", "20, 20", "i, j in T.grid(20, 20)", store);
    CHECK(print(schedule(*module, small_tiles)) == print(*module));
  }
}

TEST_CASE("movement: what is behind whole tiles goes through registers in parts of squares") {
  // 12 and 14 behind tiles of 16, of squares of 8 or 16: 8 + 4, and 8 + 4 + 2.
  for (const auto& [n, m] :
       std::vector<std::array<std::int64_t, 2>>{{28, 30}, {14, 32}, {32, 28}, {45, 35}}) {
    INFO(n << " " << m);
    const ModulePtr module = copy_of("float32", fmt::format("{}, {}", m, n), fmt::format("{}, {}", n, m),
                                     fmt::format("i, j in T.grid({}, {})", n, m), "B[i, j] = A[j, i]");
    check_schedules(module, {small_numbers(DType::Float32, {m, n}, 7)}, "square");
    std::int64_t parts = 0;
    for_each_stmt(schedule(*module, many_targets()[1]).prim_func("f")->body, [&](const Stmt& stmt) {
      const auto* block = stmt.as<BlockStmt>();
      if (block && block->name == "square")
        parts += block->allocations[0].shape()[0].as_int() != 16 ||
                 block->allocations[0].shape()[1].as_int() != 16;
    });
    CHECK(parts > 0);
  }
}
