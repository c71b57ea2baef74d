// Overlap and order of boxes.
#include "stdlib/families/windows/boxes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/printer/printer.h"
#include "stdlib/families/language/pace.h"

namespace relish::boxes {

Box box_of(const Tensor& data, std::int64_t at) {
  const double a = data.get_double(at), b = data.get_double(at + 1), c = data.get_double(at + 2),
               d = data.get_double(at + 3);
  return {std::min(a, c), std::min(b, d), std::max(a, c), std::max(b, d)};
}

double overlap(const Box& a, const Box& b) {
  const double width = std::max(0.0, std::min(a.right, b.right) - std::max(a.left, b.left));
  const double height = std::max(0.0, std::min(a.bottom, b.bottom) - std::max(a.top, b.top));
  const double shared = width * height;
  const double all =
      (a.right - a.left) * (a.bottom - a.top) + (b.right - b.left) * (b.bottom - b.top) - shared;
  return all <= 0 ? 0 : shared / all;
}

std::vector<std::int64_t> by_score(std::int64_t count, const std::function<double(std::int64_t)>& score) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  Pace pace;
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    pace();
    const double x = score(a), y = score(b);
    if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
    return x > y;
  });
  return order;
}

std::optional<Dims> dims_of(const CallView& call, std::size_t i, int rank) {
  const BroadcastShape shape = shape_of(call.tensor(i));
  if (shape.rank >= 0 && shape.rank != rank) {
    call.reject("rank", call.span_of(i),
                fmt::format("{} has rank {}, expected {}", call.op.params[i].name, shape.rank, rank));
  }
  return shape.dims;
}

void require_integers(const CallView& call, std::size_t i) {
  const std::optional<DType> dtype = call.tensor(i).dtype;
  if (!dtype || is_int(*dtype)) return;
  call.reject("dtype", call.span_of(i),
              fmt::format("{} has dtype {}, expected integers", call.op.params[i].name, name_of(*dtype)));
}

void require_equal(const CallView& call, std::size_t i, const Scalar& have, const Scalar& wanted,
                   std::string_view what) {
  if (!prove_different(have, wanted)) return;
  call.reject(
      "shape", call.span_of(i),
      fmt::format("{} has {} {}, expected {}", call.op.params[i].name, print(have), what, print(wanted)));
}

std::int64_t element_index(const CallView& call, std::string_view name, std::int64_t least,
                           const std::optional<Dims>& data, std::int64_t length) {
  const std::int64_t index = call.int_attribute(name);
  const auto elements = data ? data->back().as_int() : std::nullopt;
  if (index < least || (elements && index > *elements - length)) {
    call.reject("index", call.span,
                fmt::format("{} is {}, and a box has {} elements", name, index,
                            data ? print(data->back()) : "unknown"));
  }
  return index;
}

double number(const CallView& call, std::string_view attribute) {
  const Attribute& value = call.attribute(attribute);
  if (const auto* real = value.as<double>()) return *real;
  return static_cast<double>(call.int_attribute(attribute));
}

Type type_of(const std::optional<Dims>& dims, std::optional<DType> dtype, int rank) {
  return TensorType{dtype, dims, rank};
}

}  // namespace relish::boxes
