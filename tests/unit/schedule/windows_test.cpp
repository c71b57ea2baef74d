// Windows: few updates of each element go through local buffers, in the order of the text.
#include <fmt/format.h>

#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

ModulePtr nest(const std::string& a, const std::string& c, const std::string& loops, const std::string& axes,
               const std::string& kinds, const std::string& body, const char* dtype = "float32") {
  return read_module(
      "test.relish",
      fmt::format("@I.ir_module\nclass M:\n    @T.prim_func\n"
                  "    def f(A: T.Buffer({}, \"{}\"), C: T.Buffer({}, \"{}\")):\n"
                  "        for {}:\n            with T.sblock(\"C\"):\n"
                  "                {} = T.axis.remap(\"{}\", [{}])\n{}",
                  a, dtype, c, dtype, loops, axes, kinds, loops.substr(0, loops.find(" in")), body));
}

// Not a sum: other rules leave it alone. The order of the updates shows in the result.
ModulePtr pool(std::int64_t step, std::int64_t window, const std::string& init = "T.float32(1)") {
  return nest(fmt::format("(4, {})", 40 * step + window), "(4, 40)",
              fmt::format("i, x, k in T.grid(4, 40, {})", window), "i0, x0, k0", "SSR",
              fmt::format("                with T.init():\n                    C[i0, x0] = {}\n"
                          "                C[i0, x0] = A[i0, x0 * {} + k0] - C[i0, x0] * T.float32(2)\n",
                          init, step));
}

bool has_local(const Module& module) { return print(module).find("C_held") != std::string::npos; }

std::vector<Value> numbers(const ModulePtr& module) {
  std::vector<std::int64_t> shape;
  for (const Scalar& dim : module->prim_func("f")->params[0].buffer()->shape())
    shape.push_back(*dim.as_int());
  return {small_numbers(module->prim_func("f")->params[0].buffer()->dtype(), shape, 7)};
}

}  // namespace

TEST_CASE("windows: updates in registers, in the order of the text") {
  for (const auto& [step, window] :
       std::vector<std::array<std::int64_t, 2>>{{1, 2}, {1, 3}, {2, 2}, {3, 5}, {4, 7}}) {
    INFO(step << " " << window);
    const ModulePtr module = pool(step, window);
    check_schedules(module, numbers(module), "");
    CHECK(has_local(schedule(*module, small_tiles)));
  }
}

TEST_CASE("windows: several results, one of which uses the other") {
  const ModulePtr module = nest("(4, 18)", "(4, 9)", "i, x, k in T.grid(4, 9, 2)", "i0, x0, k0", "SSR",
                                "                with T.init():\n                    C[i0, x0] = T.int64(3)\n"
                                "                C[i0, x0] = C[i0, x0] * T.int64(2) - A[i0, x0 * 2 + k0]\n"
                                "                C[i0, x0] = C[i0, x0] + T.if_then_else(C[i0, x0] > "
                                "T.int64(4), A[i0, x0 * 2], T.int64(k0))\n",
                                "int64");
  check_schedules(module, numbers(module), "");
  CHECK(has_local(schedule(*module, small_tiles)));
}

TEST_CASE("windows: what goes far, is read elsewhere, or is long keeps its loops") {
  const std::vector<ModulePtr> others{
      pool(5, 2), pool(1, 17),
      nest("(40, 4)", "(40, 40)", "i, x, k in T.grid(40, 40, 4)", "i0, x0, k0", "SSR",
           "                C[i0, x0] = A[x0, k0] - C[x0, i0]\n"),
      nest("(40, 44)", "(40, 40)", "i, k, x in T.grid(40, 4, 40)", "i0, k0, x0", "SRS",
           "                C[i0, x0] = A[i0, x0 + k0] - C[i0, x0]\n")};
  for (const ModulePtr& module : others) CHECK_FALSE(has_local(schedule(*module, small_tiles)));
}
