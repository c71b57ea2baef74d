// All parameters that may go are dead until a use shows that they are not; what lives makes live what is
// handed to it.
#include "transform/dead_parameters.h"

#include <algorithm>
#include <utility>

#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/rewrite.h"
#include "ir/scalars/symbols.h"
#include "ir/verify/verify.h"
#include "transform/private_callees.h"

namespace relish {
namespace {

using Callees = std::unordered_map<std::string, PrivateCallee>;
using Dead = std::unordered_map<std::string, std::vector<bool>>;  // by function, a flag for each parameter

// Whether a size in the type of a parameter is mentioned elsewhere in the function too, or the parameter is
// itself a size of it.
bool tells_a_size(const Function& function, const Var& param) {
  std::vector<ScalarVar> own;
  collect_vars(param.type(), own);
  Function rest = function;
  std::erase_if(rest.params, [&](const Var& each) { return each == param; });
  bool found = false;
  for_each_symbol(rest, [&](const ScalarVar& symbol) {
    found = found || std::find(own.begin(), own.end(), symbol) != own.end();
    const std::optional<Var> scalar =
        param.type().as<ScalarType>() ? scalar_parameter_of(function, symbol) : std::nullopt;
    found = found || (scalar && *scalar == param);
  });
  return found;
}

class DeadParameters {
 public:
  explicit DeadParameters(const Callees& callees) : callees_(callees) {
    for (const auto& [name, callee] : callees_) {
      const std::vector<Var>& params = callee.function->params;
      dead_[name].assign(params.size(), true);
      for (std::size_t i = 0; i < params.size(); ++i) places_.emplace(params[i].id(), Place{name, i});
    }
    for (const auto& [name, callee] : callees_) look_at(*callee.function);
    for (const auto& [name, callee] : callees_) look_at_contract(name, callee);
  }

  Dead find() && {
    while (!pending_.empty()) {
      const Place place = pending_.back();
      pending_.pop_back();
      const auto given = handed_to_.find(place);
      if (given == handed_to_.end()) continue;
      for (const Place& from : given->second) live(from);
    }
    std::erase_if(dead_, [](const auto& each) {
      return std::none_of(each.second.begin(), each.second.end(), [](bool dead) { return dead; });
    });
    return std::move(dead_);
  }

 private:
  using Place = std::pair<std::string, std::size_t>;
  struct PlaceHash {
    std::size_t operator()(const Place& place) const {
      return std::hash<std::string>()(place.first) * 31 + place.second;
    }
  };

  void live(const Place& place) {
    std::vector<bool>& flags = dead_.at(place.first);
    if (!flags[place.second]) return;
    flags[place.second] = false;
    pending_.push_back(place);
  }

  // A parameter that is used other than as an argument of one of these functions lives.
  void look_at(const Function& function) {
    std::unordered_map<std::uint64_t, std::int64_t> other_uses;
    for_each_expr(function, [&](const Expr& expr) {
      if (const Var* var = expr.as_var()) ++other_uses[var->id()];
      const auto* call = expr.as<FunctionCall>();
      const auto* callee = call ? call->callee.as<GlobalRef>() : nullptr;
      if (!callee || !callees_.contains(callee->name)) return;
      for (std::size_t i = 0; i < call->args.size(); ++i) {
        const Var* given = call->args[i].as_var();
        const auto from = given ? places_.find(given->id()) : places_.end();
        if (from == places_.end()) continue;
        --other_uses[given->id()];
        handed_to_[{callee->name, i}].push_back(from->second);
      }
    });
    for (const auto& [id, count] : other_uses) {
      const auto param = places_.find(id);
      if (count > 0 && param != places_.end()) live(param->second);
    }
  }

  void look_at_contract(const std::string& name, const PrivateCallee& callee) {
    const std::vector<Var>& params = callee.function->params;
    for (std::size_t i = 0; i < params.size(); ++i) {
      const bool checked = std::any_of(callee.calls.begin(), callee.calls.end(), [&](const Expr& call) {
        return fits(call.as<FunctionCall>()->args[i].type(), params[i].type()) != Fit::Always;
      });
      if (dead_.at(name)[i] && (checked || tells_a_size(*callee.function, params[i]))) live({name, i});
    }
  }

  const Callees& callees_;
  Dead dead_;
  std::unordered_map<std::uint64_t, Place> places_;  // by the parameter's variable
  std::unordered_map<Place, std::vector<Place>, PlaceHash> handed_to_;
  std::vector<Place> pending_;
};

template <class T>
std::vector<T> without(const std::vector<T>& all, const std::vector<bool>& dead) {
  std::vector<T> kept;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!dead[i]) kept.push_back(all[i]);
  return kept;
}

// Calls without the arguments that went.
class CallShortener final : public ExprMapper {
 public:
  CallShortener(const Dead& dead, const Callees& callees) : dead_(dead), callees_(callees) {}

  FunctionPtr shortened(const Function& function) const {
    Function copy = function;
    copy.params = without(function.params, dead_.at(function.name));
    return std::make_shared<const Function>(std::move(copy));
  }

 private:
  Expr leave(const Expr& mapped) override {
    const auto* call = mapped.as<FunctionCall>();
    const auto* callee = call ? call->callee.as<GlobalRef>() : nullptr;
    const auto dead = callee ? dead_.find(callee->name) : dead_.end();
    if (dead == dead_.end()) return mapped;
    const FunctionPtr made = shortened(*callees_.at(callee->name).function);
    return function_call(global_ref(GlobalFunction(made), mapped.span()), without(call->args, dead->second),
                         mapped.span());
  }

  const Dead& dead_;
  const Callees& callees_;
};

}  // namespace

Module remove_dead_parameters(const Module& module) {
  const Callees callees = private_callees(module);
  const Dead dead = DeadParameters(callees).find();
  if (dead.empty()) return module;
  Module result = module;
  for (std::size_t i = 0; i < result.functions.size(); ++i) {
    const auto* function = std::get_if<FunctionPtr>(&result.functions[i]);
    if (!function) continue;
    CallShortener calls(dead, callees);
    const FunctionPtr from = dead.contains((*function)->name) ? calls.shortened(**function) : *function;
    const FunctionPtr made = calls.map(from);
    if (made != *function) result.functions.replace(i, made);
  }
  verify_after(result, "dead_parameters");
  return result;
}

}  // namespace relish
