// Calls of a module's functions become their bodies, many calls of one module at the cost of what they hold.
#pragma once

#include <memory>
#include <vector>

#include "ir/nodes/builder.h"
#include "ir/nodes/module.h"

namespace relish {

class CallInliner {
 public:
  // The module may grow while this is used; a function that it had is read as it is at the time of the call.
  explicit CallInliner(Module& module);
  ~CallInliner();

  // As inline_call of ir/rewriting/rewrite.h, from the module into itself; the calls in the body stay.
  Expr inline_call(FunctionBuilder& builder, const Function& callee, const std::vector<Expr>& args);

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace relish
