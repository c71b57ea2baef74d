// Choosing what is kept: of what the way back uses, all that is dear, and what is cheap but made of more than
// is kept anyway.
#include "transform/gradient/cut.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/operators/op.h"
#include "ir/operators/value_marks.h"
#include "ir/rewriting/regions.h"
#include "ir/rewriting/rewrite.h"
#include "transform/gradient/checkpoints.h"
#include "transform/outer_vars.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

Scalar elements(const TensorType& tensor) { return canonical(product(*tensor.shape)); }

// Whether each element of the result is made of one element of the argument at most.
bool spreads(const Type& argument, const TensorType& result) {
  const TensorType* tensor = argument.tensor();
  if (!tensor) return true;
  if (!tensor->shape || !result.shape) return false;
  const Scalar fewer = canonical(elements(result) - elements(*tensor));
  if (const auto known = fewer.as_int()) return *known >= 0;
  return tensor->shape->size() <= result.shape->size() &&
         std::equal(tensor->shape->rbegin(), tensor->shape->rend(), result.shape->rbegin(),
                    [](const Scalar& a, const Scalar& b) { return a.as_int() == 1 || prove_equal(a, b); });
}

// Whether a value is computed for less than it takes to keep it and load it: names, fields, and operators
// that move elements or round once, element by element; `own` are the variables that would have to be kept
// for it.
bool is_cheap(const Binding& binding, const std::unordered_set<std::uint64_t>& own) {
  if (!std::holds_alternative<VarBinding>(binding.kind)) return false;
  const Expr& value = binding.value();
  if (is_leaf(value) || value.as<TupleGet>() || marked_tensor(value)) return true;
  const auto* call = value.as<OpCall>();
  if (!call || !call->op->pure || runs_as_call(*call->op)) return false;
  const CallView view{*call->op, call->args, call->attributes, value.span()};
  const Agreement agreement = agreement_of(view);
  if (agreement != Agreement::DataMovement && agreement != Agreement::Exact) return false;
  const TensorType* result = value.type().tensor();
  // What moves elements looks at no more of what stands around both ways than it gives.
  const auto stands_around = [&](const Expr& arg) {
    return agreement == Agreement::DataMovement && arg.as_var() && !own.contains(arg.as_var()->id());
  };
  return result && std::all_of(call->args.begin(), call->args.end(), [&](const Expr& arg) {
           return stands_around(arg) || spreads(arg.type(), *result);
         });
}

class Cutter {
 public:
  Cutter(const std::vector<Var>& params, const std::vector<Binding>& ahead, Keeping keeping)
      : params_(params), ahead_(ahead) {
    for (const Var& param : params) own_.insert(param.id());
    for (const Binding& binding : ahead) own_.insert(binding.var().id());
    if (keeping == Keeping::Little) {
      for (const Binding& binding : ahead)
        if (can_repeat(binding)) marked_.insert(binding.var().id());
      return;
    }
    // Between marks an if or a loop is kept all the same.
    const ValueIds marked = values_between_marks(ahead);
    for (const Binding& binding : ahead) {
      const Expr& value = binding.value();
      const bool repeats = std::holds_alternative<VarBinding>(binding.kind) && !has_effects(value) &&
                           !value.as<If>() && !value.as<Loop>() && !value.as<FunctionExpr>();
      if (repeats && marked.contains(binding.var().id())) marked_.insert(binding.var().id());
    }
  }

  Cut cut(const Region& back) {
    for (const Var& var : vars_of(back).free)
      if (own_.contains(var.id())) needed_.insert(var.id());
    need_operands_of_marked();
    Cut made;
    for (const Var& param : params_)
      if (needed_.contains(param.id())) keep(param, made);
    for (const Binding& binding : ahead_)
      if (needed_.contains(binding.var().id()) && !is_again(binding)) kept_.insert(binding.var().id());
    std::unordered_set<std::uint64_t> again;
    for (const Binding& binding : ahead_) {
      const Var& var = binding.var();
      if (kept_.contains(var.id())) {
        made.kept.push_back(var);
      } else if (is_again(binding) && at_hand(binding)) {
        made_of_kept_.emplace(var.id(), &binding);
        if (needed_.contains(var.id())) mark(var.id(), again);
      } else if (needed_.contains(var.id())) {
        keep(var, made);
      }
    }
    // What an if or a loop gives is taken apart behind it, all of it, as reading has it.
    for (const Binding& binding : ahead_) {
      const auto* field = binding.value().as<TupleGet>();
      const Var* whole = field ? field->tuple.as_var() : nullptr;
      if (whole && taken_apart_.contains(whole->id())) again.insert(binding.var().id());
      if (!again.contains(binding.var().id())) continue;
      if (binding.value().as<If>() || binding.value().as<Loop>()) taken_apart_.insert(binding.var().id());
      made.again.push_back(binding);
    }
    keep_sizes(back, made);
    return made;
  }

 private:
  bool is_again(const Binding& binding) const {
    return marked_.contains(binding.var().id()) || is_cheap(binding, own_);
  }

  // Sizes that a cast names on the way there are told by what is kept.
  void keep_sizes(const Region& back, Cut& made) {
    const auto casts = [](const Binding& each) { return std::holds_alternative<MatchCast>(each.kind); };
    if (std::none_of(ahead_.begin(), ahead_.end(), casts)) return;
    SymbolList mentioned, told;
    add_mentioned_in(all_bindings(back.blocks), mentioned);
    for (const Expr& result : back.results) mentioned.add_mentioned(result.type());
    add_mentioned_in(made.again, mentioned);
    for (const Var& var : made.kept) {
      mentioned.add_mentioned(var.type());
      told.add_determined(var.type());
    }
    for (const Var& var : size_tellers(ahead_, mentioned, told)) keep(var, made);
  }

  // What stands between marks is computed again: what that takes is needed in its place.
  void need_operands_of_marked() {
    if (marked_.empty()) return;
    for (auto it = ahead_.rbegin(); it != ahead_.rend(); ++it) {
      const bool passes = marked_.contains(it->var().id()) || marked_tensor(it->value());
      if (!passes || !needed_.contains(it->var().id())) continue;
      for (const Var& used : outer_vars(it->value()))
        if (own_.contains(used.id())) needed_.insert(used.id());
    }
  }

  void keep(const Var& var, Cut& made) {
    kept_.insert(var.id());
    made.kept.push_back(var);
  }

  // Whether all that the binding uses is kept, can be made of that, or stands around both ways.
  bool at_hand(const Binding& binding) const {
    const std::vector<Var> used = used_vars(binding.value());
    return std::all_of(used.begin(), used.end(), [&](const Var& var) {
      return !own_.contains(var.id()) || kept_.contains(var.id()) || made_of_kept_.contains(var.id());
    });
  }

  // The variable is computed again, with what it is made of.
  void mark(std::uint64_t id, std::unordered_set<std::uint64_t>& again) const {
    std::vector<std::uint64_t> pending{id};
    while (!pending.empty()) {
      const auto found = made_of_kept_.find(pending.back());
      pending.pop_back();
      if (found == made_of_kept_.end() || !again.insert(found->first).second) continue;
      for (const Var& var : used_vars(found->second->value())) pending.push_back(var.id());
    }
  }

  const std::vector<Var>& params_;
  const std::vector<Binding>& ahead_;
  std::unordered_set<std::uint64_t> own_, needed_, kept_;
  std::unordered_set<std::uint64_t> taken_apart_;  // ifs and loops that are computed again
  ValueIds marked_;                                // what stands between marks and can be computed again
  std::unordered_map<std::uint64_t, const Binding*> made_of_kept_;
};

}  // namespace

Cut cut_between(const std::vector<Var>& params, const std::vector<Binding>& ahead, const Region& back,
                Keeping keeping) {
  return Cutter(params, ahead, keeping).cut(back);
}

std::vector<Var> size_tellers(const std::vector<Binding>& ahead, const SymbolList& mentioned,
                              const SymbolList& told) {
  std::vector<Var> tellers;
  SymbolList known = told;
  for (const Binding& binding : ahead) {
    const auto* cast = std::get_if<MatchCast>(&binding.kind);
    if (!cast) continue;
    SymbolList named;
    named.add_determined(cast->type);
    const bool tells = std::any_of(named.vars().begin(), named.vars().end(), [&](const ScalarVar& symbol) {
      return mentioned.contains(symbol) && !known.contains(symbol);
    });
    if (!tells) continue;
    tellers.push_back(cast->var);
    known.add_all(named.vars());
  }
  return tellers;
}

void add_mentioned_in(const std::vector<Binding>& bindings, SymbolList& into) {
  for (const Binding& binding : bindings) {
    into.add_mentioned(binding.var().type());
    for_each_expr(binding.value(), [&](const Expr& expr) {
      into.add_mentioned(expr.type());
      if (const auto* scalar = expr.as<ScalarValueExpr>()) into.add_mentioned(scalar->value);
      if (const auto* shape = expr.as<ShapeLiteral>())
        for (const Scalar& dim : shape->dims) into.add_mentioned(dim);
    });
  }
}

bool can_repeat(const Binding& binding) {
  if (!std::holds_alternative<VarBinding>(binding.kind)) return false;
  bool again = !has_effects(binding.value());
  for_each_expr(binding.value(), [&](const Expr& expr) {
    again = again && !expr.as<FunctionExpr>() && !expr.as<PackedCall>() && !expr.type().as<StackType>();
  });
  return again;
}

std::optional<std::int64_t> bytes_of(const Type& type) {
  if (const TupleType* tuple = type.tuple()) {
    std::int64_t total = 0;
    for (const Type& field : tuple->fields) {
      const auto bytes = bytes_of(field);
      if (!bytes) return std::nullopt;
      total += *bytes;
    }
    return total;
  }
  const TensorType* tensor = type.tensor();
  if (!tensor)
    return type.as<ScalarType>() || type.as<ShapeType>() ? std::optional<std::int64_t>(0) : std::nullopt;
  const auto count = tensor->shape ? elements(*tensor).as_int() : std::nullopt;
  if (!count || !tensor->dtype) return std::nullopt;
  return *count * size_of(*tensor->dtype);
}

}  // namespace relish
