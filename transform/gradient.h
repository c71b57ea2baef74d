// Reverse-mode gradient, source to source.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/nodes/module.h"

namespace relish {

// What a gradient may hold in memory, who tells what a function of a module holds at most (the plan of the
// compiled tier), and what came of it.
struct MemoryBudget {
  std::int64_t bytes = 0;
  std::function<std::int64_t(const ModulePtr&, const std::string& function)> peak;
  std::map<std::string, std::int64_t> sizes = {};  // of symbols, by name, for which it holds
  std::string subject = {};                        // what holds it, for messages; empty: the gradient
};
struct BudgetReport {
  std::int64_t unbound = 0;  // the peak without a budget
  std::int64_t peak = 0;
  double work = 0;         // that was added, as a part of that of both ways
  std::size_t values = 0;  // that are computed again
  bool rounds = false;     // loops and callees compute all again from what they begin with
};

struct GradientOptions {
  std::vector<std::string>
      wrt;  // parameters (or intermediates) by name; empty: all floating tensor parameters
  std::vector<int> target =
      {};              // index path into the result; empty: the result itself, or field 0 of a tuple
  bool named = false;  // its signature of roles names the gradients: statements get a dict of them
  std::optional<MemoryBudget> budget = {};
  BudgetReport* report = nullptr;
};

// What the gradient does with one binding.
struct GradientLine {
  std::string function, binding;
  Span span;
  bool active = false;                // the target hangs on it, and it on what is differentiated by
  std::string rule;                   // by which it is gone back through
  std::string kept;                   // how its value is kept for the way back; empty: it is not
  std::optional<std::int64_t> bytes;  // of what is kept, where the sizes are numbers
};
// Of the function and of all that it calls on the path; the same refusals, and nothing is made.
std::vector<GradientLine> account_of_gradient(const Module& module, std::string_view function,
                                              const GradientOptions& options = {});

// Adds `<function>_adjoint(params...) -> (result, (gradients...))`. Names and accumulation order are TVM's.
// Missing rules are reported all at once, with their lines, before any work. TypeError, UsageError for
// unknown names.
Module gradient(const Module& module, std::string_view function, const GradientOptions& options = {});

}  // namespace relish
