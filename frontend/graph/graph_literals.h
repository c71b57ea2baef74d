// Numbers and lists of them where a Relax function wants a tensor.
#pragma once

#include <deque>

#include "frontend/graph/graph_holes.h"

namespace relish {

// Members are in graph_constants.cpp; of arithmetic in graph_operators.cpp, of shapes in
// graph_inspection.cpp.
class GraphLiterals : public GraphHoles {
 protected:
  using GraphHoles::GraphHoles;

  // A number: plain, arithmetic of numbers, float("inf").
  bool is_number(const ast::Expr& expr);
  // The number that a name was bound to, `s = 0.5`, that a dimension is, `x.shape[1]`, and what arithmetic
  // makes of such and of numbers, `2 * s`; null for all else, and for numbers without a name.
  const ast::Expr* named_number(const ast::Expr& expr);
  // Either kind of number as it is to be read; null for all else.
  const ast::Expr* number_of(const ast::Expr& expr) { return is_number(expr) ? &expr : named_number(expr); }
  // A list or tuple of numbers and such names as one of numbers; null where it has no such name, or others.
  const ast::Expr* named_numbers(const ast::Expr& list);
  // Such numbers in nested lists.
  bool is_number_list(const ast::Expr& expr);
  const ast::Expr* integer_at(std::int64_t value, Span at) {
    return &made_.emplace_back(ast::Expr{at, ast::IntValue{value}});
  }
  // What arithmetic of numbers and such names gives.
  std::optional<Expr> folded_number(const ast::Expr& expr);
  // shape[0], shape[:-1] of a shape with known dimensions; nothing for another subscript.
  std::optional<Expr> dims_of_shape(const ShapeType& shape, const ast::Subscript& subscript, Span span);
  // Either as a tensor of the dtype of what stands beside it: TypeError for what is no value of that.
  Expr literal_beside(const ast::Expr& literal, DType dtype);
  // Either as an argument of a function, rounded as tensor(value, dtype) does.
  Expr literal_argument(const ast::Expr& literal, DType dtype);

 private:
  bool mentions_number(const ast::Expr& expr);
  const ast::Expr* single_number(const ast::Expr& name);

  std::deque<ast::Expr> made_;  // numbers that arithmetic of names gave
};

}  // namespace relish
