// The walk over a function in the order of its text.
#include "ir/printer/use_order.h"

#include <algorithm>

#include "ir/rewriting/rewrite.h"
#include "support/interrupt.h"

namespace relish::printing {

UseOrder::UseOrder(const Function& function) {
  walk(function.blocks);
  use(function.result, ++next_);
}

bool UseOrder::used(std::uint64_t id, int position, int end, const std::vector<TextRange>& skipped) const {
  auto found = uses_.find(id);
  if (found == uses_.end()) return false;
  auto first = std::upper_bound(found->second.begin(), found->second.end(), position);
  for (; first != found->second.end() && *first <= end; ++first) {
    const bool skip = std::any_of(skipped.begin(), skipped.end(), [&](const TextRange& range) {
      return *first >= range.begin && *first <= range.end;
    });
    if (!skip) return true;
  }
  return false;
}

std::size_t UseOrder::uses(std::uint64_t id) const {
  auto found = uses_.find(id);
  return found == uses_.end() ? 0 : found->second.size();
}

void UseOrder::use(std::uint64_t id, int at) {
  uses_[id].push_back(at);
  auto bound = bound_.find(id);
  for (OpenLoop& loop : loops_) {
    if (bound == bound_.end() || bound->second < loop.begin) loop.outside.insert(id);
  }
}

void UseOrder::use(const Expr& expr, int at) {
  if (!expr.defined()) return;
  for_each_expr(expr, [&](const Expr& each) {
    if (const Var* var = each.as_var()) use(var->id(), at);
  });
}

void UseOrder::walk(const std::vector<BindingBlock>& blocks) {
  for (const BindingBlock& block : blocks) {
    for (const Binding& binding : block.bindings) walk(binding);
    if (!block.dataflow) continue;
    ++next_;
    for (const Binding& binding : block.bindings) {
      if (!binding.var().dataflow()) use(binding.var().id(), next_);  // R.output names it
    }
  }
}

void UseOrder::walk(const Region& region) {
  TextRange& range = regions_[&region];
  range.begin = ++next_;
  for (const Var& param : region.params) bound_[param.id()] = next_;
  walk(region.blocks);
  ++next_;
  for (const Expr& result : region.results) use(result, next_);
  regions_[&region].end = next_;
}

void UseOrder::walk(const Binding& binding) {
  poll_interrupt(binding.span);
  const int begin = ++next_;
  const Expr& value = binding.value();
  if (const If* branch = value.as<If>()) {
    use(branch->condition, begin);
    walk(*branch->then_region);
    walk(*branch->else_region);
  } else if (const Loop* loop = value.as<Loop>()) {
    for (const Expr& initial : loop->initial) use(initial, begin);
    for (const Expr* bound : {&loop->begin, &loop->end, &loop->step}) use(*bound, begin);
    loops_.push_back({begin, {}});
    if (loop->condition) walk(*loop->condition);
    walk(*loop->body);
    ++next_;
    std::unordered_set<std::uint64_t> outside = std::move(loops_.back().outside);
    loops_.pop_back();
    for (const std::uint64_t id : outside) use(id, next_);  // the next iteration reads them again
  } else if (const auto* nested = value.as<FunctionExpr>()) {
    const Function& function = *nested->function;
    bound_[binding.var().id()] = begin;  // it may call itself
    functions_[&function].begin = ++next_;
    for (const Var& param : function.params) bound_[param.id()] = next_;
    walk(function.blocks);
    use(function.result, ++next_);
    functions_[&function].end = next_;
  } else {
    use(value, begin);
  }
  bindings_[&binding] = {begin, ++next_};
  bound_[binding.var().id()] = next_;
}

}  // namespace relish::printing
