// Contractions: which nests become blocks and tiles, and whether interpreter and compiled code compute the
// same by the text that results, on this machine and for tiles of every odd size.
#include <fmt/format.h>

#include <cmath>

#include "frontend/reader.h"
#include "ir/rewriting/rewrite.h"
#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

struct NestText {
  const char* name;
  std::vector<std::int64_t> a, b, c;  // shapes
  std::string text;                   // loops and the statements in them, of the buffers A, B, C
  const char* dtype = "float32";
};

std::string tuple(const std::vector<std::int64_t>& shape) {
  return fmt::format("({},)", fmt::join(shape, ", "));
}

ModulePtr module_of(const NestText& nest) {
  // A result that is only added to begins with ones.
  std::string text = nest.text;
  if (text.find("T.init()") == std::string::npos) {
    std::string names;
    for (std::size_t d = 0; d < nest.c.size(); ++d) names += fmt::format("{}z{}", d ? ", " : "", d);
    text = fmt::format("for {} in T.grid({}):\n    C[{}] = T.{}(1)\n", names, fmt::join(nest.c, ", "), names,
                       nest.dtype) +
           text;
  }
  std::string body;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    body += "        " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return read_module(
      "test.relish",
      fmt::format("@I.ir_module\nclass M:\n    @T.prim_func\n    def f(A: T.Buffer({}, \"{}\"), "
                  "B: T.Buffer({}, \"{}\"), C: T.Buffer({}, \"{}\")):\n{}",
                  tuple(nest.a), nest.dtype, tuple(nest.b), nest.dtype, tuple(nest.c), nest.dtype, body));
}

bool has_tiles(const Module& module) { return has_block(module, "tile"); }

void check_same(const NestText& nest, const ModulePtr& module, const Target& target) {
  const auto after = std::make_shared<const Module>(schedule(*module, target));
  const std::string text = print(*after);
  INFO(text);
  CHECK(has_tiles(*after));
  CHECK(print(*read_module("again.relish", text)) == text);
  CHECK(print(schedule(*after, target)) == text);
  const DType dtype = *dtype_from_name(nest.dtype);
  const std::vector<Value> args{small_numbers(dtype, nest.a, 7), small_numbers(dtype, nest.b, 5)};
  const auto interpreter = make_interpreter();
  const Tensor wanted = interpreter->call(module, "f", args).tensor();
  const Tensor found = interpreter->call(after, "f", args).tensor();
  const Tensor compiled = make_jit({.threads = 2, .target = target})->call(module, "f", args).tensor();
  require_same(found, wanted);
  require_same(compiled, wanted);
}

std::string block(const std::string& grid, const std::string& axes, const std::string& store,
                  const std::string& value) {
  return "for " + grid + ":\n    with T.sblock(\"C\"):\n        " + axes +
         "\n        with T.init():\n            " + store + " = T.float32(0)\n        " + store + " = " +
         store + " + " + value;
}

NestText product(std::int64_t n, std::int64_t k, std::int64_t m) {
  return {"product",
          {n, k},
          {k, m},
          {n, m},
          block(fmt::format("i, j, l in T.grid({}, {}, {})", n, m, k),
                "i0, j0, l0 = T.axis.remap(\"SSR\", [i, j, l])", "C[i0, j0]", "A[i0, l0] * B[l0, j0]")};
}

const NestText padded{"padded convolution",
                      {2, 3, 6, 5},
                      {5, 3, 3, 3},
                      {2, 5, 6, 5},
                      block("n, o, y, x, c, p, q in T.grid(2, 5, 6, 5, 3, 3, 3)",
                            "n0, o0, y0, x0, c0, p0, q0 = T.axis.remap(\"SSSSRRR\", [n, o, y, x, c, p, q])",
                            "C[n0, o0, y0, x0]",
                            "T.if_then_else(y0 + p0 >= 1 and y0 + p0 < 7 and x0 + q0 >= 1 and x0 + q0 < 6, "
                            "A[n0, c0, y0 + p0 - 1, x0 + q0 - 1] * B[o0, c0, p0, q0], T.float32(0))")};

// Runs of three columns, of five terms: the data's elements become the rows, and the factor without a guard
// the columns.
const NestText padded_gradient{
    "gradient of a padded convolution's weight",
    {2, 3, 6, 5},
    {2, 4, 6, 5},
    {4, 3, 3, 3},
    block("o, c, p, q, n, y, x in T.grid(4, 3, 3, 3, 2, 6, 5)",
          "o0, c0, p0, q0, n0, y0, x0 = T.axis.remap(\"SSSSRRR\", [o, c, p, q, n, y, x])",
          "C[o0, c0, p0, q0]",
          "T.if_then_else(y0 + p0 >= 1 and y0 + p0 < 7 and x0 + q0 >= 1 and x0 + q0 < 6, "
          "A[n0, c0, y0 + p0 - 1, x0 + q0 - 1] * B[n0, o0, y0, x0], T.float32(0))")};

std::vector<NestText> contractions() {
  std::vector<NestText> nests;
  for (const auto& [n, k, m] : std::vector<std::array<std::int64_t, 3>>{
           {2, 4, 4}, {3, 5, 7}, {8, 8, 8}, {13, 9, 17}, {2, 300, 5}, {33, 513, 34}, {17, 256, 4}})
    nests.push_back(product(n, k, m));
  nests.push_back({"both transposed",
                   {9, 5},
                   {7, 9},
                   {5, 7},
                   "for i, j, l in T.grid(5, 7, 9):\n    C[i, j] = C[i, j] + A[l, i] * B[j, l]"});
  nests.push_back({"columns apart in memory, their terms side by side",
                   {19, 45},
                   {37, 45},
                   {19, 37},
                   "for i, j, l in T.grid(19, 37, 45):\n    C[i, j] = C[i, j] + A[i, l] * B[j, l]"});
  nests.push_back({"the same of parts of unequal size, in float64",
                   {12, 263},
                   {40, 263},
                   {12, 40},
                   "for i, j, l in T.grid(12, 40, 263):\n    C[i, j] = C[i, j] + A[i, l] * B[j, l]",
                   "float64"});
  nests.push_back({"transposed result",
                   {9, 5},
                   {5, 7},
                   {7, 9},
                   "for i, j, l in T.grid(9, 7, 5):\n    C[j, i] = C[j, i] + A[i, l] * B[l, j]"});
  nests.push_back(
      {"batches",
       {3, 9, 5},
       {3, 5, 7},
       {3, 9, 7},
       "for b, i, j, l in T.grid(3, 9, 7, 5):\n    C[b, i, j] = A[b, i, l] * B[b, l, j] + C[b, i, j]"});
  nests.push_back({"float64, long indices",
                   {9, 5},
                   {5, 7},
                   {9, 7},
                   "for i, j, l in T.grid(T.int64(9), T.int64(7), T.int64(5)):\n"
                   "    C[i, j] = C[i, j] + A[i, l] * B[l, j]",
                   "float64"});
  nests.push_back({"convolution",
                   {2, 3, 9, 8},
                   {5, 3, 3, 2},
                   {2, 5, 7, 7},
                   block("n, o, y, x, c, p, q in T.grid(2, 5, 7, 7, 3, 3, 2)",
                         "n0, o0, y0, x0, c0, p0, q0 = T.axis.remap(\"SSSSRRR\", [n, o, y, x, c, p, q])",
                         "C[n0, o0, y0, x0]", "A[n0, c0, y0 + p0, x0 + q0] * B[o0, c0, p0, q0]")});
  nests.push_back(padded);
  nests.push_back(padded_gradient);
  nests.push_back({"rows with a stride",
                   {9, 5},
                   {5, 7},
                   {20, 7},
                   "for i, j, l in T.grid(9, 7, 5):\n"
                   "    C[i * 2 + 1, j] = C[i * 2 + 1, j] + A[i, l] * B[l, j]"});
  nests.push_back({"columns with a stride",
                   {9, 5},
                   {5, 7},
                   {9, 21},
                   "for i, j, l in T.grid(9, 7, 5):\n"
                   "    C[i, j * 3] = C[i, j * 3] + A[i, l] * B[l, j]"});
  nests.push_back({"strided convolution, channels last",
                   {2, 9, 8, 3},
                   {3, 2, 3, 5},
                   {2, 4, 4, 5},
                   "for n, y, x, o, p, q, c in T.grid(2, 4, 4, 5, 3, 2, 3):\n"
                   "    C[n, y, x, o] = C[n, y, x, o] + A[n, y * 2 + p, x * 2 + q, c] * B[p, q, c, o]"});
  nests.push_back({"gradient of a convolution's weight",
                   {2, 3, 9, 8},
                   {2, 5, 7, 7},
                   {5, 3, 3, 2},
                   "for o, c, p, q, n, y, x in T.grid(5, 3, 3, 2, 2, 7, 7):\n"
                   "    C[o, c, p, q] = C[o, c, p, q] + A[n, c, y + p, x + q] * B[n, o, y, x]"});
  nests.push_back({"sums over many axes",
                   {4, 3, 50, 7},
                   {7, 50, 3, 6},
                   {4, 6},
                   "for i, j, p, q, r in T.grid(4, 6, 3, 50, 7):\n"
                   "    C[i, j] = C[i, j] + A[i, p, q, r] * B[r, q, p, j]"});
  nests.push_back({"factors that are computed",
                   {9, 5},
                   {5, 7},
                   {9, 7},
                   "for i, j, l in T.grid(9, 7, 5):\n"
                   "    C[i, j] = C[i, j] + (A[i, l] * T.float32(2)) * T.max(B[l, j], T.float32(0))"});
  return nests;
}

// An image, a filter and what its windows give: `at` is the place in the image of the element y, x and the
// filter's p, q.
NestText windows(const char* name, const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b,
                 const std::vector<std::int64_t>& c, const std::string& y, const std::string& x,
                 bool guarded) {
  const std::string value = fmt::format("A[n0, c0, {}, {}] * B[o0, c0, p0, q0]", y, x);
  return {
      name, a, b, c,
      block(fmt::format("n, o, y, x, c, p, q in T.grid({}, {}, {}, {}, {}, {}, {})", c[0], c[1], c[2], c[3],
                        b[1], b[2], b[3]),
            "n0, o0, y0, x0, c0, p0, q0 = T.axis.remap(\"SSSSRRR\", [n, o, y, x, c, p, q])",
            "C[n0, o0, y0, x0]",
            guarded ? fmt::format("T.if_then_else({0} >= 0 and {0} < {1} and {2} >= 0 and {2} < {3}, {4}, "
                                  "T.float32(0))",
                                  y, a[2], x, a[3], value)
                    : value)};
}

std::vector<NestText> images() {
  std::vector<NestText> nests{
      windows("plain", {2, 3, 10, 20}, {4, 3, 3, 3}, {2, 4, 8, 18}, "y0 + p0", "x0 + q0", false),
      windows("padded", {2, 3, 9, 17}, {5, 3, 3, 3}, {2, 5, 9, 17}, "y0 + p0 - 1", "x0 + q0 - 1", true),
      windows("rows of tiles", {2, 3, 8, 32}, {8, 3, 3, 3}, {2, 8, 8, 32}, "y0 + p0 - 1", "x0 + q0 - 1",
              true),
      windows("far apart", {1, 2, 9, 31}, {4, 2, 3, 3}, {1, 4, 9, 31}, "y0 + p0 * 2 - 2", "x0 + q0 * 3 - 3",
              true),
      windows("backwards", {2, 3, 9, 17}, {5, 3, 3, 2}, {2, 5, 9, 16}, "y0 + 1 - p0", "x0 + 1 - q0", true),
      windows("one term along memory", {2, 3, 12, 16}, {4, 3, 5, 1}, {2, 4, 8, 16}, "y0 + p0", "x0 + q0",
              false),
      windows("many channels", {2, 40, 6, 15}, {3, 40, 3, 3}, {2, 3, 6, 15}, "y0 + p0 - 1", "x0 + q0 - 1",
              true)};
  nests.push_back({"one channel",
                   {6, 18},
                   {4, 3, 3},
                   {4, 4, 16},
                   "for o, y, x, p, q in T.grid(4, 4, 16, 3, 3):\n"
                   "    C[o, y, x] = C[o, y, x] + B[o, p, q] * A[y + p, x + q]"});
  nests.push_back({"a line",
                   {2, 3, 44},
                   {4, 3, 5},
                   {2, 4, 40},
                   "for n, o, x, c, q in T.grid(2, 4, 40, 3, 5):\n"
                   "    C[n, o, x] = C[n, o, x] + A[n, c, x + q] * B[o, c, q]"});
  nests.push_back({"a solid",
                   {2, 3, 4, 9, 16},
                   {4, 3, 2, 3, 3},
                   {2, 4, 3, 7, 14},
                   "for n, o, z, y, x, c, r, p, q in T.grid(2, 4, 3, 7, 14, 3, 2, 3, 3):\n"
                   "    C[n, o, z, y, x] = C[n, o, z, y, x] + A[n, c, z + r, y + p, x + q] * B[o, c, r, p, "
                   "q]"});
  return nests;
}

bool has_windows(const Module& module) { return print(module).find("_windows") != std::string::npos; }

}  // namespace

TEST_CASE("contraction: places that neighbouring columns see are copied once") {
  const Target wide{.vector_bytes = 64, .vector_registers = 32, .least_products = 0};
  for (const NestText& nest : images()) {
    INFO(nest.name);
    const ModulePtr module = module_of(nest);
    CHECK(has_windows(schedule(*module, wide)));
    check_same(nest, module, wide);
    check_same(nest, module, small_tiles);
    // Rows of whole tiles have no sums between them.
    if (nest.name == std::string_view("rows of tiles"))
      CHECK(print(schedule(*module, wide)).find("sums = T.sblock_alloc_buffer((8, 256))") !=
            std::string::npos);
  }
}

namespace {

// The gradient of a filter, by the place in the image of the element y, x and the filter's p, q.
NestText of_filter(const char* name, const std::vector<std::int64_t>& image,
                   const std::vector<std::int64_t>& gradient, const std::vector<std::int64_t>& filter,
                   const std::string& y, const std::string& x, bool guarded) {
  const std::string value = fmt::format("A[n0, c0, {}, {}] * B[n0, o0, y0, x0]", y, x);
  return {
      name, image, gradient, filter,
      block(fmt::format("o, c, p, q, n, y, x in T.grid({}, {}, {}, {}, {}, {}, {})", filter[0], filter[1],
                        filter[2], filter[3], gradient[0], gradient[2], gradient[3]),
            "o0, c0, p0, q0, n0, y0, x0 = T.axis.remap(\"SSSSRRR\", [o, c, p, q, n, y, x])",
            "C[o0, c0, p0, q0]",
            guarded ? fmt::format("T.if_then_else({0} >= 0 and {0} < {1} and {2} >= 0 and {2} < {3}, {4}, "
                                  "T.float32(0))",
                                  y, image[2], x, image[3], value)
                    : value)};
}

std::vector<NestText> shared_by_rows() {
  std::vector<NestText> nests{
      of_filter("plain", {2, 3, 10, 20}, {2, 4, 8, 18}, {4, 3, 3, 3}, "y0 + p0", "x0 + q0", false),
      of_filter("padded", {3, 4, 9, 17}, {3, 5, 9, 17}, {5, 4, 3, 3}, "y0 + p0 - 1", "x0 + q0 - 1", true),
      of_filter("with steps", {2, 4, 17, 19}, {2, 4, 9, 10}, {4, 4, 3, 3}, "y0 * 2 + p0 - 1",
                "x0 * 2 + q0 - 1", true),
      of_filter("far apart", {2, 4, 9, 12}, {2, 4, 9, 12}, {4, 4, 3, 3}, "y0 + p0 * 2 - 2", "x0 + q0 * 3 - 3",
                true),
      of_filter("backwards", {2, 3, 9, 17}, {2, 5, 9, 16}, {5, 3, 3, 2}, "y0 + 1 - p0", "x0 + 1 - q0", true),
      of_filter("small images", {40, 4, 4, 4}, {40, 5, 4, 4}, {5, 4, 3, 3}, "y0 + p0 - 1", "x0 + q0 - 1",
                true)};
  nests.push_back({"terms backwards",
                   {2, 20, 3},
                   {5, 3, 8},
                   {2, 16, 8},
                   "for n, x, o, q, c in T.grid(2, 16, 8, 5, 3):\n"
                   "    C[n, x, o] = C[n, x, o] + A[n, x + 4 - q, c] * B[q, c, o]"});
  return nests;
}

}  // namespace

TEST_CASE("contraction: places that rows and terms share are copied once, at whatever distance") {
  const Target wide{.vector_bytes = 64, .vector_registers = 32, .least_products = 0};
  for (const NestText& nest : shared_by_rows()) {
    INFO(nest.name);
    const ModulePtr module = module_of(nest);
    CHECK(has_windows(schedule(*module, wide)));
    check_same(nest, module, wide);
    check_same(nest, module, small_tiles);
  }
  // Steps of two and of three: no term or row goes from each place to the next.
  const NestText apart = of_filter("steps and distances", {2, 4, 25, 28}, {2, 4, 9, 11}, {4, 4, 3, 3},
                                   "y0 * 2 + p0 * 3", "x0 * 2 + q0 * 3", false);
  const ModulePtr module = module_of(apart);
  CHECK_FALSE(has_windows(schedule(*module, wide)));
  check_same(apart, module, wide);
}

TEST_CASE("contraction: items of a batch are the last columns where rows of images are short") {
  Target wide{.vector_bytes = 64, .vector_registers = 32, .least_products = 0};
  wide.private_cache_bytes = std::int64_t{1} << 21;
  const auto by_items = [&](const Module& module) {
    const std::string text = print(schedule(module, wide));
    return text.find("_windows") != std::string::npos && text.find("turned") != std::string::npos;
  };
  const std::vector<NestText> taken{
      windows("padded", {16, 3, 4, 4}, {80, 3, 3, 3}, {16, 80, 4, 4}, "y0 + p0 - 1", "x0 + q0 - 1", true),
      windows("backwards, far apart", {16, 2, 5, 6}, {80, 2, 3, 3}, {16, 80, 5, 6}, "y0 + 1 - p0",
              "x0 + 2 - q0 * 2", true),
      windows("with steps", {16, 2, 6, 5}, {220, 2, 3, 3}, {16, 220, 3, 3}, "y0 * 2 + p0 - 1",
              "x0 * 2 + q0 - 1", true)};
  for (const NestText& nest : taken) {
    INFO(nest.name);
    const ModulePtr module = module_of(nest);
    CHECK(by_items(*module));
    check_same(nest, module, wide);
  }
  // Items that are no whole vectors or too many, rows that fill tiles, filters that are few beside copies.
  const std::int64_t refused[][3] = {{12, 4, 80}, {80, 4, 80}, {16, 32, 80}, {16, 4, 20}};
  for (const auto& [n, x, o] : refused)
    CHECK_FALSE(by_items(*module_of(
        windows("", {n, 2, 4, x}, {o, 2, 3, 3}, {n, o, 4, x}, "y0 + p0 - 1", "x0 + q0 - 1", true))));
}

TEST_CASE("contraction: columns are copied where they see no common places, or sums between them cost more") {
  const Target wide{.vector_bytes = 64, .vector_registers = 32, .least_products = 0};
  const std::vector<NestText> others{
      windows("small images, many rows", {15, 3, 4, 4}, {128, 3, 3, 3}, {15, 128, 4, 4}, "y0 + p0 - 1",
              "x0 + q0 - 1", true),
      {"one term for two columns",
       {3, 12, 20},
       {4, 3, 5},
       {4, 8, 16},
       "for o, y, x, c, p in T.grid(4, 8, 16, 3, 5):\n"
       "    C[o, y, x] = C[o, y, x] + A[c, y + p, x + p] * B[o, c, p]"},
      {"a column also alone",
       {3, 12, 20},
       {4, 3, 5},
       {4, 8, 16},
       "for o, y, x, c, p in T.grid(4, 8, 16, 3, 5):\n"
       "    C[o, y, x] = C[o, y, x] + T.if_then_else(x < 11, A[c, y, x + p] * B[o, c, p], T.float32(0))"}};
  for (const NestText& nest : others) {
    INFO(nest.name);
    const ModulePtr module = module_of(nest);
    CHECK_FALSE(has_windows(schedule(*module, wide)));
    check_same(nest, module, wide);
  }
}

namespace {

// With steps, few columns lie side by side in the image, so filters are the columns of tiles.
const NestText steps = windows("with steps", {1, 32, 17, 35}, {64, 32, 3, 3}, {1, 64, 8, 17}, "y0 * 2 + p0",
                               "x0 * 2 + q0", false);
const NestText padded_steps = windows("with steps and padding", {1, 32, 16, 34}, {64, 32, 3, 3},
                                      {1, 64, 8, 17}, "y0 * 2 + p0 - 1", "x0 * 2 + q0 - 1", true);
// More terms than the block has sums: these are looked at for what is no number.
const NestText many_terms =
    windows("many terms", {2, 40, 4, 5}, {6, 40, 3, 3}, {2, 6, 4, 5}, "y0 + p0 - 1", "x0 + q0 - 1", true);

}  // namespace

TEST_CASE("contraction: filters give the columns where places of the image would be copied one by one") {
  const Target wide{.vector_bytes = 64, .vector_registers = 32, .least_products = 0};
  for (const NestText* nest : {&steps, &padded_steps}) {
    INFO(nest->name);
    const std::string text = print(schedule(*module_of(*nest), wide));
    CHECK(text.find("_windows") != std::string::npos);
    CHECK(text.find("turned") != std::string::npos);
  }
  check_same(padded_steps, module_of(padded_steps), wide);
}

TEST_CASE("contraction: filters that few blocks of columns use are read where they are") {
  const auto has_panel = [](const NestText& nest) {
    return print(schedule(*module_of(nest))).find("B_panel") != std::string::npos;
  };
  const auto small_images = [](std::int64_t n, std::int64_t filters) {
    return windows("small images", {n, 40, 4, 4}, {filters, 40, 3, 3}, {n, filters, 4, 4}, "y0 + p0 - 1",
                   "x0 + q0 - 1", true);
  };
  CHECK_FALSE(has_panel(small_images(16, 130)));
  CHECK(has_panel(small_images(128, 130)));
  // The last tile of rows ends behind the last filter.
  const NestText nest = small_images(3, 33);
  CHECK_FALSE(has_panel(nest));
  check_same(nest, module_of(nest), {});
}

TEST_CASE("contraction: every form is cut into tiles that compute the same") {
  for (const NestText& nest : contractions()) {
    INFO(nest.name);
    const ModulePtr module = module_of(nest);
    check_same(nest, module, small_tiles);
    check_same(nest, module, {.vector_bytes = 64, .vector_registers = 32, .least_products = 0});
    check_same(
        nest, module,
        {.vector_bytes = 16, .vector_registers = 16, .private_cache_bytes = 1 << 15, .least_products = 0});
  }
}

TEST_CASE("contraction: what a guard leaves out counts nothing, also times infinity") {
  for (const NestText* nest : {&padded, &padded_gradient, &many_terms}) {
    INFO(nest->name);
    const ModulePtr module = module_of(*nest);
    Tensor changed = small_numbers(DType::Float32, nest->b, 5).tensor();
    changed.set_double(4, HUGE_VAL);
    if (nest != &padded_gradient) changed.set_double(60, std::nan(""));
    const Target wide{.vector_bytes = 64, .vector_registers = 32, .least_products = 0};
    const Target& target = nest == &many_terms ? wide : small_tiles;
    const std::vector<Value> args{small_numbers(DType::Float32, nest->a, 7), Value(changed)};
    const auto after = std::make_shared<const Module>(schedule(*module, target));
    REQUIRE(has_tiles(*after));
    const auto interpreter = make_interpreter();
    const Tensor wanted = interpreter->call(module, "f", args).tensor();
    const Tensor found = interpreter->call(after, "f", args).tensor();
    const Tensor compiled = make_jit({.threads = 2, .target = target})->call(module, "f", args).tensor();
    int finite = 0;
    for (std::int64_t i = 0; i < wanted.size(); ++i) {
      const double value = wanted.get_double(i);
      finite += std::isfinite(value);
      for (const Tensor* other : {&found, &compiled}) {
        if (std::isnan(value))
          REQUIRE(std::isnan(other->get_double(i)));
        else
          REQUIRE(other->get_double(i) == value);
      }
    }
    CHECK(finite > 0);
    CHECK(finite < wanted.size());
  }
}

TEST_CASE("contraction: a factor that is read out of range where the guard does not hold keeps its loops") {
  const NestText nest{"guarded",
                      {9, 8},
                      {5, 7},
                      {9, 7},
                      "for i, j, l in T.grid(9, 7, 8):\n"
                      "    C[i, j] = C[i, j] + T.if_then_else(l < 5, A[i, l] * B[l, j], T.float32(0))"};
  CHECK_FALSE(has_tiles(schedule(*module_of(nest), small_tiles)));
}

TEST_CASE("contraction: a factor that several blocks use is copied once, before them") {
  const auto once = [](const Module& module) {
    std::vector<std::string> names;
    for_each_stmt(module.prim_func("f")->body, [&](const Stmt& stmt) {
      const auto* block = stmt.as<BlockStmt>();
      if (block && block->name == "panels")
        for (const Buffer& buffer : block->allocations) names.push_back(buffer.name());
    });
    return names;
  };
  CHECK(once(schedule(*module_of(product(200, 64, 300)))) == std::vector<std::string>{"A_panel", "B_panel"});
  CHECK(once(schedule(*module_of(product(32, 64, 300)))) == std::vector<std::string>{"A_panel"});
  CHECK(once(schedule(*module_of(product(300, 64, 32)))) == std::vector<std::string>{"B_panel"});
  CHECK(once(schedule(*module_of(product(64, 64, 64)))).empty());
  // Too large for a panel.
  CHECK(once(schedule(*module_of(product(32, 1 << 18, 300)))).empty());
}

TEST_CASE("contraction: blocks run on several threads") {
  const auto after = schedule(*module_of(product(200, 64, 300)));
  int parallel = 0;
  for_each_stmt(after.prim_func("f")->body, [&](const Stmt& stmt) {
    const auto* loop = stmt.as<For>();
    parallel += loop && loop->kind == LoopKind::Parallel;
  });
  CHECK(parallel == 2);  // the copy of B, and the blocks
}

TEST_CASE("contraction: what is none, or too small, keeps its loops") {
  const std::vector<NestText> others{
      {"small", {8, 8}, {8, 8}, {8, 8}, product(8, 8, 8).text},
      {"a row", {1, 64}, {64, 256}, {1, 256}, product(1, 64, 256).text},
      {"no product",
       {64, 64},
       {64, 64},
       {64, 64},
       "for i, j, l in T.grid(64, 64, 64):\n    C[i, j] = C[i, j] + (A[i, l] + B[l, j])"},
      {"a largest product",
       {64, 64},
       {64, 64},
       {64, 64},
       "for i, j, l in T.grid(64, 64, 64):\n    C[i, j] = T.max(C[i, j], A[i, l] * B[l, j])"},
      {"an index in the data",
       {64, 64},
       {64, 64},
       {64, 64},
       "for i, j, l in T.grid(64, 64, 64):\n    C[i, j] = C[i, j] + A[i, l] * B[T.int32(A[l, 0]), j]"},
      {"its own factor",
       {64, 64},
       {64, 64},
       {64, 64},
       "for i, j, l in T.grid(64, 64, 64):\n    C[i, j] = C[i, j] + A[i, l] * C[i, j]"},
      {"a term of its own",
       {64, 64},
       {64, 64},
       {64, 64},
       "for i, j, l, o in T.grid(64, 64, 64, 2):\n    C[i, j] = C[i, j] + A[i, l] * B[l, j]"},
      {"unrolled",
       {64, 64},
       {64, 64},
       {64, 64},
       "for i, j in T.grid(64, 64):\n    for l in T.unroll(64):\n        C[i, j] = C[i, j] + A[i, l] * B[l, "
       "j]"},
      {"a guard of both factors",
       {64, 64},
       {64, 64},
       {64, 64},
       "for i, j, l in T.grid(64, 64, 64):\n"
       "    C[i, j] = C[i, j] + T.if_then_else(i < j, A[i, l] * B[l, j], T.float32(0))"},
      {"guarded by something else",
       {64, 64},
       {64, 64},
       {64, 64},
       "for i, j, l in T.grid(64, 64, 64):\n"
       "    C[i, j] = C[i, j] + T.if_then_else(i < l, A[i, l] * B[l, j], T.float32(1))"},
      {"depthwise",
       {64, 64},
       {64, 64},
       {64, 32},
       "for i, j, l in T.grid(64, 32, 32):\n    C[i, j] = C[i, j] + A[i, j + l] * B[i, l]"},
  };
  for (const NestText& nest : others) {
    INFO(nest.name);
    CHECK_FALSE(has_tiles(schedule(*module_of(nest))));
  }
}

TEST_CASE("contraction: a factor whose terms lie side by side is turned in squares of registers") {
  const auto squares = [](const NestText& nest, const Target& target) {
    return print(schedule(*module_of(nest), target)).find("T.sblock(\"square\")") != std::string::npos;
  };
  const Target wide{.vector_bytes = 64, .vector_registers = 32, .least_products = 0};
  for (const NestText& nest : contractions()) {
    INFO(nest.name);
    const bool apart = std::string(nest.name).find("columns apart") == 0;
    if (apart) CHECK(squares(nest, wide));
    if (apart) CHECK(squares(nest, small_tiles));
  }
  CHECK_FALSE(squares(product(33, 513, 34), wide));
}
