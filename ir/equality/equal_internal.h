// What the comparisons of graphs, loops and scalars share: the pairing of variables and the place of the
// first difference. Internal to ir/.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/nodes/module.h"

namespace relish::comparing {

// Two structures are equal modulo names when their variables can be paired one to one.
class Pairing {
 public:
  // True when the two are paired already, or neither is and they are paired now.
  bool pair(std::uint64_t a, std::uint64_t b);
  bool paired(std::uint64_t a) const { return forward_.contains(a); }
  bool paired_second(std::uint64_t b) const { return backward_.contains(b); }
  std::size_t mark() const { return pairs_.size(); }
  // Forgets the pairs made since `mark`.
  void roll_back(std::size_t mark);

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> forward_, backward_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs_;
};

// Each compare returns false after noting the first difference.
class Comparison {
 public:
  bool functions(const Function& a, const Function& b);
  bool prim_funcs(const PrimFunc& a, const PrimFunc& b);
  bool attributes(const Attributes& a, const Attributes& b);

  bool types(const Type& a, const Type& b);
  bool exprs(const Expr& a, const Expr& b);
  bool scalars(const Scalar& a, const Scalar& b);
  bool stmts(const Stmt& a, const Stmt& b);

  // Notes a difference, with the place where the comparison stands; the first one stays.
  bool differ(const std::string& what);
  const std::string& difference() const { return difference_; }

 private:
  friend class StmtComparison;
  friend class ScalarComparison;
  friend class ExprComparison;

  bool dims(const std::vector<Scalar>& a, const std::vector<Scalar>& b);
  bool dim(const Scalar& a, const Scalar& b);
  bool vars(const ScalarVar& a, const ScalarVar& b);
  bool buffers(const Buffer& a, const Buffer& b);
  bool graph_vars(const Var& a, const Var& b);
  bool bindings(const Binding& a, const Binding& b);
  bool block_lists(const std::vector<BindingBlock>& a, const std::vector<BindingBlock>& b);
  bool regions(const RegionPtr& a, const RegionPtr& b);
  bool scalar_lists(const std::vector<Scalar>& a, const std::vector<Scalar>& b);
  bool type_lists(const std::vector<Type>& a, const std::vector<Type>& b);
  bool expr_lists(const std::vector<Expr>& a, const std::vector<Expr>& b);

  Pairing pairing_;
  ScalarMap b_to_a_;                // variables of the second by those of the first
  std::vector<std::string> place_;  // "function f", "binding lv1"
  std::string difference_;
};

}  // namespace relish::comparing
