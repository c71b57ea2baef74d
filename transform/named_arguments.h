// What a text of the standard library asks for by the names of its parameters, as far as it is a number: an
// option, what an option lacks to 1 (`one_minus_<option>`), or a number of the catalog.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/nodes/module.h"

namespace relish {

class NamedArguments {
 public:
  NamedArguments(std::vector<std::pair<std::string, double>> options, DType dtype)
      : options_(std::move(options)), dtype_(dtype) {}

  // A constant of rank 0. The texts are ours: a name that nothing has is a defect of them.
  Expr value(const std::string& name) const;
  // The same numbers as constants of another dtype.
  NamedArguments in(DType dtype) const { return {options_, dtype}; }

 private:
  std::vector<std::pair<std::string, double>> options_;
  DType dtype_;
};

// A copy of the text whose operator calls have the chosen attributes, where they have attributes of the name.
ModulePtr with_call_attributes(const ModulePtr& text, const Attributes& attributes);

}  // namespace relish
