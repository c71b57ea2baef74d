// Types of results, by inlining for a trial.
#include "transform/gradient/known_results.h"

#include <algorithm>

#include "ir/nodes/builder.h"
#include "ir/rewriting/expr_mapper.h"
#include "ir/scalars/symbols.h"

namespace relish {
namespace {

bool lacks_shape(const Type& type) {
  const TensorType* tensor = type.tensor();
  return tensor && !tensor->shape;
}

class ResultsKnown final : public ExprMapper {
 public:
  ResultsKnown(const Module& module, const CalleeWithGradient& callee_of, FunctionBuilder& names,
               VarMap& vars)
      : module_(module), callee_of_(callee_of), names_(names), vars_(vars) {}

  std::vector<Binding> run(const std::vector<Binding>& bindings) {
    std::vector<Binding> result;
    for (const Binding& binding : bindings) map_binding(binding, false, result);
    return result;
  }

 private:
  void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into) override {
    Binding mapped = map(binding);
    auto* plain = std::get_if<VarBinding>(&mapped.kind);
    if (!plain || !lacks_shape(plain->var.type())) {
      into.push_back(std::move(mapped));
      return;
    }
    const auto* call = plain->value.as<FunctionCall>();
    const FunctionPtr callee = call ? callee_of_(*call) : nullptr;
    const Type known = callee ? type_of(*callee, call->args, plain->value.span()) : plain->value.type();
    if (lacks_shape(known) || fits(known, plain->var.type()) != Fit::Always) {
      into.push_back(std::move(mapped));
      return;
    }
    mapped.annotated = false;  // what the text says of it is less
    // A call says what its function says; a value that is made of more says more itself.
    const Var var(plain->var.name(), known, plain->var.dataflow(), plain->var.span());
    vars_.insert_or_assign(plain->var.id(), Expr(var));
    if (!callee) {
      plain->var = var;
      into.push_back(std::move(mapped));
      return;
    }
    const Var open(names_.fresh_name(plain->var.name()), plain->var.type(), dataflow, plain->var.span());
    Binding cast;
    cast.kind = MatchCast{var, Expr(open), known};
    cast.span = mapped.span;
    plain->var = open;
    into.push_back(std::move(mapped));
    into.push_back(std::move(cast));
  }

  // Of what the body gives for the arguments; open where sizes stand in it that these do not have.
  Type type_of(const Function& callee, const std::vector<Expr>& args, Span span) const {
    Module scratch = module_;
    FunctionBuilder builder;
    builder.set_origin(span);
    builder.begin_block(false);
    const Type type = inline_call(builder, scratch, module_, callee, args).type();
    builder.end_block();
    SymbolList given, mentioned;
    for (const Expr& arg : args) given.add_mentioned(arg.type());
    mentioned.add_mentioned(type);
    const bool all = std::all_of(mentioned.vars().begin(), mentioned.vars().end(),
                                 [&](const ScalarVar& symbol) { return given.contains(symbol); });
    return all ? type : callee.result_type;
  }

  Expr map_var(const Expr& expr, const Var& var) override {
    const auto found = vars_.find(var.id());
    return found == vars_.end() ? expr : found->second;
  }

  const Module& module_;
  const CalleeWithGradient& callee_of_;
  FunctionBuilder& names_;
  VarMap& vars_;
};

}  // namespace

std::vector<Binding> with_known_results(const std::vector<Binding>& bindings, const Module& module,
                                        const CalleeWithGradient& callee_of, FunctionBuilder& names,
                                        VarMap& vars) {
  bool any = false;
  for (const Binding& binding : bindings) {
    for_each_expr(binding.value(), [&](const Expr& expr) {
      const auto* call = any ? nullptr : expr.as<FunctionCall>();
      any = any || (call && lacks_shape(expr.type()) && callee_of(*call));
    });
  }
  return any ? ResultsKnown(module, callee_of, names, vars).run(bindings) : bindings;
}

}  // namespace relish
