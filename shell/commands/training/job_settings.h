// What a job is told beside its model and its data.
#pragma once

#include <optional>

#include "shell/command.h"
#include "train/options.h"
#include "transform/optimizer.h"

namespace relish {

// Its length, batches, seed, rows of the log, checkpoints and stops; neither data nor start values.
TrainOptions job_settings(const Invocation& invocation);
// The option lr of the optimizer; UsageError when it is missing.
double learning_rate_for(const OptimizerOptions& options);
// Steps that the lengths in the brackets of a schedule add up to.
std::optional<TrainOptions::ScheduleLength> length_of_schedule(const Invocation& invocation,
                                                               const NamedSpec& schedule);
// The share of rows that `validation` asks for; none when it gives data.
std::optional<double> validation_share(const Invocation& invocation);

}  // namespace relish
