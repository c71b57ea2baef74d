// Names in the order of the first job, then those that only the second has.
#include "shell/commands/training/run_difference.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "shell/commands/training/run_table.h"
#include "support/render.h"

namespace relish {
namespace {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

const std::string* text_named(const NamedTexts& texts, const std::string& name) {
  for (const auto& [key, value] : texts)
    if (key == name) return &value;
  return nullptr;
}

void add_differences(const NamedTexts& before, const NamedTexts& after,
                     std::vector<RunDifference::Line>& lines) {
  const auto add = [&](const std::string& name, const std::string* a, const std::string* b) {
    if (a && b && *a == *b) return;
    lines.push_back({name, a ? *a : "-", b ? *b : "-"});
  };
  for (const auto& [name, value] : before) add(name, &value, text_named(after, name));
  for (const auto& [name, value] : after)
    if (!text_named(before, name)) add(name, nullptr, &value);
}

// Settings of a job: what it was told, and on what it ran.
NamedTexts told_to(const RunRecord& run) {
  NamedTexts texts = run.options;
  for (const auto& [name, value] : run.facts)
    if (name != "skipped_steps" && name != "stopped_early") texts.emplace_back(name, value);
  return texts;
}

// How it went: the last value of each metric, and the best of what the job is judged by.
NamedTexts results_of(const RunRecord& run) {
  NamedTexts texts = {{"state", run.state}, {"step", std::to_string(run.step)}};
  for (const auto& [name, value] : run.facts)
    if (name == "skipped_steps" || name == "stopped_early") texts.emplace_back(name, value);
  for (const Curve& curve : run.curves) {
    const bool clock = curve.name == "samples_per_s" || curve.name == "wall_s";
    if (!clock && !curve.points.empty())
      texts.emplace_back(curve.name, short_number(curve.points.back().value));
  }
  if (const auto best = best_of(run, judged_metric(run)))
    texts.emplace_back("best " + best->metric,
                       fmt::format("{} at {:.0f}", short_number(best->point.value), best->point.step));
  return texts;
}

}  // namespace

RunDifference difference_of_runs(const RunRecord& before, const RunRecord& after) {
  RunDifference difference{before.path, after.path, {}, {}};
  add_differences(told_to(before), told_to(after), difference.options);
  add_differences(results_of(before), results_of(after), difference.results);
  return difference;
}

std::string text_of_difference(const RunDifference& difference) {
  if (difference.equal()) return "";
  std::vector<std::vector<std::string>> rows = {{"", difference.before, difference.after}};
  for (const auto* lines : {&difference.options, &difference.results})
    for (const RunDifference::Line& line : *lines) rows.push_back({line.name, line.before, line.after});
  for (auto& row : rows)
    for (std::string& cell : row) cell = printable(cell);
  return lines_of_table(rows);
}

std::string json_of_difference(const RunDifference& difference) {
  using Json = nlohmann::ordered_json;
  Json json = {{"equal", difference.equal()}, {"options", Json::object()}, {"results", Json::object()}};
  for (const auto& line : difference.options) json["options"][line.name] = {line.before, line.after};
  for (const auto& line : difference.results) json["results"][line.name] = {line.before, line.after};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace relish
