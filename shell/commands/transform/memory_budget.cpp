// Reading the budget, and measuring by the plan of compiled code.
#include "shell/commands/transform/memory_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "jit/jit.h"
#include "shell/commands/subject.h"
#include "shell/program/call_values.h"
#include "shell/script/convert.h"
#include "support/limits.h"
#include "support/render.h"
#include "support/suggest.h"
#include "train/step_function.h"

namespace relish {
namespace {

// What a call of the function holds in compiled code, with its arguments; a training step has those of its
// state given up.
std::int64_t planned_peak(const ModulePtr& module, const std::string& function,
                          const std::map<std::string, std::int64_t>& sizes, int threads) {
  CallInputs inputs;
  std::vector<ScalarVar> symbols;
  for (const CallParameter& parameter : call_parameters(*module, function)) {
    inputs.zeros_for_missing = true;
    collect_vars(parameter.type, symbols);
    const auto* scalar = parameter.type.as<ScalarType>();
    const auto size = sizes.find(parameter.name);
    // Any number, where only sizes count.
    if (scalar && scalar->dtype == DType::Bool)
      inputs.arguments.emplace_back(parameter.name, ScriptValue(true));
    else if (scalar)
      inputs.arguments.emplace_back(parameter.name, size == sizes.end() ? std::int64_t{1} : size->second);
  }
  for (const auto& [name, size] : sizes) {
    const auto named = [&](const ScalarVar& symbol) { return symbol.name() == name; };
    if (std::any_of(symbols.begin(), symbols.end(), named)) inputs.dims.emplace_back(name, size);
  }
  return footprint_of(module, function, make_arguments(*module, function, inputs), threads,
                      given_in_training(*module->function(function)))
      .peak;
}

std::int64_t budget_bytes(const Invocation& invocation) {
  const ScriptValue& given = *invocation.find("memory_budget");
  if (const auto* bytes = given.as<std::int64_t>()) {
    if (*bytes < 0) invocation.refuse_value("memory_budget", fmt::format("found {}; expected bytes", *bytes));
    return *bytes;
  }
  const std::uint64_t bytes = parse_size(invocation.text("memory_budget"), "memory_budget");
  return static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace

std::optional<MemoryBudget> memory_budget_option(const Invocation& invocation,
                                                 const std::map<std::string, std::int64_t>& sizes) {
  if (!invocation.given("memory_budget")) return std::nullopt;
  MemoryBudget budget;
  budget.bytes = budget_bytes(invocation);
  budget.sizes = sizes;
  const int threads = invocation.session.settings().threads;
  budget.peak = [threads, sizes](const ModulePtr& module, const std::string& function) {
    return planned_peak(module, function, sizes, threads);
  };
  return budget;
}

std::optional<MemoryBudget> memory_budget_option(const Invocation& invocation) {
  if (invocation.given("dim") && !invocation.given("memory_budget"))
    invocation.refuse_value("dim", "sizes are of memory_budget, which is not given");
  const std::string function = function_of(invocation);
  std::vector<std::string> known;
  std::vector<ScalarVar> symbols;
  for (const CallParameter& parameter : call_parameters(*invocation.module, function)) {
    collect_vars(parameter.type, symbols);
    if (parameter.type.as<ScalarType>()) known.push_back(parameter.name);
  }
  for (const ScalarVar& symbol : symbols) known.push_back(symbol.name());
  std::map<std::string, std::int64_t> sizes;
  for (const auto& [name, size] : given_dims(invocation)) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      invocation.refuse_value("dim", fmt::format("{} has no dimension '{}'{}", function, printable(name),
                                                 did_you_mean(name, known)));
    sizes.emplace(name, size);
  }
  return memory_budget_option(invocation, sizes);
}

void tell_budget(const Invocation& invocation, const BudgetReport& report) {
  Diagnostic told;
  told.severity = Severity::Note;
  told.message = fmt::format(
      "holds {} bytes at most, {} without a budget; {} values are computed again, {:.1f} % more operations{}",
      report.peak, report.unbound, report.values, 100 * report.work,
      report.rounds ? "; loops and callees keep what they begin with, and compute the rest again" : "");
  invocation.session.report(told);
}

}  // namespace relish
