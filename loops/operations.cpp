// Counting operations.
#include "loops/operations.h"

#include <algorithm>

#include "ir/scalars/scalar_order.h"

namespace relish {
namespace {

double operations_in(const Scalar& value) {
  // What stands in an index is no arithmetic on numbers.
  if (!value.defined() || value.as<Load>()) return 0;
  if (const auto* chosen = value.as<Select>()) return operations_in(chosen->a) + operations_in(chosen->b);
  double operations = 0;
  if (value.as<Binary>() || value.as<IntrinsicCall>()) operations = 1;
  for_each_operand(value, [&](const Scalar& operand) { operations += operations_in(operand); });
  return operations;
}

std::optional<double> operations_in(const Stmt& stmt, const SizeOf& size_of) {
  if (!stmt.defined()) return 0;
  if (stmt.as<While>()) return std::nullopt;
  if (const auto* n = stmt.as<For>()) {
    const auto inner = operations_in(n->body, size_of);
    if (inner == 0.0) return 0;
    const auto extent = evaluate_int(n->extent, size_of);
    const auto step = n->step.defined() ? evaluate_int(n->step, size_of) : std::optional<std::int64_t>(1);
    if (!inner || !extent || step.value_or(0) <= 0) return std::nullopt;
    return *inner * static_cast<double>(std::max<std::int64_t>(0, (*extent + *step - 1) / *step));
  }
  const auto sum = [](std::optional<double> a, std::optional<double> b) -> std::optional<double> {
    if (!a || !b) return std::nullopt;
    return *a + *b;
  };
  if (const auto* n = stmt.as<BlockStmt>()) return operations_in(n->body, size_of);
  if (const auto* n = stmt.as<IfStmt>())
    return sum(operations_in(n->then_body, size_of), operations_in(n->else_body, size_of));
  if (const auto* n = stmt.as<SeqStmt>()) {
    std::optional<double> total = 0;
    for (const Stmt& child : n->body) total = sum(total, operations_in(child, size_of));
    return total;
  }
  if (const auto* n = stmt.as<Store>()) return operations_in(n->value);
  if (const auto* n = stmt.as<DefineScalar>()) return operations_in(n->value);
  return 0;
}

}  // namespace

std::optional<double> operations_of(const PrimFunc& function, const SizeOf& size_of) {
  return operations_in(function.body, size_of);
}

std::optional<double> bytes_of(const PrimFunc& function, const SizeOf& size_of) {
  double bytes = 0;
  for (const PrimParam& param : function.params) {
    if (!param.buffer()) continue;
    auto size = static_cast<double>(relish::size_of(param.buffer()->dtype()));
    for (const Scalar& dim : param.buffer()->shape()) {
      const auto extent = evaluate_int(dim, size_of);
      if (!extent) return std::nullopt;
      size *= static_cast<double>(*extent);
    }
    bytes += size;
  }
  return bytes;
}

}  // namespace relish
