// What the tensors of a state were, in a few numbers: whether a step moved anything shows without the state
// before it, which the step may have been given.
#pragma once

#include "train/state.h"
#include "train/step_function.h"

namespace relish {

struct Fingerprint {
  std::vector<std::uint64_t> parameters;
  // The means of gradients that an optimizer keeps: tensors of rank 1 and more. (Those of rank 0 count
  // steps.)
  std::vector<std::uint64_t> means;
};

Fingerprint fingerprint_of(const TrainingState& state);
// Whether the step behind a state moved neither a parameter nor a mean of gradients. Where decay moves the
// parameters, the means tell.
bool nothing_moved(const Fingerprint& before, const StepFunction::Results& after);

}  // namespace relish
