// One task at a time: a checkpoint that is due before the earlier is written is put off, unless it is so
// small that the wait is short.
#include "train/saver.h"

#include "runtime/storage.h"
#include "support/limits.h"
#include "support/memory.h"

namespace relish {
namespace {

// A state of so many bytes is written in less time than a few steps may wait.
constexpr std::uint64_t bytes_worth_waiting = std::uint64_t{16} << 20;

// From one writing of the best weights to the next that no checkpoint asks for.
constexpr auto between_bests = std::chrono::seconds(1);

void append_tensors_of(const Value& value, std::vector<Tensor>& into) {
  if (value.is_tensor()) into.push_back(value.tensor());
  if (!value.is_tuple()) return;
  for (const Value& field : value.fields()) append_tensors_of(field, into);
}

std::vector<Tensor> tensors_of_state(const TrainingState& state) {
  std::vector<Tensor> tensors = state.parameters;
  for (const auto* more : {&state.buffers, &state.averages})
    tensors.insert(tensors.end(), more->begin(), more->end());
  append_tensors_of(state.optimizer_states, tensors);
  return tensors;
}

std::uint64_t bytes_of(const TrainingState& state) {
  std::uint64_t bytes = 0;
  for (const Tensor& tensor : tensors_of_state(state))
    bytes += static_cast<std::uint64_t>(tensor.byte_size());
  return bytes;
}

bool is_large(const TrainingState& state) { return bytes_of(state) > bytes_worth_waiting; }

// Writes into each page, so that the system has to give it.
void touch(Tensor& tensor, const std::atomic<bool>& enough) {
  constexpr std::int64_t page = 4096;
  auto* bytes = static_cast<volatile char*>(tensor.mutable_data());
  for (std::int64_t at = 0; at < tensor.byte_size() && !enough; at += page) bytes[at] = 0;
}

}  // namespace

void Saver::set_saved(const Mark& mark, std::string weights) {
  saved_ = mark;
  weights_ = std::move(weights);
}

void Saver::make_room(const TrainingState& state) {
  // Only where there is plenty: a job that just fits waits for the system rather than be refused.
  constexpr std::uint64_t times_to_be_left = 3;
  if (!is_large(state) || !keeps_storage() ||
      memory_limit() / times_to_be_left < memory_held() + bytes_of(state))
    return;
  std::vector<std::pair<DType, Shape>> forms;  // and no handles: the first steps need the tensors' own memory
  for (const Tensor& tensor : tensors_of_state(state)) forms.emplace_back(tensor.dtype(), tensor.shape());
  const auto room = std::make_shared<std::vector<Tensor>>();
  start([this, room, forms = std::move(forms)] {
    for (const auto& [dtype, shape] : forms) {
      room->push_back(Tensor::empty(dtype, shape));
      touch(room->back(), in_a_hurry_);
    }
  });
  held_ = room;
}

bool Saver::ready_for(const TrainingState& state) {
  if (!writer_.running() || writer_.done() || !is_large(state)) return true;
  if (!told_of_waiting_ && saving_.step >= 0) {
    tell_(
        fmt::format("note: the checkpoint behind step {} waits until the one before it is written; they "
                    "are due faster than that goes",
                    state.step));
  }
  told_of_waiting_ = told_of_waiting_ || saving_.step >= 0;
  return false;
}

void Saver::save(Checkpoint checkpoint, RunReport report) {
  collect();
  saving_ = mark_of(checkpoint.state);
  report.weights = checkpoint_name(saving_.step);
  const bool large = is_large(checkpoint.state);
  const auto taken = std::make_shared<const Checkpoint>(std::move(checkpoint));
  start([this, taken, report = std::move(report)] {
    folder_.save(*taken, keep_);
    folder_.write_report(report, taken->parameters);
  });
  if (!large) return;
  // The steps from here on have the storage of the room.
  if (std::exchange(room_, nullptr)) held_ = taken;
}

void Saver::save_best(NamedTensors parameters) {
  best_ = std::make_shared<const NamedTensors>(std::move(parameters));
  if (!writer_.running()) start_best();
}

void Saver::look() {
  if (writer_.running() && writer_.done()) collect();
  if (!writer_.running()) start_best();
}

void Saver::start_best() {
  if (best_ && Clock::now() >= best_due_) start([] {});
}

void Saver::finish() {
  in_a_hurry_ = true;
  collect();
  room_ = nullptr;
  if (best_) folder_.write_best(*best_);
  best_ = nullptr;
}

void Saver::save_now(const Checkpoint& checkpoint) {
  weights_ = folder_.save(checkpoint, keep_);
  saved_ = mark_of(checkpoint.state);
}

// The task behind the best weights that wait.
void Saver::start(std::function<void()> task) {
  writing_best_ = std::exchange(best_, nullptr);
  if (writing_best_) best_due_ = Clock::now() + between_bests;
  writer_.start([this, task = std::move(task)] {
    if (writing_best_) folder_.write_best(*writing_best_);
    task();
  });
  if (!writer_.running()) collect();
}

// Waits for what is being written. What could not be is tried again with the next checkpoint.
void Saver::collect() {
  const std::optional<Failure> failure = writer_.wait();
  const bool wrote = saving_.step >= 0 || writing_best_ != nullptr;
  // No later checkpoint would fare better: the job ends before more is computed for nothing.
  const bool gone = failure && wrote && folder_.is_gone();
  if (gone) {
    best_ = nullptr;
  } else if (failure && wrote) {
    const std::string what = saving_.step >= 0 ? fmt::format("the checkpoint of step {}", saving_.step)
                                               : std::string("the best weights");
    tell_(fmt::format("warning: {} could not be saved: {}; the job goes on", what, failure->what()));
    if (!best_) best_ = writing_best_;
    best_due_ = Clock::time_point::max();
  } else if (!failure && saving_.step > saved_.step) {
    set_saved(saving_, checkpoint_name(saving_.step));
  }
  if (held_) room_ = std::exchange(held_, nullptr);
  writing_best_ = nullptr;
  saving_ = {};
  if (gone) throw *failure;
}

}  // namespace relish
