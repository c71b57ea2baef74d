// Range proofs for prim_funcs: which accesses cannot leave their buffer, which values cannot be negative.
// What is proved here needs no check in compiled code.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "ir/nodes/stmt.h"
#include "loops/polynomial.h"
#include "loops/proved.h"

namespace relish {

class RangeProver {
 public:
  // A symbolic dimension: not negative.
  void assume_dimension(const ScalarVar& var);
  // Inside the loop over [begin, begin + extent); leave in reverse order.
  void enter_loop(const ScalarVar& var, const Scalar& begin, const Scalar& extent);
  void leave_loop();
  // `var` stands for `value` from now on (block variables).
  void bind(const ScalarVar& var, const Scalar& value);

  // The condition holds from now on, as far as it compares integers (also several joined by `and`). The
  // result is how many conditions were assumed before; `forget` those since there were so many.
  std::size_t assume(const Scalar& condition);
  void forget(std::size_t conditions);

  // 0 <= index < extent in every iteration of the loops entered.
  bool in_range(const Scalar& index, const Scalar& extent);
  bool nonnegative(const Scalar& value);
  // What was shown to be without faults here, by whoever asks for that. `uses`: fact_uses() before it was.
  bool knows_safe(const Scalar& value) {
    if (proved_.is_safe(given_, value)) return true;
    if (!proved_.is_safe(place_, value)) return false;
    ++fact_uses_;
    return true;
  }
  void note_safe(const Scalar& value, std::size_t uses) {
    proved_.note_safe(fact_uses_ == uses ? given_ : place_, value);
  }
  // How often something was shown by what is assumed.
  std::size_t fact_uses() const { return fact_uses_; }
  // The coefficient of a loop variable in an index: none when the index is not affine in it.
  std::optional<Polynomial> stride(const Scalar& index, const ScalarVar& loop_var);
  // Whether the two are the same for all values, block variables replaced by what they stand for.
  bool same(const Scalar& a, const Scalar& b);
  bool depends_on(const Scalar& value, const ScalarVar& loop_var);
  Polynomial polynomial(const Scalar& value);
  bool is_dimension(Polynomial::Atom atom) const { return dimensions_.contains(atom); }
  // A loop that was entered: its variable is the same all through the loops inside.
  bool is_entered(Polynomial::Atom atom) const {
    return std::any_of(loops_.begin(), loops_.end(), [&](const Loop& loop) { return loop.var.id() == atom; });
  }

 private:
  struct Range {
    Polynomial low, high;  // inclusive
  };
  // A term that is no polynomial, and what is known of it. Of a quotient floor(dividend / divisor) also
  // dividend - divisor + 1 <= divisor * quotient <= dividend; of a minimum that it is at most either, of a
  // maximum that it is at least either.
  struct Opaque {
    Scalar value;
    std::optional<Polynomial> low = {}, high = {};  // inclusive, in terms of dims
    Polynomial dividend = {};
    std::int64_t divisor = 0;   // of a quotient; else 0
    bool not_negative = false;  // the dividend, so that the quotient is at most that
    bool by_fact = false;       // what is assumed was needed for that
    std::vector<Polynomial> at_most = {}, at_least = {};  // of a minimum, of a maximum
  };

  Polynomial opaque(const Scalar& value);
  Opaque known_of(const Scalar& value);
  // The largest or smallest value of p, in terms of dims. `choice`: which of two bounds of a term is
  // taken.
  std::optional<Polynomial> extreme(Polynomial p, bool maximum, std::size_t choice = 0);
  bool holds(std::size_t position, Polynomial::Atom atom) const;
  bool eliminate_opaque(Polynomial& p, std::size_t position, bool maximum, std::size_t choice);
  bool nonnegative(const Polynomial& p, std::size_t choice);
  bool nonnegative(const Polynomial& p);
  void assume_all(const Scalar& condition);
  bool shown_in_range(const Scalar& index, const Scalar& extent);

  std::unordered_map<Polynomial::Atom, Polynomial> bound_;
  std::unordered_map<Polynomial::Atom, bool> dimensions_;
  struct Loop {
    ScalarVar var;
    Range range;
    Polynomial extent;
    Proved::Place outside, given_outside;
    std::size_t facts, opaques;  // before
  };
  std::vector<Loop> loops_;
  bool has_choices_ = false;
  std::vector<Polynomial> facts_;  // what is not negative
  std::vector<Opaque> opaques_;    // atom = opaque_base + position
  Proved proved_;
  // Where this is, and the same without what is assumed: what was shown there need not be shown again where
  // something is.
  Proved::Place place_ = Proved::outside, given_ = Proved::outside;
  std::size_t fact_uses_ = 0;
  struct Assumed {
    std::size_t facts, opaques;  // before
    Proved::Place place;
  };
  std::vector<Assumed> assumed_;
};

// The sizes of the function's buffers are dimensions.
void assume_sizes(const PrimFunc& function, RangeProver& prover);

}  // namespace relish
