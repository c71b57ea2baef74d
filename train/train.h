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
  // The checkpoint to go on from, or a run folder whose newest is meant, in place of the newest of a folder
  // that is resumed; empty: that one.
  std::string checkpoint;
  std::int64_t keep = 3;     // checkpoints of the folder, at least 2
  bool tensorboard = false;  // an event file beside the metrics
  bool html = false;         // report.html beside report.md
};

struct TrainResult {
  NamedTensors parameters;           // all of the model's that have a value, in its order
  std::vector<std::string> buffers;  // those of them that are running statistics
  double loss = 0;                   // of the last step
  std::optional<double> epoch_loss;  // mean over the last whole epoch
  Metrics metrics, validation;       // after the last whole epoch
  std::int64_t steps = 0;
  std::int64_t steps_before = 0;          // that were done when this process began
  std::optional<std::int64_t> best_step;  // whose weights best.safetensors has
  std::int64_t epochs = 0;                // whole ones
  double seconds = 0;
  RunStatus status = RunStatus::Finished;
  std::string run_folder;            // empty without a request
  std::string weights;               // path of the file of the parameters; empty: none was written
  std::optional<Failure> interrupt;  // why it ended, when it was interrupted
};

// Trains until the last step, or until the observer or an interrupt stops it: the result is then that of the
// last whole step. Without a request nothing is written. What does not fit is refused before a folder is
// made: UsageError, DataError. NumericStop and other failures of the program name the step. However a job
// ends that did a whole step, its folder has a checkpoint of it and says in report.json where the parameters
// are; final.safetensors only when it finished.
//
// A job whose folder is resumed goes on from its newest whole checkpoint and ends as if it had never stopped;
// damaged ones are told of and passed over. CheckpointError when the checkpoint that was named is damaged, or
// one that is whole belongs to another program.
TrainResult train(Evaluator& evaluator, const TrainingProgram& program, const DataSet& data,
                  const TrainOptions& options, const RunRequest* request = nullptr,
                  TrainingObserver* observer = nullptr);

}  // namespace relish
