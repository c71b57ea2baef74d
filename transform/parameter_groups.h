// Groups of parameters: which options each parameter has.
#pragma once

#include "transform/optimizer.h"

namespace relish {

// Options of one parameter, those of its group among them, and its share of the learning rate.
struct GroupedOptions {
  Attributes options;
  double rate_factor = 1;
};

// For each of `names`. `base`: options of the optimizer, whose learning rate is `rate` when it is known.
// UsageError for a pattern that no name matches, an option that groups do not have, and a rate of a group
// beside none of the optimizer.
std::vector<GroupedOptions> options_of_parameters(const std::vector<ParameterGroup>& groups,
                                                  const Attributes& base, std::optional<double> rate,
                                                  const std::vector<std::string>& names);

// The value of an option that is an int or a float.
std::optional<double> number_of(const Attribute& value);

}  // namespace relish
