// What a run folder says of its job, read back from its files: for tables of jobs, for plots, and for the
// page that a job leaves. Nothing here writes, and no lock is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace relish {

struct CurvePoint {
  double step = 0;
  double value = 0;
};

// One number of the metrics over the steps. Steps at which it is not finite are left out.
struct Curve {
  std::string name;
  std::vector<CurvePoint> points;
};

// The best value of a curve, and where it stands.
struct BestPoint {
  std::string metric;
  CurvePoint point;
};

struct RunRecord {
  std::string path;  // as it was given or found
  // Status of the report; "killed" when it says running, or the job has not written it yet, and no process
  // holds the folder, "damaged" when the report cannot be read or is lost: then `error` says why, and nothing
  // else is known.
  std::string state;
  std::string error;  // why it failed, or empty
  std::string weights;
  std::int64_t step = 0, epochs = 0;
  double seconds = 0;
  std::vector<std::pair<std::string, std::string>> options;  // what the job was told, as text by name
  std::vector<std::pair<std::string, std::string>> facts;    // rows, tier, … likewise
  std::vector<std::string> inputs, targets;
  struct Parameter {
    std::string name, type, kind;
  };
  std::vector<Parameter> parameters;
  std::vector<Curve> curves;  // in the order of the metrics file

  const Curve* curve(std::string_view name) const;
};

// Whether the folder has a report of a job.
bool is_run_folder(const std::string& path);
// Whether it has the files of a job, and a report that cannot be read or that is lost.
bool is_damaged_run(const std::string& path);
// One of these, or a job that was stopped before it wrote its report.
bool is_job_folder(const std::string& path);
RunRecord damaged_run(const std::string& path, const std::string& error);
// IOError when files cannot be read, DataError when they are not of a job.
RunRecord read_run(const std::string& path);
// The run folders at a path and up to three levels below it, ordered by name, numbers by their value; those
// with a damaged report or without one too.
std::vector<std::string> find_runs(const std::string& path);

// "validation_loss" without "validation_".
std::string_view base_of_metric(std::string_view name);
// Whether a lower value of the metric is the better one.
bool is_lower_better(std::string_view metric);
// The metric by which a job is judged: of the validation data before that of the training rows, one that was
// asked for before the loss. Empty: nothing was logged.
std::string judged_metric(const RunRecord& run);
std::optional<BestPoint> best_of(const RunRecord& run, std::string_view metric);

// A number of a table: six significant digits.
std::string short_number(double value);
// "12s", "3m05s", "2h07m".
std::string duration_text(double seconds);

}  // namespace relish
