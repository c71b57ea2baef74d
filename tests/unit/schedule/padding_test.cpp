// Padding: terms that count for no element of a tile are no rounds of its loops, and the sums stay as they
// are.
#include <fmt/format.h>

#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

struct PaddedImage {
  std::int64_t items, channels, filters, rows, columns, taps;
  std::int64_t pad = 1, step = 1, spacing = 1;

  std::int64_t places(std::int64_t extent) const {
    return (extent + 2 * pad - (taps - 1) * spacing - 1) / step + 1;
  }
  std::vector<Value> arguments() const {
    return {small_numbers(DType::Float32, {items, channels, rows, columns}, 7),
            small_numbers(DType::Float32, {filters, channels, taps, taps}, 5)};
  }
};

std::string place(const PaddedImage& image, const std::string& along, const std::string& tap) {
  return fmt::format("({} * {} + {} * {} - {})", along, image.step, tap, image.spacing, image.pad);
}

// `asks`: what the guard asks of the place {0} of an extent {1}.
ModulePtr convolution(const PaddedImage& image, const std::string& asks = "{0} >= 0 and {0} < {1}") {
  const std::int64_t height = image.places(image.rows), width = image.places(image.columns);
  const std::string y = place(image, "y0", "p0"), x = place(image, "x0", "q0");
  return read_module(
      "test.relish",
      fmt::format(
          "@I.ir_module\nclass M:\n    @T.prim_func\n"
          "    def f(A: T.Buffer(({0}, {1}, {2}, {3}), \"float32\"), B: T.Buffer(({4}, {1}, {5}, {5}), "
          "\"float32\"), C: T.Buffer(({0}, {4}, {6}, {7}), \"float32\")):\n"
          "        for n, o, y, x, c, p, q in T.grid({0}, {4}, {6}, {7}, {1}, {5}, {5}):\n"
          "            with T.sblock(\"C\"):\n"
          "                n0, o0, y0, x0, c0, p0, q0 = T.axis.remap(\"SSSSRRR\", [n, o, y, x, c, p, q])\n"
          "                with T.init():\n                    C[n0, o0, y0, x0] = T.float32(0)\n"
          "                C[n0, o0, y0, x0] = C[n0, o0, y0, x0] + T.if_then_else({8} and {9}, A[n0, c0, {10}, "
          "{11}] * B[o0, c0, p0, q0], T.float32(0))\n",
          image.items, image.channels, image.rows, image.columns, image.filters, image.taps, height, width,
          fmt::format(fmt::runtime(asks), y, image.rows), fmt::format(fmt::runtime(asks), x, image.columns),
          y, x));
}

// Loops that begin where the padding ends.
bool leaves_out(const ModulePtr& module, const Target& target) {
  return print(schedule(*module, target)).find("in range(T.max(") != std::string::npos;
}

constexpr Target image_target{.vector_bytes = 64, .vector_registers = 32, .least_products = 0};

}  // namespace

TEST_CASE("padding: terms that count for no element of a tile are left out") {
  for (const PaddedImage& image : std::vector<PaddedImage>{{2, 3, 4, 6, 32, 3},
                                                           {2, 20, 16, 8, 8, 3},
                                                           {1, 3, 32, 9, 9, 3},
                                                           {16, 8, 4, 4, 4, 3, 1, 2},
                                                           {1, 3, 16, 16, 16, 3, 1, 2},
                                                           {2, 3, 4, 8, 32, 3, 2, 1, 2},
                                                           {1, 4, 8, 6, 32, 5, 2}}) {
    INFO(fmt::format("{} {} {} {} {} {}, {} {} {}", image.items, image.channels, image.filters, image.rows,
                     image.columns, image.taps, image.pad, image.step, image.spacing));
    const ModulePtr module = convolution(image);
    CHECK(leaves_out(module, image_target));
    check_schedules(module, image.arguments(), "tile");
  }
}

TEST_CASE("padding: however the guard compares") {
  const PaddedImage image{2, 3, 4, 6, 32, 3};
  for (const char* asks : {"{0} > -1 and {0} <= {1} - 1", "0 <= {0} and {1} > {0}",
                           "-1 < {0} and {1} - 1 >= {0}", "{0} + 3 >= 3 and {1} + 2 > {0} + 2"}) {
    INFO(asks);
    const ModulePtr module = convolution(image, asks);
    CHECK(leaves_out(module, image_target));
    check_schedules(module, image.arguments(), "tile");
  }
}

TEST_CASE("padding: what is no bound of a term keeps its loops whole") {
  const PaddedImage image{2, 4, 16, 5, 16, 3};
  // At some place no term counts; terms that do not follow each other.
  const PaddedImage outside{2, 4, 16, 5, 9, 3, 3};
  for (const auto& [each, asks] : std::vector<std::pair<PaddedImage, std::string>>{
           {outside, "{0} >= 0 and {0} < {1}"}, {image, "{0} >= 0 and {0} < {1} and {0} % 2 == 0"}}) {
    INFO(asks);
    const ModulePtr module = convolution(each, asks);
    check_schedules(module, each.arguments(), "");
    if (each.pad == 3) CHECK_FALSE(leaves_out(module, image_target));
  }
}

TEST_CASE("padding: small images of a batch are at one place in each tile") {
  const std::string text = print(schedule(*convolution({16, 8, 32, 4, 4, 3}), image_target));
  INFO(text);
  // Both taps are narrowed.
  std::size_t narrowed = 0;
  for (std::size_t at = text.find("in range(T.max("); at != std::string::npos;
       at = text.find("in range(T.max(", at + 1))
    ++narrowed;
  CHECK(narrowed == 2);
}

TEST_CASE("padding: large panels are asked for ahead, by rows that share it") {
  const auto product = [](std::int64_t n, std::int64_t k, std::int64_t m) {
    return read_module(
        "test.relish",
        fmt::format("@I.ir_module\nclass M:\n    @T.prim_func\n"
                    "    def f(A: T.Buffer(({0}, {1}), \"float32\"), B: T.Buffer(({1}, {2}), \"float32\"), "
                    "C: T.Buffer(({0}, {2}), \"float32\")):\n"
                    "        for i, j, k in T.grid({0}, {2}, {1}):\n            with T.sblock(\"C\"):\n"
                    "                i0, j0, k0 = T.axis.remap(\"SSR\", [i, j, k])\n"
                    "                with T.init():\n                    C[i0, j0] = T.float32(0)\n"
                    "                C[i0, j0] = C[i0, j0] + A[i0, k0] * B[k0, j0]\n",
                    n, k, m));
  };
  const auto asks = [](const ModulePtr& module, const Target& target) {
    return print(schedule(*module, target)).find("T.evaluate(B_panel") != std::string::npos;
  };
  Target far = image_target;
  far.private_cache_bytes = 1 << 19;
  CHECK(asks(product(190, 600, 1000), far));
  CHECK_FALSE(asks(product(190, 600, 700), far));  // not four times the cache
  // The next tile of the last one of a part is the first of the next part; tiles, parts and panels end early.
  const Target small{.vector_bytes = 32, .private_cache_bytes = 1 << 18, .least_products = 0};
  const auto interpreter = make_interpreter();
  for (const auto& [n, k, m] : std::vector<std::array<std::int64_t, 3>>{{52, 300, 877}, {50, 523, 510}}) {
    INFO(n << " " << k << " " << m);
    const ModulePtr module = product(n, k, m);
    REQUIRE(asks(module, small));
    const std::vector<Value> args{small_numbers(DType::Float32, {n, k}, 7),
                                  small_numbers(DType::Float32, {k, m}, 5)};
    const Tensor wanted = interpreter->call(module, "f", args).tensor();
    const auto after = std::make_shared<const Module>(schedule(*module, small));
    require_same(interpreter->call(after, "f", args).tensor(), wanted);
    require_same(make_jit({.threads = 2, .target = small})->call(module, "f", args).tensor(), wanted);
  }
}
