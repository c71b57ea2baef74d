// Tensors over their storage: elements by index, conversions, copies.
#include "runtime/tensor.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/format.h"
#include "runtime/storage.h"
#include "support/checked.h"
#include "support/interrupt.h"
#include "support/limits.h"

namespace relish {
namespace {

// Float to integer saturates, and NaN gives 0.
template <class T>
T saturate(double value) {
  if (std::isnan(value)) return 0;
  // Both bounds of `T` are compared as powers of two, which doubles hold exactly.
  constexpr double above =
      2.0 * static_cast<double>(std::uint64_t{1} << (std::numeric_limits<T>::digits - 1));
  constexpr double least = static_cast<double>(std::numeric_limits<T>::min());
  if (value >= above) return std::numeric_limits<T>::max();
  if (value <= least) return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

// A double that rounds to every narrower float as the integer itself would: low bits are folded into the last
// one.
double rounding_image(std::int64_t value) {
  std::uint64_t magnitude =
      value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
  constexpr std::uint64_t low_bits = (1u << 11) - 1;
  if (magnitude >> 53 != 0 && (magnitude & low_bits) != 0)
    magnitude = (magnitude & ~low_bits) | (low_bits + 1);
  return value < 0 ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
}

template <class T>
double to_double(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return static_cast<double>(value);
  }
}

template <class T>
std::int64_t to_int(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::int64_t>(value);
  } else {
    return saturate<std::int64_t>(to_double(value));
  }
}

template <class T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return saturate<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
T from_int(std::int64_t value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<T> || std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return static_cast<T>(value);
  } else {
    return T(rounding_image(value));
  }
}

}  // namespace

std::int64_t element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  bool has_zero = false;
  bool overflow = false;
  for (std::int64_t dimension : shape) {
    if (dimension < 0) {
      fail(ErrorClass::Runtime, {}, "tensor.negative",
           fmt::format("the shape {} has a negative dimension", format_shape({shape.begin(), shape.end()})));
    }
    has_zero = has_zero || dimension == 0;
    overflow = overflow || __builtin_mul_overflow(count, dimension, &count);
  }
  if (has_zero) return 0;
  // The bytes of the widest element must fit as well.
  if (overflow || count > std::numeric_limits<std::int64_t>::max() / 8) {
    fail(ErrorClass::ResourceLimit, {}, "tensor.size",
         fmt::format("the shape {} has more elements than 64 bits can address",
                     format_shape({shape.begin(), shape.end()})));
  }
  return count;
}

Shape row_major_strides(std::span<const std::int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) {
    // Only without elements may the product be too large, and then no stride is used.
    strides[i - 1] = checked_mul(strides[i], std::max<std::int64_t>(shape[i], 1)).value_or(0);
  }
  return strides;
}

void check_rank(std::size_t rank) {
  if (rank <= limits().max_rank) return;
  fail(ErrorClass::ResourceLimit, {}, "limit.rank",
       fmt::format("a tensor of {} dimensions; expected at most {}; --max-rank raises the limit", rank,
                   limits().max_rank));
}

Tensor Tensor::empty(DType dtype, Shape shape) {
  check_rank(shape.size());
  Tensor tensor;
  tensor.size_ = element_count(shape);
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  tensor.storage_ = take_storage(static_cast<std::uint64_t>(tensor.byte_size()));
  tensor.data_ = tensor.storage_.get();
  return tensor;
}

namespace {

// Calls work(begin, count) for parts of some bytes. The first touch of new memory takes its time: a second
// for some gigabytes, in which a signal is heard.
template <class Work>
void in_polled_bytes(std::int64_t bytes, const Work& work) {
  constexpr std::int64_t part = std::int64_t{16} << 20;
  for (std::int64_t begin = 0; begin < bytes; begin += part) {
    if (begin > 0) poll_interrupt();
    work(static_cast<std::size_t>(begin), static_cast<std::size_t>(std::min(part, bytes - begin)));
  }
}

}  // namespace

void Tensor::clear() {
  in_polled_bytes(byte_size(), [&](std::size_t begin, std::size_t count) {
    std::memset(static_cast<char*>(data_) + begin, 0, count);
  });
}

Tensor Tensor::zeros(DType dtype, Shape shape) {
  Tensor tensor = empty(dtype, std::move(shape));
  tensor.clear();
  return tensor;
}

Tensor Tensor::scalar(DType dtype, double value) {
  Tensor tensor = empty(dtype, {});
  tensor.set_double(0, value);
  return tensor;
}

Tensor Tensor::scalar_int(DType dtype, std::int64_t value) {
  Tensor tensor = empty(dtype, {});
  tensor.set_int(0, value);
  return tensor;
}

double Tensor::get_double(std::int64_t index) const {
  return visit_dtype(dtype_,
                     [&](auto type) { return to_double(static_cast<const decltype(type)*>(data_)[index]); });
}

std::int64_t Tensor::get_int(std::int64_t index) const {
  return visit_dtype(dtype_,
                     [&](auto type) { return to_int(static_cast<const decltype(type)*>(data_)[index]); });
}

void Tensor::set_double(std::int64_t index, double value) {
  visit_dtype(dtype_, [&](auto type) {
    static_cast<decltype(type)*>(data_)[index] = from_double<decltype(type)>(value);
  });
}

void Tensor::set_int(std::int64_t index, std::int64_t value) {
  visit_dtype(dtype_, [&](auto type) {
    static_cast<decltype(type)*>(data_)[index] = from_int<decltype(type)>(value);
  });
}

Tensor Tensor::reshaped(Shape shape) const {
  check_rank(shape.size());
  RELISH_CHECK(element_count(shape) == size_, "reshaped to another number of elements");
  Tensor result = *this;
  result.shape_ = std::move(shape);
  return result;
}

Tensor Tensor::copy() const {
  Tensor result = empty(dtype_, shape_);
  in_polled_bytes(byte_size(), [&](std::size_t begin, std::size_t count) {
    std::memcpy(static_cast<char*>(result.data_) + begin, static_cast<const char*>(data_) + begin, count);
  });
  return result;
}

bool identical(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.byte_size())) == 0;
}

}  // namespace relish
