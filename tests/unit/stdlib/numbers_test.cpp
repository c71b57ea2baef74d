// Every operator's reference evaluation and gradient rule against numbers of PyTorch and NumPy.
#include <catch2/catch.hpp>
#include <unordered_map>

#include "ir/calls/entry.h"
#include "stdlib/stdlib.h"
#include "tests/unit/stdlib/numbers_file.h"

using namespace relish;
using namespace relish::testing;

namespace {

Value evaluate_call(const Op& op, const Expr& call, const std::vector<Value>& args) {
  const auto* node = call.as<OpCall>();
  REQUIRE(node != nullptr);
  const CallView view{op, node->args, node->attributes, call.span()};
  return op.eval(EvalCall{view, args, call.type()});
}

// Runs straight-line code of operator calls on values: enough for what gradient rules emit.
class Runner {
 public:
  void set(const Var& var, Value value) { values_[var.id()] = std::move(value); }

  Value run(const Expr& expr) {
    if (const Var* var = expr.as_var()) return values_.at(var->id());
    if (const auto* constant = expr.as<Constant>()) return constant->value;
    if (const auto* shape = expr.as<ShapeLiteral>()) {
      ShapeValue value;
      for (const Scalar& dim : shape->dims) value.dims.push_back(*dim.as_int());
      return value;
    }
    if (const auto* scalar = expr.as<ScalarValueExpr>()) return ScalarValue::of_int(*scalar->value.as_int());
    if (const auto* literal = expr.as<TupleExpr>()) {
      std::vector<Value> fields;
      for (const Expr& field : literal->fields) fields.push_back(run(field));
      return Value::tuple(std::move(fields));
    }
    if (const auto* item = expr.as<TupleGet>())
      return run(item->tuple).fields().at(static_cast<std::size_t>(item->index));
    const auto* call = expr.as<OpCall>();
    REQUIRE(call != nullptr);
    std::vector<Value> args;
    std::vector<Expr> leaves;
    for (const Expr& arg : call->args) {
      args.push_back(run(arg));
      leaves.push_back(leaf_of(args.back(), "x"));
    }
    const Expr concrete = op_call(*call->op, leaves, call->attributes);
    return evaluate_call(*call->op, concrete, args);
  }

  void run(const std::vector<BindingBlock>& blocks) {
    for (const BindingBlock& block : blocks) {
      for (const Binding& binding : block.bindings) set(binding.var(), run(binding.value()));
    }
  }

 private:
  std::unordered_map<std::uint64_t, Value> values_;
};

}  // namespace

TEST_CASE("reference evaluations agree with numbers from outside", "[fast]") {
  install_stdlib();
  for (const Op* op : all_ops()) {
    if (moves_values(*op)) continue;
    const std::vector<NumbersCase> cases = numbers_of(op->name);
    INFO(op->name);
    // Files hold most numbers; an operator may instead give them all beside its declaration, where tests/ops
    // reads them.
    const auto inline_numbers = std::count_if(op->samples.begin(), op->samples.end(),
                                              [](const Sample& sample) { return !sample.expect.empty(); });
    // What takes values of any type computes no numbers.
    const bool computes = std::none_of(op->params.begin(), op->params.end(), [](const Param& param) {
      return param.kind == ParamKind::Any || param.kind == ParamKind::AnyRest;
    });
    const std::size_t least = computes && op->pure ? 5 : 2;
    CHECK(cases.size() + static_cast<std::size_t>(inline_numbers) >= least);
    if (op->eval == nullptr) continue;
    for (const NumbersCase& one : cases) {
      if (!one.plain) continue;
      INFO(op->name << ": " << one.name);
      std::vector<Expr> leaves;
      for (const Value& arg : one.args) leaves.push_back(leaf_of(arg, "x"));
      const Expr call = op_call(*op, leaves, one.attributes);
      const Value result = evaluate_call(*op, call, one.args);
      // Of a result whose shape is data less is known.
      if (fully_known(call.type())) CHECK(same_type(call.type(), type_of(result)));
      const Tolerance tolerance = tolerance_of(op->agreement, one.expect.dtype());
      CHECK(difference(result.tensor(), one.expect, tolerance.rtol, tolerance.atol) == "");
    }
  }
}

TEST_CASE("gradient rules agree with an outside autograd", "[fast]") {
  install_stdlib();
  for (const Op* op : all_ops()) {
    if (op->eval == nullptr || op->vjp == nullptr) continue;
    for (const NumbersCase& one : numbers_of(op->name)) {
      if (!one.plain) continue;
      if (!one.cotangent) continue;
      INFO(op->name << ": " << one.name);
      Runner runner;
      std::vector<Expr> leaves;
      for (const Value& arg : one.args) {
        leaves.push_back(leaf_of(arg, "x"));
        if (const Var* var = leaves.back().as_var()) runner.set(*var, arg);
      }
      FunctionBuilder builder;
      builder.begin_block(true);
      const Var result = builder.bind(op_call(*op, leaves, one.attributes), "y");
      const Var cotangent("g", type_of(*one.cotangent));
      runner.set(cotangent, *one.cotangent);
      const auto* node = builder.emit(result).as_var();
      REQUIRE(node != nullptr);
      const Expr call = op_call(*op, leaves, one.attributes);
      const CallView view{*op, call.as<OpCall>()->args, call.as<OpCall>()->attributes, {}};
      const std::vector<std::optional<Expr>> partials = op->vjp(VjpCall{view, result, cotangent, builder});
      REQUIRE(partials.size() == one.args.size());
      runner.run(builder.take_blocks());
      for (std::size_t i = 0; i < partials.size(); ++i) {
        if (!one.gradients[i]) continue;
        if (!partials[i]) {  // only the argument's shape matters
          CHECK(difference(Tensor::zeros(one.gradients[i]->dtype(), one.gradients[i]->shape()),
                           *one.gradients[i], 0, 0) == "");
          continue;
        }
        CHECK(difference(runner.run(*partials[i]).tensor(), *one.gradients[i], 1e-12, 1e-13) == "");
      }
    }
  }
}
