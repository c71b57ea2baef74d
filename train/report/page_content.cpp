// The parts of the page, from what the files of the run folder say.
#include "train/report/page_content.h"

#include <fmt/format.h>

#include <algorithm>

namespace relish {
namespace {

using Style = PageText::Style;

std::string list_of(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string fact(const RunRecord& run, std::string_view name) {
  for (const auto& [key, value] : run.facts)
    if (key == name) return value;
  return "";
}

class PageWriter {
 public:
  explicit PageWriter(const RunRecord& run) : run_(run) {}

  void add_head() {
    const std::string script = fact(run_, "script");
    blocks_.emplace_back(PageHeading{1, (script.empty() ? "Training job" : script) + ": " + run_.state});
    if (!run_.error.empty()) blocks_.emplace_back(PageLine{{{"Ended by: " + run_.error}}});
    heading("What ran");
    PageTable ran{{"", ""}, {}};
    row(ran, {"function"}, fact(run_, "function"));
    row(ran, {"steps"}, std::to_string(run_.step));
    row(ran, {"whole epochs"}, std::to_string(run_.epochs));
    row(ran, {"stopped early"}, fact(run_, "stopped_early"));
    row(ran, {"skipped steps"}, fact(run_, "skipped_steps"));
    row(ran, {"time"}, duration_text(run_.seconds));
    row(ran, {"tier"}, fact(run_, "tier"));
    row(ran, {"Relish"}, fact(run_, "relish"));
    for (const auto& [name, value] : run_.options) row(ran, {name, Style::Code}, value);
    blocks_.emplace_back(std::move(ran));
    heading("On what data");
    PageTable data{{"", ""}, {}};
    row(data, {"rows"}, fact(run_, "rows"));
    row(data, {"rows of validation"}, fact(run_, "validation_rows"));
    row(data, {"inputs"}, list_of(run_.inputs));
    row(data, {"targets"}, list_of(run_.targets));
    blocks_.emplace_back(std::move(data));
  }

  void add_results() {
    heading("What it reached");
    PageTable table{{"", "last", "best", "at step"}, {}};
    for (const Curve& curve : run_.curves) {
      const bool measured = curve.name == "lr" || curve.name == "grad_norm" ||
                            curve.name == "samples_per_s" || curve.name == "wall_s";
      if (curve.points.empty() || measured) continue;
      const BestPoint best = *best_of(run_, curve.name);
      table.rows.push_back({{curve.name},
                            {short_number(curve.points.back().value)},
                            {short_number(best.point.value)},
                            {fmt::format("{:.0f}", best.point.step)}});
    }
    blocks_.emplace_back(std::move(table));
    PageLine weights{{{"Weights: "}}};
    if (run_.weights.empty()) {
      weights.pieces.push_back({"none were written"});
    } else {
      weights.pieces.push_back({run_.weights, Style::Code});
    }
    blocks_.emplace_back(std::move(weights));
  }

  void add_curves() {
    std::vector<Chart> charts = charts_of({run_}, {});
    if (charts.empty()) return;
    heading("Curves");
    blocks_.emplace_back(PageCharts{std::move(charts)});
  }

  void add_confusion(const Confusion& confusion) {
    heading("Confusion");
    blocks_.emplace_back(PageLine{{{fmt::format(
        "Of {} rows of {} data; a row is the class that is meant, a column the one that was found.",
        confusion.rows == confusion.all ? "all " + std::to_string(confusion.rows)
                                        : "the first " + std::to_string(confusion.rows),
        confusion.data)}}});
    PageTable table{{""}, {}};
    for (std::int64_t c = 0; c < confusion.classes; ++c) table.head.push_back(std::to_string(c));
    table.head.emplace_back("found");
    for (std::int64_t target = 0; target < confusion.classes; ++target) {
      std::vector<PageText> cells = {{std::to_string(target), Style::Bold}};
      std::int64_t sum = 0, right = 0;
      for (std::int64_t c = 0; c < confusion.classes; ++c) {
        const std::int64_t count = confusion.counts[static_cast<std::size_t>(target * confusion.classes + c)];
        sum += count;
        if (c == target) right = count;
        cells.push_back({count == 0 ? "" : std::to_string(count)});
      }
      cells.push_back({sum == 0 ? "–"
                                : fmt::format("{:.1f} %", 100.0 * static_cast<double>(right) /
                                                              static_cast<double>(sum))});
      table.rows.push_back(std::move(cells));
    }
    blocks_.emplace_back(std::move(table));
    if (confusion.unjudged > 0)
      blocks_.emplace_back(
          PageLine{{{fmt::format("{} rows had a NaN among their predictions.", confusion.unjudged)}}});
  }

  void add_parameters() {
    constexpr std::size_t most_rows = 200;
    heading("Parameters");
    PageTable table{{"name", "type", ""}, {}};
    for (std::size_t i = 0; i < std::min(run_.parameters.size(), most_rows); ++i) {
      const RunRecord::Parameter& parameter = run_.parameters[i];
      table.rows.push_back({{parameter.name, Style::Code}, {parameter.type}, {parameter.kind}});
    }
    if (run_.parameters.size() > most_rows)
      table.rows.push_back({{fmt::format("and {} more", run_.parameters.size() - most_rows)}, {""}, {""}});
    blocks_.emplace_back(std::move(table));
  }

  std::vector<PageBlock> take() { return std::move(blocks_); }

 private:
  void heading(std::string text) { blocks_.emplace_back(PageHeading{2, std::move(text)}); }
  static void row(PageTable& table, PageText name, const std::string& value) {
    if (!value.empty()) table.rows.push_back({std::move(name), {value}});
  }

  const RunRecord& run_;
  std::vector<PageBlock> blocks_;
};

}  // namespace

std::vector<PageBlock> page_content(const RunRecord& run, const std::optional<Confusion>& confusion) {
  PageWriter writer(run);
  writer.add_head();
  writer.add_results();
  writer.add_curves();
  if (confusion) writer.add_confusion(*confusion);
  writer.add_parameters();
  return writer.take();
}

}  // namespace relish
