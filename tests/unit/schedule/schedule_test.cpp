// The schedule of prim_funcs: what it changes and what it leaves, whether its text reads back, and whether
// the interpreter computes the same by it.
#include "schedule/schedule.h"

#include "interp/interpreter.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "tests/unit/loops/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

ModulePtr product(const char* n, const char* k, const char* m, const char* extra = "") {
  const std::string sizes =
      std::string("        n = T.int64()\n        k = T.int64()\n        m = T.int64()\n");
  const auto dim = [](const char* size) { return std::string(size); };
  return read_module(
      "test.relish",
      "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(a: T.handle, b: T.handle, c: T.handle):\n" +
          sizes + "        A = T.match_buffer(a, (" + dim(n) + ", " + dim(k) + "), \"float32\")\n" +
          "        B = T.match_buffer(b, (" + dim(k) + ", " + dim(m) + "), \"float32\")\n" +
          "        C = T.match_buffer(c, (" + dim(n) + ", " + dim(m) + "), \"float32\")\n" +
          "        for i, j, l in T.grid(" + dim(n) + ", " + dim(m) + ", " + dim(k) +
          "):\n            with T.sblock(\"C\"):\n"
          "                vi, vj, vl = T.axis.remap(\"SSR\", [i, j, l])\n                with T.init():\n"
          "                    C[vi, vj] = T.float32(0)\n"
          "                C[vi, vj] = C[vi, vj] + A[vi, vl] * B[vl, vj]\n" +
          extra);
}

int loops_of_kind(const Module& module, LoopKind kind) {
  int count = 0;
  for_each_stmt(module.prim_func("f")->body, [&](const Stmt& stmt) {
    const auto* loop = stmt.as<For>();
    count += loop && loop->kind == kind;
  });
  return count;
}

// Small integers, whose sums are exact.
Tensor matrix(std::int64_t rows, std::int64_t columns) {
  Tensor tensor = Tensor::empty(DType::Float32, {rows, columns});
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    tensor.set_double(i, static_cast<double>((7 * i) % 11 - 5));
  return tensor;
}

void check_same_product(const ModulePtr& module, std::int64_t n, std::int64_t k, std::int64_t m) {
  const auto after = std::make_shared<const Module>(schedule(*module));
  const std::vector<Value> args{Value(matrix(n, k)), Value(matrix(k, m))};
  const auto interpreter = make_interpreter();
  const Tensor wanted = interpreter->call(module, "f", args).tensor();
  const Tensor found = interpreter->call(after, "f", args).tensor();
  for (std::int64_t i = 0; i < wanted.size(); ++i) REQUIRE(found.get_double(i) == wanted.get_double(i));
  const std::string text = print(*after);
  CHECK(print(*read_module("again.relish", text)) == text);
}

}  // namespace

TEST_CASE("schedule: a product of any sizes computes the same") {
  const auto [n, k, m] = GENERATE(table<std::int64_t, std::int64_t, std::int64_t>(
      {{0, 3, 2}, {1, 1, 1}, {3, 0, 5}, {2, 3, 4}, {5, 4, 3}, {4, 9, 7}, {2, 1030, 3}, {1, 2050, 2}}));
  INFO(n << " " << k << " " << m);
  check_same_product(product("n", "k", "m"), n, k, m);
  if (n > 0 && k > 0)
    check_same_product(
        product(std::to_string(n).c_str(), std::to_string(k).c_str(), std::to_string(m).c_str()), n, k, m);
}

TEST_CASE("schedule: rows run on several threads where that is worth it") {
  // Of fewest rows, of few columns, of few rows, and of many of both their copies and the blocks.
  CHECK(loops_of_kind(schedule(*product("n", "k", "m")), LoopKind::Parallel) == 5);
  CHECK(loops_of_kind(schedule(*product("64", "64", "64")), LoopKind::Parallel) == 1);
  CHECK(loops_of_kind(schedule(*product("8", "8", "8")), LoopKind::Parallel) == 0);
}

TEST_CASE("schedule: the reduce loop is swept in fours along a row") {
  CHECK(loops_of_kind(schedule(*product("16", "16", "16")), LoopKind::Unrolled) == 1);
}

TEST_CASE("schedule: what is scheduled stays as it is") {
  for (const auto& module : {product("n", "k", "m"), product("64", "70", "9")}) {
    const Module once = schedule(*module);
    CHECK(print(schedule(once)) == print(once));
  }
}

TEST_CASE("schedule: a function without anything to change keeps its handle") {
  const auto module = read_module("test.relish",
                                  "@I.ir_module\nclass M:\n    @T.prim_func\n"
                                  "    def f(C: T.Buffer((8,), \"float32\")):\n"
                                  "        for i in range(8): C[i] = T.float32(i)\n");
  CHECK(schedule(*module).prim_func("f") == module->prim_func("f"));
}

TEST_CASE("schedule: a loop that is not shown to be independent runs in order") {
  const auto module =
      read_module("test.relish",
                  "@I.ir_module\nclass M:\n    @T.prim_func\n"
                  "    def f(K: T.Buffer((65536,), \"int32\"), C: T.Buffer((65536,), \"float32\")):\n"
                  "        for i in T.parallel(65536): C[K[i]] = T.float32(i)\n");
  CHECK(loops_of_kind(*module, LoopKind::Parallel) == 1);
  CHECK(loops_of_kind(schedule(*module), LoopKind::Parallel) == 0);
}

TEST_CASE("schedule: buffers that may share elements are left alone") {
  const auto module =
      read_module("test.relish",
                  "@I.ir_module\nclass M:\n    @T.prim_func\n"
                  "    def f(A: T.Buffer((256, 256), \"float32\"), C: T.Buffer((256, 256), \"float32\")):\n"
                  "        D = T.decl_buffer((65536,), \"float32\", data=C.data)\n"
                  "        for i, j in T.grid(256, 256): C[i, j] = A[i, j] + D[0]\n");
  CHECK(schedule(*module).prim_func("f") == module->prim_func("f"));
}
