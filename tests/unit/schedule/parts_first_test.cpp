// Contractions of many rows: each part of the terms goes over all of them, by blocks that copy their own
// rows.
#include <fmt/format.h>

#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// Caches that even small factors do not fit into.
const std::vector<Target>& small_caches() {
  static const std::vector<Target> targets{
      {.vector_bytes = 32, .vector_registers = 16, .private_cache_bytes = 1 << 16, .least_products = 0},
      {.vector_bytes = 64, .vector_registers = 32, .private_cache_bytes = 1 << 17, .least_products = 0}};
  return targets;
}

// C[i, j] += A * B over l, with what stands around that.
struct Product {
  std::int64_t rows, terms, columns;
  std::string left = "A[vi, vl]", left_shape = "{0}, {1}";
  std::string init = "T.float32(0)";  // empty: joined to what C holds
  std::string behind = {};            // of each element P[i, j] of the product; empty: that is C itself
  std::string dtype = "float32";

  ModulePtr module() const {
    const std::string name = behind.empty() ? "C" : "P";
    std::string text = fmt::format(
        "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(A: T.Buffer(({4}), \"{3}\"), B: T.Buffer(({1}, {2}), "
        "\"{3}\"), D: T.Buffer(({0}, {2}), \"{3}\"), C: T.Buffer(({0}, {2}), \"{3}\")):\n",
        rows, terms, columns, dtype, fmt::format(fmt::runtime(left_shape), rows, terms));
    if (!behind.empty())
      text += fmt::format("        P = T.alloc_buffer(({}, {}), \"{}\")\n", rows, columns, dtype);
    if (init.empty())
      text +=
          fmt::format("        for i, j in T.grid({}, {}):\n            C[i, j] = D[i, j]\n", rows, columns);
    text += fmt::format(
        "        for i, j, l in T.grid({}, {}, {}):\n            with T.sblock(\"P\"):\n"
        "                vi, vj, vl = T.axis.remap(\"SSR\", [i, j, l])\n{}"
        "                {}[vi, vj] = {}[vi, vj] + {} * B[vl, vj]\n",
        rows, columns, terms,
        init.empty() ? ""
                     : fmt::format("                with T.init():\n                    {}[vi, vj] = {}\n",
                                   name, init),
        name, name, left);
    if (!behind.empty())
      text += fmt::format("        for i, j in T.grid({}, {}):\n            {}\n", rows, columns, behind);
    return read_module("test.relish", text);
  }

  std::vector<Value> arguments() const {
    const DType type = dtype == "float64" ? DType::Float64 : DType::Float32;
    const bool turned = left == "A[vl, vi]";
    std::vector<std::int64_t> shape = turned ? std::vector{terms, rows} : std::vector{rows, terms};
    if (left_shape.find("2, ") == 0) shape = {2, rows / 2, terms};
    return {small_numbers(type, shape, 7), small_numbers(type, {terms, columns}, 5),
            small_numbers(type, {rows, columns}, 3)};
  }
};

std::string text_for(const Product& product, const Target& target) {
  return print(schedule(*product.module(), target));
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Goes in parts on every target, reads back, and computes in both tiers and on several threads what the text
// says.
void check_parts(const ModulePtr& module, const std::vector<Value>& args) {
  const auto interpreter = make_interpreter();
  const Tensor wanted = interpreter->call(module, "f", args).tensor();
  for (const Target& target : small_caches()) {
    const auto after = std::make_shared<const Module>(schedule(*module, target));
    const std::string text = print(*after);
    INFO(text);
    CHECK(has_block(*after, "part"));
    CHECK(print(*read_module("again.relish", text)) == text);
    CHECK(print(schedule(*after, target)) == text);
    require_same(interpreter->call(after, "f", args).tensor(), wanted);
    for (const int threads : {1, 3}) {
      const auto jit = make_jit({.threads = threads, .target = target});
      require_same(jit->call(module, "f", args).tensor(), wanted);
    }
  }
}

void check_parts(const Product& product) { check_parts(product.module(), product.arguments()); }

}  // namespace

TEST_CASE("parts: each goes over all rows, and the result holds the sums so far") {
  const Product two{256, 300, 64};
  for (const Target& target : small_caches()) {
    const std::string text = text_for(two, target);
    INFO(text);
    // The panel of the columns is filled once a part, that of rows in each of their blocks.
    CHECK(text.find("sblock(\"part\")") < text.find("B_panel = "));
    CHECK(text.find("B_panel = ") < text.find("sblock(\"rows\")"));
    CHECK(text.find("sblock(\"rows\")") < text.find("A_panel = "));
    CHECK(has(text, "for i_0 in T.parallel("));
    CHECK_FALSE(has(text, "sums = "));
  }
  check_parts(two);
  check_parts({256, 300, 64, "A[vl, vi]", "{1}, {0}"});
  check_parts({512, 60, 64});  // one part: nothing is joined
}

TEST_CASE("parts: tiles may end behind the last row and the last column") {
  check_parts({261, 300, 70});
  check_parts({520, 60, 67});
  check_parts({259, 270, 65, "A[vl, vi]", "{1}, {0}"});
  check_parts({261, 300, 70, "A[vi, vl]", "{0}, {1}", "T.float64(0)", {}, "float64"});
}

TEST_CASE("parts: of rows whose number only the run knows, when they are many") {
  const ModulePtr module = read_module(
      "test.relish",
      "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(a: T.handle, B: T.Buffer((300, 70), \"float32\"), c: "
      "T.handle):\n        n = T.int32()\n        A = T.match_buffer(a, (n, 300))\n        C = T.match_buffer(c, (n, 70))\n"
      "        for i, j, l in T.grid(n, 70, 300):\n            with T.sblock(\"C\"):\n"
      "                vi, vj, vl = T.axis.remap(\"SSR\", [i, j, l])\n                with T.init():\n"
      "                    C[vi, vj] = T.float32(0)\n                C[vi, vj] = C[vi, vj] + A[vi, vl] * B[vl, vj]\n");
  const auto interpreter = make_interpreter();
  for (const Target& target : small_caches()) {
    const auto after = std::make_shared<const Module>(schedule(*module, target));
    const std::string text = print(*after);
    INFO(text);
    CHECK(has_block(*after, "part"));
    CHECK(has(text, "if n < "));
    CHECK_FALSE(has(text, "sums = T.sblock_alloc_buffer((n"));
    CHECK(print(*read_module("again.relish", text)) == text);
    const auto jit = make_jit({.threads = 2, .target = target});
    for (const std::int64_t rows : {0, 1, 31, 257, 321}) {
      INFO(rows);
      const std::vector<Value> args{small_numbers(DType::Float32, {rows, 300}, 7),
                                    small_numbers(DType::Float32, {300, 70}, 5)};
      const Tensor wanted = interpreter->call(module, "f", args).tensor();
      require_same(interpreter->call(after, "f", args).tensor(), wanted);
      require_same(jit->call(module, "f", args).tensor(), wanted);
    }
  }
}

TEST_CASE("parts: what the result begins with is joined once") {
  for (const std::string init : {"T.float32(2)", ""}) {
    INFO(init);
    check_parts({256, 300, 64, "A[vi, vl]", "{0}, {1}", init});
    check_parts({512, 60, 64, "A[vi, vl]", "{0}, {1}", init});
  }
}

TEST_CASE("parts: rows of several axes") {
  check_parts({512, 300, 64, "A[vi // 256, vi % 256, vl]", "2, 256, {1}"});
  // The same as axes of their own, of which the first is around the blocks: the result has the sums, or not.
  for (const bool more : {false, true}) {
    const std::string name = more ? "P" : "C";
    const ModulePtr module = read_module(
        "test.relish",
        "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(A: T.Buffer((3, 128, 300), \"float32\"), B: T.Buffer((300, "
        "64), \"float32\"), C: T.Buffer((3, 128, 64), \"float32\")):\n        P = T.alloc_buffer((3, 128, 64), "
        "\"float32\")\n        for b, i, j, l in T.grid(3, 128, 64, 300):\n            with T.sblock(\"P\"):\n"
        "                vb, vi, vj, vl = T.axis.remap(\"SSSR\", [b, i, j, l])\n                with T.init():\n"
        "                    " +
            name + "[vb, vi, vj] = T.float32(0)\n                " + name + "[vb, vi, vj] = " + name +
            "[vb, vi, vj] + A[vb, vi, vl] * B[vl, vj]\n" +
            (more ? "        for b, i, j in T.grid(3, 128, 64):\n            C[b, i, j] = T.max(P[b, i, j], "
                    "T.float32(0))\n"
                  : ""));
    check_parts(module, {small_numbers(DType::Float32, {3, 128, 300}, 7),
                         small_numbers(DType::Float32, {300, 64}, 5)});
  }
}

TEST_CASE("parts: what follows is done on the tiles of the last part, beside which the sums are kept") {
  for (const std::string behind : {"C[i, j] = T.max(P[i, j], T.float32(0))", "C[i, j] = D[i, j] + P[i, j]"}) {
    const Product product{256, 520, 64, "A[vi, vl]", "{0}, {1}", "T.float32(0)", behind};
    for (const Target& target : small_caches()) {
      const std::string text = text_for(product, target);
      INFO(text);
      CHECK(has(text, "sums = "));
      CHECK_FALSE(has(text, "P = "));
    }
    check_parts(product);
    check_parts({512, 60, 64, "A[vi, vl]", "{0}, {1}", "T.float32(0)", behind});
  }
}

TEST_CASE("parts: not of few rows or columns, of what the cache holds, or of ragged tiles before more") {
  const Target& target = small_caches().front();
  const std::string more = "C[i, j] = T.max(P[i, j], T.float32(0))";
  for (const Product& product : {Product{128, 300, 64}, Product{256, 300, 40}, Product{256, 20, 64},
                                 Product{261, 300, 70, "A[vi, vl]", "{0}, {1}", "T.float32(0)", more},
                                 Product{521, 60, 70, "A[vi, vl]", "{0}, {1}", "T.float32(0)", more},
                                 // 2^23 sums and more beside the result
                                 Product{1 << 19, 300, 64, "A[vi, vl]", "{0}, {1}", "T.float32(0)", more}}) {
    const std::string text = text_for(product, target);
    INFO(text);
    CHECK_FALSE(has(text, "sblock(\"part\")"));
  }
  // Rows whose number only the run knows, with something behind: no buffer could hold the sums.
  const ModulePtr open = read_module(
      "test.relish",
      "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(a: T.handle, B: T.Buffer((300, 64), \"float32\"), d: T.handle, c: "
      "T.handle):\n        n = T.int32()\n        A = T.match_buffer(a, (n, 300))\n        D = T.match_buffer(d, (n, 64))\n        C = T.match_buffer(c, (n, 64))\n"
      "        P = T.alloc_buffer((n, 64))\n        for i, j, l in T.grid(n, 64, 300):\n            with T.sblock(\"P\"):\n"
      "                vi, vj, vl = T.axis.remap(\"SSR\", [i, j, l])\n                with T.init():\n"
      "                    P[vi, vj] = T.float32(0)\n                P[vi, vj] = P[vi, vj] + A[vi, vl] * B[vl, vj]\n"
      "        for i, j in T.grid(n, 64):\n            C[i, j] = D[i, j] + P[i, j]\n");
  const std::string text = print(schedule(*open, target));
  INFO(text);
  CHECK(has(text, "sblock(\"contraction\")"));
  CHECK_FALSE(has(text, "sblock(\"part\")"));
}
