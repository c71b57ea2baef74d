// The loop nest that every operator lowers to, run by the interpreter, against the numbers from outside that
// its reference evaluation is judged by: with the dims as literals, and with every dim of a tensor symbolic.
#include <catch2/catch.hpp>

#include <unordered_map>

#include "interp/interpreter.h"
#include "ir/calls/entry.h"
#include "stdlib/stdlib.h"
#include "tests/unit/stdlib/numbers_file.h"

using namespace relish;
using namespace relish::testing;

namespace {

// A module with the lowered call and a function that calls it with the tensors among `leaves`.
ModulePtr lowered(const Op& op, const std::vector<Expr>& leaves, const Attributes& attributes) {
  const Expr call = op_call(op, leaves, attributes);
  const OpCall& node = *call.as<OpCall>();
  const CallView view{op, node.args, node.attributes, {}};
  const auto kernel = std::make_shared<PrimFunc>(op.lower(LowerCall{view, call.type(), "kernel"}));
  Function function;
  function.name = "main";
  std::vector<Expr> args;
  for (const Expr& leaf : leaves) {
    if (!leaf.as_var()) continue;
    args.push_back(leaf);
    function.params.push_back(*leaf.as_var());
  }
  const Expr result = call_tir(global_ref(GlobalFunction(PrimFuncPtr(kernel))), args, {call.type()}, false);
  FunctionBuilder builder;
  const Var y = builder.bind(result, "y");
  function.blocks = builder.take_blocks();
  function.result = y;
  function.result_type = y.type();
  Module module;
  module.set(PrimFuncPtr(kernel));
  module.set(FunctionPtr(std::make_shared<Function>(std::move(function))));
  return std::make_shared<Module>(std::move(module));
}

std::vector<Value> tensors_of(const NumbersCase& one) {
  std::vector<Value> tensors;
  for (const Value& arg : one.args) {
    if (arg.is_tensor()) tensors.push_back(arg);
  }
  return tensors;
}

// Kernels sum in float32 where the reference evaluation sums in float64.
Tolerance kernel_tolerance(const Op& op, DType dtype) {
  if (op.agreement == Agreement::Sum && dtype == DType::Float32) return {1e-5, 1e-5};
  return tolerance_of(op.agreement, dtype);
}

}  // namespace

TEST_CASE("lowered operators agree with numbers from outside", "[fast]") {
  install_stdlib();
  const auto interpreter = make_interpreter();
  for (const Op* op : all_ops()) {
    if (op->lower == nullptr) continue;
    for (const NumbersCase& one : numbers_of(op->name)) {
      if (!one.plain) continue;
      INFO(op->name << ": " << one.name);
      std::vector<Expr> leaves;
      for (const Value& arg : one.args) leaves.push_back(leaf_of(arg, "x" + std::to_string(leaves.size())));
      const ModulePtr module = lowered(*op, leaves, one.attributes);
      const Value result = interpreter->call(module, "main", tensors_of(one));
      const Tolerance tolerance = kernel_tolerance(*op, one.expect.dtype());
      CHECK(difference(result.tensor(), one.expect, tolerance.rtol, tolerance.atol) == "");
    }
  }
}

TEST_CASE("lowered operators accept symbolic dims", "[fast]") {
  install_stdlib();
  const auto interpreter = make_interpreter();
  for (const Op* op : all_ops()) {
    if (op->lower == nullptr) continue;
    for (const NumbersCase& one : numbers_of(op->name)) {
      if (!one.plain) continue;
      INFO(op->name << ": " << one.name);
      // A 0 in a shape copies a symbolic dim but stays 0 beside an empty literal one: two meanings, both
      // documented.
      if (op->name == "reshape" && one.expect.size() == 0) continue;
      // Equal extents above 1 become the same variable, so that shapes which must agree still provably do.
      std::unordered_map<std::int64_t, ScalarVar> symbols;
      std::vector<Expr> leaves;
      const auto symbolic = [&](const Shape& shape) {
        std::vector<Scalar> dims;
        for (std::int64_t extent : shape) {
          if (extent == 1) {
            dims.emplace_back(1);
            continue;
          }
          auto [at, fresh] = symbols.try_emplace(extent);
          if (fresh) at->second = ScalarVar("n" + std::to_string(extent), DType::Int64);
          dims.emplace_back(at->second);
        }
        return dims;
      };
      for (const Value& arg : one.args) {
        if (arg.is_shape()) {
          leaves.push_back(leaf_of(arg, ""));
        } else {
          const Tensor& tensor = arg.tensor();
          leaves.push_back(Var("x" + std::to_string(leaves.size()),
                               tensor_type(symbolic(tensor.shape()), tensor.dtype())));
        }
      }
      std::optional<ModulePtr> module;
      try {
        module = lowered(*op, leaves, one.attributes);
      } catch (const Failure& failure) {
        // Some rules need to know a dim; saying so is right, anything but a TypeError is not.
        CHECK(failure.error_class() == ErrorClass::Type);
        continue;
      }
      const Value result = interpreter->call(*module, "main", tensors_of(one));
      const Tolerance tolerance = kernel_tolerance(*op, one.expect.dtype());
      CHECK(difference(result.tensor(), one.expect, tolerance.rtol, tolerance.atol) == "");
    }
  }
}
