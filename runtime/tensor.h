// Tensors: a counted, 64-byte aligned, compact row-major block with a shape and an element type. Values are
// immutable by convention: only the maker of a tensor, before anybody else holds it, or code that has proved
// `unique()`, writes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/dtype.h"
#include "runtime/half.h"
#include "support/failure.h"

namespace relish {

using Shape = std::vector<std::int64_t>;

// Number of elements; throws ResourceLimit when the product or the byte size does not fit, or a dimension is
// negative.
std::int64_t element_count(std::span<const std::int64_t> shape);
// Row-major strides in elements.
Shape row_major_strides(std::span<const std::int64_t> shape);

// ResourceLimit for more dimensions than limits() allow: others could not read the tensor.
void check_rank(std::size_t rank);

class Tensor {
 public:
  Tensor() = default;  // no tensor: only good for assignment
  // Uninitialised storage. Counts against memory_limit(); throws ResourceLimit.
  static Tensor empty(DType dtype, Shape shape);
  static Tensor zeros(DType dtype, Shape shape);
  // Rank 0, `value` converted by `store_double`/`store_int` rules.
  static Tensor scalar(DType dtype, double value);
  static Tensor scalar_int(DType dtype, std::int64_t value);
  template <class T>
  static Tensor from(Shape shape, std::span<const T> values);  // dtype from T

  bool defined() const { return storage_ != nullptr; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  std::int64_t size() const { return size_; }
  std::int64_t byte_size() const { return size_ * size_of(dtype_); }

  const void* data() const { return data_; }
  void* mutable_data() { return data_; }
  template <class T>
  std::span<const T> view() const {
    return {static_cast<const T*>(data_), static_cast<std::size_t>(size_)};
  }
  template <class T>
  std::span<T> mutable_view() {
    return {static_cast<T*>(data_), static_cast<std::size_t>(size_)};
  }

  // Element access by flat index, for clear (slow) code. Integers of 64 bits lose precision as double: use
  // *_int.
  double get_double(std::int64_t index) const;
  std::int64_t get_int(std::int64_t index) const;  // floats saturate, NaN gives 0; uint64 by bit pattern
  void clear();                                    // all elements become 0
  void set_double(std::int64_t index, double value);
  void set_int(std::int64_t index, std::int64_t value);

  // True when no other handle shares the storage.
  bool unique() const { return storage_.use_count() == 1; }
  bool same_storage(const Tensor& other) const { return storage_ == other.storage_; }
  // The same elements under another shape of equal size (shares storage).
  Tensor reshaped(Shape shape) const;
  // A tensor of its own with the same elements.
  Tensor copy() const;

 private:
  std::shared_ptr<void> storage_;
  void* data_ = nullptr;
  Shape shape_;
  std::int64_t size_ = 0;
  DType dtype_ = DType::Float32;
};

// Same dtype, shape and bytes (so NaN equals the same NaN and +0 differs from -0).
bool identical(const Tensor& a, const Tensor& b);

// C++ type <-> DType. `visit_dtype(d, f)` calls f with a default-made value of the storage type
// (bool, int8_t ... uint64_t, Half, BFloat16, float, double).
template <class T>
constexpr DType dtype_of();

template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Bool:
      return f(bool{});
    case DType::Int8:
      return f(std::int8_t{});
    case DType::Int16:
      return f(std::int16_t{});
    case DType::Int32:
      return f(std::int32_t{});
    case DType::Int64:
      return f(std::int64_t{});
    case DType::UInt8:
      return f(std::uint8_t{});
    case DType::UInt16:
      return f(std::uint16_t{});
    case DType::UInt32:
      return f(std::uint32_t{});
    case DType::UInt64:
      return f(std::uint64_t{});
    case DType::Float16:
      return f(Half{});
    case DType::BFloat16:
      return f(BFloat16{});
    case DType::Float32:
      return f(float{});
    case DType::Float64:
      return f(double{});
  }
  internal_failure(__FILE__, __LINE__, "dtype", "unknown dtype");
}

template <>
constexpr DType dtype_of<bool>() {
  return DType::Bool;
}
template <>
constexpr DType dtype_of<std::int8_t>() {
  return DType::Int8;
}
template <>
constexpr DType dtype_of<std::int16_t>() {
  return DType::Int16;
}
template <>
constexpr DType dtype_of<std::int32_t>() {
  return DType::Int32;
}
template <>
constexpr DType dtype_of<std::int64_t>() {
  return DType::Int64;
}
template <>
constexpr DType dtype_of<std::uint8_t>() {
  return DType::UInt8;
}
template <>
constexpr DType dtype_of<std::uint16_t>() {
  return DType::UInt16;
}
template <>
constexpr DType dtype_of<std::uint32_t>() {
  return DType::UInt32;
}
template <>
constexpr DType dtype_of<std::uint64_t>() {
  return DType::UInt64;
}
template <>
constexpr DType dtype_of<Half>() {
  return DType::Float16;
}
template <>
constexpr DType dtype_of<BFloat16>() {
  return DType::BFloat16;
}
template <>
constexpr DType dtype_of<float>() {
  return DType::Float32;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::Float64;
}

template <class T>
Tensor Tensor::from(Shape shape, std::span<const T> values) {
  Tensor result = empty(dtype_of<T>(), std::move(shape));
  RELISH_CHECK(static_cast<std::size_t>(result.size()) == values.size());
  std::copy(values.begin(), values.end(), result.mutable_view<T>().begin());
  return result;
}

}  // namespace relish
