// Reverse mode over the bindings of one region: forward, with what must be kept; then backwards, from the
// cotangents of results to those of what the region takes from around it. Ifs, loops and calls open regions
// of their own, which go the same way.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/nodes/builder.h"
#include "transform/gradient/adjoint.h"
#include "transform/gradient/job.h"

namespace relish {

class Reverse {
 public:
  Reverse(GradientJob& job, FunctionBuilder& builder) : job_(job), builder_(builder) {}

  // Appends the bindings to the builder, those that `targets` need with what is kept for the way back.
  void forward(const std::vector<Binding>& bindings, const std::vector<Expr>& targets);
  // What arrives at a leaf (or tuple of leaves) from behind the region.
  void seed(const Expr& leaf, const Adjoint& adjoint) { add(leaf, adjoint); }
  // Appends the way back.
  void backward();

  // Of a variable, as far as it has come; the one of the target of a whole gradient is set by hand.
  Adjoint& of(const Var& var) { return adjoints_[var.id()]; }
  // An adjoint as a value of the type: zeros where nothing arrived, of the shape of `like` where the type
  // does not tell it.
  Expr as_expr(const Adjoint& adjoint, const Type& type, const Expr& like);
  // An adjoint of what the value, a tensor or tuple, has.
  Adjoint as_adjoint(const Expr& value);
  // Adds what arrives for a leaf (or tuple of leaves) to the adjoints of its variables.
  void add(const Expr& leaf, const Adjoint& contribution);

 private:
  void append_loop(const Binding& binding, const Loop& loop);
  bool append_call(const Binding& binding, const FunctionCall& call);
  void propagate(const Binding& binding, const Adjoint& adjoint);
  void through_operator(const OpCall& call, const Expr& value, const Var& output, const Adjoint& adjoint);
  void through_prim_call(const CallTir& call, const Var& output, const Adjoint& adjoint);
  void through_written(const std::vector<Expr>& inputs, const FunctionPtr& written, const Var& output,
                       const Adjoint& adjoint);
  void through_call(const FunctionCall& call, const Var& output, const Adjoint& adjoint);
  void through_if(const If& branch, const Adjoint& adjoint);
  void through_loop(const Loop& loop, const Var& output, const Adjoint& adjoint);
  Region branch_back(const Region& region, const std::vector<Var>& wanted,
                     const std::vector<Adjoint>& arriving);
  std::vector<Var> free_varied(const std::vector<const Region*>& regions) const;
  void merge(Adjoint& into, const Adjoint& contribution, const std::string& name);
  Expr bound(const Expr& value, const std::string& hint);
  // A stack as high as `like`, of zeros.
  Expr zero_stack(const Expr& like);

  GradientJob& job_;
  FunctionBuilder& builder_;
  std::vector<Binding> forward_;  // as they stand in the text, without what was added
  std::unordered_map<std::uint64_t, Adjoint> adjoints_;
  std::unordered_map<std::uint64_t, Expr> tapes_, kept_;  // by the variable of the loop or call
};

}  // namespace relish
