// A checkpoint: the state of a job in one file, with what it takes to know that the file is whole and of the
// same job. The file is a safetensors file: the model's parameters under their names, so that it can be read
// as weights too, the optimizer's states as `states.0`, `states.1`, …, moving averages as `averages.NAME`;
// its metadata entry `relish` is the manifest, and `relish.sha256` the checksum of the whole file with zeros
// in place of its own digits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/files.h"
#include "train/identity.h"
#include "train/state.h"

namespace relish {

inline constexpr int checkpoint_format = 1;
inline constexpr std::string_view states_prefix = "states.";
inline const std::string averages_prefix = "averages.";

// Bytes of the metrics files: where they are cut when the job goes on from a checkpoint.
struct MetricsLengths {
  std::uint64_t jsonl = 0;
  std::uint64_t csv = 0;
};

struct Checkpoint {
  JobIdentity identity;
  TrainingState state;
  StateNames names;
  NamedTensors parameters;  // all of the model's, trained or given
  MetricsLengths metrics;
  std::int64_t total_steps = 0;  // of the job as it was then; 0: not known
};

// IOError.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);
// Reads what write_checkpoint wrote. CheckpointError for a file that is no checkpoint, is damaged in any bit,
// or was written by a newer format; IOError when it cannot be read. `start` gives the structure of the
// states: what does not fit it is of another program, and said only after the identities were compared.
struct SavedCheckpoint {
  JobIdentity identity;
  std::int64_t step = 0;
  MetricsLengths metrics;
  std::int64_t total_steps = 0;  // that the job had; 0: it does not say

  // CheckpointError when `identity` differs or the tensors are not those of `start`, the state of the same
  // job before its first step.
  TrainingState state_for(const JobIdentity& now, const StateNames& names, const TrainingState& start) const;

  std::string path;
  NamedTensors tensors;
  TrainingState told;  // all but its tensors
};
SavedCheckpoint read_checkpoint(const std::string& path);
// Whether a regular file begins as one does, whole or damaged: by its header alone.
bool begins_as_checkpoint(const std::string& path);

}  // namespace relish
