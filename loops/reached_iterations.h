// Which iterations of a loop may reach a statement below conditions. Conditions of the loop variable and of
// loops inside are computed for iterations one by one, with examples in the place of sizes; what data decides
// may be so in any of them.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "ir/nodes/stmt.h"

namespace relish {

// A condition around a statement, and whether it is to hold there.
struct Guard {
  Scalar condition;
  bool holds = true;
};

// What stands around a statement inside of a loop: conditions, and the loops between the two whose variables
// are in these.
struct Surroundings {
  std::vector<Guard> guards;
  std::vector<const For*> loops;
};

class ReachedIterations {
 public:
  // `is_same`: whether a scalar is the same in every iteration; `varies`: whether a variable has more than
  // one value inside of the loop.
  ReachedIterations(const For& loop, std::function<bool(const Scalar&)> is_same,
                    std::function<bool(const ScalarVar&)> varies)
      : loop_(loop), is_same_(std::move(is_same)), varies_(std::move(varies)) {}

  // Whether two iterations may reach the statement.
  bool several(const Surroundings& at) const;
  // Whether some iteration i may reach `here` and i + distance `there`.
  bool apart(const Surroundings& here, const Surroundings& there, std::int64_t distance) const;
  // The same of one statement, where the loop inside is at `turns` more in the second.
  bool apart(const Surroundings& at, std::int64_t distance, const ScalarVar& inner, std::int64_t turns) const;
  // Whether the iteration of that value may reach `here`, and another one `there`.
  bool beside(const Surroundings& here, std::int64_t value, const Surroundings& there) const;

 private:
  struct Example;
  template <class Shows>
  bool in_an_example(const Shows& shows) const;

  const For& loop_;
  std::function<bool(const Scalar&)> is_same_;
  std::function<bool(const ScalarVar&)> varies_;
};

}  // namespace relish
