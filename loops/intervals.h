// Between which numbers the integers of a prim_func lie, by its literals and the sizes of its buffers alone:
// what tells whether an operation can leave its dtype.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "ir/nodes/stmt.h"

namespace relish {

// From low to high, both included. The results of operations on numbers of 64 bits fit.
struct Interval {
  __int128 low, high;
};

// What a dtype holds; of a float nothing is said, its interval is that of int64.
Interval interval_of(DType dtype);

class Intervals {
 public:
  // Knows the function's dimensions, loop variables, block variables and locals.
  explicit Intervals(const PrimFunc& function);

  // Of the number that the expression has where it stands.
  Interval of(const Scalar& value);
  // Whether a sum, a difference or a product, taken together with those that it is made of, can leave its
  // dtype. What is no such operation does not.
  bool may_wrap(const Scalar& value);
  // Whether the variable of a loop can leave its dtype behind its first value.
  bool may_leave(const For& loop);

 private:
  void note(const Stmt& stmt);
  // Of the number without any wrapping in the sums and products at the top.
  Interval exact(const Scalar& value);
  Interval computed(const Scalar& value);

  std::unordered_map<std::uint64_t, Interval> variables_;
  std::unordered_set<std::uint64_t> assigned_;
  struct Known {
    Scalar value;  // its node stays where it is
    Interval range;
  };
  std::unordered_map<const ScalarNode*, Known> known_;
};

// Sums, differences and products of signed integers: what holds of the numbers holds of what is left of them
// in the dtype, as long as the result fits.
bool is_ring_operation(const Scalar& value);

}  // namespace relish
