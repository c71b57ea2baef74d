// What a job saves beside its steps: checkpoints and the best weights, written by a thread of their own. The
// steps wait for nothing but handles to the tensors, which are never written to.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "train/background_task.h"
#include "train/run_folder.h"

namespace relish {

class Saver {
 public:
  // How far a state has come: behind the last step of an epoch its metrics are one thing more.
  struct Mark {
    std::int64_t step = -1;
    std::int64_t epochs_told = -1;
    bool operator==(const Mark&) const = default;
  };
  static Mark mark_of(const TrainingState& state) { return {state.step, state.epochs_told}; }

  // `tell` is given a line about what could not be saved, or not yet; such is never the end of a job.
  Saver(RunFolder& folder, std::int64_t keep, std::function<void(const std::string&)> tell)
      : folder_(folder), keep_(keep), tell_(std::move(tell)) {}

  // Before the first step, of a state that takes long to write: while it is held here the steps need memory
  // for another, and to fetch that from the system would hold one of them up. It is fetched now, and handed
  // over with each checkpoint; what was held until that is written is kept for the next.
  void make_room(const TrainingState& state);

  // The newest checkpoint of the job, which stands in the folder.
  const Mark& saved() const { return saved_; }
  const std::string& weights() const { return weights_; }  // its name there; empty: none yet
  // The same, behind what is being written.
  const std::string& newest() {
    collect();
    return weights_;
  }
  void set_saved(const Mark& mark, std::string weights);

  // Whether a checkpoint of this state would be begun at once: not while an earlier one is being written and
  // waiting for it would hold the steps up.
  bool ready_for(const TrainingState& state);
  // Begins to write a checkpoint, and the report that names it.
  void save(Checkpoint checkpoint, RunReport report);
  // These are the best: written in a moment, behind the earlier; before any checkpoint that counts on them.
  // Epochs that are done in no time do not write each of theirs, which would cost more than they do.
  void save_best(NamedTensors parameters);
  // Between two steps: takes note of what is written, and begins with what is due.
  void look();
  // Waits until all is written; what of the best could not be is tried once more. IOError.
  void finish();
  // Behind finish(): writes a checkpoint before it returns. IOError.
  void save_now(const Checkpoint& checkpoint);

 private:
  using Best = std::shared_ptr<const NamedTensors>;
  using Clock = std::chrono::steady_clock;
  void start(std::function<void()> task);
  void start_best();
  void collect();

  RunFolder& folder_;
  std::int64_t keep_;
  std::function<void(const std::string&)> tell_;
  Mark saved_;
  Mark saving_;                                            // the one that is being written
  std::string weights_;                                    // the name of the newest in the folder
  Best best_;                                              // waits to be written
  Clock::time_point best_due_ = Clock::time_point::min();  // not before; behind a failure with a checkpoint
  Best writing_best_;
  bool told_of_waiting_ = false;
  std::shared_ptr<const void> room_;      // tensors that nobody reads
  std::shared_ptr<const void> held_;      // what is being written, or made: the next room
  std::atomic<bool> in_a_hurry_ = false;  // no room is made any more
  BackgroundTask writer_;                 // behind all that it uses
};

}  // namespace relish
