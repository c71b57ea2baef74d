// Reverse mode over the bindings of one region: forward, with what must be kept; then backwards, from the
// cotangents of results to those of what the region takes from around it. Ifs, loops and calls open regions
// of their own, which go the same way.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/nodes/builder.h"
#include "ir/rewriting/rewrite.h"
#include "transform/gradient/adjoint.h"
#include "transform/gradient/cut.h"
#include "transform/gradient/job.h"
#include "transform/gradient/recursion_tapes.h"

namespace relish {

// Of one loop: what its rounds keep, and its way back; of one branch both ways. They are made where they are
// used.
struct KeptRounds;
struct LoopBack;
struct BothRegions;

class Reverse {
 public:
  // `recursion`: of a function that reaches itself; the tapes then go through what holds such calls.
  Reverse(GradientJob& job, FunctionBuilder& builder, RecursionTapes* recursion = nullptr)
      : job_(job), builder_(builder), recursion_(recursion) {}

  // Appends the bindings to the builder, those that `targets` need with what is kept for the way back.
  void forward(const std::vector<Binding>& bindings, const std::vector<Expr>& targets);
  // What arrives at a leaf (or tuple of leaves) from behind the region.
  void seed(const Expr& leaf, const Adjoint& adjoint) { add(leaf, adjoint); }
  // The same of what stands there as a variable already, without another name for it.
  void begin_with(const Expr& leaf, const Adjoint& adjoint);
  // Appends the way back.
  void backward();
  // Puts into the bindings that forward appended what the way back, which is made by now, needs of them.
  void complete(std::vector<Binding>& appended) const;
  void complete(std::vector<BindingBlock>& appended) const;

  // The tapes as they stand, on the way there and then on the way back.
  std::vector<Expr> tapes;

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
  // The body of a loop or a branch on the way there, until its way back is made.
  struct Opened {
    std::vector<Binding> ahead;
    std::vector<Var> tapes;          // of a loop's body, at its beginning
    std::vector<Expr> around;        // before the loop
    std::vector<Expr> tapes_behind;  // at its end
    std::vector<Var> tapes_after;    // behind the loop or if
    std::unique_ptr<Reverse> inner;
  };

  void open(const Binding& binding);
  Opened opened(const Region& region, std::vector<Var> own_tapes);
  bool append_call(const Binding& binding, const FunctionCall& call);
  bool append_parts(const Binding& binding);
  void propagate(const Binding& binding, const Adjoint& adjoint);
  void through_operator(const OpCall& call, const Expr& value, const Var& output, const Adjoint& adjoint);
  void through_prim_call(const CallTir& call, const Var& output, const Adjoint& adjoint);
  void through_written(const std::vector<Expr>& inputs, const FunctionPtr& written, const Var& output,
                       const Adjoint& adjoint);
  void through_call(const FunctionCall& call, const Var& output, const Adjoint& adjoint);
  void through_if(const If& branch, const Adjoint& adjoint);
  void through_taped_if(const Binding& binding, const If& branch, const Adjoint& adjoint);
  BothRegions taped_branch(const Region& region, Opened& opened, const std::vector<Var>& wanted,
                           const std::vector<Adjoint>& arriving);
  void through_loop(const Binding& binding, const Loop& loop, const Adjoint& adjoint);
  void complete_loop(const Binding& binding, const Loop& loop, const Opened& opened, KeptRounds& kept);
  Expr loop_back(const Binding& binding, const Loop& loop, LoopBack& way, const KeptRounds& kept);
  Region branch_back(const Region& region, const std::vector<Var>& wanted,
                     const std::vector<Adjoint>& arriving);
  std::vector<Var> free_varied(const std::vector<const Region*>& regions) const;
  void merge(Adjoint& into, const Adjoint& contribution, const std::string& name);
  Expr bound(const Expr& value, const std::string& hint);

  GradientJob& job_;
  FunctionBuilder& builder_;
  RecursionTapes* recursion_;
  std::vector<Binding> forward_;  // as they stand in the text, without what was added
  std::unordered_map<std::uint64_t, Adjoint> adjoints_;
  // By the variable of a call, loop or if: what was kept of the call, the bodies that were opened, and what
  // takes its place on the way there in the end.
  std::unordered_map<std::uint64_t, std::vector<Expr>> kept_;
  std::unordered_map<std::uint64_t, std::vector<Opened>> opened_;
  std::unordered_map<std::uint64_t, std::vector<Binding>> completed_;
  std::unordered_set<std::uint64_t> threaded_;  // tapes go through them
};

}  // namespace relish
