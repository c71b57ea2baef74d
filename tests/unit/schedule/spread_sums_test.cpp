// Sums that reach one remainder of their places: they run over these, and what follows is done for all.
#include <fmt/format.h>

#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// C[x, y] = the sum of A[k, (x + shift) // stride, (y + shift) // stride] * B[k] where both are whole.
struct Spread {
  std::int64_t stride, shift, size, terms;
};

constexpr const char* follower =
    "        for x, y in T.grid(T.int64({0}), T.int64({0})):\n            with T.sblock(\"behind\"):\n"
    "                x0, y0 = T.axis.remap(\"SS\", [x, y])\n"
    "                s: T.let[T.float32] = C[x0, y0] + D[x0, y0]\n"
    "                E[x0, y0] = s * C[x0, y0]\n";
constexpr const char* shifted =
    "        for x, y in T.grid(T.int64({0}), T.int64({0})):\n            with T.sblock(\"behind\"):\n"
    "                x0, y0 = T.axis.remap(\"SS\", [x, y])\n"
    "                E[x0, y0] = C[x0, 0] + D[x0, y0]\n";

ModulePtr spread(const Spread& each, const char* behind) {
  const std::string x = fmt::format("x0 + {}", each.shift), y = fmt::format("y0 + {}", each.shift);
  const std::string size = fmt::format("({0}, {0})", each.size);
  const auto tensor = [&](const char* name) {
    return fmt::format(", {}: T.Buffer({}, \"float32\")", name, size);
  };
  const bool alone = !behind;
  std::string text = fmt::format(
      "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(A: T.Buffer(({0}, 5, 5), \"float32\"), "
      "B: T.Buffer(({0},), \"float32\"){1}):\n",
      each.terms, alone ? tensor("C") : tensor("D") + tensor("E"));
  if (!alone) text += fmt::format("        C = T.sblock_alloc_buffer({}, \"float32\")\n", size);
  text += fmt::format(
      "        for x, y, k in T.grid(T.int64({0}), T.int64({0}), T.int64({1})):\n"
      "            with T.sblock(\"C\"):\n                x0, y0, k0 = T.axis.remap(\"SSR\", [x, y, k])\n"
      "                with T.init():\n                    C[x0, y0] = T.float32(0)\n"
      "                C[x0, y0] = C[x0, y0] + T.if_then_else(({2}) // {4} < 5 and ({2}) % {4} == 0 and "
      "({3}) // {4} < 5 and ({3}) % {4} == 0, A[k0, ({2}) // {4}, ({3}) // {4}] * B[k0], T.float32(0))\n",
      each.size, each.terms, x, y, each.stride);
  if (!alone) text += fmt::format(fmt::runtime(behind), each.size);
  return read_module("test.relish", text);
}

std::vector<Value> numbers(const Spread& each, bool alone) {
  std::vector<Value> args{small_numbers(DType::Float32, {each.terms, 5, 5}, 7),
                          small_numbers(DType::Float32, {each.terms}, 5)};
  if (!alone) args.push_back(small_numbers(DType::Float32, {each.size, each.size}, 3));
  return args;
}

bool has_text(const Module& module, const std::string& part) {
  return print(module).find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("spread sums: steps, shifts and sizes of every kind, alone and with what follows") {
  for (const Spread& each : std::vector<Spread>{
           {2, 0, 10, 16}, {2, 0, 9, 17}, {2, 1, 9, 16}, {3, 0, 14, 20}, {3, 2, 11, 16}, {2, 4, 6, 16}}) {
    INFO(each.stride << " " << each.shift << " " << each.size);
    for (const char* behind : {static_cast<const char*>(nullptr), follower, shifted}) {
      const ModulePtr module = spread(each, behind);
      check_schedules(module, numbers(each, !behind), "");
      const Module after = schedule(*module, small_tiles);
      CHECK(has_text(after, "C_reached"));
      CHECK_FALSE(has_text(after, "%"));
      // Only what reads it elsewhere needs the whole result.
      CHECK(has_text(after, "C = T.sblock_alloc_buffer") == (behind == shifted));
    }
  }
}

TEST_CASE("spread sums: few terms, and steps that reach more than one remainder, stay") {
  for (const Spread& each : std::vector<Spread>{{2, 0, 10, 15}, {17, 0, 20, 16}})
    CHECK_FALSE(has_text(schedule(*spread(each, follower), small_tiles), "C_reached"));
}
