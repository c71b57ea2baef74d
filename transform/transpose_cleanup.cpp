// (A B)^T = B^T A^T and (A^T)^T = A over a list of bindings.
#include "transform/transpose_cleanup.h"

#include <numeric>
#include <unordered_map>

#include "ir/operators/op.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

using Axes = std::vector<std::int64_t>;

// The permutation of a permute_dims call, all axes non-negative; nothing for other values.
std::optional<Axes> permutation(const Expr& value) {
  const auto* call = value.as<OpCall>();
  if (!call || call->op->name != "permute_dims") return std::nullopt;
  const TensorType* type = call->args[0].type().tensor();
  if (!type || type->rank < 0) return std::nullopt;
  Axes axes(static_cast<std::size_t>(type->rank));
  const Attribute* written = find_attribute(call->attributes, "axes");
  if (!written || written->is_none()) {
    std::iota(axes.rbegin(), axes.rend(), 0);
    return axes;
  }
  axes = int_list(*written);
  for (std::int64_t& axis : axes) axis = axis < 0 ? axis + type->rank : axis;
  return axes;
}

Axes swap_of(int rank) {
  Axes axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return axes;
}

bool is_swap(const Expr& value) {
  const auto axes = permutation(value);
  return axes && axes->size() >= 2 && *axes == swap_of(static_cast<int>(axes->size()));
}

class TransposeCleanup {
 public:
  TransposeCleanup(const std::vector<Binding>& bindings, FunctionBuilder& names) : names_(names) {
    for (const Binding& binding : bindings)
      for (const Var& var : used_vars(binding.value())) ++uses_[var.id()];
  }

  void keep(const Binding& binding) { append(binding); }

  void rewrite(const Binding& binding) {
    Binding copy = copy_binding(binding, vars_);
    const Expr& value = copy.value();
    const auto axes = permutation(value);
    const auto* plain = std::get_if<VarBinding>(&copy.kind);
    if (!axes || !plain) return append(copy);
    const Expr operand = value.as<OpCall>()->args[0];
    const Expr* definition = definition_of(operand);
    if (!definition) return append(copy);
    if (const auto inner = permutation(*definition); inner && undoes(*inner, *axes)) {
      vars_.insert_or_assign(binding.var().id(), definition->as<OpCall>()->args[0]);
      return;
    }
    if (const Expr swapped = swapped_matmul(*definition, operand, *axes, value.span()); swapped.defined()) {
      copy.kind = VarBinding{plain->var, swapped};
    }
    append(copy);
  }

  std::vector<Binding> take() { return std::move(result_); }

 private:
  static bool undoes(const Axes& inner, const Axes& outer) {
    for (std::size_t i = 0; i < outer.size(); ++i)
      if (inner[static_cast<std::size_t>(outer[i])] != static_cast<std::int64_t>(i)) return false;
    return true;
  }

  const Expr* definition_of(const Expr& expr) const {
    const Var* var = expr.as_var();
    const auto found = var ? definitions_.find(var->id()) : definitions_.end();
    return found == definitions_.end() ? nullptr : &found->second;
  }

  // matmul(q^T, p^T) for the transpose of `definition` = matmul(p, q) when p or q is itself a transpose.
  Expr swapped_matmul(const Expr& definition, const Expr& operand, const Axes& axes, Span span) {
    const auto* call = definition.as<OpCall>();
    if (!call || call->op->name != "matmul" || uses_of(operand) != 1) return {};
    const TensorType* p = call->args[0].type().tensor();
    const TensorType* q = call->args[1].type().tensor();
    if (!p || !q || p->rank < 2 || p->rank != q->rank || axes != swap_of(p->rank)) return {};
    const Expr* p_definition = definition_of(call->args[0]);
    const Expr* q_definition = definition_of(call->args[1]);
    if (!(p_definition && is_swap(*p_definition)) && !(q_definition && is_swap(*q_definition))) return {};
    const Expr left = transposed(call->args[1], q_definition, span);
    const Expr right = transposed(call->args[0], p_definition, span);
    return op_call(*call->op, {left, right}, call->attributes, span);
  }

  int uses_of(const Expr& expr) const {
    const auto found = uses_.find(original_.contains(expr.as_var()->id()) ? original_.at(expr.as_var()->id())
                                                                          : expr.as_var()->id());
    return found == uses_.end() ? 0 : found->second;
  }

  Expr transposed(const Expr& expr, const Expr* definition, Span span) {
    if (definition && is_swap(*definition)) return definition->as<OpCall>()->args[0];
    const Expr value =
        op_call("permute_dims", {expr}, {{"axes", attribute_of(swap_of(expr.type().tensor()->rank))}}, span);
    Binding step;
    const Var var(names_.fresh_name("lv"), value.type(), true, span);
    step.kind = VarBinding{var, value};
    step.span = span;
    append(step);
    return Expr(var);
  }

  void append(Binding binding) {
    definitions_.insert_or_assign(binding.var().id(), binding.value());
    result_.push_back(std::move(binding));
  }

 public:
  // Copies get fresh identities; uses were counted under the old ones.
  void remember(const Var& old) {
    const auto found = vars_.find(old.id());
    if (found != vars_.end() && found->second.as_var())
      original_.emplace(found->second.as_var()->id(), old.id());
  }
  const VarMap& vars() const { return vars_; }

 private:
  FunctionBuilder& names_;
  VarMap vars_;
  std::unordered_map<std::uint64_t, Expr> definitions_;
  std::unordered_map<std::uint64_t, int> uses_;
  std::unordered_map<std::uint64_t, std::uint64_t> original_;
  std::vector<Binding> result_;
};

}  // namespace

std::vector<Binding> simplify_transposes(std::vector<Binding> bindings, std::size_t first,
                                         FunctionBuilder& names, VarMap& renamed) {
  TransposeCleanup cleanup(bindings, names);
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    if (i < first) {
      cleanup.keep(bindings[i]);
    } else {
      cleanup.rewrite(bindings[i]);
      cleanup.remember(bindings[i].var());
    }
  }
  renamed = cleanup.vars();
  return cleanup.take();
}

}  // namespace relish
