// Numbers and lists of them where a Relax function wants a tensor.
#pragma once

#include "frontend/graph/graph_holes.h"

namespace relish {

// Members are in graph_constants.cpp.
class GraphLiterals : public GraphHoles {
 protected:
  using GraphHoles::GraphHoles;

  // A number: plain, arithmetic of numbers, float("inf").
  bool is_number(const ast::Expr& expr);
  // The number that a name was bound to as it stands, `s = 0.5`; null for all else.
  const ast::Expr* named_number(const ast::Expr& expr);
  // Such numbers in nested lists.
  bool is_number_list(const ast::Expr& expr);
  // Either as a tensor of the dtype of what stands beside it: TypeError for what is no value of that.
  Expr literal_beside(const ast::Expr& literal, DType dtype);
  // Either as an argument of a function, rounded as tensor(value, dtype) does.
  Expr literal_argument(const ast::Expr& literal, DType dtype);
};

}  // namespace relish
