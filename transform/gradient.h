// Reverse-mode gradient, source to source.
#pragma once

#include <string>
#include <vector>

#include "ir/nodes/module.h"

namespace relish {

struct GradientOptions {
  std::vector<std::string>
      wrt;  // parameters (or intermediates) by name; empty: all floating tensor parameters
  std::vector<int> target =
      {};  // index path into the result; empty: the result itself, or field 0 of a tuple
};

// Adds `<function>_adjoint(params...) -> (result, (gradients...))`. Names and accumulation order are TVM's.
// Missing rules are reported all at once, with their lines, before any work. TypeError, UsageError for
// unknown names.
Module gradient(const Module& module, std::string_view function, const GradientOptions& options = {});

}  // namespace relish
