// Sums whose terms count for one remainder only: one nest for each, without quotients, which compute the
// same.
#include <fmt/format.h>

#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// One dimension: C[x] = the sum of A[(x + shift - dilation * k) // stride] * B[k].
struct Strided {
  std::int64_t stride, kernel, shift, dilation, size;
};

ModulePtr gathered(const Strided& each, const std::string& term = "A[q0, ({0}) // {1}] * B[q0, k0]",
                   const std::string& first = "T.float32(0)") {
  const std::string from = fmt::format("x0 + {} - k0 * {}", each.shift, each.dilation);
  return read_module(
      "test.relish",
      fmt::format("@I.ir_module\nclass M:\n    @T.prim_func\n"
                  "    def f(A: T.Buffer((3, 5), \"float32\"), B: T.Buffer((3, {}), \"float32\"), "
                  "C: T.Buffer((3, {}), \"float32\")):\n"
                  "        for q, x, k in T.grid(T.int64(3), T.int64({}), T.int64({})):\n"
                  "            with T.sblock(\"C\"):\n"
                  "                q0, x0, k0 = T.axis.remap(\"SSR\", [q, x, k])\n"
                  "                with T.init():\n                    C[q0, x0] = {}\n"
                  "                C[q0, x0] = C[q0, x0] + T.if_then_else({} >= 0 and ({}) // {} < 5 and "
                  "({}) % {} == 0, {}, T.float32(0))\n",
                  each.kernel, each.size, each.size, each.kernel, first, from, from, each.stride, from,
                  each.stride, fmt::format(fmt::runtime(term), from, each.stride)));
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::vector<Value> numbers(const Strided& each) {
  return {small_numbers(DType::Float32, {3, 5}, 7), small_numbers(DType::Float32, {3, each.kernel}, 5)};
}

}  // namespace

TEST_CASE("remainders: strides, shifts, dilations and sizes of every kind") {
  for (const Strided& each : std::vector<Strided>{{2, 3, 1, 1, 10},
                                                  {2, 2, 0, 1, 9},
                                                  {3, 2, 1, 1, 14},
                                                  {2, 4, 3, 3, 11},
                                                  {4, 7, 2, 1, 1},
                                                  {2, 1, 0, 1, 7},
                                                  {3, 5, 0, 2, 2}}) {
    INFO(each.stride << " " << each.kernel << " " << each.shift << " " << each.dilation << " " << each.size);
    const ModulePtr module = gathered(each);
    check_schedules(module, numbers(each), "");
    const std::string text = print(schedule(*module, small_tiles));
    CHECK(count(text, "%") == 0);
    CHECK(count(text, "//") == 0);
  }
}

TEST_CASE("remainders: parts without sums over the same iterations are one nest") {
  const Strided each{2, 2, 0, 1, 10};
  const ModulePtr module = gathered(each, "A[q0, ({0}) // {1}]");
  check_schedules(module, numbers(each), "");
  CHECK(count(print(schedule(*module, small_tiles)), "T.sblock(\"C\")") == 1);
  CHECK(count(print(schedule(*gathered({2, 2, 0, 1, 9}, "A[q0, ({0}) // {1}]"), small_tiles)),
              "T.sblock(\"C\")") == 2);
}

TEST_CASE("remainders: what may begin with another number, or reaches some remainders only, stays") {
  for (const ModulePtr& module :
       {gathered({2, 3, 1, 1, 10}, "A[q0, ({0}) // {1}] * B[q0, k0]", "T.float32(1)"),
        gathered({2, 3, 1, 2, 10}), gathered({17, 3, 1, 1, 20})}) {
    const std::string text = print(schedule(*module, small_tiles));
    INFO(text);
    CHECK(count(text, "%") > 0);
  }
  check_schedules(gathered({2, 3, 1, 2, 10}), numbers({2, 3, 1, 2, 10}), "");
}
