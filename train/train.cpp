// The life of a job: check, folder, steps, results.
#include "train/train.h"

namespace relish {
namespace {

RunReport report_of(const Trainer& trainer, RunStatus status) {
  RunReport report;
  report.status = status;
  report.steps = trainer.state().step;
  report.epochs = trainer.whole_epochs();
  report.seconds = trainer.seconds();
  report.loss = trainer.last_loss();
  if (trainer.last_epoch() && trainer.last_epoch()->validation)
    report.validation = *trainer.last_epoch()->validation;
  return report;
}

// The failure that ended the job matters more than one of writing it down.
void write_failed_report(RunFolder& folder, const Trainer& trainer, RunStatus status,
                         const Failure& failure) {
  RunReport report = report_of(trainer, status);
  report.error = failure.what();
  try {
    folder.write_report(report, trainer.named_parameters());
  } catch (const Failure&) {
  }
}

TrainResult result_of(const Trainer& trainer) {
  TrainResult result;
  result.parameters = trainer.named_parameters();
  result.loss = trainer.last_loss().value_or(0);
  if (trainer.last_epoch()) {
    result.epoch_loss = trainer.last_epoch()->loss;
    if (trainer.last_epoch()->validation) result.validation = *trainer.last_epoch()->validation;
  }
  result.steps = trainer.state().step;
  result.epochs = trainer.whole_epochs();
  result.seconds = trainer.seconds();
  return result;
}

[[noreturn]] void throw_interrupt(const Trainer& trainer) {
  Failure failure = *trainer.interrupt();
  failure.note({}, fmt::format("after step {} of {}", trainer.state().step, trainer.total_steps()));
  throw failure;
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
    folder =
        std::make_unique<RunFolder>(request->folder, std::move(description), trainer.validation_metrics());
    if (!request->script_text.empty()) folder->write_script(request->script_text);
    folder->write_report(report_of(trainer, RunStatus::Running), trainer.named_parameters());
  }

  StopReason reason = StopReason::Finished;
  try {
    reason = trainer.run(listener, [&](const StepReport& step, const EpochReport* epoch) {
      if (folder != nullptr) folder->write_metrics(step, epoch);
    });
  } catch (const Failure& failure) {
    if (folder != nullptr) write_failed_report(*folder, trainer, RunStatus::Failed, failure);
    throw;
  }
  if (reason == StopReason::Interrupted) {
    if (folder != nullptr)
      write_failed_report(*folder, trainer, RunStatus::Interrupted, *trainer.interrupt());
    throw_interrupt(trainer);
  }

  TrainResult result = result_of(trainer);
  result.stopped = reason == StopReason::Observer;
  if (folder != nullptr) {
    folder->write_final(result.parameters);
    folder->write_report(report_of(trainer, result.stopped ? RunStatus::Stopped : RunStatus::Finished),
                         result.parameters);
    result.run_folder = folder->path();
  }
  return result;
}

}  // namespace relish
