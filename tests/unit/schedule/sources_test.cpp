// What the next blocks copy, and the sums so far, are asked for by the tiles before.
#include <fmt/format.h>

#include <regex>

#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

constexpr std::int64_t in_line = 16;  // float32 in 64 bytes

// C = A * B of these sizes, each of which may be a name.
ModulePtr product(const std::string& rows, const std::string& terms, const std::string& columns,
                  bool turned) {
  std::string names;
  for (const std::string& size : {rows, terms, columns})
    if (size.size() == 1) names += fmt::format("        {} = T.int64()\n", size);
  return read_module(
      "test.relish",
      fmt::format(
          "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(a: T.handle, b: T.handle, c: T.handle):\n{}"
          "        A = T.match_buffer(a, ({}))\n        B = T.match_buffer(b, ({}, {}))\n"
          "        C = T.match_buffer(c, ({}, {}))\n        for i, j, k in T.grid({}, {}, {}):\n"
          "            with T.sblock(\"C\"):\n                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
          "                with T.init():\n                    C[vi, vj] = T.float32(0)\n"
          "                C[vi, vj] = C[vi, vj] + A[{}] * B[vk, vj]\n",
          names, turned ? terms + ", " + rows : rows + ", " + terms, terms, columns, rows, columns, rows,
          columns, terms, turned ? "vk, vi" : "vi, vk"));
}

// The scheduled text, in which what is asked for of one factor is marked by 99 instead; the interpreter tells
// where.
Tensor asked_of(const std::string& factor, const Module& scheduled, const std::vector<Value>& args) {
  std::string text = print(scheduled);
  text = std::regex_replace(text, std::regex(" *T\\.(reads|writes)\\([^\n]*\n"), "");
  text = std::regex_replace(text, std::regex("T\\.parallel\\("), "range(");
  text = std::regex_replace(text, std::regex("T\\.evaluate\\((" + factor + "\\[[^\n]*\\])\\)\n"),
                            "$1 = T.float32(99)\n");
  INFO(text);
  const Value marked = make_interpreter()->call(read_module("marked.relish", text), "f", args);
  REQUIRE(marked.is_tuple());  // the factor, and C
  return marked.fields()[0].tensor();
}

// Whether one element of every line of the run of memory is marked: from `begin` to `end` in that row.
bool every_line(const Tensor& marked, std::int64_t row, std::int64_t begin, std::int64_t end) {
  const std::int64_t width = marked.shape()[1];
  for (std::int64_t first = begin; first < end; first += in_line) {
    bool found = false;
    for (std::int64_t at = first; at < std::min(first + in_line, end); ++at)
      found = found || marked.get_double(row * width + at) == 99;
    if (!found) return false;
  }
  return true;
}
bool nothing(const Tensor& marked, std::int64_t row, std::int64_t begin, std::int64_t end) {
  for (std::int64_t at = begin; at < end; ++at)
    if (marked.get_double(row * marked.shape()[1] + at) == 99) return false;
  return true;
}

const Target& small_cache() {
  static const Target target{.vector_bytes = 64,
                             .vector_registers = 32,
                             .private_cache_bytes = 1 << 19,
                             .line_bytes = 64,
                             .least_products = 0};
  return target;
}

std::vector<Value> arguments(std::int64_t rows, std::int64_t terms, std::int64_t columns, bool turned) {
  return {small_numbers(DType::Float32, turned ? std::vector{terms, rows} : std::vector{rows, terms}, 7),
          small_numbers(DType::Float32, {terms, columns}, 5)};
}

// Of a factor whose elements of a term lie side by side: all is asked for but what the first block of so many
// elements takes of the first part of so many terms.
void check_asked_behind(const Tensor& marked, std::int64_t block, std::int64_t part) {
  for (std::int64_t term = 0; term < marked.shape()[0]; ++term) {
    INFO(term);
    REQUIRE(every_line(marked, term, block, marked.shape()[1]));
    CHECK((term < part ? nothing(marked, term, 0, block) : every_line(marked, term, 0, block)));
  }
}

std::string size(std::int64_t value) { return std::to_string(value); }

}  // namespace

TEST_CASE("sources: a block of rows asks for all that the next one copies, the last one for the next part") {
  // 600 terms are three parts of 200; blocks have 32 rows, of which the last one may have fewer.
  for (const auto& [rows, columns] : std::vector<std::array<std::int64_t, 2>>{{320, 512}, {325, 500}}) {
    INFO(rows << " " << columns);
    const auto args = arguments(rows, 600, columns, false);
    const Module after = schedule(*product(size(rows), "600", size(columns), false), small_cache());
    const Tensor marked = asked_of("A", after, args);
    for (std::int64_t row = 0; row < rows; ++row) {
      INFO(row);
      // Nobody is before the first block, and a last one of fewer tiles asks for less.
      if (row < 32) CHECK(nothing(marked, row, 0, 200));
      for (const std::int64_t part : {0, 200, 400})
        if (row >= 32 || (part > 0 && rows % 32 == 0)) REQUIRE(every_line(marked, row, part, part + 200));
    }
  }
}

TEST_CASE("sources: rows that lie side by side") {
  const auto args = arguments(320, 600, 512, true);
  const Tensor marked = asked_of("A", schedule(*product("320", "600", "512", true), small_cache()), args);
  check_asked_behind(marked, 32, 200);
}

TEST_CASE("sources: all blocks of rows share what the next part and the next columns take") {
  // Two blocks of 256 columns.
  const auto args = arguments(320, 600, 512, false);
  const Tensor marked = asked_of("B", schedule(*product("320", "600", "512", false), small_cache()), args);
  check_asked_behind(marked, 256, 200);
}

TEST_CASE("sources: of sizes that only the run knows, up to their ends") {
  const Module after = schedule(*product("n", "k", "m", false), small_cache());
  const Tensor marked = asked_of("A", after, arguments(325, 600, 500, false));
  for (std::int64_t row = 0; row < 325; ++row) {
    INFO(row);
    if (row < 26) CHECK(nothing(marked, row, 0, 600));  // blocks of two tiles of 13 rows
    if (row < 26) continue;
    for (const std::int64_t part : {0, 256, 512})
      REQUIRE(every_line(marked, row, part, std::min<std::int64_t>(part + 256, 600)));
  }
}

TEST_CASE("sources: a known number of rows beside terms that only the run knows") {
  // 312 rows are whole blocks: behind the last one there is nothing, and without terms there is nothing at
  // all.
  for (const bool turned : {false, true}) {
    const ModulePtr module = product("T.int64(312)", "k", "T.int64(500)", turned);
    const auto after = std::make_shared<const Module>(schedule(*module, small_cache()));
    const auto jit = make_jit({.threads = 2, .target = small_cache()});
    for (const std::int64_t terms : {0, 1, 600}) {
      INFO(turned << " " << terms);
      const auto args = arguments(312, terms, 500, turned);
      const Tensor wanted = make_interpreter()->call(module, "f", args).tensor();
      require_same(make_interpreter()->call(after, "f", args).tensor(), wanted);
      require_same(jit->call(module, "f", args).tensor(), wanted);
    }
    const Tensor marked = asked_of("A", *after, arguments(312, 600, 500, turned));
    for (std::int64_t row = turned ? 0 : 26; row < (turned ? 600 : 312); ++row) {
      INFO(row);
      REQUIRE((turned ? every_line(marked, row, 26, 312) : every_line(marked, row, 0, 600)));
    }
  }
}

TEST_CASE("sources: not of a factor that a core's cache holds beside the rest") {
  const auto asks = [](const std::string& rows, const std::string& terms, const std::string& columns,
                       const char* factor) {
    return print(schedule(*product(rows, terms, columns, false), small_cache()))
               .find(fmt::format("T.evaluate({}[", factor)) != std::string::npos;
  };
  CHECK(asks("320", "600", "512", "A"));
  CHECK(asks("320", "600", "512", "B"));
  CHECK(asks("320", "600", "512", "C"));  // the sums so far
  CHECK_FALSE(asks("2560", "100", "256", "B"));
  CHECK_FALSE(asks("640", "200", "512", "C"));  // one part of terms
  CHECK_FALSE(asks("64", "600", "512", "A"));   // two blocks, which take what is copied once
}

TEST_CASE("sources: what is only asked for is no argument, and no reason to clear a result") {
  const ModulePtr module = read_module(
      "test.relish",
      "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(A: T.Buffer((8,), \"float32\"), C: T.Buffer((8,), \"float32\")):\n"
      "        for i in range(8):\n            T.evaluate(C[T.min(i + 1, 7)])\n            C[i] = A[i] * T.float32(2)\n");
  const std::vector<Value> args{small_numbers(DType::Float32, {8}, 3)};
  const Tensor wanted = make_interpreter()->call(module, "f", args).tensor();
  CHECK(wanted.get_double(1) == 2 * args[0].tensor().get_double(1));
  require_same(make_jit({.threads = 1})->call(module, "f", args).tensor(), wanted);
}
