// The walk over one graph function that makes its steps: one visit of every kind of expression.
#pragma once

#include "ir/calls/call_layout.h"
#include "jit/steps/step_builder.h"

namespace relish::jit {

class StepMaker : private StepBuilder {
 public:
  StepMaker(ProgramSteps& program, const Function& function, const step::Donated& donated)
      : program_(program), function_(function) {
    made_.donated = donated;
  }

  FunctionSteps run();

 private:
  void params();
  void binding(const Binding& binding);
  void result();

  // The value of an expression, whatever it is; the steps that make it come before.
  ValueTree value(const Expr& expr);
  std::vector<ValueTree> values(const std::vector<Expr>& exprs);
  const ValueTree* part_of_variable(const Expr& expr) const;
  ValueTree text(const Expr& expr);
  ValueTree global(const GlobalRef& ref, const Expr& expr);
  // The argument of a parameter of a Relax function, as one of its type.
  ValueTree argument(const Expr& expr, const Function& callee, std::size_t position);

  // make_calls.cpp
  struct KernelCall;
  ValueTree call_tir(const CallTir& call, const Expr& expr);
  ValueTree call_kernel(const PrimFuncPtr& callee, const CallTir& call, const Expr& expr,
                        bool copies_written);
  void take_arguments(KernelCall& made);
  ValueTree take_results(KernelCall& made);
  PlaceId operand(KernelCall& made, std::size_t param);
  bool is_lent(const Expr& arg);
  PlaceId copy_of(PlaceId from, DType dtype, const Type& type);
  std::shared_ptr<const step::OperatorFault> fault_of(const Expr& expr);
  ValueTree function_call(const FunctionCall& call, const Expr& expr);
  ValueTree result_of(const Function& callee, const std::vector<ValueTree>& args);
  ValueTree prim_call(const PrimFuncPtr& callee, const FunctionCall& call, const Expr& expr);
  ValueTree call_value(const Expr& callee, const std::vector<Expr>& args, const Expr& expr);

  // make_packed_calls.cpp
  ValueTree packed_call(const PackedCall& call, const Expr& expr);
  ValueTree native_call(const PackedCall& call, std::string name, const Expr& expr);
  ValueTree make_closure(const PackedCall& call, const Expr& expr);
  ValueTree function_value(const FunctionPtr& callee, std::vector<ValueTree> captured, const Type& type);

  // make_control.cpp
  using Captured = std::vector<std::optional<ValueTree>>;
  ValueTree if_value(const If& branch, const Expr& expr);
  ValueTree loop_value(const Loop& loop, const Expr& expr);
  Captured captured_of(const Region& region);
  ValueTree call_region(const Region& region, const Captured& captured, const ValueTree& carried,
                        step::Donated donated = {});
  bool calls_itself(const Region& region) const;

  ProgramSteps& program_;
  const Function& function_;
  std::unordered_map<std::uint64_t, ValueTree> vars_;  // by id
  std::unordered_map<std::uint64_t, int> lent_uses_;   // of what a loop lends to this body
};

}  // namespace relish::jit
