// Sums whose terms lie packed in elements: all of one place in them behind each other.
#include <fmt/format.h>

#include "tests/unit/schedule/helpers.h"

using namespace relish;
using namespace relish::test;

namespace {

// y[i] = the sum over `terms` k of what lies in w at k // parts, times x[k].
ModulePtr packed_sum(int terms, int parts, const std::string& dtype, const std::string& index) {
  return read_module(
      "test.relish",
      fmt::format(
          "@I.ir_module\nclass M:\n    @T.prim_func\n    def f(w: T.Buffer((5, {1}), \"{2}\"), "
          "x: T.Buffer(({0},), \"float32\"), y: T.Buffer((5,), \"float32\")):\n"
          "        for i, k in T.grid(5, {0}):\n            with T.sblock(\"y\"):\n"
          "                vi, vk = T.axis.remap(\"SR\", [i, k])\n                with T.init():\n"
          "                    y[vi] = T.float32(0)\n"
          "                y[vi] = y[vi] + (T.Cast(\"float32\", T.bitwise_and(T.shift_right(w[vi, {3}], "
          "T.Cast(\"{2}\", vk % {4} * {5})), T.{2}({6}))) - T.float32({7})) * x[vk]\n",
          terms, (terms + parts - 1) / parts, dtype, index, parts, 8 / parts, (1 << (8 / parts)) - 1,
          1 << (8 / parts - 1)));
}

bool divides(const Module& module) {
  bool found = false;
  for_each_scalar(module.prim_func("f")->body, [&](const Scalar& value) {
    const auto* node = value.as<Binary>();
    found = found || (node && (node->op == BinaryOp::FloorDiv || node->op == BinaryOp::FloorMod));
  });
  return found;
}

}  // namespace

TEST_CASE("packed terms: no quotient is left where elements are whole") {
  for (const int parts : {2, 4, 8}) {
    for (const char* dtype : {"uint8", "uint16"}) {
      for (const int elements : {16, 33}) {
        INFO(parts << " " << dtype << " " << elements);
        const int terms = elements * parts;
        const ModulePtr module = packed_sum(terms, parts, dtype, fmt::format("vk // {}", parts));
        CHECK_FALSE(divides(schedule(*module, many_targets()[1])));
        Tensor w = Tensor::empty(*dtype_from_name(dtype), {5, elements});
        for (std::int64_t i = 0; i < w.size(); ++i) w.set_double(i, static_cast<double>(i * 37 % 256));
        check_schedules(module, {Value(w), small_numbers(DType::Float32, {terms}, 7)}, "");
      }
    }
  }
}

TEST_CASE("packed terms: not where the last element is not whole, or other digits are taken") {
  const auto left = [](const ModulePtr& module) { return divides(schedule(*module, many_targets()[1])); };
  CHECK(left(packed_sum(65, 2, "uint8", "vk // 2")));
  CHECK(left(packed_sum(64, 2, "uint8", "vk // 4")));
  CHECK(left(packed_sum(64, 2, "uint8", "(vk + 1) // 4")));
  CHECK(left(packed_sum(16, 2, "uint8", "vk // 2")));
  // Wider elements are loaded from where they lie.
  CHECK(left(packed_sum(64, 2, "uint32", "vk // 2")));
  check_schedules(packed_sum(512, 8, "int32", "vk // 8"),
                  {small_numbers(DType::Int32, {5, 64}, 7), small_numbers(DType::Float32, {512}, 5)}, "");
}
