// Code generation of Relax functions: `int32 f(Ctx*, const int64* in, int64* out)`. Slots of `in` and `out`
// hold the leaves of arguments and results in order (slot_count): a tensor its address and dims, a shape its
// dims, a scalar its value. Kernels are called directly; intermediate tensors live in an arena planned before
// (jit/graph/plan.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "jit/engine/engine.h"
#include "jit/graph/graph_state.h"
#include "jit/graph/graph_values.h"
#include "jit/kernel/codegen_kernel.h"
#include "jit/runtime/host_calls.h"
#include "transform/legalize.h"
#include "transform/lift_bodies.h"

namespace relish::jit {

class GraphEmitter : private GraphState {
 public:
  // The units of the code go to `build`. `host_calls` receives the calls into the program, `operators` says
  // which calls are operators'; null where there are none (a prim_func by itself).
  GraphEmitter(const LiftedModule& lifted, Build& build, const TargetTraits& target, SiteTable& sites,
               std::vector<HostCall>* host_calls = nullptr, const LoweredCalls* operators = nullptr);

  // The function and everything that it calls. The analysis lives as long as the emitter.
  llvm::Function* function(const Function& function);
  const GraphValues& values(const Function& function);
  // A prim_func behind the same signature: `in` holds its parameters, then its kernel_symbols; `out` receives
  // the scalar that it returns, if any.
  llvm::Function* entry_of(const PrimFunc& function);
  // Hands in what is left, with `entry` for other units to see; its symbol. Nothing is emitted afterwards.
  std::string finish(llvm::Function* entry);

 private:
  GraphEmitter(const LiftedModule& lifted, Build& build, const TargetTraits& target, SiteTable& sites,
               std::unique_ptr<CodeUnit> glue, std::vector<HostCall>* host_calls,
               const LoweredCalls* operators);

  struct Kernel {
    llvm::Function* code = nullptr;  // declared; it is defined in a unit of its own
    std::vector<bool> clear;         // by parameter: the kernel may leave elements unwritten
  };
  const Kernel& kernel(const PrimFunc& function);
  llvm::Function* kernel_code(const PrimFunc& function);
  void hand_in_kernels();
  const GraphValues* callee_values(const Function& function);
  void emit_body();
  void write_result();
  void read_params();
  void check_params();
  Live value(const Expr& expr);
  Live call_tir(const CallTir& call, const Expr& expr);
  Live call_kernel(const PrimFunc& function, const CallTir& call, const Expr& expr, bool copies_written);
  struct KernelCall;
  const std::vector<std::size_t>& made_storages() const;
  void pass_scalar(KernelCall& made, std::size_t i);
  void pass_buffer(KernelCall& made, std::size_t i, bool copies_written);
  void pass_sizes(KernelCall& made, Span span);
  void return_fault(llvm::Value* status, const Expr& expr);
  Live function_call(const FunctionCall& call, const Expr& expr);
  Live packed_call(const PackedCall& call, const Expr& expr);  // codegen_native.cpp
  Live machine_call(const PackedCall& call, const Expr& expr);
  Live prim_call(const PrimFunc& callee, const FunctionCall& call, const Expr& expr);

  // codegen_boxes.cpp: values in boxes, and function values.
  // The value as one of `type`: boxed, or taken out of its box; a RuntimeError at `span` that names `what`
  // when it does not fit.
  // `whole`: of the tuple that it is a field of.
  Live convert(const Live& live, const Type& type, Span span, const std::string& what,
               const Type* whole = nullptr);
  Live argument(const Expr& expr, const Type& type, Span span, const std::string& what);
  Live argument(const Expr& expr, const Function& callee, std::size_t position);
  const ValueTree& next_conversion();
  void match(const Live& live, const Type& type, Span span, const std::string& what);
  void check_value(const Live& live, const Type& type, Span span, const std::string& what);
  Live function_value(const Function& callee, const std::vector<Expr>& given, bool behind,
                      const ValueTree& result, Span span);
  Live closure_call(const PackedCall& call, const Expr& expr);
  Live call_value(const Expr& callee, const std::vector<Expr>& args, const Expr& expr);
  // Calls the runtime function `name`(context, index of the call, in, out), with `code` in front of `in` when
  // it is given.
  Live host_call_by(const char* name, const std::vector<Live>& args, HostCall call, llvm::Function* code);
  void call_host(const char* name, HostCall call, llvm::Function* code, llvm::Value* in, llvm::Value* out);

  // codegen_control.cpp: ifs, loops, and calls into the program.
  Live if_value(const If& branch, const Expr& expr);
  Live loop_value(const Loop& loop, const Expr& expr);
  Live host_call(const std::vector<Live>& args, HostCall call);
  Live operator_call(const OpCall& call, const Expr& expr);
  // What a lifted region captured, as its function takes it; sizes, which the region may change, are empty.
  using Captured = std::vector<std::optional<Live>>;
  llvm::Value* condition(const Expr& expr, Span span);
  llvm::Value* loop_condition(const Region& region, const Captured& captured, llvm::Value* carried,
                              std::size_t count, Span span);
  Captured captured_of(const Region& region);
  void call_lifted(const Region& region, const Captured& captured, llvm::Value* carried,
                   std::size_t carried_slots, llvm::Value* out);
  // The field that a chain of TupleGets takes of a variable; null for other values.
  const Live* part_of_variable(const Expr& expr) const;

  std::string name_in_text(const Function& function) const {
    return written_name(lifted_.functions, function.name);
  }

  const LiftedModule& lifted_;
  const Module& module_;  // of lifted_
  Build& build_;
  std::unique_ptr<CodeUnit> glue_;
  std::vector<HostCall>* host_calls_;
  const LoweredCalls* operators_;
  // The unit that receives kernels at present.
  std::unique_ptr<CodeUnit> kernel_unit_;
  std::optional<KernelEmitter> kernels_;
  std::size_t kernel_instructions_ = 0;  // in it
  const TargetTraits& target_;
  llvm::Value* returned_ = nullptr;  // slot of the scalar that the last kernel called returns, if any
  std::unordered_map<const Function*, llvm::Function*> functions_;
  std::unordered_map<const Function*, std::unique_ptr<GraphValues>> values_;
  std::unordered_map<const PrimFunc*, Kernel> emitted_;
};

}  // namespace relish::jit
