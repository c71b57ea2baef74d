// The losses and optimizers of the standard library by name. What they are is declared in their texts
// (catalog_texts.h); how options choose functions stands in catalog_choice.cpp.
#include "stdlib/catalog.h"

#include <algorithm>

#include "stdlib/catalog_texts.h"

namespace relish {
namespace {

constexpr NamedNumber numbers[] = {
    {"zero", 0},        {"one", 1}, {"half", 0.5},       {"two", 2},
    {"three", 3},       {"six", 6}, {"least_log", -100},  // the least logarithm that a cross-entropy counts
    {"norm_eps", 1e-6},  // keeps the quotient by the norm of the gradients finite
};

template <class Entry>
const Entry* find_entry(std::span<const Entry> entries, std::string_view name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

std::span<const NamedNumber> common_numbers() { return numbers; }
std::span<const RuleEntry> schedule_entries() { return catalog_texts().schedules; }
std::span<const RuleEntry> initialiser_entries() { return catalog_texts().initialisers; }
std::span<const LossEntry> loss_entries() { return catalog_texts().losses; }
const LossEntry* find_loss(std::string_view name) { return find_entry(loss_entries(), name); }
std::span<const OptimizerEntry> optimizer_entries() { return catalog_texts().optimizers; }
const OptimizerEntry* find_optimizer(std::string_view name) { return find_entry(optimizer_entries(), name); }

}  // namespace relish
