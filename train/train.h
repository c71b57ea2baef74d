// Training of a model, as one call: the step loop with its run folder. The caller prepares the module
// (setup_trainer), chooses the engine, and shows what the observer is told.
#pragma once

#include "train/run_folder.h"
#include "train/trainer.h"

namespace relish {

// Where a job leaves its files, and what it says there of itself.
struct RunRequest {
  RunFolderOptions folder;
  RunDescription description;  // seed, batch size, rows and tier are filled in
  std::string script_text;     // for script.relish; empty: none
};

struct TrainResult {
  NamedTensors parameters;           // the trained ones
  double loss = 0;                   // of the last step
  std::optional<double> epoch_loss;  // mean over the last whole epoch
  Metrics validation;                // after the last whole epoch
  std::int64_t steps = 0;
  std::int64_t epochs = 0;  // whole ones
  double seconds = 0;
  std::string run_folder;  // empty without a request
  bool stopped = false;    // by the observer, before its end
};

// Trains until the last step, or until the observer stops it. Without a request nothing is written. What does
// not fit is refused before a folder is made: UsageError, DataError. NumericStop and Interrupted name the
// step; the folder then has the metrics up to it and the reason in report.json, and no final.safetensors.
TrainResult train(Evaluator& evaluator, const TrainingProgram& program, const DataSet& data,
                  const TrainOptions& options, const RunRequest* request = nullptr,
                  TrainingObserver* observer = nullptr);

}  // namespace relish
