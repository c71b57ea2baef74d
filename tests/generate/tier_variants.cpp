// Other ways to the same result, for programs that both tiers run: with symbolic sizes of 0, of 1 and with a
// tail behind the vectors; with its sizes bound to numbers; and with code that comes from the store of
// objects instead of the compiler.
#include <algorithm>

#include "ir/scalars/symbols.h"
#include "jit/jit.h"
#include "jit/object_store.h"
#include "tests/generate/checks.h"
#include "tests/generate/values.h"
#include "tests/unit/temporary_folder.h"
#include "transform/bind_symbols.h"

namespace relish::generate {
namespace {

// The sizes that main's parameters determine.
std::vector<ScalarVar> sizes_of(const Function& main) {
  std::vector<ScalarVar> symbols;
  for (const Var& param : main.params) collect_determined(param.type(), symbols);
  std::vector<ScalarVar> distinct;
  for (const ScalarVar& symbol : symbols) {
    if (std::none_of(distinct.begin(), distinct.end(),
                     [&](const ScalarVar& other) { return other.id() == symbol.id(); }))
      distinct.push_back(symbol);
  }
  return distinct;
}

// Values for main with the sizes; nothing for a type of which none are generated.
std::optional<std::vector<Value>> inputs_with(const Function& main, const SymbolValues& sizes,
                                              Random& random) {
  std::vector<Value> inputs;
  try {
    for (const Var& param : main.params)
      inputs.push_back(value_of(random, concrete_type(param.type(), sizes)));
  } catch (const Failure& failure) {
    return std::nullopt;
  }
  return inputs;
}

// One size that leaves a tail behind every vector and tile, the others small.
SymbolValues with_a_tail(const std::vector<ScalarVar>& symbols, Random& random) {
  constexpr std::int64_t tails[] = {5, 17, 19};
  SymbolValues sizes;
  for (const ScalarVar& symbol : symbols) sizes[symbol.id()] = random.between(1, 4);
  sizes[random.pick(symbols).id()] = random.pick(tails);
  return sizes;
}

SymbolValues all_of(const std::vector<ScalarVar>& symbols, std::int64_t size) {
  SymbolValues sizes;
  for (const ScalarVar& symbol : symbols) sizes[symbol.id()] = size;
  return sizes;
}

}  // namespace

std::vector<std::string> other_sizes_findings(const Program& program, Tally& tally) {
  const FunctionPtr main = program.module->function("main");
  const std::vector<ScalarVar> symbols = main ? sizes_of(*main) : std::vector<ScalarVar>{};
  if (symbols.empty()) return {};
  Random random(program.options.seed * 3 + 1);
  const std::pair<const char*, SymbolValues> calls[] = {{"sizes of 0", all_of(symbols, 0)},
                                                        {"sizes of 1", all_of(symbols, 1)},
                                                        {"a size with a tail", with_a_tail(symbols, random)}};
  std::vector<std::string> findings;
  for (const auto& [name, sizes] : calls) {
    const std::optional<std::vector<Value>> inputs = inputs_with(*main, sizes, random);
    if (!inputs) continue;
    Program other = program;
    other.inputs = *inputs;
    ++tally[name];
    Tally here;  // the shares of a run are those of the programs as they were made
    for (const std::string& finding : agreement_findings(other, here, Draw::Unjudged))
      findings.push_back(fmt::format("with {}: {}", name, finding));
    tally["compared with other sizes"] += here["compared"];
    tally["not steady with other sizes"] += here["not steady"];
  }
  return findings;
}

std::vector<std::string> bound_sizes_findings(const Program& program, Tally& tally) {
  const FunctionPtr main = program.module->function("main");
  if (!main || program.options.special_values) return {};
  const std::vector<ScalarVar> symbols = sizes_of(*main);
  if (symbols.empty()) return {};
  Program bound = program;
  try {
    const SymbolValues values = bind_arguments(*main, program.inputs);
    std::map<std::string, std::int64_t> sizes;
    for (const ScalarVar& symbol : symbols) sizes[symbol.name()] = values.at(symbol.id());
    bound.module = std::make_shared<const Module>(bind_symbols(*program.module, "main", sizes));
  } catch (const Failure&) {
    return {};  // a caller of main wants other sizes
  }
  Tally here;
  std::vector<std::string> findings = agreement_findings(bound, here, Draw::Judged);
  tally["compared with sizes bound"] += here["compared"];
  for (std::string& finding : findings) finding = "with its sizes bound: " + finding;
  return findings;
}

std::vector<std::string> stored_code_findings(const Program& program, const Outcome& wanted, Tally& tally) {
  const testing::TemporaryFolder folder;
  std::vector<std::string> findings;
  std::uint64_t made = 0;
  for (const bool again : {false, true}) {
    const std::unique_ptr<Evaluator> engine =
        make_jit({.threads = 1, .objects = std::make_shared<ObjectStore>(folder.file("objects"))});
    const CodeCounts before = code_counts();
    const Outcome found = outcome_of(*engine, program.module, "main", program.inputs);
    const CodeCounts after = code_counts();
    if (found.fault != wanted.fault ||
        (found.value && wanted.value && !same_bits(*found.value, *wanted.value)))
      findings.push_back(again ? "the bits depend on whether code comes from the store"
                               : "the bits depend on whether code is kept");
    if (!again) made = after.compiled - before.compiled;
    if (again && made > 0 && after.compiled != before.compiled)
      findings.push_back(
          fmt::format("{} units were compiled again that the store has", after.compiled - before.compiled));
    if (again && after.found > before.found) ++tally["code from the store"];
  }
  return findings;
}

}  // namespace relish::generate
