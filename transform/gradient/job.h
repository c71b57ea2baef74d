// What all regions of one gradient share: the module that grows by adjoints, which variables hang on the
// wanted ones, and the functions that were made.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ir/nodes/module.h"
#include "ir/operators/user_gradient.h"
#include "transform/forward/prim_tangent_calls.h"
#include "transform/gradient/cut.h"
#include "transform/gradient/prim_calls.h"
#include "transform/gradient/row_tables.h"

namespace relish {

class CallPairs;
class PathAccount;

// Backwards from cotangents of results, or forwards with tangents of what is wanted.
enum class Way : std::uint8_t { Back, Forward };

struct GradientJob {
  // `function` is to be differentiated: of the module, or another form of the one of its name. Bodies that
  // are read for the way back can be gone through forwards too.
  GradientJob(const Module& source, const Function& function, Way way);
  GradientJob(const GradientJob&) = delete;
  GradientJob& operator=(const GradientJob&) = delete;

  const Way way;
  Module module;
  PrimAdjoints prims{module};
  PrimTangents prim_tangents{module};
  RowTables rows{module};
  std::unordered_set<std::uint64_t> varied;  // ids of variables that hang on the wanted ones
  // Parameters of copied functions that are numbers, by id, and the symbols that stand for them in sizes.
  std::unordered_map<std::uint64_t, ScalarVar> scalar_params;
  std::unordered_map<std::uint64_t, Expr> aliases;  // of adjoints that only name another value, by id
  std::unordered_set<std::uint64_t> again;   // ids of what stands between marks: not kept but computed again
  std::unordered_set<std::uint64_t> counts;  // ids of indices of loops that count from 0 or more
  Keeping keeping = Keeping::Dear;  // by rounds of loops, and by functions that do not reach themselves
  CallPairs* pairs = nullptr;
  PathAccount* account = nullptr;  // who wants to know what is done with each binding; null: nobody

  // The user's gradient of the function or prim_func of that name, or null.
  FunctionPtr user_gradient_of(const std::string& name) const;
  FunctionPtr user_gradient_of(const FunctionCall& call) const;
  // The user's gradient of what the value of a binding calls, whatever it is; its inputs in the order in
  // which the gradient takes them.
  struct Written {
    FunctionPtr gradient;
    std::vector<Expr> inputs;
  };
  std::optional<Written> written_for(const Expr& value) const;

  // The function as differentiation reads it: its calls are calls of functions of the module, and sizes have
  // names.
  FunctionPtr body_of(const Function& function);
  // Takes functions out of the module that were made of nested ones and that nothing mentions.
  void leave_out_unused(Module& made) const;

  // Whether the symbol is a parameter that may be any number, not a size.
  bool is_scalar_param(const ScalarVar& symbol) const;
  // Whether a leaf, or a field of a tuple of leaves, hangs on a wanted variable.
  bool reaches(const Expr& leaf) const;
  // Enters what the bindings bind, inside of values too; `bindings` in order.
  void vary(const std::vector<Binding>& bindings);
  void vary(const Binding& binding);

 private:
  std::unordered_map<std::string, FunctionPtr> user_gradients_;
  std::unordered_map<std::string, FunctionPtr> plain_;   // that read otherwise than in the module
  std::unordered_map<std::string, FunctionPtr> bodies_;  // those that were asked for, by name
  std::vector<std::string> lifted_;                      // functions that nested ones became
};

}  // namespace relish
