// The way back through ifs. A branch is computed again where its gradient is taken; one that calls functions
// which reach themselves keeps what it needs on their tapes instead.
#include <fmt/format.h>

#include <utility>

#include "ir/rewriting/regions.h"
#include "transform/gradient/copies.h"
#include "transform/gradient/kept_stack.h"
#include "transform/gradient/made_regions.h"
#include "transform/gradient/path_account.h"
#include "transform/gradient/reverse.h"
#include "transform/rebuild.h"

namespace relish {

// Variables around the regions that a gradient goes to, in order of first use.
std::vector<Var> Reverse::free_varied(const std::vector<const Region*>& regions) const {
  std::vector<Var> result;
  for (const Region* region : regions) {
    for (const Var& var : vars_of(*region).free) {
      if (!job_.varied.contains(var.id()) || !has_floats(var.type())) continue;
      if (std::find(result.begin(), result.end(), var) == result.end()) result.push_back(var);
    }
  }
  return result;
}

Region Reverse::branch_back(const Region& region, const std::vector<Var>& wanted,
                            const std::vector<Adjoint>& arriving) {
  builder_.begin_region();
  builder_.begin_block(false);
  VarMap vars;
  const std::vector<Binding> copy = fresh_bindings(region.blocks, builder_, vars);
  job_.vary(copy);
  std::vector<Expr> results;
  for (const Expr& result : region.results) results.push_back(substitute(result, vars));
  Reverse inner(job_, builder_);
  PathAccount* const account = std::exchange(job_.account, nullptr);  // it knows the branch of the text
  inner.forward(copy, results);
  for (std::size_t i = 0; i < results.size(); ++i) inner.seed(results[i], arriving[i]);
  inner.backward();
  std::vector<Expr> gradients;
  for (const Var& var : wanted)
    gradients.push_back(bound(inner.as_expr(inner.of(var), var.type(), Expr(var)), var.name() + "_adjoint"));
  Region made = closed_region(builder_, std::move(gradients));
  job_.account = account;
  inner.complete(made.blocks);
  return made;
}

void Reverse::through_if(const If& branch, const Adjoint& adjoint) {
  const Span span = builder_.origin();
  const std::vector<Var> wanted = free_varied({branch.then_region.get(), branch.else_region.get()});
  if (wanted.empty()) return;
  const std::vector<Adjoint> arriving = by_result(adjoint, branch.then_region->results.size());
  Region then_region = branch_back(*branch.then_region, wanted, arriving);
  Region else_region = branch_back(*branch.else_region, wanted, arriving);
  builder_.begin_block(false);
  const Expr made =
      builder_.emit(if_expr(branch.condition, std::move(then_region), std::move(else_region), span), "lv");
  std::vector<std::string> names;
  for (const Var& var : wanted) names.push_back(var.name() + "_adjoint");
  const std::vector<Expr> fields = fields_of(builder_, made, names, span);
  for (std::size_t i = 0; i < wanted.size(); ++i) add(Expr(wanted[i]), as_adjoint(fields[i]));
}

struct BothRegions {
  Region ahead, back;
};

// Of an if with calls of functions that reach themselves: each branch puts on a tape what its way back needs.
void Reverse::through_taped_if(const Binding& binding, const If& branch, const Adjoint& adjoint) {
  const Span span = builder_.origin();
  const std::vector<Var> wanted = free_varied({branch.then_region.get(), branch.else_region.get()});
  const std::size_t count = branch.then_region->results.size();
  const std::vector<Adjoint> arriving = by_result(adjoint, count);
  std::vector<Opened>& opened = opened_.at(binding.var().id());
  BothRegions first = taped_branch(*branch.then_region, opened[0], wanted, arriving);
  BothRegions second = taped_branch(*branch.else_region, opened[1], wanted, arriving);

  builder_.begin_region();
  builder_.begin_block(false);
  const Expr there = if_expr(branch.condition, std::move(first.ahead), std::move(second.ahead), span);
  append_completed(binding, there, std::vector<std::string>(count, binding.var().name()),
                   opened.front().tapes_after, builder_);
  builder_.end_block();
  completed_[binding.var().id()] = all_bindings(builder_.end_region({}).blocks);
  builder_.begin_block(false);

  std::vector<std::string> names;
  for (const Var& var : wanted) names.push_back(var.name() + "_adjoint");
  names.resize(wanted.size() + tapes.size(), "tape");
  if (names.empty()) return;
  const Expr made =
      builder_.emit(if_expr(branch.condition, std::move(first.back), std::move(second.back), span), "lv");
  const std::vector<Expr> fields = fields_of(builder_, made, names, span);
  for (std::size_t i = 0; i < wanted.size(); ++i) add(Expr(wanted[i]), as_adjoint(fields[i]));
  tapes.assign(fields.begin() + static_cast<std::ptrdiff_t>(wanted.size()), fields.end());
}

BothRegions Reverse::taped_branch(const Region& region, Opened& opened, const std::vector<Var>& wanted,
                                  const std::vector<Adjoint>& arriving) {
  Reverse& inner = *opened.inner;
  const std::vector<Var> begin =
      fresh_tapes(tapes, builder_);  // behind what the branch itself takes from its tape
  builder_.begin_region();
  builder_.begin_block(false);
  inner.tapes.assign(begin.begin(), begin.end());
  for (std::size_t i = 0; i < region.results.size(); ++i) inner.seed(region.results[i], arriving[i]);
  inner.backward();
  std::vector<Expr> given;
  for (const Var& var : wanted)
    given.push_back(bound(inner.as_expr(inner.of(var), var.type(), Expr(var)), var.name() + "_adjoint"));
  given.insert(given.end(), inner.tapes.begin(), inner.tapes.end());
  builder_.end_block();
  const Region back = builder_.end_region(std::move(given));
  builder_.begin_block(false);
  inner.complete(opened.ahead);
  const Cut cut = cut_between({}, opened.ahead, back);
  const std::optional<std::size_t> place =
      cut.kept.empty() ? std::nullopt : recursion_->place(kept_stack_type(cut.kept));

  if (job_.account) tell_taped(cut, *job_.account);

  BothRegions made;
  builder_.begin_region();
  builder_.begin_block(false);
  for (const Binding& binding : opened.ahead) builder_.append(binding);
  std::vector<Expr> there = region.results, behind = opened.tapes_behind;
  if (place) behind[*place] = pushed(behind[*place], cut.kept, "tape", builder_);
  there.insert(there.end(), behind.begin(), behind.end());
  made.ahead = closed_region(builder_, std::move(there));
  builder_.begin_block(false);

  builder_.begin_region();
  builder_.begin_block(false);
  VarMap vars;
  for (std::size_t k = 0; k < begin.size(); ++k) vars.emplace(begin[k].id(), tapes[k]);
  if (place) vars[begin[*place].id()] = popped(tapes[*place], cut.kept, "tape", vars, builder_);
  made.back = closed_region(builder_, replayed(cut, back, vars, {}, builder_));
  builder_.begin_block(false);
  return made;
}

}  // namespace relish
