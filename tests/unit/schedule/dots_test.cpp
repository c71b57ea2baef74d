// Dots: sums of products along memory in lanes, and products whose extents only the run knows.
#include <fmt/format.h>

#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// C[i, j] += `value` over i, j, k of A: (n, k) and B, whose shape is given; sizes are numbers or n, m, k.
ModulePtr products(const std::string& n, const std::string& m, const std::string& k,
                   const std::string& b_shape, const std::string& value, const std::string& dtype = "float32",
                   bool starts = true) {
  const std::string sizes = "        n = T.int64()\n        m = T.int64()\n        k = T.int64()\n";
  return read_module(
      "test.relish",
      fmt::format(
          "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(a: T.handle, b: T.handle, c: T.handle):\n{}"
          "        A = T.match_buffer(a, ({}, {}), \"{}\")\n        B = T.match_buffer(b, ({}), \"{}\")\n"
          "        C = T.match_buffer(c, ({}, {}), \"{}\")\n{}"
          "        for i, j, l in T.grid({}, {}, {}):\n            with T.sblock(\"C\"):\n"
          "                vi, vj, vl = T.axis.remap(\"SSR\", [i, j, l])\n{}"
          "                C[vi, vj] = C[vi, vj] + {}\n",
          sizes, n, k, dtype, b_shape, dtype, n, m, dtype,
          starts ? ""
                 : fmt::format("        for i, j in T.grid({}, {}):\n            C[i, j] = T.{}(1)\n", n, m,
                               dtype),
          n, m, k,
          starts ? fmt::format("                with T.init():\n                    C[vi, vj] = T.{}(0)\n",
                               dtype)
                 : "",
          value));
}

}  // namespace

TEST_CASE("dots: rows times rows, of every length") {
  for (const char* dtype : {"float32", "float64"}) {
    for (const auto& [n, m, k] :
         std::vector<std::array<std::int64_t, 3>>{{1, 8, 64}, {2, 5, 100}, {8, 4, 95}, {1, 1, 4096}}) {
      for (const bool starts : {true, false}) {
        INFO(dtype << " " << n << " " << m << " " << k);
        const auto text = [](std::int64_t size) { return std::to_string(size); };
        const ModulePtr module = products(text(n), text(m), text(k), fmt::format("{}, {}", m, k),
                                          "A[vi, vl] * B[vj, vl]", dtype, starts);
        const DType type = *dtype_from_name(dtype);
        check_schedules(module, {small_numbers(type, {n, k}, 7), small_numbers(type, {m, k}, 5)}, "dot");
      }
    }
  }
}

TEST_CASE("dots: a matrix and a column, whose elements lie side by side") {
  const ModulePtr module = products("40", "1", "70", "70, 1", "A[vi, vl] * B[vl, vj]");
  check_schedules(
      module, {small_numbers(DType::Float32, {40, 70}, 7), small_numbers(DType::Float32, {70, 1}, 5)}, "dot");
}

TEST_CASE("dots: squares of differences, and sums in parts") {
  const ModulePtr module =
      products("2", "2", "33000", "2, 33000", "(A[vi, vl] - B[vj, vl]) * (A[vi, vl] - B[vj, vl])");
  check_schedules(
      module, {small_numbers(DType::Float32, {2, 33000}, 7), small_numbers(DType::Float32, {2, 33000}, 5)},
      "dot");
}

TEST_CASE("dots: an extent that the run knows") {
  const ModulePtr module = products("T.int64(2)", "T.int64(3)", "k", "3, k", "A[vi, vl] * B[vj, vl]");
  std::vector<std::vector<Value>> sets;
  for (const std::int64_t k : {0, 1, 31, 200})
    sets.push_back({small_numbers(DType::Float32, {2, k}, 7), small_numbers(DType::Float32, {3, k}, 5)});
  check_schedules_for(module, sets, "dot");
}

TEST_CASE("dots: what goes across memory, or is short, or no product, has none") {
  for (const ModulePtr& module : {products("2", "8", "64", "64, 8", "A[vi, vl] * B[vl, vj]"),
                                  products("2", "8", "63", "8, 63", "A[vi, vl] * B[vj, vl]"),
                                  products("2", "8", "64", "8, 64", "(A[vi, vl] + B[vj, vl])"),
                                  products("2", "8", "64", "8, 64", "A[vi, vl] * B[vj, vl]", "float16")})
    CHECK_FALSE(has_block(schedule(*module), "dot"));
}

TEST_CASE("contraction: extents that the run knows, in rows, columns and sums") {
  for (const auto& [n, m, k] : std::vector<std::array<const char*, 3>>{{"n", "T.int64(12)", "T.int64(9)"},
                                                                       {"T.int64(5)", "m", "T.int64(9)"},
                                                                       {"T.int64(5)", "T.int64(12)", "k"},
                                                                       {"n", "m", "k"}}) {
    for (const bool starts : {true, false}) {
      const ModulePtr module =
          products(n, m, k, fmt::format("{}, {}", k, m), "A[vi, vl] * B[vl, vj]", "float32", starts);
      std::vector<std::vector<Value>> sets;
      for (const auto& [rows, columns, sums] : std::vector<std::array<std::int64_t, 3>>{
               {5, 12, 9}, {1, 12, 9}, {5, 1, 9}, {5, 12, 600}, {40, 37, 0}}) {
        const auto size = [](const char* text, std::int64_t here) {
          return *text == 'T' ? std::stoll(text + 8) : here;
        };
        const std::int64_t r = size(n, rows), c = size(m, columns), s = size(k, sums);
        sets.push_back({small_numbers(DType::Float32, {r, s}, 7), small_numbers(DType::Float32, {s, c}, 5)});
      }
      INFO(n << " " << m << " " << k);
      check_schedules_for(module, sets, "tile");
    }
  }
}
