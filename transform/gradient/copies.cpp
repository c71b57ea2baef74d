// Copying bindings, and regions and nested functions in their values.
#include "transform/gradient/copies.h"

#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/regions.h"

namespace relish {
namespace {

class FreshCopy final : public ExprMapper {
 public:
  FreshCopy(FunctionBuilder& builder, VarMap& vars, ScalarMap scalars)
      : builder_(builder), vars_(vars), scalars_(std::move(scalars)) {}

  Binding copied(const Binding& binding) {
    Binding copy = binding;
    const Var& old = binding.var();
    const Var fresh = map_bound(old);
    if (binding.value().as<FunctionExpr>()) vars_.insert_or_assign(old.id(), Expr(fresh));
    if (const auto* plain = std::get_if<VarBinding>(&binding.kind)) {
      copy.kind = VarBinding{fresh, map(plain->value)};
    } else {
      const auto& cast = std::get<MatchCast>(binding.kind);
      copy.kind = MatchCast{Var(fresh.name(), map_type(old.type()), false, old.span()), map(cast.value),
                            map_type(cast.type)};
    }
    vars_.insert_or_assign(old.id(), Expr(copy.var()));
    return copy;
  }

 protected:
  Expr map_var(const Expr& expr, const Var& var) override {
    const auto found = vars_.find(var.id());
    return found == vars_.end() ? expr : found->second;
  }
  Type map_type(const Type& type) override { return substitute(type, scalars_); }
  Scalar map_scalar(const Scalar& scalar) override { return substitute(scalar, scalars_); }
  Var map_bound(const Var& var) override {
    return Var(builder_.fresh_name(var.name()), map_type(var.type()), false, var.span());
  }
  ScalarVar map_index(const ScalarVar& index) override {
    const ScalarVar fresh(builder_.fresh_name(index.name()), index.dtype(), index.span());
    scalars_.insert_or_assign(index.id(), use(fresh));
    return fresh;
  }

 private:
  FunctionBuilder& builder_;
  VarMap& vars_;
  ScalarMap scalars_;
};

}  // namespace

std::vector<Binding> fresh_bindings(const std::vector<BindingBlock>& blocks, FunctionBuilder& builder,
                                    VarMap& vars, const ScalarMap& scalars) {
  FreshCopy copy(builder, vars, scalars);
  std::vector<Binding> result;
  for (const Binding& binding : all_bindings(blocks)) result.push_back(copy.copied(binding));
  return result;
}

}  // namespace relish
