// The life of a job: check, folder, checkpoint, steps, results.
#include "train/train.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <tuple>

#include "support/counted.h"
#include "support/file_access.h"
#include "support/interrupt.h"
#include "support/render.h"
#include "train/report/confusion.h"
#include "train/report/event_file.h"
#include "train/report/report_page.h"
#include "train/saver.h"

namespace relish {
namespace {

// Of the parameters that take data: inputs and targets. A model that gives its loss itself has inputs alone.
std::pair<std::vector<std::string>, std::vector<std::string>> names_of_data(const TrainingSteps& steps) {
  const std::vector<std::string> names = steps.data_names();
  if (steps.program().returns_loss) return {names, {}};
  const auto cut = names.begin() + static_cast<std::ptrdiff_t>(steps.data().inputs.size());
  return {{names.begin(), cut}, {cut, names.end()}};
}

RunReport report_of(const Trainer& trainer, RunStatus status) {
  RunReport report;
  report.status = status;
  report.steps = trainer.state().step;
  report.epochs = trainer.whole_epochs();
  report.seconds = trainer.seconds();
  report.loss = trainer.state().loss;
  report.skipped_steps = trainer.skipped_steps();
  report.stopped_early = trainer.early_stop();
  report.seconds_waited = trainer.steps().seconds_waited();
  if (const auto& epoch = trainer.state().last_epoch) {
    report.metrics = epoch->metrics;
    if (epoch->validation) report.validation = *epoch->validation;
  }
  return report;
}

TrainResult result_of(const Trainer& trainer, RunStatus status) {
  TrainResult result;
  result.status = status;
  result.parameters = trainer.named_parameters();
  result.buffers = trainer.steps().function().buffers();
  result.loss = trainer.state().loss.value_or(0);
  if (const auto& epoch = trainer.state().last_epoch) {
    result.epoch_loss = epoch->loss;
    result.metrics = epoch->metrics;
    if (epoch->validation) result.validation = *epoch->validation;
  }
  result.steps = trainer.state().step;
  if (trainer.state().best) result.best_step = trainer.state().best->step;
  result.epochs = trainer.whole_epochs();
  result.seconds = trainer.seconds();
  return result;
}

// In place of the line that names a checkpoint, where steps are lost.
void note_without_folder(const Trainer& trainer, Failure& failure) {
  if (trainer.state().step == 0) return;
  failure.note({}, fmt::format("nothing was saved: the job ended behind step {} of {} and has no run folder",
                               trainer.state().step, trainer.total_steps()));
}

RunStatus status_of(const Failure& failure) {
  if (failure.error_class() == ErrorClass::NumericStop) return RunStatus::NumericStop;
  if (failure.error_class() != ErrorClass::Interrupted) return RunStatus::Failed;
  return failure.exit_code() == exit_code_of(ErrorClass::TimeLimit) ? RunStatus::TimeLimit
                                                                    : RunStatus::Interrupted;
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The lines of the metrics as scalars, under the names that they have there.
EventScalars scalars_of(const StepReport& step, const EpochReport* epoch) {
  EventScalars scalars = {{"loss", step.loss}, {"lr", step.learning_rate}};
  if (step.gradient_norm) scalars.emplace_back("grad_norm", *step.gradient_norm);
  if (epoch != nullptr) {
    scalars.emplace_back("epoch_loss", epoch->loss);
    for (const auto& [name, value] : epoch->metrics) scalars.emplace_back(name, value);
    if (epoch->validation)
      for (const auto& [name, value] : *epoch->validation) scalars.emplace_back("validation_" + name, value);
  }
  if (step.samples_per_second > 0) scalars.emplace_back("samples_per_s", step.samples_per_second);
  return scalars;
}

// What a classifier takes for what, of a job that came to its end; of validation data where there are some.
// A signal meanwhile ends this and is given back: the job is done all the same.
struct Looked {
  std::optional<Confusion> confusion;
  std::optional<Failure> interrupt;
};
Looked look_for_confusion(Evaluator& evaluator, const Trainer& trainer) {
  // Metrics have gone over the data after every epoch; where none were asked for, few rows have to do.
  constexpr std::int64_t most_rows = 20'000, few_rows = 2'000;
  const InterruptHold results;
  const TrainingSteps& steps = trainer.steps();
  const auto& validation = steps.options().validation;
  Looked looked;
  try {
    looked.confusion = count_confusion(
        evaluator, steps.program(), steps.values_by_name(trainer.state(), TrainingSteps::Which::Judged),
        validation ? *validation : steps.data(), steps.options().metrics.empty() ? few_rows : most_rows,
        steps.program().judged_rows);
    if (looked.confusion) looked.confusion->data = validation ? "validation" : "training";
  } catch (const Failure& failure) {
    // The steps went well; a page without a table is no reason to fail.
    if (failure.error_class() == ErrorClass::Interrupted) looked.interrupt = failure;
  }
  return looked;
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

JobIdentity identity_of(const Trainer& trainer, const RunDescription& description) {
  JobIdentity identity = identity_of(trainer);
  identity.settings = description.arguments;
  return identity;
}

// A trainer with the folder that keeps what it does.
class Job {
 public:
  Job(Trainer& trainer, const RunRequest& request, TrainingObserver& listener)
      : trainer_(trainer),
        html_(request.html),
        resume_words_(request.folder.resume_words),
        listener_(listener),
        identity_(identity_of(trainer, request.description)),
        began_from_(request.folder.resume || request.checkpoint.empty() ? ""
                                                                        : take_over(named(request)).path),
        folder_(request.folder, described(trainer, request.description), trainer.training_metrics(),
                trainer.validation_metrics(), trainer.steps().function().tells_gradient_norm()),
        saver_(folder_, request.keep, [&listener](const std::string& line) { listener.on_note(line); }) {
    RELISH_CHECK(request.keep >= 2);
    if (request.folder.resume)
      for (const std::string& lost : folder_.start_metrics(resume(request)))
        listener_.on_note("warning: " + lost);
    if (!request.script_text.empty()) folder_.write_script(request.script_text);
    // A folder that has events goes on with them.
    const std::string events = folder_.file(event_file_name);
    if (request.tensorboard || file_exists(events))
      events_.emplace(events, folder_.file("metrics.jsonl"), seconds_since_1970() - trainer_.seconds());
    began_ = trainer_.state().step;
    had_results_ = file_exists(folder_.file("final.safetensors")) && file_exists(folder_.file(page_name)) &&
                   (!html_ || file_exists(folder_.file(html_page_name)));
    RunReport report = report_of(trainer_, RunStatus::Running);
    report.weights = saver_.weights();
    folder_.write_report(report, trainer_.named_parameters());
    saver_.make_room(trainer_.state());
  }

  // A job that was done already, and is so still, has its page.
  bool has_page() const { return had_results_ && trainer_.state().step == began_; }

  LoopActions actions() {
    return {[this](const StepReport& step, const EpochReport* epoch) {
              lines_are_missing_ = true;
              folder_.write_metrics(step, epoch);
              if (events_) events_->write(step.seconds, step.step, scalars_of(step, epoch));
              lines_are_missing_ = false;
            },
            [this] {
              if (!saver_.ready_for(trainer_.state())) return false;
              saver_.save(checkpoint(), report_of(trainer_, RunStatus::Running));
              return true;
            },
            [this] { saver_.save_best(trainer_.named_parameters()); }, [this] { saver_.look(); },
            [this] { return newest_state(); }};
  }

  // The checkpoint of the last whole step and the report that names it. The failure that ended the job
  // matters more than one of writing it down, which is noted. Returns the file's path, empty for none.
  std::string leave(RunStatus status, Failure& failure) {
    RunReport report = report_of(trainer_, status);
    report.error = failure.what();
    try {
      saver_.finish();
      // A checkpoint counts on the lines of all steps before it: without them the job goes on from an
      // earlier one.
      if (trainer_.state().step > 0 && !is_saved() && !lines_are_missing_) saver_.save_now(checkpoint());
      report.weights = saver_.weights();
      folder_.write_report(report, trainer_.named_parameters());
      write_page({});
    } catch (const Failure& second) {
      failure.note({}, fmt::format("the results could not be saved: {}", second.what()));
    }
    if (saver_.weights().empty()) return "";
    const std::string file = folder_.file(saver_.weights());
    if (!file_exists(file)) return "";  // the folder was taken away
    // The step that stopped it is the same each time: nothing goes on from there.
    const bool comes_again = status == RunStatus::NumericStop;
    const bool skips = trainer_.steps().options().skip_not_finite;
    failure.note({}, fmt::format("the checkpoint of step {} of {} is {}; {}", saver_.saved().step,
                                 trainer_.total_steps(), file,
                                 !comes_again ? resume_words_ + " goes on from it"
                                 : skips      ? "look at the data and the learning rate, and begin anew"
                                              : "a resume would come to the same step again: look at it, and "
                                                "begin anew, with a lower learning rate or nan=\"skip\""));
    return file;
  }

  // Of a job that was not stopped; returns the path of the weights.
  std::string finish(RunStatus status, const std::optional<Confusion>& confusion) {
    saver_.finish();
    if (!is_saved()) saver_.save_now(checkpoint());
    RunReport report = report_of(trainer_, status);
    report.weights = folder_.write_final(trainer_.named_parameters());
    folder_.write_report(report, trainer_.named_parameters());
    if (!has_page()) write_page(confusion);
    return folder_.file(report.weights);
  }

  const std::string& path() const { return folder_.path(); }

 private:
  bool is_saved() const { return saver_.saved() == Saver::mark_of(trainer_.state()); }

  // From what the other files say.
  void write_page(const std::optional<Confusion>& confusion) {
    const RunRecord run = read_run(path());
    folder_.write_page(page_name, report_page(run, confusion));
    if (html_) folder_.write_page(html_page_name, report_html(run, confusion));
  }

  static RunDescription described(const Trainer& trainer, RunDescription description) {
    const TrainingSteps& steps = trainer.steps();
    description.seed = steps.options().seed;
    description.batch_size = steps.batch_size();
    description.rows = steps.data().rows();
    if (const auto& validation = steps.options().validation) description.validation_rows = validation->rows();
    description.tier = steps.tier();
    description.trained = steps.function().trained();
    description.buffers = steps.function().buffers();
    std::tie(description.inputs, description.targets) = names_of_data(steps);
    return description;
  }

  // The checkpoint that the user named.
  SavedCheckpoint named(const RunRequest& request) {
    if (!is_folder(request.checkpoint)) return read_checkpoint(request.checkpoint);
    std::optional<SavedCheckpoint> saved = newest_whole(request.checkpoint);
    if (!saved) {
      fail_at(ErrorClass::Checkpoint, printable(request.checkpoint), "checkpoint.none",
              "the folder has no whole checkpoint; expected a run folder, or the path of a checkpoint");
    }
    return std::move(*saved);
  }

  // The state of a checkpoint becomes that of the trainer. Of one in another folder this is before there is a
  // folder of this job: where the checkpoint is refused there is none, which would be the newest of the
  // script.
  SavedCheckpoint take_over(SavedCheckpoint saved) {
    TrainingState state = saved.state_for(identity_, trainer_.steps().function().names(), trainer_.state());
    if (state.step > trainer_.total_steps()) {
      fail_at(
          ErrorClass::Checkpoint, saved.path, "checkpoint.steps",
          fmt::format("the checkpoint is of step {}; the job has {}", state.step, trainer_.total_steps()));
    }
    trainer_.restore(std::move(state));
    listener_.on_note(fmt::format("goes on behind step {} of {}, from {}{}", saved.step,
                                  trainer_.total_steps(), saved.path,
                                  saved.step == trainer_.total_steps() ? ": all steps are done" : ""));
    tell_other_length(saved);
    return saved;
  }

  // Goes on with the job of the folder, from its newest checkpoint or the one that is named, and says how
  // much of the metrics it counts on.
  MetricsLengths resume(const RunRequest& request) {
    std::optional<SavedCheckpoint> saved;
    if (request.checkpoint.empty()) {
      saved = newest_whole(path());
    } else {
      saved = named(request);
    }
    if (!saved) {
      listener_.on_note(fmt::format("{} has no checkpoint; the job starts from its first step", path()));
      return {};
    }
    saved = take_over(std::move(*saved));
    began_from_ = saved->path;
    saver_.set_saved(Saver::mark_of(trainer_.state()), checkpoint_name(saved->step));
    return saved->metrics;
  }

  void tell_other_length(const SavedCheckpoint& saved) {
    const std::int64_t now = trainer_.total_steps();
    if (saved.total_steps == 0 || saved.total_steps == now) return;
    const std::int64_t batches = trainer_.steps().order().batches_per_epoch();
    const auto length = [&](std::int64_t steps) {
      return steps % batches == 0
                 ? fmt::format("{}, {}", counted(steps / batches, "epoch"), counted(steps, "step"))
                 : counted(steps, "step");
    };
    listener_.on_note(fmt::format("note: the job was one of {} when it was saved; now it is one of {}",
                                  length(saved.total_steps), length(now)));
  }

  std::optional<SavedCheckpoint> newest_whole(const std::string& folder) {
    std::vector<std::int64_t> steps = checkpoint_steps(folder);
    for (; !steps.empty(); steps.pop_back()) {
      const std::string file = folder + "/" + checkpoint_name(steps.back());
      try {
        return read_checkpoint(file);
      } catch (const Failure& failure) {
        // Of what stands there under the name of a checkpoint, one without its manifest is a damaged one too.
        const std::string& id = failure.diagnostics().front().id;
        if (id != "checkpoint.damaged" && id != "checkpoint.manifest") throw;
        listener_.on_note(fmt::format("warning: {}: {}{}", file, failure.diagnostics().front().message,
                                      steps.size() > 1 ? "; the one before it is taken" : ""));
      }
    }
    return std::nullopt;
  }

  Checkpoint checkpoint() const {
    Checkpoint result;
    result.identity = identity_;
    result.state = trainer_.snapshot();
    result.names = trainer_.steps().function().names();
    result.parameters = trainer_.named_parameters(TrainingSteps::Which::Stepped);
    result.metrics = folder_.metrics_lengths();
    result.total_steps = trainer_.total_steps();
    return result;
  }

  // That of the newest checkpoint that this job has written or goes on from; before it there is one, or when
  // somebody has taken it away, the first.
  TrainingState newest_state() {
    const std::string newest = saver_.newest();
    const std::string path = newest.empty() ? began_from_ : folder_.file(newest);
    TrainingState first = trainer_.steps().initial_state();
    if (path.empty()) return first;
    try {
      return read_checkpoint(path).state_for(identity_, trainer_.steps().function().names(), first);
    } catch (const Failure&) {
      if (began_ > 0) throw;
    }
    return first;
  }

  Trainer& trainer_;
  bool html_;
  std::string resume_words_;
  TrainingObserver& listener_;
  JobIdentity identity_;
  std::string began_from_;  // path of the checkpoint that this process goes on from
  RunFolder folder_;
  std::optional<EventFile> events_;
  std::int64_t began_ = 0;          // step behind which this process goes on
  bool had_results_ = false;        // of a job that came to its end before
  bool lines_are_missing_ = false;  // the metrics could not be written: the disk is full
  Saver saver_;                     // behind all that it uses
};

}  // namespace

TrainResult train(Evaluator& evaluator, const TrainingProgram& program, const DataSet& data,
                  const TrainOptions& options, const RunRequest* request, TrainingObserver* observer) {
  TrainingObserver silent;
  TrainingObserver& listener = observer != nullptr ? *observer : silent;
  Trainer trainer(evaluator, program, data, options);

  std::optional<Job> job;
  if (request != nullptr) job.emplace(trainer, *request, listener);
  const auto [inputs, targets] = names_of_data(trainer.steps());
  listener.on_start(trainer.steps().function().trained(), inputs, targets);
  if (const auto& schedule = options.schedule; schedule && schedule->steps > trainer.total_steps()) {
    listener.on_note(fmt::format("note: the schedule {} goes over {} steps; the job has {}", schedule->text,
                                 schedule->steps, trainer.total_steps()));
  }
  LoopActions actions{[](const StepReport&, const EpochReport*) {}, [] { return true; }, [] {}, [] {},
                      nullptr};
  if (job) actions = job->actions();

  const std::int64_t steps_before = trainer.state().step;
  StopReason reason = StopReason::Finished;
  try {
    reason = trainer.run(listener, actions);
  } catch (Failure& failure) {
    const InterruptShield saving;
    if (job)
      job->leave(status_of(failure), failure);
    else
      note_without_folder(trainer, failure);
    throw;
  }
  Looked looked;
  if (job && reason != StopReason::Interrupted && !job->has_page())
    looked = look_for_confusion(evaluator, trainer);
  // What was learned is written down whatever comes meanwhile.
  const InterruptShield saving;
  if (reason == StopReason::Interrupted) {
    Failure failure = *trainer.interrupt();
    TrainResult result = result_of(trainer, status_of(failure));
    result.steps_before = steps_before;
    if (job) {
      result.run_folder = job->path();
      result.weights = job->leave(result.status, failure);
    } else {
      note_without_folder(trainer, failure);
    }
    result.interrupt = std::move(failure);
    return result;
  }
  TrainResult result =
      result_of(trainer, reason == StopReason::Observer ? RunStatus::Stopped : RunStatus::Finished);
  result.steps_before = steps_before;
  if (job) {
    result.run_folder = job->path();
    result.weights = job->finish(result.status, looked.confusion);
  }
  if (looked.interrupt) interrupt_flag.store(signal_of_exit_code(looked.interrupt->exit_code()));
  return result;
}

}  // namespace relish
