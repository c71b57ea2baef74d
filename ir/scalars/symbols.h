// Symbolic variables of graph functions: which of them a type determines, and which a function mentions.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "ir/nodes/expr.h"

namespace relish {

// Appends the variables that stand alone as a dimension in the type: a value of the type determines them.
void collect_determined(const Type& type, std::vector<ScalarVar>& into);

// Variables in the order in which they come, each once; for collecting from many types.
class SymbolList {
 public:
  void add(const ScalarVar& var) {
    if (ids_.insert(var.id()).second) vars_.push_back(var);
  }
  void add_all(const std::vector<ScalarVar>& vars) {
    for (const ScalarVar& var : vars) add(var);
  }
  void add_mentioned(const Type& type);
  void add_mentioned(const Scalar& scalar);
  void add_determined(const Type& type);
  bool contains(const ScalarVar& var) const { return ids_.count(var.id()) > 0; }
  const std::vector<ScalarVar>& vars() const { return vars_; }

 private:
  std::vector<ScalarVar> vars_;
  std::unordered_set<std::uint64_t> ids_;
};

// Calls `visit` for every scalar variable that the function mentions, each once, in order of first mention:
// parameter types, then values and types of bindings in order, then result and result type.
void for_each_symbol(const Function& function, const std::function<void(const ScalarVar&)>& visit);

// The scalar parameter (n: T.int64) that a dimension variable stands for: both have the same name and dtype,
// and no parameter's type determines the variable. Nothing when there is none.
std::optional<Var> scalar_parameter_of(const Function& function, const ScalarVar& symbol);

// The same, to be asked many times.
class ScalarParameters {
 public:
  explicit ScalarParameters(const Function& function);
  std::optional<Var> of(const ScalarVar& symbol) const;

 private:
  std::multimap<std::string, Var, std::less<>> scalars_;
  SymbolList determined_;
};

}  // namespace relish
