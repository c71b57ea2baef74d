// What the next round reads, as pieces that the threads of this one fetch.
#include "jit/runtime/rows_ahead.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>

#include "jit/kernel_code.h"
#include "jit/runtime/runtime.h"
#include "tests/unit/jit/helpers.h"
#include "tests/unit/jit/texts.h"

using namespace relish;
using namespace relish::test;
using namespace relish::jit;

namespace {

constexpr std::int64_t piece = PiecesAhead::piece_bytes;

// Of those that were told.
std::vector<std::int64_t> places_of(const PiecesAhead& ahead, const char* data) {
  std::vector<std::int64_t> places;
  for (const PiecesAhead::Piece& each : ahead.pieces)
    if (each.asked != ahead.nowhere) places.push_back(each.asked - data);
  return places;
}

// What code does before each of so many tiles.
void run_tiles(PiecesAhead& ahead, std::int64_t tiles) {
  for (; tiles > 0 && ahead.left > 0; --tiles, --ahead.left, ++ahead.next) {
    const PiecesAhead::Piece& come = ahead.next[-PiecesAhead::until_copied];
    std::memcpy(come.to, come.from, static_cast<std::size_t>(piece));
  }
}

std::vector<char> different_bytes(std::int64_t count) {
  std::vector<char> bytes;
  for (std::int64_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(i * i / 7 + i));
  return bytes;
}

}  // namespace

TEST_CASE("rows ahead: each thread has its part of the rows, in pieces that end with the row", "[jit]") {
  const std::vector<char> data(static_cast<std::size_t>(10 * (2 * piece + 64)));
  const RowSource source{data.data(), 10, 2 * piece + 64, 0};
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
    const PiecesAhead& share = *ahead.of(thread);
    // The last ones are copied behind the last that is asked for.
    CHECK(share.left == static_cast<std::int64_t>(share.pieces.size()) - PiecesAhead::until_copied);
    CHECK(share.next == share.pieces.data() + PiecesAhead::until_copied);
    // What is fetched only is never read: its tensor may be gone by then.
    for (const PiecesAhead::Piece& each : share.pieces) CHECK(each.from == share.nowhere);
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
      {data.data(), 4, piece - 1, 0}, {data.data(), 4, piece, 0}, {data.data(), 4, 1 << 20, 0}};
  ahead.tell(std::span(sources, 1), rows, 1);
  CHECK(ahead.of(0)->left == 0);
  ahead.tell(std::span(sources + 1, 1), rows, 1);
  CHECK(places_of(*ahead.of(0), data.data()) == std::vector<std::int64_t>{0, piece, 2 * piece, 3 * piece});
  ahead.tell(sources, rows, 1);
  CHECK(places_of(*ahead.of(0), data.data()).size() * static_cast<std::size_t>(piece) == 256 << 10);
}

TEST_CASE("rows ahead: those of the table's row behind the one that is taken", "[jit]") {
  const std::vector<char> data(static_cast<std::size_t>(8 * piece));
  const RowSource source{data.data(), 8, piece, 0};
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

TEST_CASE("rows ahead: copies are whole however far code has come, on any number of threads", "[jit]") {
  const std::int64_t row = 2 * piece + 100;
  const std::vector<char> data = different_bytes(9 * row);
  const RowSource source{data.data(), 9, row, 1};
  const std::vector<std::int64_t> rows = {5, 0, 8, 5, 3};
  for (const std::size_t threads : {1, 2, 3, 8}) {
    for (const std::int64_t tiles : {0, 1, 4, 7, 100}) {
      RowsAhead ahead;
      ahead.tell({&source, 1}, rows, threads);
      CHECK(ahead.take(data.data(), rows) == nullptr);  // of the next round
      for (std::size_t t = 0; t < threads; ++t) run_tiles(*ahead.of(static_cast<int>(t)), tiles);
      ahead.tell({}, {}, threads);
      const std::vector<std::int64_t> others = {5, 0, 8, 5, 4};
      CHECK(ahead.take(data.data(), others) == nullptr);
      CHECK(ahead.take(data.data(), std::span(rows).first(4)) == nullptr);
      CHECK(ahead.take(data.data() + row, rows) == nullptr);
      const char* const copy = ahead.take(data.data(), rows);
      REQUIRE(copy != nullptr);
      for (std::size_t i = 0; i < rows.size(); ++i)
        CHECK(std::memcmp(copy + static_cast<std::int64_t>(i) * row, data.data() + rows[i] * row,
                          static_cast<std::size_t>(row)) == 0);
      CHECK(ahead.take(data.data(), rows) == nullptr);
    }
  }
}

TEST_CASE("rows ahead: what is taken stays as it is until it is given back", "[jit]") {
  const std::vector<char> data = different_bytes(64 * piece);
  const RowSource source{data.data(), 64, piece, 1};
  const auto row = [&](std::int64_t number) { return std::vector<std::int64_t>{number}; };
  RowsAhead ahead;
  ahead.tell({&source, 1}, row(7), 1);
  ahead.tell({&source, 1}, row(8), 1);
  const char* const kept = ahead.take(data.data(), row(7));
  REQUIRE(kept != nullptr);
  const auto is = [&](const char* copy, std::int64_t number) {
    return std::memcmp(copy, data.data() + number * piece, static_cast<std::size_t>(piece)) == 0;
  };
  // Loops inside of the round tell of theirs.
  for (std::int64_t i = 10; i < 30; ++i) {
    ahead.tell({&source, 1}, row(i), 1);
    const char* const other = i > 10 ? ahead.take(data.data(), row(i - 1)) : nullptr;
    CHECK((i > 10) == (other != nullptr));
    CHECK(other != kept);
    CHECK(is(kept, 7));
    if (other) CHECK(is(other, i - 1));
    ahead.give_back(other);
  }
  ahead.give_back(kept);
  ahead.give_back(kept);
  ahead.give_back(data.data());
  ahead.tell({&source, 1}, row(40), 1);
  ahead.tell({}, {}, 1);
  const char* const last = ahead.take(data.data(), row(40));
  REQUIRE(last != nullptr);
  CHECK(is(last, 40));
}

TEST_CASE("rows ahead: rows are copied all or not at all", "[jit]") {
  const std::vector<char> data(static_cast<std::size_t>(2 << 20));
  const auto copied = [&](std::int64_t count, std::int64_t bytes, const std::vector<std::int64_t>& rows,
                          std::size_t threads = 1) {
    const RowSource source{data.data(), count, bytes, 1};
    RowsAhead ahead;
    ahead.tell({&source, 1}, rows, threads);
    ahead.tell({}, {}, threads);
    return ahead.take(data.data(), rows) != nullptr;
  };
  CHECK(copied(4, piece, {0, 1, 2, 3}));
  CHECK_FALSE(copied(4, piece - 1, {0, 1}));  // too short
  CHECK_FALSE(copied(4, piece, {0, -1}));     // the kernel's to count
  CHECK_FALSE(copied(4, piece, {0, 4}));      // the kernel's to refuse
  CHECK_FALSE(copied(4, piece, {}));
  CHECK(copied(2, 256 << 10, {1}));
  CHECK_FALSE(copied(2, (256 << 10) + 1, {1}));  // more than a round can spare
  CHECK_FALSE(copied(2, 256 << 10, {0, 1}));
  CHECK(copied(2, 256 << 10, {0, 1}, 2));
  RowsAhead ahead;
  const RowSource source{data.data(), 4, piece, 1};
  ahead.tell({&source, 1}, std::vector<std::int64_t>{1}, 1);
  ahead.forget();
  ahead.tell({}, {}, 1);
  CHECK(ahead.take(data.data(), std::vector<std::int64_t>{1}) == nullptr);
}

TEST_CASE("rows ahead: rounds find the rows of their own tensors, and fail at their own numbers", "[jit]") {
  const ModulePtr module = module_from(
      "@I.ir_module\n"
      "class M:\n"
      "    @R.function\n"
      "    def shared(data: R.Tensor((9, 160), \"float32\"), order: R.Tensor((\"n\", 8), \"int64\"), w: R.Tensor((160, 160), \"float32\")):\n"
      "        n = T.int64()\n"
      "        s = R.zeros((8, 160), dtype=\"float32\")\n"
      "        for i in range(n):\n"
      "            rows = R.take(data, R.take(order, i, axis=0), axis=0)\n"
      "            s = R.add(R.multiply(s, R.const(0.5, \"float32\")), R.matmul(R.add(rows, R.const(1.0, \"float32\")), w))\n"
      "            s = R.add(s, rows)\n"
      "        return s\n"
      "    @R.function\n"
      "    def changing(data: R.Tensor((9, 160), \"float32\"), order: R.Tensor((\"n\", 8), \"int64\"), w: R.Tensor((160, 160), \"float32\")):\n"
      "        n = T.int64()\n"
      "        s = R.zeros((8, 160), dtype=\"float32\")\n"
      "        for i in range(n):\n"
      "            s = R.add(s, R.matmul(R.take(data, R.take(order, i, axis=0), axis=0), w))\n"
      "            data = R.add(data, R.const(1.0, \"float32\"))\n"
      "        return (s, data)\n"
      "    @R.function\n"
      "    def nested(data: R.Tensor((9, 160), \"float32\"), order: R.Tensor((\"n\", 8), \"int64\"), w: R.Tensor((160, 160), \"float32\")):\n"
      "        n = T.int64()\n"
      "        s = R.zeros((8, 160), dtype=\"float32\")\n"
      "        for i in range(n):\n"
      "            rows = R.take(data, R.take(order, i, axis=0), axis=0)\n"
      "            for j in range(n):\n"
      "                s = R.add(s, R.matmul(R.take(data, R.take(order, j, axis=0), axis=0), w))\n"
      "            s = R.add(s, R.matmul(rows, w))\n"
      "        return s\n");
  const Tensor data = numbers(DType::Float32, {9, 160}), w = numbers(DType::Float32, {160, 160}, 3);
  Tensor order = Tensor::empty(DType::Int64, {7, 8});
  for (std::int64_t i = 0; i < order.size(); ++i) order.set_int(i, (i * 5 + i / 8) % 9);
  for (const char* name : {"shared", "changing", "nested"}) {
    INFO(name);
    in_both_tiers(module, name, {data, order, w}, 1e-4);
    Tensor backwards = order.copy();
    backwards.set_int(19, -3);
    in_both_tiers(module, name, {data, backwards, w}, 1e-4);
    Tensor outside = order.copy();
    outside.set_int(35, 9);
    const auto words = [&](Evaluator& tier) {
      try {
        tier.call(module, name, {data, outside, w});
      } catch (const Failure& failure) {
        return std::string(failure.what());
      }
      return std::string();
    };
    CHECK(words(compiled_tier()) == words(*make_interpreter()));
    CHECK_FALSE(words(compiled_tier()).empty());
  }
}

namespace {

// In both tiers, with a table by which every round takes the same rows.
void all_rounds_alike(const ModulePtr& module, const std::vector<const char*>& names) {
  Tensor order = Tensor::empty(DType::Int64, {7, 8});
  for (std::int64_t i = 0; i < order.size(); ++i) order.set_int(i, i % 8);
  for (const char* name : names) {
    INFO(name);
    in_both_tiers(module, name,
                  {numbers(DType::Float32, {9, 160}), order, numbers(DType::Float32, {160, 160}, 3)}, 1e-4);
  }
}

}  // namespace

// The table goes on where a loop ends; other data stand in the memory of those that it read.
TEST_CASE("rows ahead: nothing of a loop is ahead behind it", "[jit]") {
  const ModulePtr module = module_from(
      "@I.ir_module\n"
      "class M:\n"
      "    @R.function\n"
      "    def again(x: R.Tensor((9, 160), \"float32\"), order: R.Tensor((7, 8), \"int64\"), w: R.Tensor((160, 160), \"float32\")):\n"
      "        s = R.zeros((8, 160), dtype=\"float32\")\n"
      "        data = R.add(x, R.const(1.0, \"float32\"))\n"
      "        for j in range(4):\n"
      "            data = R.multiply(data, R.const(2.0, \"float32\"))\n"
      "            for i in range(2):\n"
      "                rows = R.take(data, R.take(order, i, axis=0), axis=0)\n"
      "                s = R.add(R.add(s, R.matmul(rows, w)), rows)\n"
      "        return s\n"
      "    @R.function\n"
      "    def two(x: R.Tensor((9, 160), \"float32\"), order: R.Tensor((7, 8), \"int64\"), w: R.Tensor((160, 160), \"float32\")):\n"
      "        s = R.zeros((8, 160), dtype=\"float32\")\n"
      "        data = R.add(x, R.const(1.0, \"float32\"))\n"
      "        for i in range(2):\n"
      "            rows = R.take(data, R.take(order, i, axis=0), axis=0)\n"
      "            s = R.add(R.add(s, R.matmul(rows, w)), rows)\n"
      "        other = R.multiply(x, R.const(100.0, \"float32\"))\n"
      "        for i in range(2):\n"
      "            rows = R.take(other, R.take(order, i, axis=0), axis=0)\n"
      "            s = R.add(R.add(s, R.matmul(rows, w)), rows)\n"
      "        return s\n");
  all_rounds_alike(module, {"again", "two"});
}

// By another name, and between the rounds, as by a native function.
TEST_CASE("rows ahead: rounds that write to what they share find what was written", "[jit]") {
  const ModulePtr module = module_from(
      "@I.ir_module\n"
      "class M:\n"
      "    @T.prim_func\n"
      "    def double(A: T.Buffer((9, 160), \"float32\")):\n"
      "        for i, j in T.grid(9, 160):\n"
      "            A[i, j] = A[i, j] * T.float32(2)\n"
      "    @R.function(pure=False)\n"
      "    def body(x: R.Tensor((9, 160), \"float32\"), order: R.Tensor((7, 8), \"int64\"), w: R.Tensor((160, 160), \"float32\")):\n"
      "        data = R.add(x, R.const(1.0, \"float32\"))\n"
      "        both = (data, w)\n"
      "        s = R.zeros((8, 160), dtype=\"float32\")\n"
      "        for i in range(5):\n"
      "            rows = R.take(data, R.take(order, i, axis=0), axis=0)\n"
      "            s = R.add(R.add(s, R.matmul(rows, w)), rows)\n"
      "            M.double(both[0])\n"
      "        return s\n"
      "    @R.function(pure=False)\n"
      "    def condition(x: R.Tensor((9, 160), \"float32\"), order: R.Tensor((7, 8), \"int64\"), w: R.Tensor((160, 160), \"float32\")):\n"
      "        data = R.add(x, R.const(1.0, \"float32\"))\n"
      "        s = R.zeros((8, 160), dtype=\"float32\")\n"
      "        k = R.const(0, \"int64\")\n"
      "        for i in range(1):\n"
      "            while M.more(data, k):\n"
      "                rows = R.take(data, R.take(order, i, axis=0), axis=0)\n"
      "                s = R.add(R.add(s, R.matmul(rows, w)), rows)\n"
      "                k = R.add(k, R.const(1, \"int64\"))\n"
      "        return s\n"
      "    @R.function(pure=False)\n"
      "    def more(data: R.Tensor((9, 160), \"float32\"), k: R.Tensor((), \"int64\")):\n"
      "        M.double(data)\n"
      "        return R.less(k, R.const(5, \"int64\"))\n");
  all_rounds_alike(module, {"body", "condition"});
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
