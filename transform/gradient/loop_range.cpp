// Counting rounds.
#include "transform/gradient/loop_range.h"

#include "loops/range_prover.h"

namespace relish {
namespace {

// A bound as a scalar: a number or a size, or a parameter of the function, whose name dimensions have that
// stand for it. Nothing for one that is computed.
std::optional<Scalar> known_bound(const Expr& bound, const GradientJob& job) {
  if (const auto* value = bound.as<ScalarValueExpr>()) return value->value;
  const Var* var = bound.as_var();
  const auto found = var ? job.scalar_params.find(var->id()) : job.scalar_params.end();
  if (found == job.scalar_params.end()) return std::nullopt;
  return use(found->second);
}

}  // namespace

std::optional<LoopRange> LoopRange::of(const Loop& loop, const GradientJob& job) {
  if (!loop.index.defined()) return std::nullopt;
  const auto begin = known_bound(loop.begin, job), end = known_bound(loop.end, job),
             step = known_bound(loop.step, job);
  if (!begin || !end || !step || step->as_int() == 0) return std::nullopt;
  return LoopRange{*begin, *end, *step};
}

Scalar LoopRange::mirrored(const ScalarVar& index) const {
  const Scalar last = begin + floor_div(end - begin - towards(), step) * step;
  return canonical(begin + last - use(index));
}

Scalar LoopRange::towards() const {
  if (const auto known = step.as_int()) return Scalar(*known > 0 ? 1 : -1);
  return max(min(step, Scalar(1)), Scalar(-1));
}

Scalar LoopRange::place(const Scalar& index) const { return canonical(floor_div(index - begin, step)); }

Scalar LoopRange::rounds(const GradientJob& job) const {
  const Scalar count = canonical(floor_div(end - begin + step - towards(), step));
  RangeProver prover;
  std::vector<ScalarVar> sizes;
  collect_vars(count, sizes);
  for (const ScalarVar& size : sizes)
    if (!job.is_scalar_param(size)) prover.assume_dimension(size);
  return prover.nonnegative(count) ? count : canonical(max(count, Scalar(0)));
}

}  // namespace relish
