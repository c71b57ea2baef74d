// The table of element types.
#include "runtime/dtype.h"

namespace relish {
namespace {

struct DTypeEntry {
  std::string_view name;
  int bytes;
  std::uint8_t dlpack_code;
};

// In the order of the enumeration.
constexpr DTypeEntry dtype_table[dtype_count] = {
    {"bool", 1, 6},     {"int8", 1, 0},    {"int16", 2, 0},   {"int32", 4, 0},  {"int64", 8, 0},
    {"uint8", 1, 1},    {"uint16", 2, 1},  {"uint32", 4, 1},  {"uint64", 8, 1}, {"float16", 2, 2},
    {"bfloat16", 2, 4}, {"float32", 4, 2}, {"float64", 8, 2},
};

const DTypeEntry& entry_of(DType dtype) { return dtype_table[static_cast<int>(dtype)]; }

}  // namespace

std::string_view name_of(DType dtype) { return entry_of(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (int i = 0; i < dtype_count; ++i) {
    if (dtype_table[i].name == name) return static_cast<DType>(i);
  }
  if (name == "uint1") return DType::Bool;
  return std::nullopt;
}

int size_of(DType dtype) { return entry_of(dtype).bytes; }

std::uint8_t dlpack_code(DType dtype) { return entry_of(dtype).dlpack_code; }

std::uint8_t dlpack_bits(DType dtype) { return static_cast<std::uint8_t>(8 * entry_of(dtype).bytes); }

}  // namespace relish
