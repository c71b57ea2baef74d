// What a gradient does with each binding: whether it is on the path, by which rule it is gone back through,
// and what is kept of it for that.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/nodes/expr.h"
#include "transform/gradient.h"
#include "transform/gradient/cut.h"
#include "transform/gradient/job.h"

namespace relish {

class PathAccount {
 public:
  // Bindings that are noted from now on stand in the function; leave goes back to the one before.
  void enter(const std::string& function) { functions_.push_back(function); }
  void leave() { functions_.pop_back(); }

  void note(const Binding& binding, bool active, std::string rule);
  // Of a binding that was noted: how its value is kept, and in how many bytes where that is known.
  void keep(const Var& var, std::string how, std::optional<std::int64_t> bytes);
  // What is kept of `part` counts with the binding of `whole`, which was noted.
  void count_with(const Var& part, const Var& whole);

  // Function by function, as they were come to.
  std::vector<GradientLine> lines() const;

 private:
  std::vector<std::string> functions_;
  struct Kept {
    std::string how;
    std::optional<std::int64_t> bytes;
  };
  // The line with what is kept of its variables.
  GradientLine with_kept(std::size_t line) const;

  std::vector<GradientLine> lines_;
  std::vector<std::vector<std::uint64_t>> vars_;  // of each line: its own, and those of its parts
  std::unordered_map<std::uint64_t, std::size_t> by_var_;
  std::unordered_map<std::uint64_t, Kept> kept_;
};

// Notes the binding, and those in branches that are computed again. `in_recursion`: of a function that
// reaches itself.
void note_path(GradientJob& job, const Binding& binding, bool active, bool in_recursion);

// What is kept of a place in a function that reaches itself, and what is computed again.
void tell_taped(const Cut& cut, PathAccount& account);

}  // namespace relish
