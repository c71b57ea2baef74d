// Reverse mode of one function: both ways are written, then closed into the function that comes out, with
// what it computes again.
#pragma once

#include "transform/derivatives.h"
#include "transform/gradient.h"
#include "transform/gradient/differentiated.h"
#include "transform/gradient/memory_budget.h"
#include "transform/gradient/reverse.h"

namespace relish {

class GradientPass {
 public:
  // The function may be another form of the one of its name in the module; it outlives this.
  GradientPass(const Module& module, const Function& function, Keeping keeping = Keeping::Dear);

  // Writes both ways of the adjoint.
  void write_adjoint(const GradientOptions& options);
  void write_vjp(const DerivativeOptions& options);

  // The module with what was written, where these values of the way there are computed again.
  Module made(const ValueIds& again);
  // What stands between marks.
  const ValueIds& marked() const { return marked_; }
  // Plans for what was written, with the sizes that symbols have by their names.
  std::vector<RecomputationPlan> plans(const std::map<std::string, std::int64_t>& sizes);
  std::string name() const { return name_; }  // of the function that comes out
  // Gives the signature of an adjoint names for its gradients.
  void name_gradients(Module& made) const;

  std::vector<GradientLine> account(const GradientOptions& options);

 private:
  void forward(const Expr& target);
  Span place_of(const Expr& target) const;
  void close(const std::string& suffix, std::vector<Var> params);
  void tell(const std::vector<Binding>& backward) const;

  DifferentiatedFunction subject_;
  Reverse reverse_{subject_.job, subject_.builder};
  std::vector<Binding> forward_;  // with what is kept for the way back
  // The function that comes out, but for what it computes again.
  std::string name_;
  std::vector<Var> params_;
  Expr result_;
  std::vector<Binding> ahead_, back_;
  ValueIds marked_;
};

}  // namespace relish
