// Sums to a short row, which stays in registers: products of a vector and a matrix, sums by columns.
#include <fmt/format.h>

#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// C[b, j] = first + sum of `value` over the terms i of A: (batch, terms), B: (terms, columns) and D:
// (columns,).
ModulePtr row_sums(std::int64_t terms, std::int64_t columns, const std::string& dtype,
                   const std::string& first, const std::string& value,
                   const std::string& update = "C[b0, j0] + {}", std::int64_t batch = 2) {
  const std::string init =
      first.empty() ? "" : "                with T.init():\n                    C[b0, j0] = " + first + "\n";
  const std::string before =
      first.empty() ? fmt::format("        for b, j in T.grid({}, {}):\n            C[b, j] = T.{}(3)\n",
                                  batch, columns, dtype)
                    : "";
  return read_module(
      "test.relish",
      fmt::format("@I.ir_module\nclass M:\n    @T.prim_func\n"
                  "    def f(A: T.Buffer(({0}, {1}), \"{3}\"), B: T.Buffer(({1}, {2}), \"{3}\"), "
                  "D: T.Buffer(({2},), \"{3}\"), C: T.Buffer(({0}, {2}), \"{3}\")):\n{4}"
                  "        for b, j, i in T.grid({0}, {2}, {1}):\n            with T.sblock(\"C\"):\n"
                  "                b0, j0, i0 = T.axis.remap(\"SSR\", [b, j, i])\n{5}"
                  "                C[b0, j0] = {6}\n",
                  batch, terms, columns, dtype, before, init, fmt::format(fmt::runtime(update), value)));
}

std::vector<Value> numbers_of(DType dtype, std::int64_t terms, std::int64_t columns, std::int64_t batch = 2) {
  return {small_numbers(dtype, {batch, terms}, 7), small_numbers(dtype, {terms, columns}, 5),
          small_numbers(dtype, {columns}, 3)};
}

bool keeps_row(const ModulePtr& module, const Target& target = {}) {
  return has_block(schedule(*module, target), "row");
}

constexpr Target wide_registers{.vector_bytes = 64, .vector_registers = 32};

}  // namespace

TEST_CASE("row sums: whole vectors, ends of them and single elements, in both precisions") {
  for (const char* dtype : {"float32", "float64"}) {
    const DType type = *dtype_from_name(dtype);
    for (const std::int64_t columns : {4, 7, 8, 16, 19, 32}) {
      for (const std::int64_t terms : {1, 2, 9, 40}) {
        for (const std::string& first : {fmt::format("T.{}(0)", dtype), std::string("D[j0]"), std::string()}) {
          INFO(dtype << " " << columns << " " << terms << " " << first);
          const ModulePtr module = row_sums(terms, columns, dtype, first, "(A[b0, i0] * B[i0, j0] + D[j0])");
          check_schedules(module, numbers_of(type, terms, columns), {});
          // A few updates of each element are unrolled before that.
          CHECK(keeps_row(module) == (terms == 1 || terms == 40));
        }
      }
    }
  }
}

TEST_CASE("row sums: half of the registers, and no more") {
  // Vectors of 8 and 16 registers; of 16 and 32.
  const auto of = [](std::int64_t columns, const char* dtype) {
    return row_sums(40, columns, dtype, "D[j0]", "A[b0, i0] * B[i0, j0]", "C[b0, j0] + {}", 1);
  };
  CHECK(keeps_row(of(64, "float32")));
  CHECK_FALSE(keeps_row(of(65, "float32")));
  CHECK(keeps_row(of(32, "float64")));
  CHECK_FALSE(keeps_row(of(33, "float64")));
  CHECK(keeps_row(of(256, "float32"), wide_registers));
  CHECK_FALSE(keeps_row(of(257, "float32"), wide_registers));
}

TEST_CASE("row sums: what lanes cannot add up side by side stays in memory") {
  const std::string zero = "T.float32(0)", product = "A[b0, i0] * B[i0, j0]";
  const auto of = [&](const std::string& first, const std::string& value,
                      const std::string& update = "C[b0, j0] + {}") {
    const ModulePtr module = row_sums(32, 32, "float32", first, value, update);
    check_schedules(module, numbers_of(DType::Float32, 32, 32), {});
    return module;
  };
  CHECK(keeps_row(of(zero, product)));
  CHECK(keeps_row(of(zero, "(A[b0, i0] - B[i0, j0]) * D[j0]")));
  CHECK_FALSE(keeps_row(of(zero, product, "T.max(C[b0, j0], {})")));
  CHECK_FALSE(
      keeps_row(of("T.float32(1)", "T.if_then_else(B[i0, j0] > T.float32(0), 1.0, -1.0)", "C[b0, j0] * {}")));
  CHECK_FALSE(keeps_row(of(zero, "T.if_then_else(B[i0, j0] > A[b0, i0], 1.0, 2.0)")));
  CHECK_FALSE(keeps_row(of(zero, "A[b0, i0] * B[j0, i0]")));
  CHECK_FALSE(keeps_row(of(zero, "A[b0, i0] * T.Cast(\"float32\", j0)")));
}

TEST_CASE("row sums: many terms are summed in parts, each of which has its own sums") {
  CHECK(keeps_row(row_sums(1024, 16, "float32", "D[j0]", "A[b0, i0] * B[i0, j0]", "C[b0, j0] + {}", 1)));
  const ModulePtr more = row_sums(1025, 16, "float32", "D[j0]", "A[b0, i0] * B[i0, j0]", "C[b0, j0] + {}", 1);
  CHECK_FALSE(keeps_row(more));
  check_schedules(more, numbers_of(DType::Float32, 1025, 16, 1), "sums");
}

TEST_CASE("row sums: terms that read the sum itself") {
  const ModulePtr own = row_sums(30, 16, "float64", "T.float64(1)",
                                 "(A[b0, i0] - A[b0, i0] + T.float64(1)) * C[b0, j0]", "C[b0, j0] + {}");
  CHECK_FALSE(keeps_row(own));
  check_schedules(own, numbers_of(DType::Float64, 30, 16), {});
}
