// Tables of what the rounds of a loop keep for the way back: one tensor of shape (rounds, …) for a value, one
// row a round. A row is written in place by a small prim_func, which loops of one kind of value share.
#pragma once

#include <map>
#include <string>

#include "ir/nodes/builder.h"
#include "ir/nodes/module.h"

namespace relish {

class RowTables {
 public:
  explicit RowTables(Module& module) : module_(module) {}

  // A table without rows written.
  static Expr empty(const Scalar& rounds, const TensorType& value, FunctionBuilder& builder);
  // The table with the value as a row.
  Expr with_row(const Expr& table, const Expr& value, const Scalar& row, FunctionBuilder& builder);
  static Expr row(const Expr& table, const Scalar& row, const std::string& hint, FunctionBuilder& builder);

 private:
  std::string writer_of(const TensorType& value, Span span);

  Module& module_;
  std::map<std::string, std::string> writers_;  // names of prim_funcs, by dtype and sizes
};

}  // namespace relish
