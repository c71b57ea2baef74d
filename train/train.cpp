// The life of a job: check, folder, steps, results.
#include "train/train.h"

#include "support/interrupt.h"

namespace relish {
namespace {

RunReport report_of(const Trainer& trainer, RunStatus status) {
  RunReport report;
  report.status = status;
  report.steps = trainer.state().step;
  report.epochs = trainer.whole_epochs();
  report.seconds = trainer.seconds();
  report.loss = trainer.last_loss();
  if (trainer.last_epoch()) {
    report.metrics = trainer.last_epoch()->metrics;
    if (trainer.last_epoch()->validation) report.validation = *trainer.last_epoch()->validation;
  }
  return report;
}

// The parameters of the last whole step and the report that names their file. The failure that ended the job
// matters more than one of writing it down, which is noted.
// Returns the file's path, empty when there is none.
std::string leave_weights(RunFolder& folder, const Trainer& trainer, RunStatus status, Failure& failure) {
  RunReport report = report_of(trainer, status);
  report.error = failure.what();
  try {
    const NamedTensors parameters = trainer.named_parameters();
    if (trainer.state().step > 0) {
      report.weights = folder.write_checkpoint(trainer.state().step, parameters);
      failure.note({}, fmt::format("the parameters after step {} of {} are in {}", trainer.state().step,
                                   trainer.total_steps(), folder.file(report.weights)));
    }
    folder.write_report(report, parameters);
  } catch (const Failure& second) {
    failure.note({}, fmt::format("the results could not be saved: {}", second.what()));
  }
  return report.weights.empty() ? "" : folder.file(report.weights);
}

TrainResult result_of(const Trainer& trainer, RunStatus status) {
  TrainResult result;
  result.status = status;
  result.parameters = trainer.named_parameters();
  result.loss = trainer.last_loss().value_or(0);
  if (trainer.last_epoch()) {
    result.epoch_loss = trainer.last_epoch()->loss;
    result.metrics = trainer.last_epoch()->metrics;
    if (trainer.last_epoch()->validation) result.validation = *trainer.last_epoch()->validation;
  }
  result.steps = trainer.state().step;
  result.epochs = trainer.whole_epochs();
  result.seconds = trainer.seconds();
  return result;
}

RunStatus status_of(const Failure& failure) {
  return failure.error_class() == ErrorClass::NumericStop ? RunStatus::NumericStop : RunStatus::Failed;
}

}  // namespace

TrainResult train(Evaluator& evaluator, const TrainingProgram& program, const DataSet& data,
                  const TrainOptions& options, const RunRequest* request, TrainingObserver* observer) {
  TrainingObserver silent;
  TrainingObserver& listener = observer != nullptr ? *observer : silent;
  Trainer trainer(evaluator, program, data, options);

  std::unique_ptr<RunFolder> folder;
  if (request != nullptr) {
    RunDescription description = request->description;
    description.seed = options.seed;
    description.batch_size = trainer.batch_size();
    description.rows = data.rows();
    description.tier = evaluator.name();
    description.trained = program.parameters;
    description.inputs = trainer.input_names();
    description.targets = trainer.target_names();
    folder = std::make_unique<RunFolder>(request->folder, std::move(description), trainer.training_metrics(),
                                         trainer.validation_metrics());
    if (!request->script_text.empty()) folder->write_script(request->script_text);
    folder->write_report(report_of(trainer, RunStatus::Running), trainer.named_parameters());
  }
  listener.on_start(program.parameters, trainer.input_names(), trainer.target_names());

  StopReason reason = StopReason::Finished;
  try {
    reason = trainer.run(listener, [&](const StepReport& step, const EpochReport* epoch) {
      if (folder != nullptr) folder->write_metrics(step, epoch);
    });
  } catch (Failure& failure) {
    const InterruptShield saving;
    if (folder != nullptr) leave_weights(*folder, trainer, status_of(failure), failure);
    throw;
  }
  // What was learned is written down whatever comes meanwhile.
  const InterruptShield saving;
  const bool interrupted = reason == StopReason::Interrupted;
  const RunStatus status = interrupted                      ? RunStatus::Interrupted
                           : reason == StopReason::Observer ? RunStatus::Stopped
                                                            : RunStatus::Finished;
  TrainResult result = result_of(trainer, status);
  if (folder != nullptr) result.run_folder = folder->path();
  if (interrupted) {
    Failure failure = *trainer.interrupt();
    if (folder != nullptr) result.weights = leave_weights(*folder, trainer, status, failure);
    result.interrupt = std::move(failure);
    return result;
  }
  if (folder != nullptr) {
    RunReport report = report_of(trainer, status);
    report.weights = folder->write_final(result.parameters);
    result.weights = folder->file(report.weights);
    folder->write_report(report, result.parameters);
  }
  return result;
}

}  // namespace relish
