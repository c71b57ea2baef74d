// The folder of a training run: what a job leaves behind, each file written so that it is either whole or not
// there.
//   metrics.jsonl, metrics.csv   a line a logged step
//   final.safetensors            the parameters, when the job finished
//   best.safetensors             those that the validation data judged best
//   checkpoints/step-000000042.safetensors
//                                the state of the job after a step
//   report.json                  what was run and how it went, from the start
//   script.relish                the text that was run
//   lock                         held by the running job
// A folder with the results of a job in it, or with files that no job wrote, belongs to somebody: it is not
// written to without leave.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/files.h"
#include "train/checkpoint.h"
#include "train/observer.h"
#include "train/run_folder_files.h"

namespace relish {

// What a job is, for report.json.
struct RunDescription {
  std::string script;
  std::string function;
  std::string loss;
  std::string optimizer;
  std::string tier;
  std::uint64_t seed = 0;
  std::int64_t batch_size = 0;
  std::int64_t rows = 0;
  std::optional<std::int64_t> validation_rows;
  std::vector<std::pair<std::string, std::string>> settings;   // values of arg() that were set, as text
  std::map<std::string, std::string> arguments = {};           // all values of arg(), for checkpoints
  std::vector<std::pair<std::string, std::string>> options;    // of train that decide what is computed
  std::vector<std::string> trained, buffers, inputs, targets;  // names of parameters of the step
};

enum class RunStatus : std::uint8_t {
  Running,
  Finished,
  Stopped,
  Interrupted,
  TimeLimit,
  NumericStop,
  Failed
};
std::string_view name_of(RunStatus status);  // "running", ...

struct RunReport {
  RunStatus status = RunStatus::Running;
  std::string error;          // why it failed, or empty
  std::string stopped_early;  // why, or empty
  std::int64_t steps = 0;
  std::int64_t epochs = 0;  // whole ones
  double seconds = 0;
  std::int64_t skipped_steps = 0;  // since they were not finite
  double seconds_waited = 0;       // for data that stay in files, by this process
  std::optional<double> loss;
  Metrics metrics;      // of the training rows, after the last whole epoch
  Metrics validation;   // of the validation data
  std::string weights;  // the file of the newest parameters, in the folder; empty: none yet
};

// An open run folder. IOError when it cannot be made or written, or when another job holds it; UsageError
// when it belongs to somebody.
class RunFolder {
 public:
  // Makes the folder (and those above it) and takes the lock. Starts the metrics files anew, but for a job
  // that is resumed: for that one call start_metrics. `metrics` and `validation_metrics` are the columns that
  // epochs add; `gradient_norms`: steps have one.
  RunFolder(const RunFolderOptions& options, RunDescription description,
            const std::vector<std::string>& metrics, const std::vector<std::string>& validation_metrics,
            bool gradient_norms = false);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  // Whether the folder is no longer at its path: what is written from then on nobody would find.
  bool is_gone() const;
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

  // Keeps so much of the metrics files. What is said of files that have less, a line each.
  std::vector<std::string> start_metrics(const MetricsLengths& kept);
  void write_script(std::string_view text);
  void write_page(std::string_view name, std::string_view text);  // report.md, report.html
  // A line of metrics.jsonl and metrics.csv. The last step of an epoch comes with the epoch's report, so that
  // each step stands in them once.
  void write_metrics(const StepReport& step, const EpochReport* epoch);
  void write_report(const RunReport& report, const NamedTensors& parameters);
  // Returns the name of the file in the folder.
  std::string write_final(const NamedTensors& parameters);
  void write_best(const NamedTensors& parameters);
  // Writes a checkpoint and then removes those before it but for the `keep` newest. May run beside
  // write_metrics on another thread. Returns the name of the file in the folder.
  std::string save(const Checkpoint& checkpoint, std::int64_t keep);
  // Bytes of the metrics files so far.
  MetricsLengths metrics_lengths() const;

 private:
  class LineFile;
  class Lock;
  void sync_metrics();

  std::string path_;
  std::uint64_t device_ = 0, inode_ = 0;  // of the folder, as it was taken
  RunDescription description_;
  std::vector<std::string> metrics_, validation_metrics_;
  bool gradient_norms_;
  std::unique_ptr<Lock> lock_;
  std::unique_ptr<LineFile> jsonl_;
  std::unique_ptr<LineFile> csv_;
};

}  // namespace relish
