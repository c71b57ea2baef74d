// What two states, modules, functions, tensors or other values differ in, as a list of names; and that list
// as text and JSON.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shell/workspace/function_difference.h"
#include "shell/workspace/state.h"

namespace relish {

struct Change {
  std::string name;  // "M.main", "x"
  std::vector<Hunk> hunks;
  std::string note;  // of a tensor: the largest difference and where it is
};

struct Difference {
  std::vector<std::string> added, removed;
  std::vector<std::pair<std::string, std::string>> renamed;  // functions, and bindings as M.main.y
  std::vector<Change> changed;

  // Names of bindings alone make no difference.
  bool equal() const { return added.empty() && removed.empty() && changed.empty() && !renamed_function; }
  bool renamed_function = false;
};

Difference difference_of(const ScriptValue& before, const ScriptValue& after, std::string_view name = "");
Difference difference_of(const State& before, const State& after);

// One below the other, or side by side in lines of that width.
std::string unified_text(const Difference& difference);
inline constexpr std::size_t side_by_side_columns = 135;
std::string side_by_side_text(const Difference& difference, std::size_t columns = side_by_side_columns);
std::string json_text(const Difference& difference);

}  // namespace relish
