// Windows: few updates of each element go through local buffers, in the order of the text.
#include <fmt/format.h>

#include <cmath>

#include "stdlib/stdlib.h"
#include "tests/unit/schedule/helpers.h"
#include "transform/legalize.h"

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

TEST_CASE("windows: a vector of elements at once, the last of which ends with the row") {
  const Target wide{.vector_bytes = 64, .vector_registers = 32};
  for (const auto& [columns, step] :
       std::vector<std::array<std::int64_t, 2>>{{4, 2}, {7, 2}, {16, 1}, {17, 3}, {46, 4}}) {
    INFO(columns << " " << step);
    const auto made = [columns = columns, step = step](const std::string& init, const std::string& value) {
      return nest(fmt::format("(3, {})", columns * step + 2), fmt::format("(3, {})", columns),
                  fmt::format("i, x, k in T.grid(3, {}, 3)", columns), "i0, x0, k0", "SSR",
                  init + "                C[i0, x0] = " + value + "\n");
    };
    const std::string begins =
        "                with T.init():\n                    C[i0, x0] = T.float32(1)\n";
    const std::string place = fmt::format("A[i0, x0 * {} + k0]", step);
    for (const std::string& value :
         {place + " - C[i0, x0] * T.float32(2)",
          fmt::format("T.Select({0} > C[i0, x0] and {0} < T.float32(4), {0}, C[i0, x0])", place)}) {
      const ModulePtr module = made(begins, value);
      check_schedules(module, numbers(module), "");
      CHECK(print(schedule(*module, wide)).find("C_held[lane]") != std::string::npos);
    }
    // What is only joined to, and what is no simple instruction, goes one by one.
    const ModulePtr rounded =
        made(begins, "C[i0, x0] - T.Cast(\"float32\", T.Cast(\"int32\", " + place + "))");
    check_schedules(rounded, numbers(rounded), "");
    for (const ModulePtr& module : {rounded, made("", "C[i0, x0] + " + place)})
      CHECK(print(schedule(*module, wide)).find("C_held[lane]") == std::string::npos);
  }
}

TEST_CASE("windows: largest cells by vectors, with zeros of both signs and what is no number") {
  install_stdlib();
  const ModulePtr module = std::make_shared<const Module>(
      legalize(*read_module("test.relish",
                            "@I.ir_module\nclass M:\n    @R.function\n"
                            "    def main(x: R.Tensor((3, 10, 44), \"float32\")):\n"
                            "        return R.nn.max_pool1d(x, pool_size=3, strides=2)\n")));
  Tensor data = small_numbers(DType::Float32, {3, 10, 44}, 7).tensor();
  for (std::int64_t i = 0; i < data.size(); ++i) {
    if (i % 5 == 0) data.set_double(i, i % 2 == 0 ? 0.0 : -0.0);
    if (i % 41 == 0) data.set_double(i, std::nan(""));
  }
  const auto interpreter = make_interpreter();
  const Tensor wanted = interpreter->call(module, "main", {Value(data)}).tensor();
  for (const Target& target : many_targets()) {
    const auto after = std::make_shared<const Module>(schedule(*module, target));
    INFO(print(*after));
    const Tensor found = interpreter->call(after, "main", {Value(data)}).tensor();
    const Tensor compiled =
        make_jit({.threads = 2, .target = target})->call(module, "main", {Value(data)}).tensor();
    for (std::int64_t i = 0; i < wanted.size(); ++i) {
      for (const Tensor* other : {&found, &compiled}) {
        const double a = wanted.get_double(i), b = other->get_double(i);
        REQUIRE(std::isnan(a) == std::isnan(b));
        if (std::isnan(a)) continue;
        REQUIRE(a == b);
        REQUIRE(std::signbit(a) == std::signbit(b));
      }
    }
  }
}

TEST_CASE("windows: what nothing reads is not stored, where that cannot fail") {
  const auto with_unread = [](const char* columns) {
    return read_module(
        "test.relish",
        fmt::format("@I.ir_module\nclass M:\n    @T.prim_func\n"
                    "    def f(A: T.Buffer((8, 8), \"float32\"), C: T.Buffer((8, 8), \"float32\")):\n"
                    "        unread = T.alloc_buffer((8, {}), \"float32\")\n"
                    "        for i, j in T.grid(8, 8):\n"
                    "            C[i, j] = A[i, j] + T.float32(1)\n"
                    "            unread[i, j] = A[i, j]\n",
                    columns));
  };
  const auto is_stored = [](const Module& module) {
    return print(schedule(module, small_tiles)).find("unread[") != std::string::npos;
  };
  check_schedules(with_unread("8"), numbers(with_unread("8")), "");
  CHECK_FALSE(is_stored(*with_unread("8")));
  CHECK(is_stored(*with_unread("4")));
}

TEST_CASE("windows: a buffer that nothing reads stays where a block declares it") {
  const auto module =
      read_module("test.relish",
                  "@I.ir_module\nclass M:\n    @T.prim_func\n"
                  "    def f(A: T.Buffer((8,), \"float32\"), C: T.Buffer((8,), \"float32\")):\n"
                  "        q = T.alloc_buffer((8,), \"float32\")\n"
                  "        for i in range(8):\n            q[i] = A[i]\n"
                  "        for i, j in T.grid(3, 3):\n            with T.block(\"split\"):\n"
                  "                v = T.axis.spatial(8, i * 3 + j)\n                T.where(i * 3 + j < 8)\n"
                  "                T.reads(A[v], q[v])\n                T.writes(C[v], q[v])\n"
                  "                C[v] = A[v] + T.float32(1)\n");
  check_schedules(module, numbers(module), "");
  const std::string text = print(schedule(*module, small_tiles));
  CHECK(text.find("q[i]") == std::string::npos);
  CHECK(text.find("q[v]") != std::string::npos);
}

TEST_CASE("windows: elements that other elements tell are gathered") {
  for (const char* dtype : {"float32", "float64", "int32", "int64"})
    for (const auto& [columns, guard] : {std::pair{16, false}, {37, false}, {37, true}}) {
      INFO(dtype << " " << columns << " " << guard);
      const std::string value = fmt::format("A[vi, T.max(T.min(I[vk, vj], 8), 0)] * T.{}(2)", dtype);
      const ModulePtr module = read_module(
          "test.relish",
          fmt::format("@I.ir_module\nclass M:\n    @T.prim_func\n    def f(A: T.Buffer((5, 9), \"{0}\"), "
                      "I: T.Buffer((3, {1}), \"int32\"), C: T.Buffer((5, {1}), \"{0}\")):\n"
                      "        for i, j, k in T.grid(5, {1}, 3):\n            with T.sblock(\"C\"):\n"
                      "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                      "                with T.init():\n                    C[vi, vj] = T.{0}(1)\n"
                      "                C[vi, vj] = C[vi, vj] + {2}\n",
                      dtype, columns,
                      guard ? fmt::format("T.if_then_else(I[vk, vj] >= 0 and I[vk, vj] < 9, {}, T.{}(0))",
                                          value, dtype)
                            : value));
      const Module after = schedule(*module, many_targets()[1]);
      CHECK(print(after).find("T.vectorized") != std::string::npos);
      check_schedules(
          module,
          {small_numbers(*dtype_from_name(dtype), {5, 9}, 7), small_numbers(DType::Int32, {3, columns}, 3)},
          "");
    }
}
