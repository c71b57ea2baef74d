// The command `plot`: curves of training jobs.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "shell/command.h"
#include "shell/commands/inspect/pictures.h"
#include "shell/commands/training/run_table.h"
#include "support/atomic_file.h"
#include "support/choices.h"
#include "support/render.h"
#include "train/report/chart.h"

namespace relish::commands_plot {
namespace {

constexpr Option options[] = {
    {"output", OptionKind::OutputFile, "", "an SVG picture in place of text", 'o'},
    {"metric", OptionKind::Names, "the loss, and what the jobs are judged by",
     "metrics; loss stands for loss and validation_loss"},
};
constexpr Example examples[] = {
    {"relish plot runs/train-1", ":plot losses"},
    {"relish plot runs/train-1 runs/train-2 --metric accuracy -o curves.svg",
     "plot(\"runs/train-1\", \"runs/train-2\", metric=\"accuracy\", output=\"curves.svg\")"},
};

// As wide as the terminal, within reason.
BrailleOptions for_standard_output() {
  BrailleOptions result;
  if (isatty(STDOUT_FILENO) == 0) return result;
  const char* no_color = std::getenv("NO_COLOR");
  result.color = no_color == nullptr || *no_color == 0;
  constexpr int beside = 16, least = 20, most = 120;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    result.columns = std::clamp(size.ws_col - beside, least, most);
  return result;
}

void check_metrics(const Invocation& invocation, const std::vector<RunRecord>& runs) {
  std::vector<std::string> known;
  for (const RunRecord& run : runs)
    for (const Curve& curve : run.curves)
      if (std::find(known.begin(), known.end(), curve.name) == known.end()) known.push_back(curve.name);
  for (const std::string& name : invocation.names("metric")) {
    const auto is_it = [&](const std::string& curve) {
      return curve == name || base_of_metric(curve) == name;
    };
    if (std::none_of(known.begin(), known.end(), is_it))
      invocation.refuse_value(
          "metric", fmt::format("no job has logged '{}'{}", printable(name), among_choices(name, known)));
  }
}

// What stands behind `:plot` in a session is a value, unless it is a folder.
bool draws_values(const Invocation& invocation) {
  if (!invocation.workspace) return false;
  std::error_code error;
  const bool folders =
      !invocation.files.empty() &&
      std::all_of(invocation.files.begin(), invocation.files.end(),
                  [&](const std::string& path) { return std::filesystem::is_directory(path, error); });
  for (const Option& option : invocation.command.options)
    if (!folders && invocation.given(option.name))
      invocation.refuse_value(option.name, "it goes with run folders; curves of values have no such option");
  return !folders;
}

ScriptValue run(Invocation& invocation) {
  if (draws_values(invocation)) return plot_of_values(invocation);
  const std::vector<RunRecord> runs = runs_at(paths_of_runs(invocation));
  check_metrics(invocation, runs);
  const std::vector<Chart> charts = charts_of(runs, invocation.names("metric"));
  if (charts.empty())
    fail(ErrorClass::Usage, {}, "run.empty", "the jobs have logged no step yet; there is nothing to plot");
  if (invocation.given("output")) {
    const std::string path = invocation.output_path("output");
    if (!path.ends_with(".svg"))
      invocation.refuse_value("output",
                              fmt::format("found '{}'; expected a name that ends in .svg", printable(path)));
    write_file_atomically(path, svg_charts(charts));
    return {};
  }
  std::string text;
  for (const Chart& chart : charts)
    text += (text.empty() ? "" : "\n") + braille_chart(chart, for_standard_output());
  text.pop_back();
  return text;
}

}  // namespace

extern const Command command_plot;
const Command command_plot{
    .name = "plot",
    .summary = "draws the curves of training jobs, in the terminal or as SVG; in a session those of values",
    .subject = Subject::Files,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "Several jobs stand in one chart for each metric; a folder stands for the run folders in it. Values that "
        "are positive and span more than two decades have a logarithmic axis. In a session it draws values too: those "
        "of a tensor or list by index, a curve for each column of a matrix or entry of a dict.",
    .surfaces = everywhere | in_session,
    .arguments = "X",
    .more_arguments = 255,
};

}  // namespace relish::commands_plot
