// The command `runs`: a table of training jobs.
#include "shell/command.h"
#include "shell/commands/training/run_table.h"
#include "shell/script/script.h"
#include "support/render.h"

namespace relish::commands_runs {
namespace {

constexpr Option options[] = {
    {"json", OptionKind::Flag, "", "a JSON array, with all options of each job; in a script a list of dicts"},
    {"best", OptionKind::Flag, "", "the best job first"},
};
constexpr Example examples[] = {
    {"relish runs", "runs()"},
    {"relish runs experiments --best", "best = runs(\"experiments\", best=True, json=True)[0]"},
};

ScriptValue run(Invocation& invocation) {
  std::vector<std::string> folders = paths_of_runs(invocation);
  if (folders.empty()) folders = {invocation.script ? invocation.script->resolve_path("runs", {}) : "runs"};
  std::vector<RunRecord> runs = runs_at(folders, Damaged::Listed);
  for (const RunRecord& run : runs)
    if (run.state == "damaged")
      write_error_text(fmt::format("warning: {}: {}\n", printable(run.path), run.error));
  if (invocation.flag("best")) order_by_result(runs);
  if (!invocation.flag("json")) return run_table(runs);
  if (invocation.surface == Surface::Shell) return run_table_json(runs);
  return run_table_values(runs);
}

}  // namespace

extern const Command command_runs;
const Command command_runs{
    .name = "runs",
    .summary = "lists training jobs: state, step, best metric, options that differ",
    .subject = Subject::Files,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "Of the run folders at the given folders, else in runs/, and up to three levels below. The state is the "
        "`status` of the report, `killed` where the report says `running`, or the job has not written one yet, and no process holds the folder, or "
        "`damaged` where the report or the metrics cannot be read. "
        "A job is judged by a metric of its validation data, one that was asked for before the loss, else by one "
        "of the training rows.",
    .subject_optional = true,
    .more_arguments = 255,
};

}  // namespace relish::commands_runs
