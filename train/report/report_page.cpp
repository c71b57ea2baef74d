// Markdown with tables, and curves as braille characters, which any reader of the file shows.
#include "train/report/report_page.h"

#include <algorithm>

#include <fmt/format.h>

#include "train/report/chart.h"

namespace relish {
namespace {

// Text in a cell of a table.
std::string cell_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result;
}

std::string list_of(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string fact(const RunRecord& run, std::string_view name) {
  for (const auto& [key, value] : run.facts)
    if (key == name) return value;
  return "";
}

void add_row(std::string& page, std::string_view name, std::string_view value) {
  if (!value.empty()) page += fmt::format("| {} | {} |\n", name, cell_text(value));
}

void add_head(std::string& page, const RunRecord& run) {
  const std::string script = fact(run, "script");
  page += fmt::format("# {}: {}\n\n", script.empty() ? "Training job" : cell_text(script), run.state);
  if (!run.error.empty()) page += fmt::format("Ended by: {}\n\n", cell_text(run.error));
  page += "## What ran\n\n| | |\n|---|---|\n";
  add_row(page, "function", fact(run, "function"));
  add_row(page, "steps", std::to_string(run.step));
  add_row(page, "whole epochs", std::to_string(run.epochs));
  add_row(page, "skipped steps", fact(run, "skipped_steps"));
  add_row(page, "time", duration_text(run.seconds));
  add_row(page, "tier", fact(run, "tier"));
  add_row(page, "Relish", fact(run, "relish"));
  for (const auto& [name, value] : run.options) add_row(page, "`" + cell_text(name) + "`", value);
  page += "\n## On what data\n\n| | |\n|---|---|\n";
  add_row(page, "rows", fact(run, "rows"));
  add_row(page, "rows of validation", fact(run, "validation_rows"));
  add_row(page, "inputs", list_of(run.inputs));
  add_row(page, "targets", list_of(run.targets));
}

void add_results(std::string& page, const RunRecord& run) {
  page += "\n## What it reached\n\n| | last | best | at step |\n|---|---|---|---|\n";
  for (const Curve& curve : run.curves) {
    if (curve.points.empty()) continue;
    const bool measured = curve.name == "lr" || curve.name == "samples_per_s" || curve.name == "wall_s";
    if (measured) continue;
    const BestPoint best = *best_of(run, curve.name);
    page +=
        fmt::format("| {} | {} | {} | {:.0f} |\n", cell_text(curve.name),
                    short_number(curve.points.back().value), short_number(best.point.value), best.point.step);
  }
  page += fmt::format("\nWeights: {}\n", run.weights.empty() ? "none were written" : "`" + run.weights + "`");
}

void add_curves(std::string& page, const RunRecord& run) {
  const std::vector<Chart> charts = charts_of({run}, {});
  if (charts.empty()) return;
  page += "\n## Curves\n\n";
  for (const Chart& chart : charts) page += "```text\n" + braille_chart(chart, {}) + "```\n\n";
}

void add_confusion(std::string& page, const Confusion& confusion) {
  page += fmt::format(
      "## Confusion\n\nOf {} rows of {} data; a row is the class that is meant, a column the one "
      "that was found.\n\n| |",
      confusion.rows == confusion.all ? "all " + std::to_string(confusion.rows)
                                      : "the first " + std::to_string(confusion.rows),
      confusion.data);
  for (std::int64_t c = 0; c < confusion.classes; ++c) page += fmt::format(" {} |", c);
  page += " found |\n|---|";
  for (std::int64_t c = 0; c <= confusion.classes; ++c) page += "---|";
  page += "\n";
  for (std::int64_t target = 0; target < confusion.classes; ++target) {
    page += fmt::format("| **{}** |", target);
    std::int64_t sum = 0;
    for (std::int64_t c = 0; c < confusion.classes; ++c) {
      const std::int64_t count = confusion.counts[static_cast<std::size_t>(target * confusion.classes + c)];
      sum += count;
      page += count == 0 ? " |" : fmt::format(" {} |", count);
    }
    const std::int64_t right =
        confusion.counts[static_cast<std::size_t>(target * confusion.classes + target)];
    page += sum == 0
                ? " – |\n"
                : fmt::format(" {:.1f} % |\n", 100.0 * static_cast<double>(right) / static_cast<double>(sum));
  }
  if (confusion.unjudged > 0)
    page += fmt::format("\n{} rows had a NaN among their predictions.\n", confusion.unjudged);
  page += "\n";
}

void add_parameters(std::string& page, const RunRecord& run) {
  constexpr std::size_t most_rows = 200;
  page += "## Parameters\n\n| name | type | |\n|---|---|---|\n";
  for (std::size_t i = 0; i < std::min(run.parameters.size(), most_rows); ++i) {
    const RunRecord::Parameter& parameter = run.parameters[i];
    page += fmt::format("| `{}` | {} | {} |\n", cell_text(parameter.name), parameter.type, parameter.kind);
  }
  if (run.parameters.size() > most_rows)
    page += fmt::format("| and {} more | | |\n", run.parameters.size() - most_rows);
}

}  // namespace

std::string report_page(const RunRecord& run, const std::optional<Confusion>& confusion) {
  std::string page;
  add_head(page, run);
  add_results(page, run);
  add_curves(page, run);
  if (confusion) add_confusion(page, *confusion);
  add_parameters(page, run);
  return page;
}

}  // namespace relish
