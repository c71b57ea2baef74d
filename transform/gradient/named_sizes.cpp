// Casts where sizes are first needed.
#include "transform/gradient/named_sizes.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "ir/nodes/builder.h"
#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/regions.h"
#include "ir/rewriting/rewrite.h"
#include "transform/outer_vars.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

// Of a known rank and open sizes.
bool is_open(const Type& type) {
  const TensorType* tensor = type.tensor();
  return tensor && !tensor->shape && tensor->rank > 0;
}

class SizesNamed final : public ExprMapper {
 public:
  explicit SizesNamed(const Function& function) { reserve_names(function, names_); }

 private:
  void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into) override {
    if (const auto* loop = binding.value().as<Loop>(); loop && loop->condition) leave_alone(*loop->condition);
    // Before values that hold bodies, so that each use is behind the cast.
    if (takes_sizes(binding))
      for (const Var& var : taking(binding.value())) name_sizes(var, dataflow, binding.span, into);
    Binding mapped = map(binding);
    // What is made of named sizes may have known ones itself.
    auto* plain = std::get_if<VarBinding>(&mapped.kind);
    if (plain && !binding.annotated && is_open(plain->var.type()) && !is_open(plain->value.type()) &&
        plain->value.type().tensor()) {
      const Var known(plain->var.name(), plain->value.type(), plain->var.dataflow(), plain->var.span());
      named_.insert_or_assign(plain->var.id(), Expr(known));
      plain->var = known;
    }
    into.push_back(std::move(mapped));
  }

  // What a while asks is an expression, and nothing is differentiated there.
  void leave_alone(const Region& condition) {
    for (const Var& param : condition.params) alone_.insert(param.id());
    for (const Binding& each : all_bindings(condition.blocks)) alone_.insert(each.var().id());
  }

  // What only hands a value on needs no sizes; a cast of the text names them itself.
  static bool takes_sizes(const Binding& binding) {
    const Expr& value = binding.value();
    return std::holds_alternative<VarBinding>(binding.kind) && !is_leaf(value) && !value.as<TupleGet>();
  }

  // What a loop begins with is handed on; what its body takes from around it is not.
  static std::vector<Var> taking(const Expr& value) {
    if (!value.as<Loop>()) return outer_vars(value);
    std::vector<Var> taken;
    for (const Var& var : vars_of(*value.as<Loop>()->body).free) taken.push_back(var);
    if (const RegionPtr& condition = value.as<Loop>()->condition)
      for (const Var& var : vars_of(*condition).free) taken.push_back(var);
    return taken;
  }

  void name_sizes(const Var& used, bool dataflow, Span span, std::vector<Binding>& into) {
    if (alone_.contains(used.id())) return;
    const auto known = named_.find(used.id());
    const Var var = known == named_.end() ? used : *known->second.as_var();
    if (!is_open(var.type())) return;
    TensorType type = *var.type().tensor();
    std::vector<Scalar> dims;
    for (int d = 0; d < type.rank; ++d)
      dims.push_back(
          use(ScalarVar(names_.fresh_name(fmt::format("{}_size{}", var.name(), d)), DType::Int64, span)));
    type.shape = std::move(dims);
    Binding cast;
    cast.kind =
        MatchCast{Var(names_.fresh_name(var.name()), Type(type), dataflow, span), Expr(var), Type(type)};
    cast.span = span;
    into.push_back(cast);
    named_.insert_or_assign(used.id(), Expr(cast.var()));
    if (!scopes_.empty()) scopes_.back().push_back(used.id());
  }

  Expr map_var(const Expr& expr, const Var& var) override {
    const auto found = named_.find(var.id());
    return found == named_.end() ? expr : var_ref(*found->second.as_var(), expr.span());
  }

  // What was named inside of a body is not seen behind it.
  void enter_body(const Function*) override { scopes_.emplace_back(); }
  void leave_body(const Function*) override {
    for (const std::uint64_t id : scopes_.back()) named_.erase(id);
    scopes_.pop_back();
  }

  FunctionBuilder names_;
  std::unordered_map<std::uint64_t, Expr> named_;  // by variable of the text: what its uses take
  std::unordered_set<std::uint64_t> alone_;        // what conditions of loops bind
  std::vector<std::vector<std::uint64_t>> scopes_;
};

}  // namespace

FunctionPtr with_named_sizes(const FunctionPtr& function) {
  bool any = false;
  for (const Var& param : function->params) any = any || is_open(param.type());
  for_each_binding(*function, [&](const Binding& binding) { any = any || is_open(binding.var().type()); });
  return any ? SizesNamed(*function).map(function) : function;
}

}  // namespace relish
