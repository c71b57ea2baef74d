// A prim_func prepared once for interpretation, and run on tensors and scalars.
#pragma once

#include <map>
#include <memory>

#include "interp/loop_slots.h"
#include "ir/calls/entry.h"

namespace relish::interp {

class PrimProgram {
 public:
  explicit PrimProgram(PrimFuncPtr function);

  const PrimFunc& function() const { return *function_; }
  // One value per parameter in order; buffers of written parameters are written. Values that do not fit the
  // parameters fail with `error_class` (DataError at the program's entry, RuntimeError inside it) at `call`.
  // The result is what the function returns: a scalar, or void.
  Value run(std::vector<Value>& args, ErrorClass error_class, Span call) const;

 private:
  PrimFuncPtr function_;
  Slots slots_;
  StmtProgram body_;
  std::vector<ScalarVar> symbols_;  // symbolic dims of the parameters
  struct RootAllocation {
    Buffer buffer;
    std::vector<ScalarProgram> shape;
  };
  std::vector<RootAllocation> allocations_;
};

}  // namespace relish::interp
