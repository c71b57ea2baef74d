// A function in two evaluators, binding by binding: the first value on which they differ by more than the
// class of agreement of what makes it allows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/operators/evaluator.h"

namespace relish {

// Where two values differ.
struct ValueDifference {
  std::string binding;   // its name; empty: the result of the function
  std::string function;  // in which it stands
  Span span;
  std::string place;           // "[0, 3]", with the field of a tuple before it
  std::string wanted, found;   // of the reference, of the other
  std::int64_t distance = -1;  // in units in the last place; -1: not one of two finite floats
  int agreement_class = 0;     // what is allowed
};

struct EvaluatorComparison {
  std::size_t bindings = 0;           // that were compared, those of callees where a call differs
  std::int64_t largest_distance = 0;  // in units in the last place, of floats that agree
  std::string largest_binding;        // where that is
  std::optional<ValueDifference> first;
  bool whole_only = false;  // a binding may write to what another one gave, so none was computed by itself
};

// Every binding is computed by both from the values that the reference has before it, so that no difference
// comes from an earlier one; a call that differs is entered. Then the function as it is: its result may
// differ as that of a whole model. Bindings of a function that calls what may write to its arguments have no
// values of their own: of such a function the result alone is compared. What the reference tells as a fault
// is thrown; where only the other tells one, or another one, that is the difference.
EvaluatorComparison compare_evaluators(const ModulePtr& module, std::string_view function,
                                       const std::vector<Value>& arguments, Evaluator& reference,
                                       Evaluator& other);

}  // namespace relish
