// The gradient of a function: the forward bindings are copied, then walked backwards from the target, and
// what nothing uses is removed. Where the cotangent of the whole result is given, that is walked back
// instead. Within a memory budget several such adjoints are written, and the one of least work that holds
// little enough is taken.
#include "transform/gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "support/failure.h"
#include "support/freed_behind.h"
#include "transform/derivatives.h"
#include "transform/gradient/gradient_pass.h"
#include "transform/gradient/split_rounds.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

// A way of writing the adjoint, and what it may compute again.
struct Written {
  FunctionPtr source;
  Keeping keeping;
  std::shared_ptr<GradientPass> pass;
  RecomputationPlan plan;
};

// Loops and callees keep all that is dear, then as little as can be, then that of loops in segments.
std::vector<Written> ways_to_write(const Module& module, const FunctionPtr& function,
                                   const GradientOptions& options) {
  const auto has_inner_values = [&] {
    bool any = false;
    for_each_binding(*function, [&](const Binding& binding) {
      any = any || binding.value().as<Loop>() || binding.value().as<FunctionCall>();
    });
    return any;
  };
  struct Way {
    FunctionPtr source;
    Keeping keeping;
  };
  std::vector<Way> ways{{function, Keeping::Dear}};
  if (has_inner_values()) {
    ways.push_back({function, Keeping::Little});
    const FunctionPtr split = with_split_rounds(function);
    if (split != function) ways.push_back({split, Keeping::Little});
  }
  std::vector<Written> result;
  double base = 0;
  for (const Way& way : ways) {
    auto pass = std::make_shared<GradientPass>(module, *way.source, way.keeping);
    pass->write_adjoint(options);
    for (RecomputationPlan& plan : pass->plans(options.budget->sizes)) {
      if (base == 0) base = plan.total;
      plan.work = base > 0 ? (plan.total + plan.copied - base) / base : 0;
      result.push_back({way.source, way.keeping, pass, std::move(plan)});
    }
  }
  std::stable_sort(result.begin() + 1, result.end(),
                   [](const Written& a, const Written& b) { return a.plan.work < b.plan.work; });
  return result;
}

Module within_budget(const Module& module, const FunctionPtr& function, const GradientOptions& options) {
  const MemoryBudget& budget = *options.budget;
  std::int64_t unbound = 0, least = std::numeric_limits<std::int64_t>::max();
  for (const Written& way : ways_to_write(module, function, options)) {
    auto made = std::make_shared<Module>(way.pass->made(way.plan.again));
    const std::int64_t peak = budget.peak(made, way.pass->name());
    if (unbound == 0) unbound = peak;
    least = std::min(least, peak);
    if (peak > budget.bytes) continue;
    if (options.report)
      *options.report = {unbound, peak, way.plan.work, way.plan.again.size(), way.keeping == Keeping::Little};
    if (options.named) way.pass->name_gradients(*made);
    return *made;
  }
  fail(ErrorClass::Usage, function->span, "gradient.budget",
       fmt::format(
           "{} holds {} bytes at least, {} with all that it needs kept; found a memory_budget of {}",
           budget.subject.empty() ? fmt::format("the gradient of '{}'", function->name) : budget.subject,
           least, unbound, budget.bytes));
}

}  // namespace

Module gradient(const Module& module, std::string_view name, const GradientOptions& options) {
  const FunctionPtr function = relax_function(module, name);
  if (options.budget) return within_budget(module, function, options);
  const FreedBehind<GradientPass> pass(module, *function);
  pass->write_adjoint(options);
  Module made = pass->made(pass->marked());
  if (options.named) pass->name_gradients(made);
  return made;
}

std::vector<GradientLine> account_of_gradient(const Module& module, std::string_view name,
                                              const GradientOptions& options) {
  const FunctionPtr function = relax_function(module, name);
  return GradientPass(module, *function).account(options);
}

Module vjp(const Module& module, std::string_view name, const DerivativeOptions& options) {
  const FunctionPtr function = relax_function(module, name);
  const FreedBehind<GradientPass> pass(module, *function);
  pass->write_vjp(options);
  return pass->made(pass->marked());
}

}  // namespace relish
