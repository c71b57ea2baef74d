// What two jobs differ in: `relish diff` of two run folders.
#pragma once

#include <string>

#include "train/report/run_record.h"

namespace relish {

// The options, facts and metrics that are not the same in both; times do not count.
struct RunDifference {
  struct Line {
    std::string name, before, after;  // "-" where a job has none
  };
  std::string before, after;  // paths
  std::vector<Line> options, results;

  bool equal() const { return options.empty() && results.empty(); }
};
RunDifference difference_of_runs(const RunRecord& before, const RunRecord& after);

// A table with a column for each job; empty when they are alike.
std::string text_of_difference(const RunDifference& difference);
// {"equal", "options": {name: [before, after]}, "results": {…}}
std::string json_of_difference(const RunDifference& difference);

}  // namespace relish
