// The sizes of blocks of products, and what of them is copied where.
#include <fmt/format.h>

#include <array>

#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

constexpr Target large_caches{.vector_bytes = 64,
                              .vector_registers = 32,
                              .first_cache_bytes = 48 << 10,
                              .private_cache_bytes = 1 << 20,
                              .least_products = 0,
                              .least_moved = 0};

ModulePtr product_of(std::int64_t n, std::int64_t k, std::int64_t m) {
  return read_module(
      "test.relish",
      fmt::format("@I.ir_module\nclass M:\n    @T.prim_func\n"
                  "    def f(A: T.Buffer(({}, {}), \"float32\"), B: T.Buffer(({}, {}), \"float32\"), "
                  "C: T.Buffer(({}, {}), \"float32\")):\n        for i, j, l in T.grid({}, {}, {}):\n"
                  "            with T.sblock(\"C\"):\n                vi, vj, vl = "
                  "T.axis.remap(\"SSR\", [i, j, l])\n                with T.init():\n"
                  "                    C[vi, vj] = T.float32(0)\n"
                  "                C[vi, vj] = C[vi, vj] + A[vi, vl] * B[vl, vj]\n",
                  n, k, k, m, n, m, n, m, k));
}

// The shape of the buffer of that name; empty when there is none.
std::vector<std::int64_t> shape_of_buffer(const Module& module, std::string_view name) {
  std::vector<std::int64_t> shape;
  for_each_stmt(module.prim_func("f")->body, [&](const Stmt& stmt) {
    const auto* block = stmt.as<BlockStmt>();
    if (!block) return;
    for (const Buffer& buffer : block->allocations) {
      if (buffer.name() != name) continue;
      shape.clear();
      for (const Scalar& extent : buffer.shape()) shape.push_back(*extent.as_int());
    }
  });
  return shape;
}

}  // namespace

TEST_CASE("blocks: of many rows they are taller and less wide") {
  // Of one product each part would go over all rows.
  const auto items = [](std::int64_t rows) {
    return read_module(
        "test.relish",
        fmt::format(
            "@I.ir_module\nclass M:\n    @T.prim_func\n"
            "    def f(A: T.Buffer((2, {0}, 512), \"float32\"), B: T.Buffer((2, 512, 1024), \"float32\"), "
            "C: T.Buffer((2, {0}, 1024), \"float32\")):\n        for b, i, j, l in T.grid(2, {0}, 1024, 512):\n"
            "            with T.sblock(\"C\"):\n                vb, vi, vj, vl = "
            "T.axis.remap(\"SSSR\", [b, i, j, l])\n                with T.init():\n"
            "                    C[vb, vi, vj] = T.float32(0)\n"
            "                C[vb, vi, vj] = C[vb, vi, vj] + A[vb, vi, vl] * B[vb, vl, vj]\n",
            rows));
  };
  const auto few = shape_of_buffer(schedule(*items(1024), large_caches), "sums");
  const auto many = shape_of_buffer(schedule(*items(2048), large_caches), "sums");
  REQUIRE(few.size() == 2);
  REQUIRE(many.size() == 2);
  CHECK(few[0] <= 192);
  CHECK(few[1] == 256);
  CHECK(many[0] >= 256);
  CHECK(many[1] == 128);
}

TEST_CASE("blocks: fewer columns than a vector has are stored from registers") {
  const ModulePtr module = product_of(16, 20, 10);
  CHECK(shape_of_buffer(schedule(*module, large_caches), "sums").empty());
  CHECK(shape_of_buffer(schedule(*module, large_caches), "tile") == std::vector<std::int64_t>{16, 16});
  check_schedules(module,
                  {small_numbers(DType::Float32, {16, 20}, 7), small_numbers(DType::Float32, {20, 10}, 5)},
                  "tile");
  // Rows that are not whole tiles go by the sums of the block.
  const ModulePtr odd = product_of(17, 20, 10);
  check_schedules(
      odd, {small_numbers(DType::Float32, {17, 20}, 7), small_numbers(DType::Float32, {20, 10}, 5)}, "tile");
}

TEST_CASE("blocks: the first part of a sum sets it, the last one goes to the result") {
  const auto args = [](std::int64_t n, std::int64_t k, std::int64_t m) {
    return std::vector<Value>{small_numbers(DType::Float32, {n, k}, 7),
                              small_numbers(DType::Float32, {k, m}, 5)};
  };
  const auto text_of = [&](std::int64_t n, std::int64_t k, std::int64_t m) {
    return print(schedule(*product_of(n, k, m), large_caches));
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  // Three parts; of two, the second is the last.
  const std::string three = text_of(16, 600, 64), two = text_of(16, 400, 64);
  CHECK(has(three, "if l_0 == 0:"));
  CHECK(has(three, "elif l_0 == 2:"));
  CHECK(has(two, "if l_0 == 0:"));
  CHECK_FALSE(has(two, "elif"));
  for (const std::string& text : {three, two}) {
    CHECK_FALSE(has(text, "sums[row, column] = T.float32(0.0)"));
    CHECK_FALSE(has(text, "= sums[i, j]"));
  }
  check_schedules(product_of(16, 600, 64), args(16, 600, 64), "tile");
  check_schedules(product_of(16, 400, 64), args(16, 400, 64), "tile");
  // Rows that are no whole tiles are stored behind all parts.
  CHECK(has(text_of(17, 600, 64), "= sums[i, j]"));
  check_schedules(product_of(17, 600, 60), args(17, 600, 60), "tile");
}

namespace {

// The parallel loops and the panels, in the order of the text, each panel with its shape: "j_0 B_panel 20
// 32".
std::string shared_out(const Module& module) {
  std::string found;
  for_each_stmt(module.prim_func("f")->body, [&](const Stmt& stmt) {
    const auto* loop = stmt.as<For>();
    if (loop && loop->kind == LoopKind::Parallel) found += loop->var.name() + " ";
    const auto* block = stmt.as<BlockStmt>();
    if (!block) return;
    for (const Buffer& buffer : block->allocations) {
      if (buffer.name().find("panel") == std::string::npos) continue;
      found += buffer.name() + " ";
      for (const Scalar& extent : buffer.shape()) found += std::to_string(*extent.as_int()) + " ";
    }
  });
  return found;
}

}  // namespace

TEST_CASE("blocks: of few rows the threads take columns, and each copies its own") {
  CHECK(shared_out(schedule(*product_of(64, 784, 128), large_caches)) == "j_0 B_panel 196 32 ");
  // At most eight blocks, of whole tiles.
  Target larger = large_caches;
  larger.private_cache_bytes *= 2;
  CHECK(shared_out(schedule(*product_of(64, 784, 512), larger)) == "j_0 B_panel 2 196 32 ");
  // Rows that are no whole tiles, or fall into the same lines of a cache, are copied before, once.
  CHECK(shared_out(schedule(*product_of(61, 784, 128), large_caches)) ==
        "A_panel 4 63 196 l_0 j_0 B_panel 196 32 ");
  // Columns that are no whole tiles stay one block.
  CHECK(shared_out(schedule(*product_of(64, 784, 100), large_caches)).find("j_0") == std::string::npos);
  for (const auto& [n, k, m] : std::vector<std::array<std::int64_t, 3>>{
           {24, 300, 64}, {8, 300, 288}, {13, 300, 64}, {8, 1024, 96}, {64, 30, 100}})
    check_schedules(product_of(n, k, m),
                    {small_numbers(DType::Float32, {n, k}, 7), small_numbers(DType::Float32, {k, m}, 5)}, "");
}

TEST_CASE("blocks: of an open number of rows, few go by columns and many by rows, with the same bits") {
  const auto product = [](std::int64_t k, std::int64_t m, bool turned = false) {
    return read_module(
        "test.relish",
        fmt::format(
            "@I.ir_module\nclass M:\n    @T.prim_func\n"
            "    def f(a: T.handle, B: T.Buffer(({1}, {2}), \"float32\"), c: T.handle):\n"
            "        n = T.int64()\n        A = T.match_buffer(a, ({0}), \"float32\")\n"
            "        C = T.match_buffer(c, (n, {2}), \"float32\")\n"
            "        for i, j, l in T.grid(n, T.int64({2}), T.int64({1})):\n            with T.sblock(\"C\"):\n"
            "                vi, vj, vl = T.axis.remap(\"SSR\", [i, j, l])\n"
            "                with T.init():\n                    C[vi, vj] = T.float32(0)\n"
            "                C[vi, vj] = C[vi, vj] + A[{3}] * B[vl, vj]\n",
            turned ? fmt::format("{}, n", k) : fmt::format("n, {}", k), k, m, turned ? "vl, vi" : "vi, vl"));
  };
  const ModulePtr module = product(600, 64);
  const auto scheduled = std::make_shared<const Module>(schedule(*module, large_caches));
  // Fewest rows have no panels, few have those of columns, many those of both.
  CHECK(shared_out(*scheduled) == "i j_0 B_panel 200 32 B_panel 2 200 32 i_0 A_panel 32 200 ");
  // So many rows are one block of columns' rows, of whole tiles, in which no further round is needed.
  const std::string text = print(*scheduled);
  CHECK(text.find("if n < T.int64(257):") != std::string::npos);
  CHECK(text.find("sums = T.sblock_alloc_buffer((T.int64(256), T.int64(32)))") != std::string::npos);
  // Of rows that fall into the same lines, and of one tile of columns, all go by rows.
  CHECK(shared_out(schedule(*product(1024, 64), large_caches)).find("j_0") == std::string::npos);
  CHECK(shared_out(schedule(*product(600, 32), large_caches)).find("j_0") == std::string::npos);
  CHECK(print(schedule(*product(600, 32), large_caches)).find("if n < T.int64(257)") == std::string::npos);
  // Rows whose terms lie apart are copied, however few they are.
  CHECK(shared_out(schedule(*product(600, 64, true), large_caches)).find("j_0") == std::string::npos);
  const auto jit = make_jit({.threads = 1, .target = large_caches});
  const auto run = [&](std::int64_t rows, int threads) {
    Tensor left = Tensor::empty(DType::Float32, {rows, 600}),
           right = Tensor::empty(DType::Float32, {600, 64});
    for (std::int64_t i = 0; i < left.size(); ++i)
      left.set_double(i, static_cast<double>(i * 37 % 101) / 97 - 0.5);
    for (std::int64_t i = 0; i < right.size(); ++i)
      right.set_double(i, static_cast<double>(i * 59 % 103) / 97 - 0.5);
    return on_threads(*jit, threads)->call(scheduled, "f", {Value(left), Value(right)}).tensor();
  };
  const Tensor many = run(300, 1);
  for (const auto& [rows, threads] : std::vector<std::pair<std::int64_t, int>>{
           {0, 2}, {4, 2}, {63, 1}, {64, 2}, {250, 3}, {256, 2}, {257, 2}}) {
    INFO(rows << " " << threads);
    const Tensor few = run(rows, threads);
    REQUIRE(few.size() == rows * 64);
    for (std::int64_t i = 0; i < few.size(); ++i) REQUIRE(few.get_double(i) == many.get_double(i));
  }
  std::vector<std::vector<Value>> sets;
  for (const std::int64_t rows : {5, 259})
    sets.push_back(
        {small_numbers(DType::Float32, {rows, 600}, 7), small_numbers(DType::Float32, {600, 64}, 5)});
  check_schedules_for(module, sets, "");
}

TEST_CASE("blocks: a panel has the parts of all axes that are summed around blocks") {
  // The gradient of a filter: of 3 items, images of 20 x 20 are two parts each, which both blocks of rows
  // use.
  const ModulePtr module = read_module(
      "test.relish",
      "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(A: T.Buffer((3, 40, 22, 22), \"float32\"), "
      "B: T.Buffer((3, 16, 20, 20), \"float32\"), C: T.Buffer((16, 40, 3, 3), \"float32\")):\n"
      "        for o, c, p, q, n, y, x in T.grid(16, 40, 3, 3, 3, 20, 20):\n            with T.sblock(\"C\"):\n"
      "                vo, vc, vp, vq, vn, vy, vx = T.axis.remap(\"SSSSRRR\", [o, c, p, q, n, y, x])\n"
      "                with T.init():\n                    C[vo, vc, vp, vq] = T.float32(0)\n"
      "                C[vo, vc, vp, vq] = C[vo, vc, vp, vq] + A[vn, vc, vy + vp, vx + vq] * B[vn, vo, vy, vx]\n");
  const std::vector<std::int64_t> panel = shape_of_buffer(schedule(*module, large_caches), "B_panel");
  REQUIRE(!panel.empty());
  CHECK(panel[0] == 6);
  const auto after = std::make_shared<const Module>(schedule(*module, large_caches));
  const std::vector<Value> args{small_numbers(DType::Float32, {3, 40, 22, 22}, 7),
                                small_numbers(DType::Float32, {3, 16, 20, 20}, 5)};
  const Tensor wanted = make_interpreter()->call(module, "f", args).tensor();
  const Tensor found = make_jit({.threads = 2, .target = large_caches})->call(module, "f", args).tensor();
  for (std::int64_t i = 0; i < wanted.size(); ++i) REQUIRE(found.get_double(i) == wanted.get_double(i));
}

TEST_CASE("blocks: tiles that take less than a line of a term are no power of two apart in their panel") {
  // The rows lie side by side in the transposed left factor.
  const auto panel = [](std::int64_t rows, std::int64_t terms) {
    return shape_of_buffer(
        schedule(*read_module(
                     "test.relish",
                     fmt::format("@I.ir_module\nclass M:\n    @T.prim_func\n"
                                 "    def f(A: T.Buffer(({1}, {0}), \"float32\"), B: T.Buffer(({1}, 128), "
                                 "\"float32\"), C: T.Buffer(({0}, 128), \"float32\")):\n"
                                 "        for i, j, l in T.grid({0}, 128, {1}):\n"
                                 "            C[i, j] = C[i, j] + A[l, i] * B[l, j]\n",
                                 rows, terms)),
                 large_caches),
        "A_panel");
  };
  for (const std::int64_t rows : {64, 96, 128, 256}) {
    const std::vector<std::int64_t> apart = panel(rows, 128), even = panel(rows, 127);
    REQUIRE(apart.size() == 3);
    REQUIRE(apart[2] < 16);
    const std::int64_t bytes = apart[1] * apart[2] * 4;
    CHECK(bytes % 64 == 0);
    CHECK(bytes / 64 % 2 == 1);
    REQUIRE(even.size() == 3);
    CHECK(even[1] == 127);
  }
}

TEST_CASE("blocks: an image with channels last, in steps, and blocks that have not all rows of images") {
  const auto nest = [](const std::string& shapes, const std::string& grid, const std::string& store) {
    return read_module("test.relish", "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(" + shapes +
                                          "):\n        for " + grid + ":\n            " + store + "\n");
  };
  const ModulePtr last = nest(
      "A: T.Buffer((2, 36, 47, 3), \"float32\"), B: T.Buffer((3, 3, 3, 8), \"float32\"), "
      "C: T.Buffer((2, 17, 23, 8), \"float32\")",
      "n, y, x, o, p, q, c in T.grid(2, 17, 23, 8, 3, 3, 3)",
      "C[n, y, x, o] = C[n, y, x, o] + A[n, y * 2 + p, x * 2 + q, c] * B[p, q, c, o]");
  for (const Target& target : {large_caches, small_tiles}) CHECK(has_block(schedule(*last, target), "tile"));
}

TEST_CASE("blocks: in a cache so small that a block has fewer columns than a vector") {
  constexpr Target tiny{.vector_bytes = 64,
                        .vector_registers = 32,
                        .private_cache_bytes = 1 << 13,
                        .least_products = 0,
                        .least_moved = 0};
  const ModulePtr module = product_of(9, 300, 9);
  const std::vector<Value> args{small_numbers(DType::Float32, {9, 300}, 7),
                                small_numbers(DType::Float32, {300, 9}, 5)};
  const auto after = std::make_shared<const Module>(schedule(*module, tiny));
  CHECK(has_block(*after, "tile"));
  const auto interpreter = make_interpreter();
  CHECK(
      identical(interpreter->call(module, "f", args).tensor(), interpreter->call(after, "f", args).tensor()));
}
