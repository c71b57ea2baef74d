// Growing groups of calls.
#include "schedule/fusion/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "ir/rewriting/rewrite.h"
#include "schedule/fusion/lent_copies.h"
#include "support/interrupt.h"

namespace relish {
namespace {

// A kernel of more calls would need more registers than there are, and the time to make it grows with the
// square of their number.
constexpr std::size_t most_calls = 32;

using VarIds = std::unordered_set<std::uint64_t>;

VarIds vars_in(const Expr& value) {
  VarIds vars;
  for_each_expr(value, [&](const Expr& expr) {
    if (const Var* var = expr.as_var()) vars.insert(var->id());
  });
  return vars;
}

std::size_t at_least_one(std::size_t loops) { return std::max<std::size_t>(loops, 1); }

// Whether the value is there already, or made of what is.
bool is_there(const Expr& value) {
  if (const auto* field = value.as<TupleGet>()) return field->tuple.type().tuple() && is_there(field->tuple);
  if (const auto* made = value.as<TupleExpr>())
    return std::all_of(made->fields.begin(), made->fields.end(), is_there);
  return value.as_var() || value.as<Constant>();
}

// Whether a size of the call's result is computed, so that it may be none.
bool computes_sizes(const FusibleCall& call) {
  const TensorType* type = call.result.type().tensor();
  return !type || !type->shape ||
         std::any_of(type->shape->begin(), type->shape->end(),
                     [](const Scalar& dim) { return !dim.as_int() && !dim.as_var(); });
}

class GroupGrower {
 public:
  GroupGrower(const std::vector<BindingBlock>& blocks, const std::vector<Expr>& results,
              const CalleeOf& callee_of, CallFuser& fuser)
      : blocks_(blocks), callee_of_(callee_of), fuser_(fuser) {
    for (const Expr& result : results)
      for (const std::uint64_t id : vars_in(result)) ++uses_[id];
    for (const BindingBlock& block : blocks)
      for (const Binding& binding : block.bindings) {
        poll_interrupt(binding.span);
        for (const std::uint64_t id : vars_in(binding.value())) ++uses_[id];
      }
  }

  std::vector<FusedGroup> run() {
    for (const BindingBlock& block : blocks_) {
      ++room_;
      for (const Binding& binding : block.bindings) {
        poll_interrupt(binding.span);
        if (has_effects(binding.value())) ++room_;
        take(binding);
      }
    }
    std::vector<FusedGroup> result;
    for (Group& group : groups_) {
      if (group.fused.calls.empty()) continue;
      group.fused.vanishes = group.lends && !used_by_others(group.fused);
      result.push_back(std::move(group.fused));
    }
    for (FusedGroup& group : result)
      if (group.apart.empty()) group.apart.push_back({Span(), "nothing else reads its result"});
    return result;
  }

 private:
  struct Group {
    FusedGroup fused;
    std::size_t loops = 0;
    int room = 0;         // groups grow only between two calls with effects, in one block
    bool closed = false;  // somebody else has used a result
    bool copies = false;  // all that it does is to copy elements
    bool lends = false;   // a reader does so for itself
    int fault = 0;        // which of all that may fail are its checks, those of one call; 0: it has none
  };
  // Calls that can be one.
  struct Joined {
    std::vector<FusibleCall> calls;
    std::vector<bool> kept;
    std::shared_ptr<FusedCalls> made;
    std::unordered_map<std::uint64_t, int> inside;
  };
  // The groups that a call may become one with: as a whole, or by doing for itself what they do.
  struct Sources {
    std::vector<std::size_t> open, lenders;
  };

  void take(const Binding& binding) {
    const auto* plain = std::get_if<VarBinding>(&binding.kind);
    const FusibleCallee* callee = plain ? callee_of_(plain->value) : nullptr;
    const VarIds used = vars_in(binding.value());
    std::vector<std::size_t> sources;  // groups whose results the binding uses
    for (const std::uint64_t id : used) {
      const auto found = group_of_.find(id);
      if (found != group_of_.end()) sources.push_back(found->second);
    }
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    std::size_t own = groups_.size();
    std::unordered_map<std::size_t, std::string> apart;
    lenders_.clear();
    if (!callee && !(plain && is_there(plain->value))) ++faults_;
    for (const std::size_t source : sources) {
      if (!callee) apart[source] = why_not_into(binding.value());
      if (groups_[source].room != room_)
        apart[source] = "an effect, or the end of the block, stands before what reads it";
      else if (callee && !may_move(groups_[source]))
        apart[source] = "it may fail, and what stands before its reader may fail, too";
      if (groups_[source].closed) apart[source] = "it is read before that, too";
    }
    if (callee) {
      const FusibleCall call{plain->var, plain->value, callee};
      if (callee->checks || computes_sizes(call)) ++faults_;
      own = joined(call, used, sources, apart);
      group_of_[call.result.id()] = own;
    }
    for (const std::size_t source : sources) {
      if (source == own || groups_[source].fused.calls.empty() || lenders_.contains(source)) continue;
      groups_[source].closed = true;
      groups_[source].fused.apart.push_back({binding.value().span(), apart[source]});
    }
  }

  // The group that the call is in: one of those whose results it uses, or a new one.
  // `apart`: why the others of them stay apart, where that is not yet told.
  std::size_t joined(const FusibleCall& call, const VarIds& used, const std::vector<std::size_t>& sources,
                     std::unordered_map<std::size_t, std::string>& apart) {
    Sources from;
    for (const std::size_t source : sources) {
      const Group& group = groups_[source];
      // What a check tells is told of its call's arguments: they have to be there.
      if (call.callee->checks) apart[source] = "what reads it may fail";
      if (group.room != room_ || !may_move(group) || call.callee->checks) continue;
      if (lends(group, call, used))
        from.lenders.push_back(source);
      else if (!group.closed)
        from.open.push_back(source);
    }
    if (!from.lenders.empty())
      if (const auto own = joined_with_lent(call, used, from, apart)) return *own;
    std::vector<std::size_t>& open = from.open;
    for (const std::size_t lender : from.lenders)
      if (!groups_[lender].closed) open.push_back(lender);
    std::sort(open.begin(), open.end());
    if (!open.empty() && join({open, {}}, call, used, apart)) return open.front();
    for (std::size_t i = open.size(); i-- > 0 && open.size() > 1;)
      if (join({{open[i]}, {}}, call, used, apart)) return open[i];
    groups_.push_back(
        {{{call}, {true}, nullptr, {}}, call.callee->loops, room_, false, copies_elements(call)});
    if (call.callee->checks) groups_.back().fault = faults_;
    inside_.emplace_back(used);
    return groups_.size() - 1;
  }

  // Whether the group's call may come to stand here: no other call, that may fail, stands behind its checks.
  bool may_move(const Group& group) const { return group.fault == 0 || group.fault == faults_; }

  // Whether the call, one reader of several, may do for itself what the group does.
  bool lends(const Group& group, const FusibleCall& call, const VarIds& used) const {
    const std::vector<FusibleCall>& copies = group.fused.calls;
    return group.copies &&
           std::any_of(copies.begin(), copies.end(),
                       [&](const FusibleCall& copy) {
                         const auto uses = uses_.find(copy.result.id());
                         return !copy.lent && used.contains(copy.result.id()) && uses->second > 1;
                       }) &&
           std::all_of(copies.begin(), copies.end(),
                       [&](const FusibleCall& copy) { return may_read_through(copy, call); });
  }

  // The group of the call and of the copies of as many lenders as it can be one with.
  std::optional<std::size_t> joined_with_lent(const FusibleCall& call, const VarIds& used,
                                              const Sources& from,
                                              std::unordered_map<std::size_t, std::string>& apart) {
    if (const auto own = join(from, call, used, apart)) return own;
    if (!from.open.empty() && join({from.open, {}}, call, used, apart)) return from.open.front();
    Sources fit;
    for (const std::size_t lender : from.lenders) {
      fit.lenders.push_back(lender);
      if (!one_of(fit, call, used, apart)) fit.lenders.pop_back();
    }
    return fit.lenders.empty() ? std::nullopt : join(fit, call, used, apart);
  }

  // All calls of the groups and this one, if that makes fewer loops of them.
  std::optional<Joined> one_of(const Sources& from, const FusibleCall& call, const VarIds& used,
                               std::unordered_map<std::size_t, std::string>& apart) {
    const auto refused = [&](const std::string& why) {
      for (const std::size_t source : from.open) apart[source] = why;
      for (const std::size_t source : from.lenders) apart[source] = why;
      return std::nullopt;
    };
    Joined all;
    std::size_t loops = at_least_one(call.callee->loops);
    std::unordered_map<std::uint64_t, bool> lent;  // by the result of a call
    const auto add = [&](const FusibleCall& each, bool lends) {
      const auto [known, fresh] = lent.emplace(each.result.id(), each.lent || lends);
      if (fresh) {
        all.calls.push_back(each);
        all.calls.back().lent = known->second;
      }
      return known->second == (each.lent || lends);
    };
    // How many of the calls use each result: those that others use too are kept.
    for (const std::uint64_t id : used) ++all.inside[id];
    for (const std::size_t source : from.lenders) {
      for (const FusibleCall& each : groups_[source].fused.calls) {
        if (!add(each, true)) return refused("it is read by a part of what it would be one with");
        all.inside.erase(each.result.id());
      }
      // Copies that vanish do not pay for what has nothing to do with them.
      if (from.open.empty()) loops += at_least_one(groups_[source].loops);
    }
    for (const std::size_t source : from.open) {
      for (const FusibleCall& each : groups_[source].fused.calls)
        if (!add(each, false)) return refused("it is read by a part of what it would be one with");
      loops += at_least_one(groups_[source].loops);
      for (const auto& [id, count] : inside_[source].counts) all.inside[id] += count;
    }
    if (all.calls.size() >= most_calls)
      return refused(fmt::format("{} calls are one already", all.calls.size()));
    all.calls.push_back(call);
    std::vector<const FusibleCall*> pointers;
    for (const FusibleCall& each : all.calls) {
      const std::uint64_t id = each.result.id();
      all.kept.push_back(!each.lent && (&each == &all.calls.back() || uses_[id] > all.inside[id]));
      pointers.push_back(&each);
      if (all.kept.back() && one_number(each) && !one_number(call))
        return refused("others wait for its number");
    }
    all.made = fuser_.fused(pointers, all.kept);
    if (!all.made) return refused("what it gives would be stored all the same");
    if (at_least_one(all.made->loops) >= loops) return refused("together they have as many loops");
    return all;
  }

  // Those calls in the first of the open groups, or in a new one.
  std::optional<std::size_t> join(const Sources& from, const FusibleCall& call, const VarIds& used,
                                  std::unordered_map<std::size_t, std::string>& apart) {
    auto all = one_of(from, call, used, apart);
    if (!all) return std::nullopt;
    if (from.open.empty()) {
      groups_.push_back({{}, 0, room_});
      inside_.emplace_back(VarIds());
    }
    const std::size_t own = from.open.empty() ? groups_.size() - 1 : from.open.front();
    for (std::size_t i = 1; i < from.open.size(); ++i) {
      // Only one of them has checks: the last to have any.
      groups_[own].fault = std::max(groups_[own].fault, groups_[from.open[i]].fault);
      groups_[from.open[i]] = Group{};
    }
    for (const std::size_t lender : from.lenders) {
      groups_[lender].lends = true;
      lenders_.insert(lender);
      for (const FusibleCall& each : groups_[lender].fused.calls)
        if (!each.lent && used.contains(each.result.id())) --uses_[each.result.id()];
    }
    Group& group = groups_[own];
    // Of the many groups on the way to a large one the functions are not kept.
    if (group.fused.made) group.fused.made->function = nullptr;
    group.fused = {std::move(all->calls), std::move(all->kept), all->made, {}};
    group.loops = all->made->loops;
    group.copies = std::all_of(group.fused.calls.begin(), group.fused.calls.end(), copies_elements);
    inside_[own].counts = std::move(all->inside);
    for (const FusibleCall& each : group.fused.calls)
      if (!each.lent) group_of_[each.result.id()] = own;
    return own;
  }

  bool used_by_others(const FusedGroup& group) const {
    return std::any_of(group.calls.begin(), group.calls.end(), [&](const FusibleCall& call) {
      const auto uses = uses_.find(call.result.id());
      return !call.lent && uses != uses_.end() && uses->second > 0;
    });
  }

  // Numbers that others wait for are not held up by the loops over tensors.
  static bool one_number(const FusibleCall& call) {
    const TensorType* type = call.result.type().tensor();
    return type && type->shape && product(*type->shape).as_int() == 1;
  }

  // How many calls of a group use each variable.
  struct Inside {
    explicit Inside(const VarIds& used) {
      for (const std::uint64_t id : used) counts[id] = 1;
    }
    std::unordered_map<std::uint64_t, int> counts;
  };

  const std::vector<BindingBlock>& blocks_;
  const CalleeOf& callee_of_;
  CallFuser& fuser_;
  std::unordered_map<std::uint64_t, int> uses_;  // bindings and results that use a variable
  std::vector<Group> groups_;
  std::vector<Inside> inside_;                               // by group
  std::unordered_map<std::uint64_t, std::size_t> group_of_;  // by the variable of a result
  std::unordered_set<std::size_t> lenders_;                  // groups of copies that the last call does, too
  int room_ = 0;
  int faults_ = 0;  // how many of the bindings up to this one may fail
};

}  // namespace

std::vector<FusedGroup> fusible_groups(const std::vector<BindingBlock>& blocks,
                                       const std::vector<Expr>& results, const CalleeOf& callee_of,
                                       CallFuser& fuser) {
  return GroupGrower(blocks, results, callee_of, fuser).run();
}

}  // namespace relish
