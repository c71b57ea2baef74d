// What every operator has: type rule, evaluation, lowering, gradient or a reason, samples, outside numbers
// and rejects; and which of the operators that users know are absent. `relish ops --coverage` is made of
// this.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/operators/op.h"

namespace relish {

struct OpCoverage {
  std::string_view name, summary;
  std::string_view group;      // of stdlib/surface.h
  std::string_view agreement;  // "exact"
  int agreement_class;         // 1 ... 7
  std::string_view gradient;   // "rule", "zero" or "none"
  std::string_view reason;     // why there is none
  bool evaluation, lowering;   // by rules of its own
  int samples, samples_with_numbers, rejects;
  int float64_cases, float32_cases, other_cases;  // outside numbers
  std::span<const std::string_view> aliases;
  std::vector<std::string> gaps;  // what it lacks, in words
};
OpCoverage coverage_of(const Op& op);

// "data movement", "exact", ...
std::string_view name_of(Agreement agreement);

// All operators, then the names of the groups core, nn and ext and of the list of 2019 that no operator
// stands for, then totals. `complete`: no gap in those groups and that list.
struct CoverageReport {
  std::string table;
  bool complete = true;
};
CoverageReport coverage_report();

}  // namespace relish
