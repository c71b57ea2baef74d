// Operations on the bits of integers.
#include "stdlib/families/elementwise/binary.h"
#include "stdlib/families/elementwise/unary.h"

namespace relish::ops_bits {
namespace {

constexpr std::string_view bits_doc =
    "Integers, or bools as one bit each. Shapes broadcast; both operands have the same dtype.";
constexpr std::string_view shift_doc =
    "Integers. Shapes broadcast; both operands have the same dtype. A shift by the width or more leaves 0, "
    "or "
    "-1 of a negative number to the right; a negative shift is a RuntimeError.";
constexpr std::string_view no_slope = "the result is an integer";

constexpr Sample bits_samples[] = {
    {"R.const([12, -1, 127], \"int8\"), R.const([10, 85, -128], \"int8\")", "", false},
    {"R.const([[1], [255]], \"uint8\"), R.const([3, 170], \"uint8\")", "", false},
    {"R.const([True, True, False], \"bool\"), R.const([True, False, False], \"bool\")", "", false},
    {"R.const([9223372036854775807, -5], \"int64\"), R.const([[12345], [0], [-1]], \"int64\")", "", false},
    {"rand((0, 2), \"float32\").astype(\"int32\"), R.const([1, 2], \"int32\")", "", false},
    {"R.const(6, \"uint32\"), R.const([3], \"uint32\")", "", false},
};
constexpr Sample shift_samples[] = {
    {"R.const([1, -3, 127], \"int8\"), R.const([3, 1, 9], \"int8\")", "", false},
    {"R.const([[1], [255]], \"uint8\"), R.const([0, 7, 8], \"uint8\")", "", false},
    {"R.const([9223372036854775807, -5], \"int64\"), R.const([[1], [63], [64]], \"int64\")", "", false},
    {"R.const([4294967295], \"uint32\"), R.const([31], \"uint32\")", "", false},
    {"rand((0, 2), \"float32\").astype(\"int32\"), R.const([1, 2], \"int32\")", "", false},
    {"R.const(-6, \"int16\"), R.const([[1], [15]], \"int16\")", "", false},
};
constexpr Sample bitwise_not_samples[] = {
    {"R.const([0, 5, -128], \"int8\")", "[-1, -6, 127]", false},
    {"R.const([0, 5, 255], \"uint8\")", "[255, 250, 0]", false},
    {"R.const([True, False], \"bool\")", "[0, 1]", false},
    {"R.const(7, \"int64\")", "-8", false},
    {"rand((0, 2), \"float32\").astype(\"int32\")", "", false},
};
constexpr Reject bitwise_not_rejects[] = {{"bitwise_not.dtype", "[1.0]", "expected integers or bool"}};
#define RELISH_BIT_REJECTS(name, wanted)                                                                 \
  constexpr Reject name##_rejects[] = {                                                                  \
      {#name ".shape", "R.const([1, 2], \"int32\"), R.const([1, 2, 3], \"int32\")", "do not broadcast"}, \
      {#name ".dtype", "rand((2,), \"float32\"), rand((2,), \"float32\")", wanted},                      \
      {#name ".dtype", "R.const([1, 2], \"int32\"), R.const([1, 2], \"int64\")", "expected the same"},   \
      {#name ".operands", "R.prim_value(1), R.prim_value(2)", "at least one tensor"}}
RELISH_BIT_REJECTS(bitwise_and, "expected integers or bool");
RELISH_BIT_REJECTS(bitwise_or, "expected integers or bool");
RELISH_BIT_REJECTS(bitwise_xor, "expected integers or bool");
RELISH_BIT_REJECTS(left_shift, "expected integers");
RELISH_BIT_REJECTS(right_shift, "expected integers");
#undef RELISH_BIT_REJECTS

}  // namespace

extern const Op op_bitwise_not =
    flat_unary<elementwise::Domain::Bits>({.name = "bitwise_not",
                                           .summary = "Each element with all bits changed.",
                                           .no_gradient = no_slope,
                                           .samples = bitwise_not_samples,
                                           .rejects = bitwise_not_rejects,
                                           .doc = "Integers, or bools as one bit each."},
                                          [](const auto& x) { return bits_not(x); });

extern const Op op_bitwise_and =
    flat_binary<elementwise::Domain::Bits>({.name = "bitwise_and",
                                            .summary = "Bits that are set in both elements.",
                                            .no_gradient = no_slope,
                                            .samples = bits_samples,
                                            .rejects = bitwise_and_rejects,
                                            .doc = bits_doc},
                                           [](const auto& a, const auto& b) { return bits_and(a, b); });

extern const Op op_bitwise_or =
    flat_binary<elementwise::Domain::Bits>({.name = "bitwise_or",
                                            .summary = "Bits that are set in either element.",
                                            .no_gradient = no_slope,
                                            .samples = bits_samples,
                                            .rejects = bitwise_or_rejects,
                                            .doc = bits_doc},
                                           [](const auto& a, const auto& b) { return bits_or(a, b); });

extern const Op op_bitwise_xor =
    flat_binary<elementwise::Domain::Bits>({.name = "bitwise_xor",
                                            .summary = "Bits in which two elements differ.",
                                            .no_gradient = no_slope,
                                            .samples = bits_samples,
                                            .rejects = bitwise_xor_rejects,
                                            .doc = bits_doc},
                                           [](const auto& a, const auto& b) { return bits_xor(a, b); });

extern const Op op_left_shift = flat_binary<elementwise::Domain::Integers>(
    {.name = "left_shift",
     .summary = "Bits of x1 moved up by x2 places.",
     .no_gradient = no_slope,
     .samples = shift_samples,
     .rejects = left_shift_rejects,
     .doc = shift_doc},
    [](const auto& a, const auto& b) { return shifted_left(a, b); });

extern const Op op_right_shift = flat_binary<elementwise::Domain::Integers>(
    {.name = "right_shift",
     .summary = "Bits of x1 moved down by x2 places; the sign of signed integers is kept.",
     .no_gradient = no_slope,
     .samples = shift_samples,
     .rejects = right_shift_rejects,
     .doc = shift_doc},
    [](const auto& a, const auto& b) { return shifted_right(a, b); });

}  // namespace relish::ops_bits
