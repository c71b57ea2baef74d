// Facts go from callees to callers until nothing changes, which recursion needs; without it twice is enough.
#include "transform/model_facts.h"

#include <algorithm>

#include "ir/operators/op.h"
#include "ir/rewriting/rewrite.h"

namespace relish {

const GlobalRef* called_function(const Expr& value) {
  const auto* call = value.as<FunctionCall>();
  return call ? call->callee.as<GlobalRef>() : nullptr;
}

bool is_dropout(const Expr& value) {
  const auto* call = value.as<OpCall>();
  return call && call->op->name == "nn.dropout";
}

bool is_training_batch_norm(const Expr& value) {
  const auto* call = value.as<OpCall>();
  if (!call || call->op->name != "nn.batch_norm") return false;
  const Attribute* training = find_attribute(call->attributes, "training");
  const bool* flag = training ? training->as<bool>() : nullptr;
  return flag && *flag;
}

ParameterAliases::ParameterAliases(const Function& function) {
  for (std::size_t i = 0; i < function.params.size(); ++i) places_.emplace(function.params[i].id(), i);
}

void ParameterAliases::note(const Binding& binding) {
  if (const auto place = parameter_of(binding.value())) places_.emplace(binding.var().id(), *place);
}

std::optional<std::size_t> ParameterAliases::parameter_of(const Expr& operand) const {
  const Var* var = operand.as_var();
  const auto found = var ? places_.find(var->id()) : places_.end();
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

FactsOfModel::FactsOfModel(const Module& module, const Function& root) : module_(module) {
  order_.push_back(root.name);
  facts_.emplace(root.name, ModelFacts{});
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const FunctionPtr function = module.function(order_[i]);
    for (const std::string& name : global_references(*function))
      if (module.function(name) && facts_.emplace(name, ModelFacts{}).second) order_.push_back(name);
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto name = order_.rbegin(); name != order_.rend(); ++name)
      changed = update(*module.function(*name)) || changed;
  }
}

const ModelFacts* FactsOfModel::find(const std::string& function) const {
  const auto found = facts_.find(function);
  return found == facts_.end() ? nullptr : &found->second;
}

bool FactsOfModel::update(const Function& function) {
  ModelFacts found;
  ParameterAliases aliases(function);
  const auto add_buffer = [&](const Expr& operand) {
    const auto place = aliases.parameter_of(operand);
    if (place && std::find(found.buffers.begin(), found.buffers.end(), *place) == found.buffers.end())
      found.buffers.push_back(*place);
  };
  for_each_binding(function, [&](const Binding& binding) { aliases.note(binding); });
  for_each_expr(function, [&](const Expr& expr) {
    found.drops = found.drops || is_dropout(expr);
    if (is_training_batch_norm(expr)) {
      found.trains = true;
      for (std::size_t i = 0; i < statistics_count; ++i)
        add_buffer(expr.as<OpCall>()->args[first_statistic + i]);
    }
    const auto* global = expr.as<GlobalRef>();
    const ModelFacts* callee = global ? find(global->name) : nullptr;
    if (callee) {
      found.drops = found.drops || callee->drops;
      found.trains = found.trains || callee->trains;
    }
    const GlobalRef* called = called_function(expr);
    callee = called ? find(called->name) : nullptr;
    if (!callee) return;
    const std::vector<Expr>& args = expr.as<FunctionCall>()->args;
    for (const std::size_t place : callee->buffers)
      if (place < args.size()) add_buffer(args[place]);
  });
  std::sort(found.buffers.begin(), found.buffers.end());
  ModelFacts& known = facts_.at(function.name);
  const bool changed =
      found.drops != known.drops || found.trains != known.trains || found.buffers != known.buffers;
  known = std::move(found);
  return changed;
}

}  // namespace relish
