// What the next round reads, as pieces that the threads of this one fetch.
#include "jit/runtime/rows_ahead.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "jit/kernel_code.h"
#include "jit/runtime/runtime.h"
#include "tests/unit/jit/helpers.h"
#include "tests/unit/jit/texts.h"

using namespace relish;
using namespace relish::test;
using namespace relish::jit;

namespace {

constexpr std::int64_t piece = PiecesAhead::lines * PiecesAhead::line_bytes;

std::vector<std::int64_t> places_of(const PiecesAhead& ahead, const char* data) {
  std::vector<std::int64_t> places;
  for (const char* at : ahead.pieces) places.push_back(at - data);
  return places;
}

}  // namespace

TEST_CASE("rows ahead: each thread has its part of the rows, in pieces that end with the row", "[jit]") {
  const std::vector<char> data(static_cast<std::size_t>(10 * (2 * piece + 64)));
  const RowSource source{data.data(), 10, 2 * piece + 64};
  RowsAhead ahead;
  CHECK(ahead.of(0)->left == 0);
  CHECK(ahead.of(1)->left == 0);
  const std::vector<std::int64_t> rows = {3, -1, 7};
  ahead.tell(std::span(&source, 1), rows, 2);
  const std::int64_t size = source.row_bytes, last = size - piece;
  CHECK(places_of(*ahead.of(0), data.data()) ==
        std::vector<std::int64_t>{3 * size, 3 * size + piece, 3 * size + last});
  CHECK(places_of(*ahead.of(1), data.data()) == std::vector<std::int64_t>{9 * size, 9 * size + piece,
                                                                          9 * size + last, 7 * size,
                                                                          7 * size + piece, 7 * size + last});
  for (const int thread : {0, 1}) {
    CHECK(ahead.of(thread)->left == static_cast<std::int64_t>(ahead.of(thread)->pieces.size()));
    CHECK(ahead.of(thread)->next == ahead.of(thread)->pieces.data());
  }
  CHECK(ahead.of(2)->left == 0);
  // What was told before is forgotten, and rows that are not there are nobody's.
  const std::vector<std::int64_t> outside = {10, -11};
  ahead.tell(std::span(&source, 1), outside, 2);
  CHECK(ahead.of(0)->left == 0);
  CHECK(ahead.of(1)->left == 0);
}

TEST_CASE("rows ahead: short rows are left alone, and of long ones as much as the round can spare", "[jit]") {
  const std::vector<char> data(static_cast<std::size_t>(4 << 20));
  const std::vector<std::int64_t> rows = {0, 1, 2, 3};
  RowsAhead ahead;
  const RowSource sources[] = {
      {data.data(), 4, piece - 1}, {data.data(), 4, piece}, {data.data(), 4, 1 << 20}};
  ahead.tell(std::span(sources, 1), rows, 1);
  CHECK(ahead.of(0)->left == 0);
  ahead.tell(std::span(sources + 1, 1), rows, 1);
  CHECK(places_of(*ahead.of(0), data.data()) == std::vector<std::int64_t>{0, piece, 2 * piece, 3 * piece});
  ahead.tell(sources, rows, 1);
  CHECK(ahead.of(0)->left * piece == 256 << 10);
}

TEST_CASE("rows ahead: those of the table's row behind the one that is taken", "[jit]") {
  const std::vector<char> data(static_cast<std::size_t>(8 * piece));
  const RowSource source{data.data(), 8, piece};
  std::vector<std::int64_t> table(8);
  std::iota(table.begin(), table.end(), 0);
  CallMemory memory;
  CallState state(memory, 1);
  RtContext context{nullptr, state.rows_ahead.of(0), &state, nullptr, {}};
  const auto told = [&](std::int64_t at) {
    rt_rows_ahead(&context, table.data(), 4, 2, at, &source, 1);
    return places_of(*context.ahead, data.data());
  };
  CHECK(told(0) == std::vector<std::int64_t>{2 * piece, 3 * piece});
  CHECK(told(2) == std::vector<std::int64_t>{6 * piece, 7 * piece});
  CHECK(told(3).empty());
  CHECK(told(-3) == std::vector<std::int64_t>{4 * piece, 5 * piece});
  CHECK(told(-1).empty());
  CHECK(told(-9).empty());
}

TEST_CASE("rows ahead: loops around tiles of registers fetch, plain ones do not", "[jit][code]") {
  const ModulePtr module = module_from(
      "@I.ir_module\n"
      "class M:\n"
      "    @R.function\n"
      "    def main(x: R.Tensor((64, 64), \"float32\"), w: R.Tensor((64, 64), \"float32\")):\n"
      "        y = R.matmul(x, w)\n"
      "        return R.divide(y, R.sum(y))\n");
  const auto code = kernel_code_of(module, "main", CodeForm::Optimized);
  REQUIRE(code.size() >= 2);
  bool of_product = false, of_others = false;
  for (const auto& kernel : code) {
    const bool fetches = kernel.text.find("@llvm.prefetch") != std::string::npos;
    (kernel.name.find("matmul") != std::string::npos ? of_product : of_others) |= fetches;
  }
  CHECK(of_product);
  CHECK_FALSE(of_others);
}
