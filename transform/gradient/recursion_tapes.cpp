// Places and their tapes.
#include "transform/gradient/recursion_tapes.h"

#include "support/failure.h"

namespace relish {

std::optional<std::size_t> RecursionTapes::place(const Type& tape) {
  if (trial) {
    found.push_back(tape);
    return std::nullopt;
  }
  RELISH_CHECK(next < found.size() && same_type(found[next], tape),
               "a place that keeps values was not found in the trial");
  return base + next++;
}

std::vector<Var> fresh_tapes(const std::vector<Expr>& tapes, FunctionBuilder& builder) {
  std::vector<Var> result;
  for (const Expr& tape : tapes)
    result.emplace_back(builder.fresh_name("tape"), tape.type(), false, builder.origin());
  return result;
}

}  // namespace relish
