// How two functions differ, line by line of their printed texts. A line is the same when it does the same
// with the same values: names of bindings may differ, and are told as renamed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace relish {

// Lines that stand in the place of others; `moved` ones are the same in another place.
struct Hunk {
  std::size_t before = 0, after = 0;  // numbers of the first lines, from 1
  std::vector<std::string> removed, added;
  bool moved = false;
};

struct FunctionDifference {
  std::vector<Hunk> hunks;
  std::vector<std::pair<std::string, std::string>> renamed;  // bindings, in order
};

FunctionDifference function_difference(std::string_view before, std::string_view after);

}  // namespace relish
