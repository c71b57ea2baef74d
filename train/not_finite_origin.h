// Where a NaN or an infinity was made: a function is computed again with all that it computes on the way as
// its results, and the first of these that is not finite tells its place in the text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/operators/evaluator.h"

namespace relish {

struct NotFiniteOrigin {
  std::string name;      // of the variable
  std::string function;  // in which it is bound
  Span place;            // of what makes it; perhaps unknown
};

// None when nothing that the function binds, with these arguments, is not finite. In functions that it calls
// too; a branch, a loop or a loop nest is one value.
std::optional<NotFiniteOrigin> find_not_finite_origin(Evaluator& evaluator, const ModulePtr& module,
                                                      const std::string& function,
                                                      const std::vector<Value>& arguments);

}  // namespace relish
