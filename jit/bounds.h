// Range proofs for prim_funcs: which accesses cannot leave their buffer, which values cannot be negative.
// What is proved here needs no check in compiled code.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/stmt.h"
#include "jit/polynomial.h"

namespace relish::jit {

class RangeProver {
 public:
  // A symbolic dimension: not negative.
  void assume_dimension(const ScalarVar& var);
  // Inside the loop over [begin, begin + extent); leave in reverse order.
  void enter_loop(const ScalarVar& var, const Scalar& begin, const Scalar& extent);
  void leave_loop();
  // `var` stands for `value` from now on (block variables).
  void bind(const ScalarVar& var, const Scalar& value);

  // 0 <= index < extent in every iteration of the loops entered.
  bool in_range(const Scalar& index, const Scalar& extent);
  bool nonnegative(const Scalar& value);
  // The coefficient of a loop variable in an index: none when the index is not affine in it.
  std::optional<Polynomial> stride(const Scalar& index, const ScalarVar& loop_var);
  // Whether the two are the same for all values, block variables replaced by what they stand for.
  bool same(const Scalar& a, const Scalar& b);
  bool depends_on(const Scalar& value, const ScalarVar& loop_var);
  Polynomial polynomial(const Scalar& value);
  bool is_dimension(Polynomial::Atom atom) const { return dimensions_.contains(atom); }

 private:
  struct Range {
    Polynomial low, high;  // inclusive
  };
  struct Opaque {
    Scalar value;
    std::optional<Range> range;
  };

  Polynomial opaque(const Scalar& value);
  std::optional<Range> opaque_range(const Scalar& value);
  std::optional<Polynomial> extreme(Polynomial p, bool maximum);
  bool nonnegative(const Polynomial& p);

  std::unordered_map<Polynomial::Atom, Polynomial> bound_;
  std::unordered_map<Polynomial::Atom, bool> dimensions_;
  struct Loop {
    ScalarVar var;
    Range range;
    Polynomial extent;
  };
  std::vector<Loop> loops_;
  std::vector<Opaque> opaques_;     // atom = opaque_base + position
  std::size_t opaques_before_ = 0;  // of them, when the outermost open loop was entered
};

}  // namespace relish::jit
