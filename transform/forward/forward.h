// Forward mode over the bindings of one region: each stands where it stood, and behind it the tangent of what
// it binds. Branches, loop bodies and callees get their tangents in place: what a loop carries is carried
// beside its tangent, so nothing is kept and nothing is computed twice. An operator's tangent has no rule of
// its own: it is made from the gradient rule (transposed.h).
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/nodes/builder.h"
#include "transform/forward/jvp_functions.h"
#include "transform/gradient/adjoint.h"
#include "transform/gradient/job.h"
#include "transform/gradient/reverse.h"

namespace relish {

class Forward {
 public:
  Forward(GradientJob& job, JvpFunctions& functions, FunctionBuilder& builder)
      : job_(job), functions_(functions), builder_(builder) {}

  // The tangent of a variable that is wanted, a value of its type.
  void seed(const Var& var, const Expr& tangent) { tangents_[var.id()] = parts_of(tangent); }
  // Appends the bindings and the tangents of those that `targets` need.
  void run(const std::vector<Binding>& bindings, const std::vector<Expr>& targets);
  // The tangent of a leaf or tuple of leaves, as a value of the type: zeros where there is none.
  Expr tangent_of(const Expr& leaf, const Type& type);

 private:
  void through(const Binding& binding);
  void through_cast(const MatchCast& cast);
  Adjoint cast_tangent(const Adjoint& tangent, const Type& type, const std::string& name);
  void through_operator(const OpCall& call, const Binding& binding);
  bool through_stack(const OpCall& call, const Var& output);
  void through_call(const FunctionCall& call, const Binding& binding);
  void through_written(const std::vector<Expr>& inputs, const FunctionPtr& written, const Binding& binding);
  void through_prim_call(const CallTir& call, const Binding& binding);
  void through_if(const If& branch, const Binding& binding);
  void through_loop(const Loop& loop, const Binding& binding);
  Region branch_with_tangents(const Region& region, const std::vector<std::size_t>& moving,
                              const std::vector<Type>& types);
  // The values of an if or loop under the name that they had, and their tangents behind them.
  void take_apart(const Binding& binding, const Expr& both, std::size_t count,
                  const std::vector<std::string>& names, const std::vector<std::size_t>& moving);

  // What is known of the tangent of a leaf; empty: it is zero.
  Adjoint of(const Expr& leaf) const;
  // A tangent by fields, as far as its type may hold floats.
  Adjoint parts_of(const Expr& tangent);
  void set(const Var& var, Adjoint tangent) { tangents_[var.id()] = std::move(tangent); }
  Expr bound(const Expr& value, const std::string& hint);
  void note_empty_stack(const Binding& binding);

  GradientJob& job_;
  JvpFunctions& functions_;
  FunctionBuilder& builder_;
  Reverse zeros_{job_, builder_};  // as it makes them
  std::unordered_map<std::uint64_t, Adjoint> tangents_;
  std::unordered_set<std::uint64_t> empty_stacks_;  // by variable: the tangent of such a one is itself
};

}  // namespace relish
