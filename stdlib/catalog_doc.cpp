// Text of the catalog.
#include "stdlib/catalog_doc.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "stdlib/catalog.h"

namespace relish {
namespace {

// What all kinds of entries have.
struct Described {
  std::string_view kind, name, summary;
  std::span<const CatalogOption> options;
};

std::string default_of(const CatalogOption& option) {
  if (!option.fallback.empty()) return fmt::format("default {}", option.fallback);
  if (option.required) return "required";
  return option.use == OptionUse::Length ? "default: the steps of the job" : "";
}

// Which numbers it takes; empty for what is no number, or any.
std::string range_of(const CatalogOption& option) {
  const bool number = option.use == OptionUse::Constant || option.use == OptionUse::Pair ||
                      option.use == OptionUse::Rate || option.use == OptionUse::Gradient ||
                      option.use == OptionUse::Length;
  if (!number || option.any_sign) return "";
  std::string least = option.positive ? "more than 0" : "at least 0";
  if (std::isinf(option.most)) return least;
  return fmt::format("{}, {} {}", least, option.below ? "less than" : "at most", option.most);
}

std::string written(const Described& entry) {
  std::string options;
  for (const CatalogOption& option : entry.options) {
    if (!options.empty()) options += ", ";
    options += option.name;
    options += option.fallback.empty() ? "=…" : fmt::format("={}", option.fallback);
  }
  return fmt::format("{}({})", entry.name, options);
}

void for_each_entry(const std::function<void(const Described&)>& action) {
  for (const LossEntry& e : loss_entries()) action({"loss", e.name, e.summary, e.options});
  for (const OptimizerEntry& e : optimizer_entries()) action({"optimizer", e.name, e.summary, e.options});
  for (const RuleEntry& e : schedule_entries()) action({"schedule", e.name, e.summary, e.options});
  for (const RuleEntry& e : initialiser_entries()) action({"initialiser", e.name, e.summary, e.options});
}

}  // namespace

std::optional<std::string> catalog_page(std::string_view name) {
  std::optional<std::string> page;
  for_each_entry([&](const Described& entry) {
    if (entry.name != name || page) return;
    page = fmt::format("{}: {}\n\n{}\n", entry.kind, written(entry), entry.summary);
    for (const CatalogOption& option : entry.options) {
      std::string line = fmt::format("  {} ({}): {}", option.name, option.type, option.doc);
      for (const std::string& more : {range_of(option), default_of(option)})
        if (!more.empty()) line += "; " + more;
      *page += line + "\n";
    }
    page->pop_back();
  });
  return page;
}

std::vector<std::string> catalog_names(std::string_view kind) {
  std::vector<std::string> names;
  for_each_entry([&](const Described& entry) {
    if (kind.empty() || entry.kind == kind) names.emplace_back(entry.name);
  });
  return names;
}

std::vector<std::string> catalog_option_names(std::string_view name) {
  std::vector<std::string> names;
  for_each_entry([&](const Described& entry) {
    if (entry.name != name) return;
    for (const CatalogOption& option : entry.options) names.emplace_back(option.name);
  });
  return names;
}

std::string catalog_markdown() {
  struct Heading {
    std::string_view kind, title;
  };
  constexpr Heading headings[] = {{"loss", "Losses"},
                                  {"optimizer", "Optimizers"},
                                  {"schedule", "Schedules of the learning rate"},
                                  {"initialiser", "Initial values of parameters"}};
  std::string text;
  for (const Heading& heading : headings) {
    text += fmt::format("\n## {}\n\n| written | means |\n|---|---|\n", heading.title);
    for_each_entry([&](const Described& entry) {
      if (entry.kind != heading.kind) return;
      std::string options = written(entry);
      for (std::size_t bar = options.find('|'); bar != std::string::npos; bar = options.find('|', bar + 2))
        options.replace(bar, 1, "\\|");
      text += fmt::format("| `{}` | {} |\n", options, entry.summary);
    });
  }
  return text;
}

}  // namespace relish
