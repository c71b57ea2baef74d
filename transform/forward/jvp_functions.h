// Tangents of calls: for each function and set of arguments that take part, made once and shared by all
// calls, f_jvp takes the arguments and the tangents of those, and gives the result and its tangent. A
// function that reaches itself is no special case: its f_jvp calls itself.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "transform/gradient/job.h"

namespace relish {

struct JvpFunction {
  std::string name;
  FunctionType type;
  std::vector<std::size_t> wrt;  // parameters whose tangents follow the arguments
};

class JvpFunctions {
 public:
  explicit JvpFunctions(GradientJob& job) : job_(job) {}

  // The callee is a function of the module.
  const JvpFunction& of(const FunctionCall& call);

 private:
  void make(const Function& function, const JvpFunction& made);

  GradientJob& job_;
  std::map<std::string, JvpFunction> made_;
};

}  // namespace relish
