// Contractions of which only the run knows how many terms they sum: every form that is chosen when they run.
#include <fmt/format.h>

#include "loops/written_first.h"
#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// Sums over l < k of left * right for i < n, j < m; sizes and factors as they are written.
ModulePtr open_product(const std::string& n, const std::string& k, const std::string& m,
                       const std::string& left, const std::string& right, bool with_init = true) {
  const auto dims = [](const std::string& a, const std::string& b) { return "(" + a + ", " + b + ")"; };
  const std::string a_dims = left == "A[vi, vl]" ? dims(n, k) : dims(k, n),
                    b_dims = right == "B[vl, vj]" ? dims(k, m) : dims(m, k);
  return read_module(
      "test.relish",
      fmt::format("@I.ir_module\nclass M:\n    @T.prim_func\n"
                  "    def f(a: T.handle, b: T.handle, c: T.handle):\n"
                  "        n = T.int64()\n        k = T.int64()\n        m = T.int64()\n"
                  "        A = T.match_buffer(a, {}, \"float32\")\n"
                  "        B = T.match_buffer(b, {}, \"float32\")\n"
                  "        C = T.match_buffer(c, ({}, {}), \"float32\")\n{}"
                  "        for i, j, l in T.grid({}, {}, {}):\n            with T.sblock(\"C\"):\n"
                  "                vi, vj, vl = T.axis.remap(\"SSR\", [i, j, l])\n{}"
                  "                C[vi, vj] = C[vi, vj] + {} * {}\n",
                  a_dims, b_dims, n, m,
                  with_init ? ""
                            : fmt::format("        for i, j in T.grid({}, {}):\n"
                                          "            C[i, j] = T.float32(0)\n",
                                          n, m),
                  n, m, k,
                  with_init ? "                with T.init():\n"
                              "                    C[vi, vj] = T.float32(0)\n"
                            : "",
                  left, right));
}

struct ProductSizes {
  std::int64_t n, k, m;
};
const std::vector<ProductSizes> many_sizes{{0, 3, 2},    {1, 1, 1},    {3, 0, 5},    {5, 0, 40},   {2, 3, 0},
                                           {3, 300, 70}, {4, 9, 7},    {33, 257, 5}, {9, 512, 66}, {65, 7, 3},
                                           {2, 1030, 3}, {260, 5, 18}, {5, 1024, 18}};

// Both factors for each of the sizes.
std::vector<std::vector<Value>> factors_of(const std::vector<ProductSizes>& sizes, bool left_turned,
                                           bool right_turned) {
  std::vector<std::vector<Value>> factors;
  for (const ProductSizes& each : sizes) {
    std::vector<std::int64_t> left{each.n, each.k}, right{each.k, each.m};
    if (left_turned) std::swap(left[0], left[1]);
    if (right_turned) std::swap(right[0], right[1]);
    factors.push_back({small_numbers(DType::Float32, left, 7), small_numbers(DType::Float32, right, 3)});
  }
  return factors;
}

constexpr Target wide_vectors{.vector_bytes = 64,
                              .vector_registers = 32,
                              .first_cache_bytes = 48 << 10,
                              .private_cache_bytes = 1 << 20,
                              .least_products = 0,
                              .least_moved = 0};

}  // namespace

TEST_CASE("open contraction: any sizes, factors in any order, compute the same") {
  const bool left_turned = GENERATE(false, true), right_turned = GENERATE(false, true);
  const ModulePtr module = open_product("n", "k", "m", left_turned ? "A[vl, vi]" : "A[vi, vl]",
                                        right_turned ? "B[vj, vl]" : "B[vl, vj]");
  check_schedules_for(module, factors_of(many_sizes, left_turned, right_turned), "tile");
}

TEST_CASE("open contraction: rows or columns of known numbers") {
  for (const auto& [n, m] : std::vector<std::pair<std::int64_t, std::int64_t>>{{13, 0}, {0, 10}, {7, 50}}) {
    const auto text = [](std::int64_t size, const char* name) -> std::string {
      return size > 0 ? fmt::format("T.int64({})", size) : name;
    };
    for (const bool left_turned : {false, true}) {
      const ModulePtr module =
          open_product(text(n, "n"), "k", text(m, "m"), left_turned ? "A[vl, vi]" : "A[vi, vl]", "B[vl, vj]");
      std::vector<ProductSizes> sizes;
      for (ProductSizes each : many_sizes) {
        if (n > 0) each.n = n;
        if (m > 0) each.m = m;
        sizes.push_back(each);
      }
      check_schedules_for(module, factors_of(sizes, left_turned, false), "tile");
    }
  }
}

TEST_CASE("open contraction: what the result begins with becomes the first part, also of a nest before") {
  const ModulePtr apart = open_product("n", "k", "m", "A[vi, vl]", "B[vl, vj]", false);
  const Module scheduled = schedule(*apart, wide_vectors);
  // Nothing else is a nest of its own.
  const auto* sequence = scheduled.prim_func("f")->body.as<SeqStmt>();
  CHECK((sequence == nullptr || sequence->body.size() == 1));
  check_schedules_for(apart, factors_of(many_sizes, false, false), "tile");
}

TEST_CASE("open contraction: a nest before that stores other elements, or of another buffer, stays") {
  const auto module_of = [](const char* before) {
    return read_module(
        "test.relish",
        std::string("@I.ir_module\nclass M:\n    @T.prim_func\n"
                    "    def f(a: T.handle, C: T.Buffer((16, 16), \"float32\"), "
                    "D: T.Buffer((16, 16), \"float32\")):\n"
                    "        k = T.int64()\n        A = T.match_buffer(a, (16, k), \"float32\")\n") +
            before +
            "        for i, j, l in T.grid(T.int64(16), T.int64(16), k):\n            with T.sblock(\"C\"):\n"
            "                vi, vj, vl = T.axis.remap(\"SSR\", [i, j, l])\n"
            "                C[vi, vj] = C[vi, vj] + A[vi, vl] * A[vj, vl]\n");
  };
  for (
      const char* before :
      {"        for i, j in T.grid(T.int64(16), T.int64(15)):\n            C[i, j] = T.float32(0)\n",
       "        for i, j in T.grid(T.int64(16), T.int64(16)):\n            D[i, j] = T.float32(0)\n",
       "        for i, j in T.grid(T.int64(16), T.int64(16)):\n            C[j, i] = T.Cast(\"float32\", j)\n"}) {
    INFO(before);
    const Module scheduled = schedule(*module_of(before), wide_vectors);
    const auto* sequence = scheduled.prim_func("f")->body.as<SeqStmt>();
    REQUIRE(sequence != nullptr);
    CHECK(sequence->body.size() == 2);
  }
  // Turned, it stores the same elements.
  const Module turned = schedule(
      *module_of(
          "        for i, j in T.grid(T.int64(16), T.int64(16)):\n            C[j, i] = T.float32(2)\n"),
      wide_vectors);
  CHECK(turned.prim_func("f")->body.as<SeqStmt>() == nullptr);
}

TEST_CASE("open contraction: no panel is cleared") {
  for (const char* left : {"A[vi, vl]", "A[vl, vi]"})
    for (const Target& target : {wide_vectors, small_tiles}) {
      const Module scheduled = schedule(*open_product("n", "k", "m", left, "B[vl, vj]"), target);
      const PrimFuncPtr function = scheduled.prim_func("f");
      INFO(print(scheduled));
      RangeProver prover;
      for (const PrimParam& param : function->params)
        for (const Scalar& dim : param.buffer()->shape())
          if (const auto var = dim.as_var()) prover.assume_dimension(*var);
      int panels = 0;
      // Inside of the loops around, as the code that allocates is.
      const std::function<void(const Stmt&)> look = [&](const Stmt& stmt) {
        if (const auto* loop = stmt.as<For>()) {
          prover.enter_loop(loop->var, loop->begin, loop->extent);
          look(loop->body);
          prover.leave_loop();
        } else if (const auto* sequence = stmt.as<SeqStmt>()) {
          for (const Stmt& child : sequence->body) look(child);
        } else if (const auto* branch = stmt.as<IfStmt>()) {
          look(branch->then_body);
          if (branch->else_body.defined()) look(branch->else_body);
        } else if (const auto* block = stmt.as<BlockStmt>()) {
          const auto written = written_before_reads(block->body, block->allocations, prover);
          for (const Buffer& buffer : block->allocations) {
            if (buffer.scope() == "local") continue;
            INFO(buffer.name());
            CHECK(written.contains(buffer.id()));
            ++panels;
          }
          look(block->body);
        }
      };
      look(function->body);
      // Of the right factor where rows are few and their terms lie side by side, else of both.
      CHECK(panels == (std::string(left) == "A[vi, vl]" ? 3 : 2));
    }
}

TEST_CASE(
    "open contraction: an element has the same bits whichever form computes it, on every number of threads") {
  const auto module = std::make_shared<const Module>(
      schedule(*open_product("n", "k", "m", "A[vi, vl]", "B[vl, vj]"), wide_vectors));
  const auto numbers = [](std::int64_t rows, std::int64_t columns, std::int64_t all, int seed) {
    Tensor tensor = Tensor::empty(DType::Float32, {rows, columns});
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        tensor.set_double(i * columns + j, static_cast<double>((i * all + j) * seed % 101) / 97 - 0.5);
    return Value(tensor);
  };
  const std::int64_t terms = 700, most = 90;
  const auto jit = make_jit({.threads = 1, .target = wide_vectors});
  const auto product = [&](std::int64_t rows, std::int64_t columns, int threads) {
    const std::vector<Value> args{numbers(rows, terms, terms, 37), numbers(terms, columns, most, 59)};
    return on_threads(*jit, threads)->call(module, "f", args).tensor();
  };
  const Tensor whole = product(300, most, 1);
  for (const auto& [rows, columns, threads] : std::vector<std::array<std::int64_t, 3>>{{70, most, 2},
                                                                                       {70, most, 3},
                                                                                       {3, most, 1},
                                                                                       {70, 16, 2},
                                                                                       {70, 17, 1},
                                                                                       {1, 5, 1},
                                                                                       {33, 64, 2},
                                                                                       {256, 90, 2},
                                                                                       {257, 33, 2}}) {
    INFO(rows << " " << columns << " " << threads);
    const Tensor part = product(rows, columns, static_cast<int>(threads));
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        REQUIRE(part.get_double(i * columns + j) == whole.get_double(i * most + j));
  }
}

TEST_CASE("open contraction: blocks of rows run on several threads, not what is around them") {
  const Module scheduled = schedule(*open_product("n", "k", "m", "A[vi, vl]", "B[vl, vj]"), wide_vectors);
  std::vector<std::string> parallel;
  for_each_stmt(scheduled.prim_func("f")->body, [&](const Stmt& stmt) {
    const auto* loop = stmt.as<For>();
    if (loop && loop->kind == LoopKind::Parallel) parallel.push_back(loop->var.name());
  });
  // Of fewest rows blocks of columns, of few columns blocks of rows, of few rows tiles of columns; else the
  // copies of columns, blocks of rows.
  CHECK(parallel == std::vector<std::string>{"j_0", "i_0", "j_0", "l_1", "i_0"});
  // Rows whose lines fall into one place of a first cache are copied, however few they are.
  const std::string text = print(scheduled);
  CHECK(text.find("n < T.int64(257) and T.int64(0) < k % T.int64(1024)") != std::string::npos);
  INFO(text);
  // Those read by tiles of columns are one block of whole tiles.
  CHECK(text.find("in T.parallel((m + T.int64(31)) // T.int64(32)):\n") != std::string::npos);
  CHECK(text.find("(n + T.int64(255)) // T.int64(256)") != std::string::npos);
  // One tile of columns leaves other threads nothing.
  CHECK(print(schedule(*open_product("n", "k", "T.int64(32)", "A[vi, vl]", "B[vl, vj]"), wide_vectors))
            .find("n < T.int64(257)") == std::string::npos);
  // Fewest rows are three, and few columns one vector.
  CHECK(text.find("if n < T.int64(4):") != std::string::npos);
  CHECK(text.find("elif m < T.int64(17):") != std::string::npos);
}
