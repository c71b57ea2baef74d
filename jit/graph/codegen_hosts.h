// Code generation of calls into the program (jit/runtime/host_calls.h) and of native functions
// (jit/runtime/native_calls.h): values go there and come back in slots.
#pragma once

#include "jit/graph/codegen_graph.h"
#include "jit/graph/codegen_places.h"

namespace relish::jit {

class HostEmitter {
 public:
  HostEmitter(GraphEmitter& program, FunctionCode& code, PlaceEmitter& places)
      : program_(program), code_(code), places_(places) {}

  void check_value(const step::CheckValue& check, Span span);
  void convert(const step::Convert& convert, Span span);
  void truth(const step::Truth& truth, Span span);
  void evaluate(const step::EvaluateOperator& call, Span span);
  void machine(const step::CallMachine& call, Span span);
  void native(const step::CallNative& call, Span span);
  void make_function(const step::MakeFunction& made, Span span);
  void fix_arguments(const step::FixArguments& made, Span span);
  void call_value(const step::CallValue& call, Span span);
  // Ends the function by the fault of a kernel that gave `status`.
  void tell_fault(const step::OperatorFault& fault, llvm::Value* status);

 private:
  // Calls the runtime function `name`(context, number of the call, in, out) for `call`, whose layout is that
  // of the arguments and the result; with `callee` before `in` when it is given.
  void call(const char* name, const std::vector<ValueTree>& args, const ValueTree& result, HostCall call,
            llvm::Function* callee = nullptr);

  GraphEmitter& program_;
  FunctionCode& code_;
  PlaceEmitter& places_;
  llvm::Value* fault_slots_ = nullptr;  // for the arguments of an operator at fault
  std::size_t fault_slot_count_ = 0;
};

}  // namespace relish::jit
