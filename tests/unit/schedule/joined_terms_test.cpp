// Sums over several loops that run on in memory: one loop, of the same terms in the same order.
#include <fmt/format.h>

#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// C[i] = the sum of `value` over n, y, x.
ModulePtr channel_sums(const std::string& shape, const std::string& terms, const std::string& value) {
  return read_module(
      "test.relish",
      fmt::format(
          "@I.ir_module\nclass M:\n    @T.prim_func\n"
          "    def f(A: T.Buffer(({}), \"float32\"), B: T.Buffer(({}), \"float32\"), "
          "C: T.Buffer((3,), \"float32\")):\n        for i, n, y, x in T.grid(3, {}):\n"
          "            with T.sblock(\"C\"):\n                vi, vn, vy, vx = T.axis.remap(\"SRRR\", "
          "[i, n, y, x])\n                with T.init():\n                    C[vi] = T.float32(0)\n"
          "                C[vi] = C[vi] + {}\n",
          shape, shape, terms, value));
}

// The longest of the innermost loops of a sum.
std::int64_t longest_sum(const Module& module) {
  std::int64_t longest = 0;
  for_each_stmt(module.prim_func("f")->body, [&](const Stmt& stmt) {
    const auto* loop = stmt.as<For>();
    if (loop && !loop->body.as<For>()) longest = std::max(longest, loop->extent.as_int().value_or(0));
  });
  return longest;
}

void check_sums(const ModulePtr& module, const std::vector<std::int64_t>& shape) {
  check_schedules(module, {small_numbers(DType::Float32, shape, 7), small_numbers(DType::Float32, shape, 5)},
                  "");
}

}  // namespace

TEST_CASE("joined terms: the places of an image are one loop") {
  const ModulePtr module = channel_sums("2, 3, 5, 7", "2, 5, 7", "A[vn, vi, vy, vx]");
  CHECK(longest_sum(*module) == 7);
  CHECK(longest_sum(schedule(*module, small_tiles)) == 35);
  check_sums(module, {2, 3, 5, 7});
}

TEST_CASE("joined terms: all loops where nothing lies between them") {
  const ModulePtr module = channel_sums("3, 2, 5, 7", "2, 5, 7", "A[vi, vn, vy, vx] - B[vi, vn, vy, vx]");
  CHECK(longest_sum(schedule(*module, small_tiles)) == 70);
  check_sums(module, {3, 2, 5, 7});
}

TEST_CASE("joined terms: products become dots of all places") {
  const ModulePtr module = channel_sums("2, 3, 8, 9", "2, 8, 9", "A[vn, vi, vy, vx] * B[vn, vi, vy, vx]");
  CHECK(has_block(schedule(*module, many_targets()[1]), "dot"));
  check_sums(module, {2, 3, 8, 9});
}

TEST_CASE("joined terms: rows that do not run on stay apart") {
  // Parts of rows, another order, and what is computed from the place.
  for (const char* value : {"A[vn, vi, vy, vx] + B[vn, vi, vx, vy]", "A[vn, vi, vy, vx] * T.float32(vx)",
                            "A[vn, vi, vy, 0] + B[vn, vi, vy, vx]"}) {
    INFO(value);
    const ModulePtr module = channel_sums("2, 3, 6, 6", "2, 6, 6", value);
    CHECK(longest_sum(schedule(*module, small_tiles)) == 6);
    check_sums(module, {2, 3, 6, 6});
  }
  const ModulePtr part = channel_sums("2, 3, 6, 8", "2, 6, 7", "A[vn, vi, vy, vx] + B[vn, vi, vy, vx + 1]");
  CHECK(longest_sum(schedule(*part, small_tiles)) == 7);
  check_sums(part, {2, 3, 6, 8});
}

TEST_CASE("joined terms: a sum that its loop around reads again has accumulators too") {
  const ModulePtr module = read_module(
      "test.relish",
      "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(A: T.Buffer((2, 3, 40, 50), \"float32\"), "
      "B: T.Buffer((3,), \"float32\"), C: T.Buffer((3,), \"float32\")):\n        for i in range(3):\n"
      "            with T.sblock(\"row\"):\n                vi = T.axis.spatial(3, i)\n"
      "                for n, y, x in T.grid(2, 40, 50):\n                    with T.sblock(\"sum\"):\n"
      "                        vn, vy, vx = T.axis.remap(\"RRR\", [n, y, x])\n                        with T.init():\n"
      "                            C[vi] = T.float32(0)\n"
      "                        C[vi] = C[vi] + A[vn, vi, vy, vx]\n                C[vi] = C[vi] + B[vi]\n");
  const Module after = schedule(*module, small_tiles);
  INFO(print(after));
  CHECK(longest_sum(after) == 2000);
  CHECK(has_block(after, "sums"));
  check_schedules(module,
                  {small_numbers(DType::Float32, {2, 3, 40, 50}, 7), small_numbers(DType::Float32, {3}, 5)},
                  "sums");
}
