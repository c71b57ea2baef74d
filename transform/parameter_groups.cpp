// The first group whose pattern matches.
#include "transform/parameter_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "support/failure.h"
#include "support/glob.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

void check_group(const ParameterGroup& group, const std::vector<std::string>& names) {
  const bool matches = std::any_of(
      names.begin(), names.end(), [&](const std::string& name) { return matches_glob(group.pattern, name); });
  if (!matches) {
    fail(ErrorClass::Usage, {}, "groups.pattern",
         fmt::format("groups: no trained parameter is called '{}'; they are {}{}", printable(group.pattern),
                     fmt::join(names, ", "), did_you_mean(group.pattern, names)));
  }
  for (const auto& [name, value] : group.options) {
    const bool known = name == "lr" || name == "weight_decay";
    const std::optional<double> number = known ? number_of(value) : std::nullopt;
    if (number && std::isfinite(*number) && *number >= 0) continue;
    if (number) {
      fail(ErrorClass::Usage, {}, "groups.option",
           fmt::format("groups: '{}': {} is {}; expected a number of at least 0", printable(group.pattern),
                       name, *number));
    }
    fail(
        ErrorClass::Usage, {}, "groups.option",
        fmt::format("groups: '{}': found the option {}{}; expected lr or weight_decay, numbers of at least 0",
                    printable(group.pattern), printable(name), known ? " without a number" : ""));
  }
}

}  // namespace

std::optional<double> number_of(const Attribute& value) {
  if (const double* real = value.as<double>()) return *real;
  if (const std::int64_t* integer = value.as<std::int64_t>()) return static_cast<double>(*integer);
  return std::nullopt;
}

std::vector<GroupedOptions> options_of_parameters(const std::vector<ParameterGroup>& groups,
                                                  const Attributes& base, std::optional<double> rate,
                                                  const std::vector<std::string>& names) {
  for (const ParameterGroup& group : groups) check_group(group, names);
  std::vector<GroupedOptions> result;
  for (const std::string& name : names) {
    GroupedOptions& own = result.emplace_back();
    own.options = base;
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const ParameterGroup& each) {
      return matches_glob(each.pattern, name);
    });
    if (group == groups.end()) continue;
    for (const auto& [option, value] : group->options) {
      if (option != "lr") {
        own.options = with_attribute(std::move(own.options), option, value);
        continue;
      }
      if (!rate || *rate == 0) {
        fail(ErrorClass::Usage, {}, "groups.lr",
             fmt::format("groups: '{}' has a learning rate, a share of that of the optimizer, which has {}; "
                         "give the optimizer a positive lr",
                         printable(group->pattern), rate ? "0" : "none"));
      }
      own.rate_factor = *number_of(value) / *rate;
    }
  }
  return result;
}

}  // namespace relish
