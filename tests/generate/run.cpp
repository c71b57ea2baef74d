// Programs mean the same before and after printing.
#include <cctype>

#include "ir/printer/printer.h"
#include "ir/scalars/symbols.h"
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

namespace {

std::set<std::string> names_of_dims(const Module& module) {
  std::set<std::string> names;
  for (const auto& entry : module.functions) {
    if (const auto* function = std::get_if<FunctionPtr>(&entry))
      for_each_symbol(**function, [&](const ScalarVar& symbol) { names.insert(symbol.name()); });
  }
  return names;
}

// Names and what stands between them.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  bool within = false;
  for (const char c : text) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
    if (!letter || !within) words.emplace_back();
    words.back() += c;
    within = letter;
  }
  return words;
}

// The same fault, but that dims may have other names: different ones may be called alike in a module, and a
// text must tell them apart.
bool same_fault(const std::string& before, const Module& module_before, const std::string& after,
                const Module& module_after) {
  if (before == after) return true;
  const std::vector<std::string> first = words_of(before), second = words_of(after);
  if (first.size() != second.size()) return false;
  const std::set<std::string> dims = names_of_dims(module_before), others = names_of_dims(module_after);
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] != second[i] && !(dims.contains(first[i]) && others.contains(second[i]))) return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> run_findings(const Program& program, Tally& tally) {
  std::vector<std::string> findings;
  const Outcome wanted = outcome_of(reference(), program.module, "main", program.inputs);
  if (wanted.value) ++tally["ran"];
  if (wanted.value && !program.options.special_values) {
    ++tally["ran on ordinary values"];
    if (is_finite(*wanted.value)) ++tally["finite"];
  }
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
    if (!same_fault(wanted.fault, *program.module, found.fault, *back))
      findings.push_back(
          fmt::format("found the fault '{}' after printing, expected '{}'", found.fault, wanted.fault));
    else if (wanted.value && !same_bits(*found.value, *wanted.value))
      findings.push_back("gives other bits after printing");
  }
  return findings;
}

}  // namespace relish::generate
