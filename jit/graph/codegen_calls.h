// Code generation of calls of kernels, with the checks of every shape that they take, and of other Relax
// functions.
#pragma once

#include "jit/graph/codegen_graph.h"
#include "jit/graph/codegen_hosts.h"
#include "jit/graph/codegen_places.h"

namespace relish::jit {

class CallEmitter {
 public:
  CallEmitter(GraphEmitter& program, FunctionCode& code, SizeEmitter& sizes, PlaceEmitter& places,
              HostEmitter& hosts)
      : program_(program), code_(code), sizes_(sizes), places_(places), hosts_(hosts) {}

  // `fault` emits the steps that come before the fault is told.
  void kernel(const step::CallKernel& call, Span span, const std::function<void(const StepList&)>& fault);
  void rows_ahead(const step::RowsAhead& ahead);
  // Behind a loop that told rows: nothing is read any more of what it read.
  void forget_rows();
  // The copies of rows that stood there before they were asked for, where the function needs none of its
  // memory any more.
  void give_rows_back();
  void function(const step::CallFunction& call);
  // The same; the result stays in the slots `out`.
  void function_into(const step::CallFunction& call, llvm::Value* out);

 private:
  void plain_kernel(const step::CallKernel& call, Span span,
                    const std::function<void(const StepList&)>& fault);
  // The kernel, unless the round before has copied its rows: the result is where that copy is.
  void unless_rows_are_there(const step::CallKernel& call, const std::function<void()>& copy);
  // The operands of a kernel while they are gathered.
  struct Operands;
  void pass_scalar(Operands& made, const ScalarVar& var, PlaceId place);
  void pass_buffer(Operands& made, const Buffer& buffer, PlaceId place);
  void pass_sizes(Operands& made, const step::CallKernel& call, Span span);

  GraphEmitter& program_;
  FunctionCode& code_;
  SizeEmitter& sizes_;
  PlaceEmitter& places_;
  HostEmitter& hosts_;
  std::vector<llvm::Value*> rows_taken_;
};

}  // namespace relish::jit
