// Updates of reductions.
#include "loops/reduction.h"

#include "loops/accesses.h"

namespace relish {

std::optional<Update> as_update(const Store& store) {
  const auto* value = store.value.as<Binary>();
  if (!value) return std::nullopt;
  switch (value->op) {
    case BinaryOp::Add:
    case BinaryOp::Mul:
    case BinaryOp::Min:
    case BinaryOp::Max:
      break;
    default:
      return std::nullopt;
  }
  const auto is_target = [&](const Scalar& side) {
    const auto* load = side.as<Load>();
    return load && *load->buffer == store.buffer && same_indices(load->indices, store.indices);
  };
  if (is_target(value->a)) return Update{value->op, value->a, value->b};
  if (is_target(value->b)) return Update{value->op, value->b, value->a};
  return std::nullopt;
}

bool reassociable(const Store& store) {
  const auto update = as_update(store);
  if (!update) return false;
  if (!is_float(store.buffer.dtype())) return true;
  const bool wide = store.buffer.dtype() == DType::Float32 || store.buffer.dtype() == DType::Float64;
  return wide && (update->op == BinaryOp::Add || update->op == BinaryOp::Mul);
}

}  // namespace relish
