// The page docs/coverage.md: which golden files test which row of the tables of the text surface.
#pragma once

#include <string>
#include <vector>

namespace relish::testing {

struct Coverage {
  std::string page;                   // Markdown
  std::vector<std::string> problems;  // rows without a test, tags of no row
};

// Reads tests/golden/rows.txt and the tags (`# row: 1.1 if/else`) of all golden files below `source_folder`.
Coverage coverage_of(const std::string& source_folder);

}  // namespace relish::testing
