// The table, and distances.
#include "runtime/closeness.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/half.h"

namespace relish {
namespace {

// Columns: float64, float32, float16, bfloat16.
struct Row {
  int agreement_class;
  Closeness by_dtype[4];
};
constexpr Row table[] = {
    {6, {{1e-12, 1e-13}, {1e-5, 1e-6}, {2e-3, 1e-4}, {1.6e-2, 1e-3}}},
    {class_of_models, {{1e-10, 1e-12}, {1e-4, 1e-5}, {2e-2, 1e-3}, {1e-1, 1e-2}}},
    {class_of_training, {{1e-9, 1e-11}, {1e-3, 1e-5}, {2e-2, 1e-3}, {1e-1, 1e-2}}},
};

int column_of(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return 0;
    case DType::Float16:
      return 2;
    case DType::BFloat16:
      return 3;
    default:
      return 1;
  }
}

// The float as an integer that counts the representable values in order.
template <class Int, class Float>
std::int64_t ordered(Float value) {
  Int bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits < 0 ? static_cast<std::int64_t>(std::numeric_limits<Int>::min()) - bits : bits;
}

}  // namespace

Closeness closeness(int agreement_class, DType dtype) {
  for (const Row& row : table) {
    if (row.agreement_class == agreement_class) return row.by_dtype[column_of(dtype)];
  }
  return {};
}

std::int64_t most_ulps(DType dtype) { return dtype == DType::Float64 ? 2 : dtype == DType::Float32 ? 4 : 1; }

double rounding_unit(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return std::ldexp(1.0, -53);
    case DType::Float32:
      return std::ldexp(1.0, -24);
    case DType::Float16:
      return std::ldexp(1.0, -11);
    case DType::BFloat16:
      return std::ldexp(1.0, -8);
    default:
      return 0;
  }
}

std::int64_t ulp_distance(double a, double b, DType dtype) {
  if (std::isnan(a) && std::isnan(b)) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return a == b ? 0 : std::numeric_limits<std::int64_t>::max();
  std::int64_t x = 0, y = 0;
  switch (dtype) {
    case DType::Float32:
      x = ordered<std::int32_t>(static_cast<float>(a)), y = ordered<std::int32_t>(static_cast<float>(b));
      break;
    case DType::Float16:
      x = ordered<std::int16_t>(Half(static_cast<float>(a)).bits),
      y = ordered<std::int16_t>(Half(static_cast<float>(b)).bits);
      break;
    case DType::BFloat16:
      x = ordered<std::int16_t>(BFloat16(static_cast<float>(a)).bits),
      y = ordered<std::int16_t>(BFloat16(static_cast<float>(b)).bits);
      break;
    default:
      x = ordered<std::int64_t>(a), y = ordered<std::int64_t>(b);
      break;
  }
  const __int128 distance = static_cast<__int128>(x) - y;
  const __int128 size = distance < 0 ? -distance : distance;
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  return size > most ? most : static_cast<std::int64_t>(size);
}

double sum_bound(double value, double magnitude, std::int64_t terms, DType dtype) {
  const auto n = static_cast<double>(terms);
  const double unit = rounding_unit(dtype);
  return std::min(n, 1024 + n / 1024) * unit * magnitude + std::abs(value) * 2 * unit;
}

}  // namespace relish
