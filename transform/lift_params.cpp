// Which bindings hang on weights alone, the function that computes them, and the one that takes them.
#include "transform/lift_params.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ir/operators/op.h"
#include "ir/printer/words.h"
#include "ir/rewriting/expr_mapper.h"
#include "ir/verify/verify.h"
#include "transform/dead_code.h"
#include "transform/mentioned_symbols.h"
#include "transform/outer_vars.h"
#include "transform/parameter_marks.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

class ParamLifter {
 public:
  ParamLifter(const Function& source, const std::vector<std::string>& weights) : source_(source) {
    for (const Var& param : source.params) {
      const bool weight = std::find(weights.begin(), weights.end(), param.name()) != weights.end();
      (weight ? weights_ : inputs_).push_back(param);
      if (!weight) continue;
      known_.add_determined(param.type());
      SymbolList sizes;
      sizes.add_mentioned(param.type());
      for (const ScalarVar& size : sizes.vars())
        sized_by_inputs_ = sized_by_inputs_ || !known_.contains(size);
      own_.insert(param.id());
    }
    for (const BindingBlock& block : source.blocks)
      for (const Binding& binding : block.bindings) sort(binding);
    find_taken();
  }

  bool lifts() const {
    return !sized_by_inputs_ && std::any_of(taken_.begin(), taken_.end(),
                                            [&](const Var& var) { return lifted_.contains(var.id()); });
  }

  // Whether the parameters of the rest tell all sizes that it mentions and that weights told before.
  bool tells_sizes(const Function& rest) const {
    SymbolList told;
    bool all = true;
    for (const Var& param : rest.params) {
      told.add_determined(param.type());
      SymbolList sizes;
      sizes.add_mentioned(param.type());
      for (const ScalarVar& size : sizes.vars()) all = all && told.contains(size);
    }
    for_each_symbol(
        rest, [&](const ScalarVar& size) { all = all && (!known_.contains(size) || told.contains(size)); });
    return all;
  }

  // The values that the function takes in place of its weights.
  Function transform(const std::string& name) const {
    Function made;
    made.name = name;
    made.span = source_.span;
    made.result_span = source_.result_span;
    VarMap own;
    for (const Var& weight : weights_) {
      made.params.emplace_back(weight.name(), weight.type(), false, weight.span());
      own.emplace(weight.id(), Expr(made.params.back()));
    }
    std::vector<Binding> bindings;
    for (const Binding& binding : ahead_) bindings.push_back(substitute(binding, own));
    std::vector<Expr> values;
    for (const Var& var : taken_) values.push_back(substitute(Expr(var), own));
    close_function(made, std::move(bindings), tuple(std::move(values), made.span));
    return made;
  }

  // `globals`: names of the module and of its functions, which in older dialects stand for these in the text.
  FunctionPtr rest(const std::vector<std::string>& globals) const {
    Function made = source_;
    made.params = inputs_;
    // A variable may have the name of a parameter, before it or behind it; two parameters may not.
    FunctionBuilder names;
    reserve_names(source_, names);
    std::unordered_set<std::string> taken{"R", "T", "relish", "float"};
    taken.insert(globals.begin(), globals.end());
    for (const std::string& name : globals) names.reserve_name(name);
    for (const Var& param : source_.params) taken.insert(param.name());
    for_each_symbol(source_, [&](const ScalarVar& symbol) { taken.insert(symbol.name()); });
    VarMap own;
    for (const Var& var : taken_) {
      if (lifted_.contains(var.id())) {
        const std::string wanted = prints_as_itself(var.name()) ? var.name() : "weight";
        const bool free = taken.insert(wanted).second;
        if (free) names.reserve_name(wanted);
        const std::string name = free ? wanted : names.fresh_name(wanted);
        taken.insert(name);
        made.params.emplace_back(name, var.type(), false, var.span());
        own.emplace(var.id(), Expr(made.params.back()));
      } else {
        made.params.push_back(var);
      }
    }
    std::erase_if(made.attributes,
                  [](const auto& attribute) { return attribute.first == trained_attribute; });
    made.attributes = with_attribute(std::move(made.attributes), input_count_attribute,
                                     static_cast<std::int64_t>(inputs_.size()));
    for (BindingBlock& block : made.blocks)
      std::erase_if(block.bindings,
                    [&](const Binding& binding) { return lifted_.contains(binding.var().id()); });
    std::erase_if(made.blocks, [](const BindingBlock& block) { return block.bindings.empty(); });
    return eliminate_dead_bindings(substitute(std::make_shared<const Function>(std::move(made)), own));
  }

 private:
  // Whether the binding is made of weights and constants alone; of constants alone it stays where it is, and
  // is computed on both sides.
  void sort(const Binding& binding) {
    const Expr& value = binding.value();
    if (!std::holds_alternative<VarBinding>(binding.kind) || has_effects(value) || value.as<FunctionExpr>() ||
        binding.var().type().function())
      return;
    if (const auto* call = value.as<OpCall>(); call && call->op->name == "builtin.stop_lift_params") return;
    bool of_weights = false;
    for (const Var& var : outer_vars(value)) {
      if (!own_.contains(var.id()) && !constant_.contains(var.id())) return;
      of_weights = of_weights || own_.contains(var.id());
    }
    const std::vector<ScalarVar> symbols = mentioned_symbols(binding).vars();
    if (!std::all_of(symbols.begin(), symbols.end(), [&](const ScalarVar& symbol) {
          return known_.contains(symbol) || bound_inside(binding).contains(symbol.id());
        }))
      return;
    ahead_.push_back(binding);
    (of_weights ? own_ : constant_).insert(binding.var().id());
    if (of_weights) lifted_.insert(binding.var().id());
  }

  // Indices of loops in the value.
  static std::unordered_set<std::uint64_t> bound_inside(const Binding& binding) {
    std::unordered_set<std::uint64_t> bound;
    for_each_expr(binding.value(), [&](const Expr& expr) {
      const auto* loop = expr.as<Loop>();
      if (loop && loop->index.defined()) bound.insert(loop->index.id());
    });
    return bound;
  }

  // Weights and lifted values that the rest of the function uses: weights first, each in order.
  void find_taken() {
    std::unordered_set<std::uint64_t> used;
    for (const BindingBlock& block : source_.blocks) {
      for (const Binding& binding : block.bindings) {
        if (lifted_.contains(binding.var().id())) continue;
        for (const Var& var : used_vars(binding.value())) used.insert(var.id());
      }
    }
    std::vector<Var> leaves;
    collect_leaf_vars(source_.result, leaves);
    for (const Var& var : leaves) used.insert(var.id());
    for (const Var& weight : weights_)
      if (used.contains(weight.id())) taken_.push_back(weight);
    for (const Binding& binding : ahead_)
      if (lifted_.contains(binding.var().id()) && used.contains(binding.var().id()))
        taken_.push_back(binding.var());
  }

  const Function& source_;
  std::vector<Var> inputs_, weights_;
  SymbolList known_;                                  // sizes that the weights tell
  std::unordered_set<std::uint64_t> own_, constant_;  // weights and what is made of them; of constants alone
  std::unordered_set<std::uint64_t> lifted_;
  std::vector<Binding> ahead_;  // what is made of weights and constants, in order
  std::vector<Var> taken_;
  bool sized_by_inputs_ = false;  // a weight has a size that no weight before it tells
};

}  // namespace

Module lift_params(const Module& module) {
  Module result = module;
  for (const std::string& name : module.names()) {
    const FunctionPtr function = module.function(name);
    if (!function || find_attribute(function->attributes, role_attribute)) continue;
    const auto weights = marked_parameters(*function);
    if (!weights) continue;
    const ParamLifter lifter(*function, *weights);
    if (!lifter.lifts()) continue;
    std::vector<std::string> globals = module.names();
    globals.push_back(module.name);
    const FunctionPtr rest = lifter.rest(globals);
    if (!lifter.tells_sizes(*rest)) continue;
    Function transform = lifter.transform(name + "_transform_params");
    check_replaces(result, transform);
    check_replaces(result, *rest);
    result.set(rest);
    result.set(std::make_shared<const Function>(std::move(transform)));
  }
  verify_after(result, "lift_params");
  return result;
}

}  // namespace relish
