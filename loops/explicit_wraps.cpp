// Writing wraps in unsigned arithmetic.
#include "loops/explicit_wraps.h"

#include "ir/rewriting/rewrite.h"
#include "ir/scalars/scalar_order.h"
#include "loops/intervals.h"

namespace relish {
namespace {

DType unsigned_of(DType dtype) {
  switch (dtype) {
    case DType::Int8:
      return DType::UInt8;
    case DType::Int16:
      return DType::UInt16;
    case DType::Int32:
      return DType::UInt32;
    default:
      return DType::UInt64;
  }
}

// A sum of signed integers modulo the width of its dtype, as sums of unsigned ones.
Scalar in_unsigned(const Scalar& value) {
  const DType dtype = unsigned_of(value.dtype());
  if (const auto literal = value.as_int(); literal && *literal >= 0) return int_literal(dtype, *literal);
  if (!is_ring_operation(value)) return cast(dtype, value, value.span());
  const auto* node = value.as<Binary>();
  return binary(node->op, in_unsigned(node->a), in_unsigned(node->b), value.span());
}

class WrapWriter {
 public:
  explicit WrapWriter(const PrimFunc& function) : intervals_(function) {}

  // Whether the number of some operand of a node, or of a statement, can wrap where it matters.
  bool finds(const Stmt& body) {
    bool found = false;
    for_each_stmt(body, [&](const Stmt& stmt) {
      for_each_counted(stmt, [&](const Scalar& value) { found = found || intervals_.may_wrap(value); });
    });
    if (found) return true;
    for_each_scalar(body, [&](const Scalar& value) {
      if (found || !counts_operands(value)) return;
      for_each_operand(value, [&](const Scalar& operand) { found = found || intervals_.may_wrap(operand); });
    });
    return found;
  }

  Stmt written(const Stmt& body) {
    return rewrite(
        body, [&](const Scalar& value) { return with_operands(value); },
        [&](const Stmt& stmt) { return with_counted(stmt); });
  }

 private:
  // Whether anything is concluded from the numbers of its operands. Sums and choices take them modulo their
  // width, an element is found by an index that is in range or refused, and calls are not looked into.
  static bool counts_operands(const Scalar& value) {
    if (const auto* widened = value.as<Cast>())
      return is_signed_int(value.dtype()) && size_of(widened->a.dtype()) < size_of(value.dtype());
    return value.as<Compare>() || value.as<Let>() || (value.as<Binary>() && !is_ring_operation(value));
  }

  // What a statement counts: bounds, and what it gives a name.
  template <class Visit>
  static void for_each_counted(const Stmt& stmt, const Visit& visit) {
    if (const auto* loop = stmt.as<For>()) {
      visit(loop->begin);
      visit(loop->extent);
      if (loop->step.defined()) visit(loop->step);
    } else if (const auto* block = stmt.as<BlockStmt>()) {
      for (const IterVar& iter : block->iters) visit(iter.binding);
    } else if (const auto* defined = stmt.as<DefineScalar>()) {
      if (defined->value.defined()) visit(defined->value);
    }
  }

  Scalar explicit_wrap(const Scalar& value) {
    return value.defined() && intervals_.may_wrap(value)
               ? cast(value.dtype(), in_unsigned(value), value.span())
               : value;
  }

  std::optional<Scalar> with_operands(const Scalar& value) {
    if (!counts_operands(value)) return std::nullopt;
    bool wraps = false;
    for_each_operand(value, [&](const Scalar& operand) { wraps = wraps || intervals_.may_wrap(operand); });
    if (!wraps) return std::nullopt;
    return map_operands(value, [&](const Scalar& operand) { return explicit_wrap(operand); });
  }

  std::optional<Stmt> with_counted(const Stmt& stmt) {
    bool wraps = false;
    for_each_counted(stmt, [&](const Scalar& value) { wraps = wraps || intervals_.may_wrap(value); });
    if (!wraps) return std::nullopt;
    StmtKind kind = stmt->kind;
    if (auto* loop = std::get_if<For>(&kind)) {
      loop->begin = explicit_wrap(loop->begin);
      loop->extent = explicit_wrap(loop->extent);
      loop->step = explicit_wrap(loop->step);
    } else if (auto* block = std::get_if<BlockStmt>(&kind)) {
      for (IterVar& iter : block->iters) iter.binding = explicit_wrap(iter.binding);
    } else if (auto* defined = std::get_if<DefineScalar>(&kind)) {
      defined->value = explicit_wrap(defined->value);
    }
    return make_stmt(std::move(kind), stmt->span, stmt->comments);
  }

  Intervals intervals_;
};

}  // namespace

PrimFuncPtr with_explicit_wraps(const PrimFuncPtr& function) {
  if (!function->body.defined()) return function;
  WrapWriter writer(*function);
  if (!writer.finds(function->body)) return function;
  auto made = std::make_shared<PrimFunc>(*function);
  made->body = writer.written(function->body);
  return made;
}

Module with_explicit_wraps(const Module& module) {
  Module made = module;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const auto* function = std::get_if<PrimFuncPtr>(&module.functions[i]);
    if (!function) continue;
    if (const PrimFuncPtr written = with_explicit_wraps(*function); written != *function)
      made.functions.replace(i, written);
  }
  return made;
}

}  // namespace relish
