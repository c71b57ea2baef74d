// Small readings that the parts of PrimFuncBuilder share.
#pragma once

#include <vector>

#include "frontend/text/ast.h"
#include "ir/nodes/scalar.h"
#include "support/failure.h"

namespace relish {

inline std::vector<const ast::Expr*> target_names(const ast::Expr& target) {
  std::vector<const ast::Expr*> names;
  if (auto* tuple = target.as<ast::TupleValue>()) {
    for (const ast::ExprPtr& item : tuple->items) names.push_back(item.get());
  } else {
    names.push_back(&target);
  }
  return names;
}

inline std::vector<const ast::Expr*> list_items(const ast::Expr& list) {
  std::vector<const ast::Expr*> items;
  if (auto* l = list.as<ast::ListValue>()) {
    for (const ast::ExprPtr& item : l->items) items.push_back(item.get());
  } else if (auto* t = list.as<ast::TupleValue>()) {
    for (const ast::ExprPtr& item : t->items) items.push_back(item.get());
  } else {
    items.push_back(&list);
  }
  return items;
}

[[noreturn]] inline void too_many_iterations(Span span) {
  fail(ErrorClass::ResourceLimit, span, "limit.iterations",
       "found a range of 2**63 numbers or more; expected less");
}

// The extent of a range that is written with its end: `end` without `begin` where that is a part of it (n of
// 1 and n + 1, 4 of v and v + 4), else the difference.
inline Scalar extent_of(const Scalar& begin, const Scalar& end, const Scalar& difference) {
  auto low = begin.as_int(), high = end.as_int();
  std::int64_t extent = 0;
  if (low && high && __builtin_sub_overflow(*high, *low, &extent)) too_many_iterations(end.span());
  if (low && high) return int_literal(end.dtype(), extent, end.span());
  if (low == 0) return end;
  const auto* sum = end.as<Binary>();
  if (!sum || sum->op != BinaryOp::Add) return difference;
  if (low) return sum->b.as_int() == low ? sum->a : difference;
  return structurally_equal(sum->a, begin) ? sum->b : difference;
}

}  // namespace relish
