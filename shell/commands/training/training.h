// What `train` and `evaluate` share: data sets and start values from a script's values or the shell's files.
#pragma once

#include "shell/command.h"
#include "train/batches.h"
#include "train/program.h"
#include "train/train.h"
#include "transform/training_rules.h"

namespace relish {

TensorsByName parameter_values(const Invocation& invocation);
inline constexpr std::string_view params_doc =
    "values of the parameters by name: a file, or a run folder, whose final or newest weights are meant";

// The option `metrics`: names, of accuracy perhaps with a threshold, "accuracy(threshold=0.3)", of top_k with
// k; and functions of the user's, which are brought into the module.
std::vector<Metric> metrics_option(const Invocation& invocation, Judgement& judgement, Module& module);
inline constexpr std::string_view metrics_doc =
    "accuracy, accuracy(threshold=0.5), top_k(k=5), mse, mae, r2, perplexity, loss, or a function of yours "
    "(predictions, targets) -> a number, or one for each row";
// Of a function that is a metric: "less" when less is better.
inline constexpr std::string_view better_attribute = "better";

// The option `init`: NAME(options), or rules by patterns of names: {"w*": "he_normal"}.
InitialRules init_option(const Invocation& invocation);
inline constexpr std::string_view init_doc =
    "start values of weights: NAME(option=value, …) such as he_normal, or by patterns of names: "
    "{\"w*\": \"he_normal\"}";

// The option `dim`: the symbols of the model that it names become numbers. UsageError for one that the
// model's types do not name.
void bind_dims(Invocation& invocation);
inline constexpr std::string_view dims_doc =
    "sizes of symbolic dimensions that become numbers: {\"v\": 100}, in the shell v=100";

// What is kept from being trained, and what is kept beside it.
inline constexpr std::string_view frozen_doc = "patterns of names: parameters that keep their values";
inline constexpr std::string_view average_doc =
    "decay of moving averages of the parameters, such as 0.999; they are judged and kept in the end";
inline constexpr std::string_view grad_norm_doc =
    "each step also tells the norm of all gradients together, before they are clipped: grad_norm in the metrics";
std::optional<double> average_option(const Invocation& invocation);
// The option `early_stopping`: METRIC or METRIC(patience=N, min_delta=X).
std::optional<EarlyStopping> early_stopping_option(const Invocation& invocation);
// Values in params of what is none of the parameters `known`: UsageError that lists them, and with
// ignore_extra they are left out.
void leave_out_extra(const Invocation& invocation, const std::vector<std::string>& known,
                     TensorsByName& values);
inline constexpr std::string_view ignore_extra_doc =
    "leave out values in params that the model does not have";
// Weights that do not go with the model, as the user allows it: `names` are those that the model has.
// UsageError that lists names that are missing or too many. `values`: what params gives.
TensorsByName start_values(const Invocation& invocation, const std::vector<std::string>& weights,
                           const std::vector<std::string>& others, TensorsByName values);

// Options of a training job that the script's command line has too; what it says holds.
inline constexpr std::string_view run_dir_doc =
    "folder of the job: metrics, checkpoints, report, final.safetensors";
inline constexpr std::string_view resume_doc =
    "go on from a checkpoint: auto, the newest whole one of the run folder, or the path of one or of a run "
    "folder";
inline constexpr std::string_view overwrite_doc = "let the files of an earlier job in run_dir be replaced";
inline constexpr std::string_view checkpoint_every_doc =
    "steps between two checkpoints, or seconds as 60s, minutes as 5m, hours as 1h";
inline constexpr std::string_view keep_doc = "checkpoints that are kept, at least 2";
inline constexpr std::string_view time_limit_doc =
    "save and end with exit code 75 when the process has run so long: 90s, 30m, 2h";
inline constexpr std::string_view tensorboard_doc = "write an event file for TensorBoard beside the metrics";
inline constexpr std::string_view html_doc = "write report.html, a page with curves, beside report.md";
inline constexpr std::string_view log_every_doc =
    "steps between two lines of a kind, or seconds as 10s; 0: no lines";

// That those of them that are texts can be read. UsageError.
void check_job_options(const Invocation& invocation);
// The flags of jobs that the shell's command `run` has been given, into the session. UsageError.
void keep_job_flags(const Invocation& invocation);
// Starts the clock of --time-limit, when it is given.
void start_time_limit(const Invocation& invocation);
// An option of a job, or the flag of the script's command line when it was given.
std::optional<std::string> job_text(const Invocation& invocation, std::string_view option);
// "500" steps, "60s", "5m", "2h"; what the option is when it is not given.
Every job_interval(const Invocation& invocation, std::string_view option, Every otherwise);
// Whether the script says run_dir=None and the command line names no folder. UsageError for an option of
// folders beside it.
bool wants_no_folder(const Invocation& invocation);
// Which job of its script this is, counted from 1, those without a folder too: so a job has the same folder
// whatever flags the command line has. Of a session always 1.
std::uint32_t number_of_job(const Invocation& invocation);
// The folder of the job of this number, what may happen to what is in it, and the checkpoint that it goes on
// from.
void place_job(const Invocation& invocation, std::uint32_t number, RunRequest& request);

}  // namespace relish
