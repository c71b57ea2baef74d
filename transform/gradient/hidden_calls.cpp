// Inlining in regions.
#include "transform/gradient/hidden_calls.h"

#include <algorithm>

#include "ir/rewriting/expr_mapper.h"
#include "transform/gradient/adjoint.h"

namespace relish {
namespace {

bool tells_too_little(const Type& type) {
  if (const TupleType* tuple = type.tuple())
    return std::any_of(tuple->fields.begin(), tuple->fields.end(), tells_too_little);
  const TensorType* tensor = type.tensor();
  return may_hide_floats(type) || (tensor && tensor->rank < 0);
}

class HiddenCallsInlined final : public ExprMapper {
 public:
  HiddenCallsInlined(Module& module, const CalleeToInline& to_inline, FunctionBuilder& builder, VarMap& vars)
      : module_(module), to_inline_(to_inline), builder_(builder), vars_(vars) {}

  std::vector<Binding> run(const std::vector<Binding>& bindings) {
    std::vector<Binding> result;
    for (const Binding& binding : bindings) map_binding(binding, false, result);
    return result;
  }

 private:
  void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into) override {
    Binding mapped = map(binding);
    auto* plain = std::get_if<VarBinding>(&mapped.kind);
    const auto* call = plain && depth_ > 0 ? plain->value.as<FunctionCall>() : nullptr;
    const FunctionPtr callee = call ? to_inline_(*call) : nullptr;
    if (callee) {
      builder_.set_origin(plain->value.span());
      builder_.begin_block(dataflow);
      const Expr result = inline_call(builder_, module_, module_, *callee, call->args);
      builder_.end_block();
      // What was inlined may have branches and loops with such calls of its own.
      for (const Binding& each : builder_.take_bindings()) map_binding(each, dataflow, into);
      const Expr leaf = map(result);
      if (!dataflow || plain->var.dataflow()) {
        vars_.insert_or_assign(plain->var.id(), leaf);
        return;
      }
      plain->value = leaf;
    }
    // What is made of more may say more itself.
    if (plain && !mapped.annotated && fits(plain->value.type(), plain->var.type()) == Fit::Always &&
        !same_type(plain->value.type(), plain->var.type())) {
      const Var known(plain->var.name(), plain->value.type(), plain->var.dataflow(), plain->var.span());
      vars_.insert_or_assign(plain->var.id(), Expr(known));
      plain->var = known;
    }
    into.push_back(std::move(mapped));
  }

  Expr map_var(const Expr& expr, const Var& var) override {
    const auto found = vars_.find(var.id());
    return found == vars_.end() ? expr : found->second;
  }
  void enter_body(const Function*) override { ++depth_; }
  void leave_body(const Function*) override { --depth_; }

  Module& module_;
  const CalleeToInline& to_inline_;
  FunctionBuilder& builder_;
  VarMap& vars_;
  int depth_ = 0;  // of branches, loops and nested functions
};

}  // namespace

bool hides_types(const Function& function) {
  return tells_too_little(function.result_type) ||
         std::any_of(function.params.begin(), function.params.end(),
                     [](const Var& param) { return tells_too_little(param.type()); });
}

std::vector<Binding> with_hidden_calls_inlined(const std::vector<Binding>& bindings, Module& module,
                                               const CalleeToInline& to_inline, FunctionBuilder& builder,
                                               VarMap& vars) {
  bool any = false;
  for (const Binding& binding : bindings) {
    if (!binding.value().as<If>() && !binding.value().as<Loop>()) continue;
    for_each_expr(binding.value(), [&](const Expr& expr) {
      const auto* call = any ? nullptr : expr.as<FunctionCall>();
      any = any || (call && to_inline(*call));
    });
  }
  return any ? HiddenCallsInlined(module, to_inline, builder, vars).run(bindings) : bindings;
}

}  // namespace relish
