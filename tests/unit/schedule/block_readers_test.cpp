// Windows of what contractions make: read behind the blocks that made them, or left apart.
#include <fmt/format.h>

#include "schedule/fusion/fuse.h"
#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// A convolution, a map of its sums and windows of that, whose order of updates shows in the result.
struct Convolved {
  std::int64_t items = 4, channels = 2, filters = 8, height = 12, width = 12;  // of the sums
  std::int64_t window = 2, step = 2, pooled_height = 6, pooled_width = 6;
  std::int64_t kernel = 3;
  bool last = false;     // filters are the last dimension
  bool mapped = true;    // whether anything is between the sums and the windows
  std::string row = "";  // what is read of the rows, in terms of y and a
  std::string item = "n";
  std::string also = "";  // a statement behind all
};

std::string place(const Convolved& c, const std::string& item, const std::string& filter,
                  const std::string& row, const std::string& column) {
  return c.last ? fmt::format("[{}, {}, {}, {}]", item, row, column, filter)
                : fmt::format("[{}, {}, {}, {}]", item, filter, row, column);
}

std::string shape(const Convolved& c, std::int64_t height, std::int64_t width) {
  return c.last ? fmt::format("({}, {}, {}, {})", c.items, height, width, c.filters)
                : fmt::format("({}, {}, {}, {})", c.items, c.filters, height, width);
}

ModulePtr module_of(const Convolved& c) {
  const std::string row = c.row.empty() ? fmt::format("vy * {} + va", c.step) : c.row;
  const std::string image = shape(c, c.height, c.width);
  const std::string order = c.last ? "n, y, x, f" : "n, f, y, x",
                    axes = c.last ? "vn, vy, vx, vf" : "vn, vf, vy, vx";
  const auto grid = [&](std::int64_t height, std::int64_t width) {
    return c.last ? fmt::format("{}, {}, {}, {}", c.items, height, width, c.filters)
                  : fmt::format("{}, {}, {}, {}", c.items, c.filters, height, width);
  };
  std::string text = fmt::format(
      "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(X: T.Buffer(({}, {}, {}, {}), \"float32\"), "
      "W: T.Buffer(({}, {}, {}, {}), \"float32\"), P: T.Buffer({}, \"float32\")):\n"
      "        T.func_attr({{\"tirx.noalias\": True}})\n"
      "        S = T.sblock_alloc_buffer({})\n        R = T.sblock_alloc_buffer({})\n",
      c.items, c.channels, c.height + c.kernel - 1, c.width + c.kernel - 1, c.filters, c.channels, c.kernel,
      c.kernel, shape(c, c.pooled_height, c.pooled_width), image, image);
  const std::string sums = c.mapped ? "S" : "R", here = place(c, "vn", "vf", "vy", "vx");
  const bool plain = c.kernel == 1;  // a product of places
  text += fmt::format(
      "        for {0}, c{6} in T.grid({1}, {2}{7}):\n            with T.sblock(\"sums\"):\n"
      "                {3}, vc{8} = T.axis.remap(\"SSSSR{9}\", [{0}, c{6}])\n"
      "                with T.init():\n                    {4}{5} = T.float32(0)\n"
      "                {4}{5} = {4}{5} + X[vn, vc, vy{10}, vx{11}] * W[vf, vc, {12}]\n",
      order, grid(c.height, c.width), c.channels, axes, sums, here, plain ? "" : ", p, q",
      plain ? "" : fmt::format(", {0}, {0}", c.kernel), plain ? "" : ", vp, vq", plain ? "" : "RR",
      plain ? "" : " + vp", plain ? "" : " + vq", plain ? "0, 0" : "vp, vq");
  if (c.mapped)
    text += fmt::format(
        "        for {0} in T.grid({1}):\n            with T.sblock(\"map\"):\n"
        "                {2} = T.axis.remap(\"SSSS\", [{0}])\n                R{3} = S{3} * T.float32(2) + "
        "T.float32(3)\n",
        order, grid(c.height, c.width), axes, here);
  text += fmt::format(
      "        for {0}, a, b in T.grid({1}, {2}, {2}):\n            with T.sblock(\"pool\"):\n"
      "                {3}, va, vb = T.axis.remap(\"SSSSRR\", [{0}, a, b])\n"
      "                with T.init():\n                    P{4} = T.float32(1)\n"
      "                P{4} = R{5} - P{4} * T.float32(2)\n",
      order, grid(c.pooled_height, c.pooled_width), c.window, axes, here,
      place(c, c.item == "n" ? "vn" : c.item, "vf", row, fmt::format("vx * {} + vb", c.step)));
  return read_module("test.relish", text + c.also);
}

constexpr Target wide{.vector_bytes = 64,
                      .vector_registers = 32,
                      .first_cache_bytes = 48 << 10,
                      .private_cache_bytes = 1 << 21,
                      .least_products = 0,
                      .least_moved = 0};

// The shape of the part of R that a block hands on; empty when R is no part of a block.
std::vector<std::int64_t> part_of(const Module& module) {
  std::vector<std::int64_t> shape;
  for_each_stmt(module.prim_func("f")->body, [&](const Stmt& stmt) {
    const auto* block = stmt.as<BlockStmt>();
    if (!block || block->name != "part") return;
    for (const Buffer& buffer : block->allocations) {
      if (buffer.name() != "R") continue;
      shape.clear();
      for (const Scalar& extent : buffer.shape()) shape.push_back(*extent.as_int());
    }
  });
  return shape;
}

void check_bits(const Convolved& c) {
  const ModulePtr module = module_of(c);
  check_schedules(module,
                  {small_numbers(DType::Float32,
                                 {c.items, c.channels, c.height + c.kernel - 1, c.width + c.kernel - 1}, 7),
                   small_numbers(DType::Float32, {c.filters, c.channels, c.kernel, c.kernel}, 5)},
                  "");
}

}  // namespace

TEST_CASE("windows of blocks: of one filter of one image, where the sums lie so") {
  for (const bool mapped : {true, false}) {
    const Convolved c{
        .filters = 16, .height = 28, .width = 28, .pooled_height = 14, .pooled_width = 14, .mapped = mapped};
    CHECK(part_of(schedule(*module_of(c), wide)) == std::vector<std::int64_t>{28, 28});
    check_bits(c);
  }
}

TEST_CASE("windows of blocks: odd images, windows that overlap, windows with gaps") {
  for (const auto& [height, width, window, step] : std::vector<std::array<std::int64_t, 4>>{
           {13, 11, 2, 2}, {12, 12, 3, 2}, {9, 12, 3, 1}, {12, 13, 2, 3}, {7, 7, 3, 3}}) {
    for (const bool last : {false, true}) {
      INFO(height << " " << width << " " << window << " " << step << " " << last);
      const Convolved c{.height = height,
                        .width = width,
                        .window = window,
                        .step = step,
                        .pooled_height = (height - window) / step + 1,
                        .pooled_width = (width - window) / step + 1,
                        .last = last};
      CHECK(!part_of(schedule(*module_of(c), wide)).empty());
      check_bits(c);
    }
  }
}

TEST_CASE("windows of blocks: chunks of rows, the last one shorter") {
  // 46 rows in chunks of 16, and 14 in the last one: of 23 windows of two rows that has 7.
  const Convolved c{.items = 1,
                    .channels = 8,
                    .filters = 24,
                    .height = 46,
                    .width = 30,
                    .pooled_height = 23,
                    .pooled_width = 15,
                    .kernel = 1};
  CHECK(part_of(schedule(*module_of(c), wide)) == std::vector<std::int64_t>{1, 16, 30});
  check_bits(c);
  // Of 16 windows the last chunk has none; of 15 it would have one less than that.
  for (const std::int64_t windows : {22, 16, 15}) {
    Convolved fewer = c;
    fewer.pooled_height = windows;
    CHECK(part_of(schedule(*module_of(fewer), wide)).empty() == (windows == 15));
    check_bits(fewer);
  }
  // Of chunks of 3 rows every other one begins inside of a window.
  const Convolved odd{.items = 1,
                      .channels = 8,
                      .filters = 24,
                      .height = 33,
                      .width = 40,
                      .pooled_height = 11,
                      .pooled_width = 20};
  CHECK(part_of(schedule(*module_of(odd), wide)).empty());
  check_bits(odd);
  // Windows that overlap reach into the next chunk; so do those of two rows that begin one row later.
  Convolved over = c;
  over.window = 3;
  over.pooled_height = 22;
  over.pooled_width = 14;
  CHECK(part_of(schedule(*module_of(over), wide)).empty());
  check_bits(over);
  Convolved later = c;
  later.row = "vy * 2 + va + 1";
  later.pooled_height = 22;
  CHECK(part_of(schedule(*module_of(later), wide)).empty());
  check_bits(later);
}

TEST_CASE("windows of blocks: sums that lie by places stay so, and what is read of them is turned") {
  // Two items have the schedules that four have on every target, but for that number.
  Convolved c{.items = 2,
              .channels = 32,
              .filters = 64,
              .height = 14,
              .width = 14,
              .pooled_height = 7,
              .pooled_width = 7};
  const Module scheduled = schedule(*module_of(c), wide);
  CHECK(part_of(scheduled) == std::vector<std::int64_t>{14, 14, 64});
  check_bits(c);
  c.last = true;
  const Module as_they_lie = schedule(*module_of(c), wide);
  CHECK(part_of(as_they_lie) == std::vector<std::int64_t>{14, 14, 64});
  CHECK(!has_block(as_they_lie, "turned"));
  check_bits(c);
}

TEST_CASE("windows of blocks: a convolution of them keeps its own tiles") {
  const ModulePtr module = read_module("test.relish", R"(
@I.ir_module
class M:
    @T.prim_func
    def f(x: T.Buffer((2, 16, 18, 18), "float32"), v: T.Buffer((16, 16, 3, 3), "float32"), w: T.Buffer((16, 16, 3, 3), "float32"), y: T.Buffer((2, 16, 14, 14), "float32")):
        a = T.alloc_buffer((2, 16, 16, 16), "float32")
        for i, c, h, k, d, e, g in T.grid(2, 16, 16, 16, 16, 3, 3):
            with T.sblock("first"):
                vi, vc, vh, vk, vd, ve, vg = T.axis.remap("SSSSRRR", [i, c, h, k, d, e, g])
                with T.init():
                    a[vi, vc, vh, vk] = T.float32(0)
                a[vi, vc, vh, vk] = a[vi, vc, vh, vk] + x[vi, vd, vh + ve, vk + vg] * v[vc, vd, ve, vg]
        for i, c, h, k, d, e, g in T.grid(2, 16, 14, 14, 16, 3, 3):
            with T.sblock("second"):
                vi, vc, vh, vk, vd, ve, vg = T.axis.remap("SSSSRRR", [i, c, h, k, d, e, g])
                with T.init():
                    y[vi, vc, vh, vk] = T.float32(0)
                y[vi, vc, vh, vk] = y[vi, vc, vh, vk] + a[vi, vd, vh + ve, vk + vg] * w[vc, vd, ve, vg]
)");
  int contractions = 0;
  const Module scheduled = schedule(*module, wide);
  for (const auto* block : all_of<BlockStmt>(*scheduled.prim_func("f")))
    contractions += block->name == "tile";
  CHECK(contractions == 2);
  CHECK(part_of(scheduled).empty());
  check_schedules(
      module,
      {small_numbers(DType::Float32, {2, 16, 18, 18}, 7), small_numbers(DType::Float32, {16, 16, 3, 3}, 5),
       small_numbers(DType::Float32, {16, 16, 3, 3}, 3)},
      "");
}

TEST_CASE("windows of blocks: other images, images in another order and a second reader stay apart") {
  Convolved c;
  REQUIRE(!part_of(schedule(*module_of(c), wide)).empty());
  c.item = "3 - vn";
  CHECK(part_of(schedule(*module_of(c), wide)).empty());
  check_bits(c);
  Convolved again;
  again.also = "        for n in range(4):\n            P[n, 0, 0, 0] = R[n, 1, 2, 3]\n";
  CHECK(part_of(schedule(*module_of(again), wide)).empty());
  check_bits(again);
}

TEST_CASE("windows of blocks: a map of the sums is not computed anew for each window") {
  Convolved c;
  c.window = 2;
  const auto fused = fuse(*module_of(c));
  CHECK(has_block(fused, "map"));
  CHECK(print(schedule(fused, wide)).find("part") != std::string::npos);
}
