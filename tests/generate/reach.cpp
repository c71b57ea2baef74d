// The dependence of a program's result on its operators.
#include "tests/generate/reach.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/rewriting/rewrite.h"

namespace relish::generate {
namespace {

// Operators on which no result of a generated program depends: all others are met.
struct LeftOut {
  std::string_view name, reason;
};
constexpr LeftOut left_out[] = {{"print", "its only effect is text on the standard output"},
                                {"null_value", "as an argument it is the same as none"}};

bool holds_floats(const Type& type) {
  if (const TensorType* tensor = type.tensor()) return !tensor->dtype || is_float(*tensor->dtype);
  const TupleType* tuple = type.tuple();
  return tuple && std::any_of(tuple->fields.begin(), tuple->fields.end(), holds_floats);
}

class Reach {
 public:
  explicit Reach(const Module& module, bool varied) : module_(module), varied_(varied) {}

  std::set<std::string> operators;

  void visit(const Function& function) {
    if (!seen_.insert(function.name).second) return;
    // Backwards: what is needed is known before what it needs.
    std::set<std::uint64_t> needed;
    const auto need = [&](const Expr& expr) {
      for_each_expr(expr, [&](const Expr& each) {
        if (const Var* var = each.as_var()) needed.insert(var->id());
      });
    };
    need(function.result);
    std::vector<const Binding*> used;
    for (auto block = function.blocks.rbegin(); block != function.blocks.rend(); ++block) {
      for (auto binding = block->bindings.rbegin(); binding != block->bindings.rend(); ++binding) {
        if (!needed.contains(binding->var().id()) && !has_effect(binding->value())) continue;
        need(binding->value());
        used.push_back(&*binding);
      }
    }
    std::set<std::uint64_t> moving;
    for (const Var& param : function.params) {
      if (holds_floats(param.type())) moving.insert(param.id());
    }
    for (auto binding = used.rbegin(); binding != used.rend(); ++binding) {
      const Expr& value = (*binding)->value();
      const bool moves = mentions(value, moving);
      if (moves && holds_floats((*binding)->var().type())) moving.insert((*binding)->var().id());
      if (!varied_ || moves) note(value);
    }
  }

 private:
  static bool has_effect(const Expr& value) {
    const auto* call = value.as<OpCall>();
    return call && !call->op->pure;
  }
  static bool mentions(const Expr& value, const std::set<std::uint64_t>& vars) {
    bool found = false;
    for_each_expr(value, [&](const Expr& each) {
      const Var* var = each.as_var();
      found = found || (var && vars.contains(var->id()));
    });
    return found;
  }
  void note(const Expr& value) {
    for_each_expr(value, [&](const Expr& each) {
      if (const auto* call = each.as<OpCall>()) operators.emplace(call->op->name);
      if (const auto* ref = each.as<GlobalRef>(); ref && !varied_) {
        if (const FunctionPtr callee = module_.function(ref->name)) visit(*callee);
      }
    });
  }

  const Module& module_;
  bool varied_;
  std::set<std::string> seen_;
};

}  // namespace

std::set<std::string> operators_in_result(const Module& module, bool varied) {
  Reach reach(module, varied);
  reach.visit(*module.function("main"));
  return std::move(reach.operators);
}

Eligible eligible_operators(bool differentiable) {
  Eligible result;
  for (const Op* op : all_ops()) {
    // Stacks carry gradients between loops, which the programs that are differentiated do not have.
    if (differentiable && (!op->vjp || op->name.starts_with("stack."))) continue;
    const auto* reason = std::find_if(std::begin(left_out), std::end(left_out),
                                      [&](const LeftOut& each) { return each.name == op->name; });
    if (reason == std::end(left_out))
      result.operators.push_back(op);
    else
      result.left_out.push_back(fmt::format("{} ({})", reason->name, reason->reason));
  }
  return result;
}

}  // namespace relish::generate
