// How many operations it takes to compute what a binding binds.
#pragma once

#include <string>
#include <unordered_map>

#include "ir/nodes/module.h"

namespace relish {

// In simple statements, as the loop nests that operators are lowered to do them (loops/work.h). What no nest
// tells of counts an operation for each element that it gives.
class ValueWork {
 public:
  explicit ValueWork(const Module& module) : module_(module) {}

  double of(const Expr& value);

 private:
  double of_function(const std::string& name);
  double of_blocks(const std::vector<BindingBlock>& blocks);

  const Module& module_;
  std::unordered_map<std::string, double> functions_;
};

}  // namespace relish
