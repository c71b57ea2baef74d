// Programs mean the same before and after printing.
#include "ir/printer.h"
#include "tests/generate/checks.h"
#include "tests/generate/values.h"

namespace relish::generate {

Outcome outcome_of(Evaluator& engine, const ModulePtr& module, const std::string& function,
                   std::vector<Value> args) {
  try {
    return {engine.call(module, function, std::move(args)), ""};
  } catch (const Failure& failure) {
    if (failure.error_class() == ErrorClass::Internal) throw;
    return {std::nullopt, text_of(failure)};
  }
}

std::vector<std::string> run_findings(const Program& program, Tally& tally) {
  std::vector<std::string> findings;
  const Outcome wanted = outcome_of(reference(), program.module, "main", program.inputs);
  if (wanted.value) ++tally["ran"];
  if (wanted.value && is_finite(*wanted.value)) ++tally["finite"];
  if (!wanted.value && !program.options.special_values) findings.push_back("faults: " + wanted.fault);
  for (const Dialect dialect : {Dialect::D026, Dialect::D2023, Dialect::D2022}) {
    std::string text;
    try {
      text = print(*program.module, {.dialect = dialect});
    } catch (const Failure& failure) {
      if (dialect == Dialect::D026 || failure.error_class() == ErrorClass::Internal) throw;
      continue;
    }
    const ModulePtr back = read_back(text, "a printed text", findings);
    if (!back) continue;
    const Outcome found = outcome_of(reference(), back, "main", program.inputs);
    if (found.fault != wanted.fault)
      findings.push_back(
          fmt::format("found the fault '{}' after printing, expected '{}'", found.fault, wanted.fault));
    else if (wanted.value && !same_bits(*found.value, *wanted.value))
      findings.push_back("gives other bits after printing");
  }
  return findings;
}

}  // namespace relish::generate
