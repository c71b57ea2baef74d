// Tables of what the rounds of a loop keep for the way back: one tensor of shape (rounds, …) for a value, one
// row a round. A row is written in place by a small prim_func, which loops of one kind of value share; so are
// gradients of rows that loops read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

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
  // The table with the value added to a row.
  Expr with_row_added(const Expr& table, const Expr& value, const Scalar& row, FunctionBuilder& builder);

 private:
  enum class Change : std::uint8_t { Set, Add };
  std::string writer_of(const TensorType& value, Change change, Span span);
  Expr changed(const Expr& table, const Expr& value, const Scalar& row, Change change,
               FunctionBuilder& builder);

  Module& module_;
  std::map<std::string, std::string> writers_;  // names of prim_funcs, by change, dtype and sizes
};

// A read of one row of a table, by strided_slice, or by take of a position that a loop counts.
struct RowRead {
  Var table;
  Scalar row;
};
// `counts`: ids of symbols that count from 0 or more.
std::optional<RowRead> row_read(const Expr& value, const std::unordered_set<std::uint64_t>& counts);
// Whether the index of the loop is such a symbol.
bool counts_from_zero(const Loop& loop);
// The variables that the bindings use for something else than such reads, in loops among them too.
void collect_other_uses(const std::vector<Binding>& bindings, const std::unordered_set<std::uint64_t>& counts,
                        std::unordered_set<std::uint64_t>& into);
// Whether it is a floating tensor of at least one dimension, all of them known.
bool has_rows(const Type& type);

}  // namespace relish
