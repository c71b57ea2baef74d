// Evaluation of graph functions: bindings in order, operators by their reference evaluation, call_tir by
// prepared prim_funcs. One object serves one module; prepared functions are kept in it.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "interp/prim_program.h"
#include "ir/operators/op.h"

namespace relish::interp {

class GraphEvaluator {
 public:
  explicit GraphEvaluator(ModulePtr module) : module_(std::move(module)) {}

  const Module& module() const { return *module_; }
  Value call(std::string_view name, std::vector<Value> args);

 private:
  struct Activation;    // the values of one call (graph_activation.h)
  struct ClosureValue;  // a function value

  // Which variables die after which binding of a list of blocks.
  struct Lifetimes {
    std::vector<std::vector<std::uint64_t>> dying;  // by position of the binding
    std::vector<std::uint64_t> bound;               // all that the blocks bind
  };

  // graph_evaluator.cpp: entries, blocks and leaves.
  // `error_class`: of arguments that do not fit.
  Value call_function(const Function& function, std::vector<Value> args, ErrorClass error_class);
  Value run_function(const Function& function, Activation& frame, std::vector<Value> args);
  Value call_prim_func(const PrimFuncPtr& function, std::vector<Value> args);
  void run_blocks(const std::vector<BindingBlock>& blocks, const std::vector<Expr>& results,
                  const std::vector<Var>& params, Activation& frame);
  const Lifetimes& lifetimes(const std::vector<BindingBlock>& blocks, const std::vector<Expr>& results,
                             const std::vector<Var>& params);
  static Tensor own_tensor(const CallTir& call, std::size_t index, Value value, Activation& frame);
  Value evaluate(const Expr& expr, Activation& frame);
  std::vector<Value> evaluate_all(const std::vector<Expr>& exprs, Activation& frame);

  // graph_control.cpp: ifs, loops and function values.
  Value evaluate_if(const If& branch, const Expr& expr, Activation& frame);
  Value evaluate_loop(const Loop& loop, const Expr& expr, Activation& frame);
  std::vector<Value> run_region(const Region& region, std::vector<Value> args, Activation& frame);
  Value make_closure(const FunctionPtr& function, const Var* self, Activation& frame);
  Value call_value(const Value& callee, std::vector<Value> args, Span span);
  Value called(const Value& callee, std::vector<Value> args, const Expr& expr, const Activation& frame);

  // graph_calls.cpp: operators, functions, prim_funcs and functions outside the module.
  Value evaluate_op(const OpCall& call, const Expr& expr, Activation& frame);
  Value evaluate_call(const FunctionCall& call, const Expr& expr, Activation& frame);
  Value evaluate_call_tir(const CallTir& call, const Expr& expr, Activation& frame);
  Value evaluate_packed(const PackedCall& call, const Expr& expr, Activation& frame);
  Value call_native_function(const std::string& name, const PackedCall& call, std::vector<Value> args,
                             const Expr& expr, Activation& frame);
  Value global_value(const GlobalRef& global, Span span);
  Value call_directly(const PrimFuncPtr& callee, std::vector<Value> args, Span span);
  const PrimProgram& prepared(const PrimFuncPtr& function);

  ModulePtr module_;
  std::unordered_set<std::string> runnable_;  // functions that were looked through
  std::unordered_map<const PrimFunc*, std::unique_ptr<PrimProgram>> prim_programs_;
  std::unordered_map<const void*, Lifetimes> lifetimes_;  // by list of blocks
};

}  // namespace relish::interp
