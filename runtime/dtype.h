// Element types of tensors and scalars, with the sizes and DLPack codes of each.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace relish {

enum class DType : std::uint8_t {
  Bool,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Float16,
  BFloat16,
  Float32,
  Float64,
};
inline constexpr int dtype_count = 13;

std::string_view name_of(DType dtype);                        // "float32"
std::optional<DType> dtype_from_name(std::string_view name);  // also "uint1" for bool; none otherwise
int size_of(DType dtype);                                     // bytes of an element; bool has 1

inline bool is_float(DType d) { return d >= DType::Float16; }
inline bool is_signed_int(DType d) { return d >= DType::Int8 && d <= DType::Int64; }
inline bool is_unsigned_int(DType d) { return d >= DType::UInt8 && d <= DType::UInt64; }
inline bool is_int(DType d) { return d >= DType::Int8 && d <= DType::UInt64; }  // not bool
inline bool is_bool(DType d) { return d == DType::Bool; }

// DLPack type code (0 int, 1 uint, 2 float, 4 bfloat, 6 bool) and bits.
std::uint8_t dlpack_code(DType dtype);
std::uint8_t dlpack_bits(DType dtype);

}  // namespace relish
