// Evaluation of graph functions: bindings in order, operators by their reference evaluation, call_tir by
// prepared prim_funcs. One object serves one module; prepared functions are kept in it.
#pragma once

#include <unordered_map>

#include "interp/prim_program.h"
#include "ir/op.h"

namespace relish::interp {

class GraphEvaluator {
 public:
  explicit GraphEvaluator(ModulePtr module) : module_(std::move(module)) {}

  const Module& module() const { return *module_; }
  Value call(std::string_view name, std::vector<Value> args);

 private:
  struct Activation;

  Value call_function(const Function& function, std::vector<Value> args);
  Value call_prim_func(const PrimFuncPtr& function, std::vector<Value> args);
  Value evaluate(const Expr& expr, Activation& frame);
  Value evaluate_op(const OpCall& call, const Expr& expr, Activation& frame);
  Value evaluate_body(const OpCall& call, const CallView& view, std::vector<Value> args);
  Value evaluate_call_tir(const CallTir& call, const Expr& expr, Activation& frame);
  const PrimProgram& prepared(const PrimFuncPtr& function);
  GraphEvaluator& body_evaluator(const ModulePtr& body);

  ModulePtr module_;
  std::unordered_map<const PrimFunc*, std::unique_ptr<PrimProgram>> prim_programs_;
  std::unordered_map<const Module*, std::unique_ptr<GraphEvaluator>> bodies_;
};

}  // namespace relish::interp
