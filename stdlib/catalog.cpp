// The losses and optimizers of the standard library.
#include "stdlib/catalog.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "support/failure.h"
#include "support/suggest.h"

namespace relish {
namespace {

constexpr CatalogOption reduction_option = {"reduction", OptionUse::Function, "mean|sum|none", "mean",
                                            "how the losses of the elements are joined"};

constexpr CatalogOption cross_entropy_options[] = {
    reduction_option,
    {"ignore_index", OptionUse::Attribute, "int", "-100", "a target that does not count"},
    {"weights", OptionUse::Function, "bool", "False", "whether the loss takes a weight per class"}};
constexpr CatalogOption mse_options[] = {reduction_option};

constexpr LossEntry losses[] = {
    {"cross_entropy", "Cross-entropy of logits and class indices.", "losses/cross_entropy.relish",
     cross_entropy_options, true},
    {"mse", "Squared error.", "losses/mse.relish", mse_options},
};

constexpr CatalogOption sgd_options[] = {
    {"lr", OptionUse::Rate, "float", "", "learning rate"},
    {"weight_decay", OptionUse::Tensor, "float", "0", "multiple of the parameter added to its gradient"}};
constexpr std::string_view sgd_states[] = {"num_steps"};

constexpr OptimizerEntry optimizers[] = {
    {"sgd", "Stochastic gradient descent: p - lr * (g + weight_decay * p).", "optimizers/sgd.relish",
     sgd_options, 1, 0, sgd_states},
};

template <class Entry>
const Entry* find_entry(std::span<const Entry> entries, std::string_view name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

[[noreturn]] void refuse(std::string_view owner, std::string_view id, std::string message) {
  fail(ErrorClass::Usage, {}, id, fmt::format("{}: {}", owner, std::move(message)));
}

// Refuses options that the entry lacks.
void check_names(std::string_view owner, std::span<const CatalogOption> options, const Attributes& given) {
  for (const auto& [name, value] : given) {
    if (std::any_of(options.begin(), options.end(), [&](const CatalogOption& o) { return o.name == name; }))
      continue;
    std::vector<std::string> names;
    for (const CatalogOption& option : options) names.emplace_back(option.name);
    refuse(owner, "option.unknown", fmt::format("unknown option '{}'{}", name, did_you_mean(name, names)));
  }
}

const CatalogOption& option_of(std::span<const CatalogOption> options, std::string_view name) {
  const auto found =
      std::find_if(options.begin(), options.end(), [&](const CatalogOption& o) { return o.name == name; });
  RELISH_CHECK(found != options.end());
  return *found;
}

double float_option(std::string_view owner, const CatalogOption& option, const Attributes& given) {
  if (const Attribute* value = find_attribute(given, option.name)) {
    if (const auto* real = value->as<double>(); real && std::isfinite(*real)) return *real;
    if (const auto* integer = value->as<std::int64_t>()) return static_cast<double>(*integer);
    refuse(owner, "option.value", fmt::format("{} must be a finite number", option.name));
  }
  double value = 0;
  std::from_chars(option.fallback.data(), option.fallback.data() + option.fallback.size(), value);
  return value;
}

std::int64_t int_option(std::string_view owner, const CatalogOption& option, const Attributes& given) {
  if (const Attribute* value = find_attribute(given, option.name)) {
    if (const auto* integer = value->as<std::int64_t>()) return *integer;
    refuse(owner, "option.value", fmt::format("{} must be an integer", option.name));
  }
  std::int64_t value = 0;
  std::from_chars(option.fallback.data(), option.fallback.data() + option.fallback.size(), value);
  return value;
}

bool bool_option(std::string_view owner, const CatalogOption& option, const Attributes& given) {
  if (const Attribute* value = find_attribute(given, option.name)) {
    if (const bool* flag = value->as<bool>()) return *flag;
    refuse(owner, "option.value", fmt::format("{} must be True or False", option.name));
  }
  return option.fallback == "True";
}

std::string reduction_of(std::string_view owner, const Attributes& given) {
  const Attribute* value = find_attribute(given, "reduction");
  if (value == nullptr) return std::string(reduction_option.fallback);
  const auto* text = value->as<std::string>();
  if (text && (*text == "mean" || *text == "sum" || *text == "none")) return *text;
  refuse(owner, "option.value", "reduction must be mean, sum or none");
}

}  // namespace

std::span<const LossEntry> loss_entries() { return losses; }
const LossEntry* find_loss(std::string_view name) { return find_entry(loss_entries(), name); }
std::span<const OptimizerEntry> optimizer_entries() { return optimizers; }
const OptimizerEntry* find_optimizer(std::string_view name) { return find_entry(optimizer_entries(), name); }

LossChoice choose_loss(const LossEntry& loss, const Attributes& options, int rank) {
  check_names(loss.name, loss.options, options);
  const std::string reduction = reduction_of(loss.name, options);
  LossChoice choice{loss.text, std::string(loss.name), {"predictions", "targets"}, reduction != "none", {}};
  if (loss.name == "cross_entropy") {
    if (rank > 2) choice.function += "_positions";
    if (bool_option(loss.name, option_of(loss.options, "weights"), options)) {
      choice.function += "_weighted";
      choice.params.emplace_back("weights");
    }
  }
  for (const CatalogOption& option : loss.options) {
    if (option.use != OptionUse::Attribute) continue;
    choice.call_attributes.emplace_back(std::string(option.name), int_option(loss.name, option, options));
  }
  choice.function += "_" + reduction;
  return choice;
}

OptimizerChoice choose_optimizer(const OptimizerEntry& optimizer, const Attributes& options) {
  check_names(optimizer.name, optimizer.options, options);
  const std::string name(optimizer.name);
  OptimizerChoice choice;
  choice.text = optimizer.text;
  choice.start = name + "_start";
  choice.step = name + "_step";
  choice.update = name + "_update";
  if (optimizer.parameter_states > 0) choice.start_each = name + "_start_each";
  for (const CatalogOption& option : optimizer.options) {
    if (option.fallback.empty() && find_attribute(options, option.name) == nullptr) continue;
    const double value = float_option(optimizer.name, option, options);
    if (value < 0)
      refuse(optimizer.name, "option.value",
             fmt::format("{} is {}, expected at least 0", option.name, value));
    if (option.use == OptionUse::Rate) {
      choice.lr = value;
    } else if (option.name == "weight_decay") {
      if (value == 0)
        continue;  // without decay no term is added, so that the results are those of plain descent
      choice.update += "_decayed";
      choice.constants.emplace_back(option.name, value);
    } else {
      choice.constants.emplace_back(option.name, value);
    }
  }
  return choice;
}

}  // namespace relish
