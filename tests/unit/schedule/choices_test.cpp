// Choices of a value with its place: a vector at a time, with the bits of one after the other.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

// The place of the largest element of each row, or column; `tie` tells which of equal ones.
ModulePtr search(const std::string& dtype, const std::string& tie, bool columns = false) {
  const std::string least =
      dtype.starts_with("float") ? fmt::format("T.{}(\"-inf\")", dtype) : fmt::format("T.{}(-99)", dtype);
  const std::string at = columns ? "A[vk, vi]" : "A[vi, vk]";
  const std::string keeps = tie == "first"  ? fmt::format("V[vi] >= {}", at)
                            : tie == "last" ? fmt::format("V[vi] > {}", at)
                                            : fmt::format("V[vi] > {0} or (V[vi] == {0} and C[vi] < vk)", at);
  return read_module("test.relish",
                     fmt::format("@I.ir_module\nclass M:\n    @T.prim_func\n"
                                 "    def f(A: T.Buffer(({0}), \"{1}\"), C: T.Buffer((\"n\",), \"int64\")):\n"
                                 "        V = T.alloc_buffer((n,), \"{1}\")\n"
                                 "        for i, k in T.grid(n, m):\n            with T.sblock(\"best\"):\n"
                                 "                vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                                 "                with T.init():\n                    C[vi] = T.int64(-1)\n"
                                 "                    V[vi] = {2}\n"
                                 "                place: T.int64 = T.Select({3}, C[vi], vk)\n"
                                 "                best: T.{1} = T.Select(V[vi] > {4}, V[vi], {4})\n"
                                 "                C[vi] = place\n                V[vi] = best\n",
                                 columns ? "\"m\", \"n\"" : "\"n\", \"m\"", dtype, least, keeps, at));
}

Value filled(DType dtype, std::int64_t n, std::int64_t m, const std::vector<double>& numbers) {
  Tensor tensor = Tensor::empty(dtype, {n, m});
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    tensor.set_double(
        i, numbers[static_cast<std::size_t>((7 * i + i / 5) % static_cast<std::int64_t>(numbers.size()))]);
  return Value(tensor);
}

std::vector<std::vector<Value>> tables_of(DType dtype) {
  std::vector<std::vector<Value>> sets;
  for (const auto& [n, m] : {std::pair{0, 5}, {3, 0}, {3, 1}, {2, 3}, {3, 16}, {2, 33}, {5, 70}}) {
    sets.push_back({filled(dtype, n, m, {1, 5, -3, 5, 2, 4})});
    if (!is_float(dtype)) continue;
    sets.push_back({filled(dtype, n, m, {-1, 0.0, -0.0, -2, -0.0, 0.0, -5})});
    sets.push_back({filled(dtype, n, m, {-infinity, -infinity, -infinity})});
    sets.push_back({filled(dtype, n, m, {1, 2, 3, 1, not_a_number, 2, 7, 0, 7, 1, 6, 2, 4, 1, 1, 1, 2})});
  }
  return sets;
}

}  // namespace

TEST_CASE("choices: the place of the largest element of a row, by vectors") {
  for (const char* dtype : {"float32", "float64", "int32", "int64"})
    for (const char* tie : {"first", "last", "lower"}) {
      INFO(dtype << " " << tie);
      const ModulePtr module = search(dtype, tie);
      CHECK(has_block(schedule(*module, many_targets()[1]), "choice"));
      check_schedules_for(module, tables_of(*dtype_from_name(dtype)), "");
    }
}

TEST_CASE("choices: what lanes have no form for is left as it is") {
  for (const char* dtype : {"float16", "int8"}) {
    INFO(dtype);
    const ModulePtr module = search(dtype, "lower");
    CHECK(!has_block(schedule(*module, many_targets()[1]), "choice"));
    check_schedules_for(module, tables_of(*dtype_from_name(dtype)), "");
  }
}

TEST_CASE("choices: of columns, the loop along memory becomes the innermost one") {
  const ModulePtr module = search("float32", "lower", true);
  const Module after = schedule(*module, many_targets()[1]);
  CHECK(!has_block(after, "choice"));
  CHECK(print(after).find("for k in range(m):\n            for i in ") != std::string::npos);
  std::vector<std::vector<Value>> sets;
  for (const auto& [n, m] : {std::pair{0, 5}, {3, 0}, {4, 1}, {17, 33}})
    sets.push_back({filled(DType::Float32, m, n, {1, 5, not_a_number, 5, -0.0, 0.0})});
  check_schedules_for(module, sets, "");
}
