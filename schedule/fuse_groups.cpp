// Growing groups of calls.
#include "schedule/fuse_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/rewriting/rewrite.h"
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

class GroupGrower {
 public:
  GroupGrower(const std::vector<BindingBlock>& blocks, const std::vector<Expr>& results,
              const CalleeOf& callee_of, CallFuser& fuser)
      : blocks_(blocks), callee_of_(callee_of), fuser_(fuser) {
    for (const Expr& result : results)
      for (const std::uint64_t id : vars_in(result)) ++uses_[id];
    for (const BindingBlock& block : blocks)
      for (const Binding& binding : block.bindings)
        for (const std::uint64_t id : vars_in(binding.value())) ++uses_[id];
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
    for (Group& group : groups_)
      if (!group.fused.calls.empty()) result.push_back(std::move(group.fused));
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
    for (const std::size_t source : sources) {
      if (!callee) apart[source] = why_not_into(binding.value());
      if (groups_[source].room != room_)
        apart[source] = "an effect, or the end of the block, stands before what reads it";
      if (groups_[source].closed) apart[source] = "it is read before that, too";
    }
    if (callee) {
      const FusibleCall call{plain->var, plain->value, callee};
      own = joined(call, used, sources, apart);
      group_of_[call.result.id()] = own;
    }
    for (const std::size_t source : sources) {
      if (source == own || groups_[source].fused.calls.empty()) continue;
      groups_[source].closed = true;
      groups_[source].fused.apart.push_back({binding.value().span(), apart[source]});
    }
  }

  // The group that the call is in: one of those whose results it uses, or a new one.
  // `apart`: why the others of them stay apart, where that is not yet told.
  std::size_t joined(const FusibleCall& call, const VarIds& used, const std::vector<std::size_t>& sources,
                     std::unordered_map<std::size_t, std::string>& apart) {
    std::vector<std::size_t> open;
    for (const std::size_t source : sources)
      if (!groups_[source].closed && groups_[source].room == room_) open.push_back(source);
    if (!open.empty() && join(open, call, used, apart)) return open.front();
    for (std::size_t i = open.size(); i-- > 0 && open.size() > 1;)
      if (join({open[i]}, call, used, apart)) return open[i];
    groups_.push_back({{{call}, {true}, nullptr, {}}, call.callee->loops, room_, false});
    inside_.emplace_back(used);
    return groups_.size() - 1;
  }

  // All calls of the groups and this one in the first of the groups, if that makes fewer loops of them.
  bool join(const std::vector<std::size_t>& sources, const FusibleCall& call, const VarIds& used,
            std::unordered_map<std::size_t, std::string>& apart) {
    const auto refused = [&](const std::string& why) {
      for (const std::size_t source : sources) apart[source] = why;
      return false;
    };
    std::vector<FusibleCall> calls;
    std::size_t loops = at_least_one(call.callee->loops);
    for (const std::size_t source : sources) {
      const std::vector<FusibleCall>& own = groups_[source].fused.calls;
      calls.insert(calls.end(), own.begin(), own.end());
      loops += at_least_one(groups_[source].loops);
    }
    if (calls.size() >= most_calls) return refused(fmt::format("{} calls are one already", calls.size()));
    calls.push_back(call);
    // How many of the calls use each result: those that others use too are kept.
    std::unordered_map<std::uint64_t, int> inside;
    for (const std::uint64_t id : used) ++inside[id];
    for (const std::size_t source : sources)
      for (const auto& [id, count] : inside_[source].counts) inside[id] += count;
    std::vector<bool> kept;
    std::vector<const FusibleCall*> pointers;
    for (const FusibleCall& each : calls) {
      const std::uint64_t id = each.result.id();
      kept.push_back(&each == &calls.back() || uses_[id] > inside[id]);
      pointers.push_back(&each);
      if (kept.back() && one_number(each) && !one_number(call)) return refused("others wait for its number");
    }
    const std::shared_ptr<FusedCalls> made = fuser_.fused(pointers, kept);
    if (!made) return refused("what it gives would be stored all the same");
    if (at_least_one(made->loops) >= loops) return refused("together they have as many loops");
    Group& group = groups_[sources.front()];
    // Of the many groups on the way to a large one the functions are not kept.
    if (group.fused.made) group.fused.made->function = nullptr;
    group.fused = {std::move(calls), std::move(kept), made, {}};
    group.loops = made->loops;
    inside_[sources.front()].counts = std::move(inside);
    for (const FusibleCall& each : group.fused.calls) group_of_[each.result.id()] = sources.front();
    for (std::size_t i = 1; i < sources.size(); ++i) groups_[sources[i]] = Group{};
    return true;
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
  int room_ = 0;
};

}  // namespace

std::vector<FusedGroup> fusible_groups(const std::vector<BindingBlock>& blocks,
                                       const std::vector<Expr>& results, const CalleeOf& callee_of,
                                       CallFuser& fuser) {
  return GroupGrower(blocks, results, callee_of, fuser).run();
}

}  // namespace relish
