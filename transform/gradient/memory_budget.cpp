// Plans are made for limits of work and numbers of segments, tried on the bindings that they give, and those
// that others beat in both ways are left out.
#include "transform/gradient/memory_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "ir/printer/printer.h"
#include "support/failure.h"
#include "transform/gradient/cut.h"
#include "transform/gradient/recomputation.h"
#include "transform/gradient/value_work.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

// Work for each byte up to which a value is computed again: sums and products of elements; exponentials;
// sums of rows; small products of matrices; larger ones; everything.
constexpr double limits[] = {1, 4, 16, 64, 512, std::numeric_limits<double>::infinity()};
constexpr std::size_t numbers_of_segments[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

bool holds_stack(const Type& type) {
  const TupleType* tuple = type.tuple();
  return type.as<StackType>() ||
         (tuple && std::any_of(tuple->fields.begin(), tuple->fields.end(), holds_stack));
}

// Bytes of the values that bindings make. Names take none: those of a value keep it alive.
class ValueSizes {
 public:
  void add(const Var& param) { own_.emplace(param.id(), Own{size_of_value(param), {param.id()}}); }
  void add(const Binding& binding) {
    const Var& var = binding.var();
    if (!only_names(binding)) return add(var);
    Own names{0, {}};
    for (const Var& used : used_vars(binding.value())) {
      const auto found = own_.find(used.id());
      if (found == own_.end()) continue;
      names.held.insert(names.held.end(), found->second.held.begin(), found->second.held.end());
    }
    own_.insert_or_assign(var.id(), std::move(names));
  }

  bool knows(const Var& var) const { return own_.contains(var.id()); }
  std::int64_t bytes(std::uint64_t id) const { return own_.at(id).bytes; }
  // The values whose memory the variable keeps.
  const std::vector<std::uint64_t>& held_by(const Var& var) const { return own_.at(var.id()).held; }

 private:
  struct Own {
    std::int64_t bytes = 0;
    std::vector<std::uint64_t> held;
  };

  static std::int64_t size_of_value(const Var& var) {
    if (const auto bytes = bytes_of(var.type())) return *bytes;
    fail(ErrorClass::Type, var.span(), "gradient.budget",
         fmt::format("memory_budget needs sizes that are numbers; '{}' has type {}", var.name(),
                     print(var.type())),
         {{{},
           holds_stack(var.type())
               ? "what nobody counts is kept on a stack: write the loop as a for over a number of rounds"
               : "give the sizes first, by bind_symbols"}});
  }

  std::unordered_map<std::uint64_t, Own> own_;
};

class Planner {
 public:
  Planner(const BudgetSubject& subject, FunctionBuilder& names)
      : subject_(subject), names_(names), work_(subject.module) {
    for (const Var& param : subject.params) sizes_.add(param);
    for (const std::vector<Binding>* way : {&subject.ahead, &subject.back}) {
      for (const Binding& binding : *way) {
        sizes_.add(binding);
        const double work = only_names(binding) ? 0 : work_.of(binding.value());
        work_of_.emplace(binding.var().id(), work);
        total_ += work;
      }
    }
  }

  std::vector<RecomputationPlan> run() {
    std::vector<RecomputationPlan> plans{tried(subject_.always)};
    for (const double limit : limits) {
      for (const std::size_t segments : numbers_of_segments) {
        if (segments > 1 && segments > subject_.ahead.size()) break;
        ValueIds wanted = subject_.always;
        const Segments cut = cut_into(segments);
        for (std::size_t i = 0; i < cut.last_begin; ++i) {
          const std::uint64_t id = subject_.ahead[i].var().id();
          const auto bytes = static_cast<double>(sizes_.bytes(id));
          if (bytes > 0 && !cut.ends.contains(id) && work_of_.at(id) <= limit * bytes) wanted.insert(id);
        }
        plans.push_back(tried(values_to_compute_again(subject_.ahead, wanted)));
      }
    }
    return best_of(std::move(plans));
  }

 private:
  // Each holds less than those that take less work.
  static std::vector<RecomputationPlan> best_of(std::vector<RecomputationPlan> plans) {
    std::stable_sort(plans.begin(), plans.end(),
                     [](const auto& a, const auto& b) { return a.work < b.work; });
    std::vector<RecomputationPlan> best;
    for (RecomputationPlan& plan : plans)
      if (best.empty() || plan.peak < best.back().peak) best.push_back(std::move(plan));
    return best;
  }

  // What lives where one segment of the way there ends and the next begins, and where the last one begins:
  // the way back starts with that, so that nothing is won by computing it again.
  struct Segments {
    ValueIds ends;
    std::size_t last_begin;
  };

  // Segments hold about the same number of bytes; each ends where little goes on.
  Segments cut_into(std::size_t segments) const {
    const std::vector<Binding>& ahead = subject_.ahead;
    Segments cut{{}, ahead.size()};
    if (segments <= 1) return cut;
    std::unordered_map<std::uint64_t, std::size_t> last_use;
    double all = 0;
    for (std::size_t i = 0; i < ahead.size(); ++i) {
      all += static_cast<double>(sizes_.bytes(ahead[i].var().id()));
      for (const Var& used : used_vars(ahead[i].value()))
        if (sizes_.knows(used))
          for (const std::uint64_t id : sizes_.held_by(used)) last_use[id] = i;
    }
    // Bytes that go on behind each binding, and those that were made so far.
    std::vector<double> going(ahead.size(), 0), made(ahead.size(), 0);
    std::vector<double> ends_here(ahead.size(), 0);
    double live = 0, sum = 0;
    for (std::size_t i = 0; i < ahead.size(); ++i) {
      const std::uint64_t id = ahead[i].var().id();
      const auto bytes = static_cast<double>(sizes_.bytes(id));
      const auto last = last_use.find(id);
      if (last != last_use.end() && last->second > i) {
        live += bytes;
        ends_here[last->second] += bytes;
      }
      live -= ends_here[i];
      going[i] = live;
      made[i] = sum += bytes;
    }
    const double share = all / static_cast<double>(segments);
    for (std::size_t k = 1; k < segments; ++k) {
      const double wanted = share * static_cast<double>(k);
      std::size_t best = ahead.size();
      for (std::size_t i = 0; i < ahead.size(); ++i) {
        if (made[i] < wanted - share / 4 || made[i] > wanted + share / 4) continue;
        if (best == ahead.size() || going[i] < going[best]) best = i;
      }
      if (best == ahead.size()) continue;
      for (std::size_t i = 0; i <= best; ++i) {
        const std::uint64_t id = ahead[i].var().id();
        const auto last = last_use.find(id);
        if (last != last_use.end() && last->second > best) cut.ends.insert(id);
      }
      cut.last_begin = best + 1;
    }
    return cut;
  }

  RecomputationPlan tried(const ValueIds& again) {
    const std::size_t mark = names_.mark_names();
    const std::vector<Binding> back =
        computed_again(subject_.ahead, subject_.back, again, subject_.results, names_);
    names_.free_names(mark);
    names_.drop_mark();
    RecomputationPlan plan;
    plan.again = again;
    for (const Binding& binding : back)
      if (!work_of_.contains(binding.var().id()) && !only_names(binding))
        plan.copied += work_.of(binding.value());
    plan.total = total_;
    if (total_ > 0) plan.work = plan.copied / total_;
    plan.peak = peak_of(back);
    return plan;
  }

  std::int64_t peak_of(const std::vector<Binding>& back) const {
    ValueSizes sizes = sizes_;
    std::vector<const Binding*> all;
    for (const Binding& binding : subject_.ahead) all.push_back(&binding);
    for (const Binding& binding : back) {
      sizes.add(binding);
      all.push_back(&binding);
    }
    std::unordered_map<std::uint64_t, std::size_t> last_use;
    const auto use = [&](const Var& var, std::size_t at) {
      if (sizes.knows(var))
        for (const std::uint64_t id : sizes.held_by(var)) last_use[id] = at;
    };
    for (std::size_t i = 0; i < all.size(); ++i)
      for (const Var& used : used_vars(all[i]->value())) use(used, i);
    for (const Expr& result : subject_.results)
      for (const Var& var : used_vars(result)) use(var, all.size());
    std::int64_t live = 0;
    for (const Var& param : subject_.params) {
      live += sizes.bytes(param.id());
      last_use.erase(param.id());
    }
    std::vector<std::int64_t> ends(all.size() + 1, 0);
    std::int64_t peak = live;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::uint64_t id = all[i]->var().id();
      const auto last = last_use.find(id);
      const std::int64_t bytes = sizes.bytes(id);
      // What nothing uses is not computed.
      if (last != last_use.end() && last->second > i) {
        live += bytes;
        ends[last->second] += bytes;
      }
      peak = std::max(peak, live);
      live -= ends[i];
    }
    return peak;
  }

  const BudgetSubject& subject_;
  FunctionBuilder& names_;
  ValueWork work_;
  ValueSizes sizes_;
  std::unordered_map<std::uint64_t, double> work_of_;  // by variable
  double total_ = 0;
};

}  // namespace

std::vector<RecomputationPlan> recomputation_plans(const BudgetSubject& subject, FunctionBuilder& names) {
  return Planner(subject, names).run();
}

}  // namespace relish
