// Values of generated programs.
#include "tests/generate/values.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace relish::generate {
namespace {

// How far operands are moved, relative to 1 or to the value.
double step_of(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return 1e-7;
    case DType::Float16:
      return 4e-3;
    case DType::BFloat16:
      return 2e-2;
    default:
      return 1e-4;
  }
}

template <class F>
bool all_tensors(const Value& value, F&& holds) {
  if (value.is_tensor()) return holds(value.tensor());
  if (!value.is_tuple()) return true;
  for (const Value& field : value.fields()) {
    if (!all_tensors(field, holds)) return false;
  }
  return true;
}

template <class F>
bool all_pairs(const Value& a, const Value& b, F&& holds) {
  if (a.kind().index() != b.kind().index()) return false;
  if (a.is_tensor()) return holds(a.tensor(), b.tensor());
  if (a.is_tuple()) {
    if (a.fields().size() != b.fields().size()) return false;
    for (std::size_t i = 0; i < a.fields().size(); ++i) {
      if (!all_pairs(a.fields()[i], b.fields()[i], holds)) return false;
    }
    return true;
  }
  if (a.is_shape()) return a.shape().dims == b.shape().dims;
  if (a.is_scalar()) {
    const ScalarValue &x = a.scalar(), &y = b.scalar();
    return x.dtype == y.dtype && x.integer == y.integer &&
           std::bit_cast<std::uint64_t>(x.real) == std::bit_cast<std::uint64_t>(y.real);
  }
  if (a.is_string()) return a.string() == b.string();
  return true;
}

// Makes a value by filling each tensor's elements.
template <class Fill>
Value made(Random& random, const Type& type, Fill&& fill) {
  if (const TensorType* tensor = type.tensor()) {
    Tensor result = Tensor::empty(tensor->dtype.value_or(DType::Float32), concrete_shape(*tensor));
    for (std::int64_t i = 0; i < result.size(); ++i) fill(result, i);
    return result;
  }
  if (const TupleType* tuple = type.tuple()) {
    if (tuple->fields.empty()) return {};
    std::vector<Value> fields;
    for (const Type& field : tuple->fields) fields.push_back(made(random, field, fill));
    return Value::tuple(std::move(fields));
  }
  if (const auto* shape = type.as<ShapeType>()) {
    ShapeValue value;
    for (const Scalar& dim : *shape->dims) value.dims.push_back(*dim.as_int());
    return value;
  }
  if (const auto* scalar = type.as<ScalarType>()) {
    if (is_float(scalar->dtype)) return ScalarValue::of_real(random.between(1, 8) * 0.25, scalar->dtype);
    if (is_bool(scalar->dtype)) return ScalarValue::of_bool(random.chance(0.5));
    return ScalarValue::of_int(random.between(1, 4), scalar->dtype);
  }
  internal_failure(__FILE__, __LINE__, "type", "no values of this type are generated");
}

}  // namespace

Value value_of(Random& random, const Type& concrete) {
  return made(random, concrete, [&](Tensor& tensor, std::int64_t i) {
    if (is_float(tensor.dtype())) {
      const double size = random.uniform(0.25, 2);
      tensor.set_double(i, random.chance(0.4) ? -size : size);
    } else {
      tensor.set_int(i, is_bool(tensor.dtype()) ? random.below(2) : random.between(0, 5));
    }
  });
}

Value special_value_of(Random& random, const Type& concrete) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double floats[] = {std::numeric_limits<double>::quiet_NaN(),
                               infinity,
                               -infinity,
                               0.0,
                               -0.0,
                               1e-42,
                               -1e-310,
                               3e38,
                               -1.0,
                               1.5};
  constexpr std::int64_t integers[] = {0, 1, -1, INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, 127, -128, 7};
  return made(random, concrete, [&](Tensor& tensor, std::int64_t i) {
    if (is_float(tensor.dtype()))
      tensor.set_double(i, random.pick(floats));
    else
      tensor.set_int(i, is_bool(tensor.dtype()) ? random.below(2) : random.pick(integers));
  });
}

Value moved(Random& random, const Value& value) {
  if (value.is_tensor() && is_float(value.tensor().dtype())) {
    Tensor result = value.tensor().copy();
    const double step = step_of(result.dtype());
    for (std::int64_t i = 0; i < result.size(); ++i) {
      const double x = result.get_double(i);
      result.set_double(i, x + (random.chance(0.5) ? step : -step) * std::max(1.0, std::abs(x)));
    }
    return result;
  }
  if (value.is_tuple()) {
    std::vector<Value> fields;
    for (const Value& field : value.fields()) fields.push_back(moved(random, field));
    return Value::tuple(std::move(fields));
  }
  return value;
}

bool is_moderate(const Value& value) {
  return all_tensors(value, [](const Tensor& tensor) {
    if (!is_float(tensor.dtype())) return true;
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      if (!(std::abs(tensor.get_double(i)) <= 1e3)) return false;
    }
    return true;
  });
}

bool is_finite(const Value& value) {
  return all_tensors(value, [](const Tensor& tensor) {
    if (!is_float(tensor.dtype())) return true;
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      if (!std::isfinite(tensor.get_double(i))) return false;
    }
    return true;
  });
}

bool is_near(const Value& a, const Value& b) {
  return all_pairs(a, b, [](const Tensor& x, const Tensor& y) {
    if (x.dtype() != y.dtype() || x.shape() != y.shape()) return false;
    if (!is_float(x.dtype())) return identical(x, y);
    const double allowed = 40 * step_of(x.dtype());
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const double p = x.get_double(i), q = y.get_double(i);
      if (!(std::abs(p - q) <= allowed * std::max(1.0, std::abs(p)))) return false;
    }
    return true;
  });
}

bool same_bits(const Value& a, const Value& b) {
  return all_pairs(a, b, [](const Tensor& x, const Tensor& y) {
    if (x.dtype() != y.dtype() || x.shape() != y.shape()) return false;
    const auto bytes = static_cast<std::size_t>(size_of(x.dtype()));
    const auto *p = static_cast<const char*>(x.data()), *q = static_cast<const char*>(y.data());
    for (std::int64_t i = 0; i < x.size(); ++i, p += bytes, q += bytes) {
      if (std::memcmp(p, q, bytes) == 0) continue;
      if (!is_float(x.dtype()) || !std::isnan(x.get_double(i)) || !std::isnan(y.get_double(i))) return false;
    }
    return true;
  });
}

}  // namespace relish::generate
