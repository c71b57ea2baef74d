// Columns are as wide as their longest cell. Seed and batch size are options like others.
#include "shell/commands/training/run_table.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "shell/script/script.h"
#include "shell/script/script_values.h"
#include "support/failure.h"
#include "support/nearest_file.h"
#include "support/render.h"

namespace relish {
namespace {

using Cells = std::vector<std::string>;

std::string option_of(const RunRecord& run, const std::string& name) {
  for (const auto& [key, value] : run.options)
    if (key == name) return value;
  return "-";
}

// Names of options that are not the same in all runs, in the order in which they are met.
std::vector<std::string> differing_options(const std::vector<RunRecord>& runs) {
  std::vector<std::string> names;
  for (const RunRecord& run : runs) {
    for (const auto& [name, value] : run.options) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      if (std::any_of(runs.begin(), runs.end(),
                      [&](const RunRecord& other) { return option_of(other, name) != option_of(run, name); }))
        names.push_back(name);
    }
  }
  return names;
}

std::size_t characters_of_cell(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::string lines_of_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Cells& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], characters_of_cell(row[i]));
  std::string text;
  for (const Cells& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += row[i] + std::string(i + 1 == row.size() ? 0 : widths[i] - characters_of_cell(row[i]) + 2, ' ');
    while (line.ends_with(' ')) line.pop_back();
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

std::string run_table(const std::vector<RunRecord>& runs) {
  const std::vector<std::string> options = differing_options(runs);
  Cells head = {"run", "state", "step", "time", "best"};
  head.insert(head.end(), options.begin(), options.end());
  std::vector<Cells> rows = {head};
  for (const RunRecord& run : runs) {
    const std::optional<BestPoint> best = best_of(run, judged_metric(run));
    Cells row = {printable(run.path), run.state, std::to_string(run.step), duration_text(run.seconds),
                 best ? fmt::format("{} {} at {:.0f}", printable(best->metric),
                                    short_number(best->point.value), best->point.step)
                      : "-"};
    for (const std::string& option : options) row.push_back(printable(option_of(run, option)));
    rows.push_back(std::move(row));
  }
  return lines_of_table(rows);
}

std::string run_table_json(const std::vector<RunRecord>& runs) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const RunRecord& run : runs) {
    Json json = {{"run", run.path}, {"state", run.state}, {"step", run.step}, {"seconds", run.seconds}};
    const std::optional<BestPoint> best = best_of(run, judged_metric(run));
    json["best"] = best ? Json{{"metric", best->metric},
                               {"value", best->point.value},
                               {"step", static_cast<std::int64_t>(best->point.step)}}
                        : Json(nullptr);
    if (!run.error.empty()) json["error"] = run.error;
    json["weights"] = run.weights.empty() ? Json(nullptr) : Json(run.weights);
    json["options"] = Json::object();
    for (const auto& [name, value] : run.options) json["options"][name] = value;
    list.push_back(std::move(json));
  }
  return list.dump(2, ' ', false, Json::error_handler_t::replace);
}

ScriptValue run_table_values(const std::vector<RunRecord>& runs) {
  std::vector<ScriptValue> list;
  for (const RunRecord& run : runs) {
    std::vector<std::pair<ScriptValue, ScriptValue>> items, options;
    items.emplace_back("run", run.path);
    items.emplace_back("state", run.state);
    items.emplace_back("step", run.step);
    items.emplace_back("seconds", run.seconds);
    ScriptValue judged;
    if (const std::optional<BestPoint> best = best_of(run, judged_metric(run))) {
      std::vector<std::pair<ScriptValue, ScriptValue>> point;
      point.emplace_back("metric", best->metric);
      point.emplace_back("value", best->point.value);
      point.emplace_back("step", static_cast<std::int64_t>(best->point.step));
      judged = ScriptValue::dict(std::move(point));
    }
    items.emplace_back("best", std::move(judged));
    if (!run.error.empty()) items.emplace_back("error", run.error);
    items.emplace_back("weights", run.weights.empty() ? ScriptValue() : ScriptValue(run.weights));
    for (const auto& [name, value] : run.options) options.emplace_back(name, value);
    items.emplace_back("options", ScriptValue::dict(std::move(options)));
    list.push_back(ScriptValue::dict(std::move(items)));
  }
  return ScriptValue::list(std::move(list));
}

void order_by_result(std::vector<RunRecord>& runs) {
  struct Judged {
    std::optional<BestPoint> best;
    std::size_t place;
  };
  // Once for each: a curve may have millions of points.
  std::vector<Judged> judged;
  for (std::size_t i = 0; i < runs.size(); ++i)
    judged.push_back({best_of(runs[i], judged_metric(runs[i])), i});
  std::stable_sort(judged.begin(), judged.end(), [](const Judged& a, const Judged& b) {
    if (!a.best || !b.best) return a.best && !b.best;
    return is_lower_better(a.best->metric) ? a.best->point.value < b.best->point.value
                                           : a.best->point.value > b.best->point.value;
  });
  std::vector<RunRecord> ordered;
  for (const Judged& each : judged) ordered.push_back(std::move(runs[each.place]));
  runs = std::move(ordered);
}

namespace {

RunRecord record_of(const std::string& folder, Damaged damaged) {
  try {
    return read_run(folder);
  } catch (const Failure& failure) {
    if (damaged == Damaged::Refused || failure.error_class() != ErrorClass::Data) throw;
    return damaged_run(folder, failure.diagnostics().front().message);
  }
}

}  // namespace

std::vector<RunRecord> runs_at(const std::vector<std::string>& paths, Damaged damaged) {
  std::vector<RunRecord> runs;
  std::set<std::filesystem::path> seen;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error))
      fail_at(ErrorClass::IO, printable(path), "file.system",
              "there is no such folder" + nearest_entry(path, NamedEntry::Folder));
    const std::vector<std::string> found = find_runs(path);
    if (found.empty())
      fail(ErrorClass::Usage, {}, "run.none",
           fmt::format("{} holds no run folder; expected one, such as runs/train-1, or a folder of them",
                       printable(path)));
    for (const std::string& folder : found) {
      std::filesystem::path place = std::filesystem::canonical(folder, error);
      if (error) place = folder;
      if (seen.insert(std::move(place)).second) runs.push_back(record_of(folder, damaged));
    }
  }
  return runs;
}

std::vector<std::string> paths_of_runs(const Invocation& invocation) {
  if (!invocation.script) return invocation.files;
  std::vector<std::string> paths;
  const auto add = [&](const ScriptValue& value) {
    if (!value.string()) {
      fail(ErrorClass::Type, invocation.span, "command.subject",
           fmt::format(
               "{}: found {}; expected paths of run folders{}", invocation.command.name, describe(value),
               invocation.command.name == "plot" ? "; values are drawn in a session, by :plot losses" : ""));
    }
    paths.push_back(invocation.script->resolve_path(*value.string(), invocation.span));
  };
  std::vector<ScriptValue> given = invocation.arguments;
  if (!invocation.value.is_none() || !given.empty()) given.insert(given.begin(), invocation.value);
  for (const ScriptValue& each : given) {
    if (const ScriptList* list = each.sequence())
      for (const ScriptValue& item : list->items) add(item);
    else
      add(each);
  }
  return paths;
}

}  // namespace relish
