// The memory budget of a training job: its steps are made for the sizes that its batches have.
#pragma once

#include <map>
#include <string>

#include "shell/commands/training/data_options.h"
#include "train/train.h"
#include "transform/setup_trainer.h"

namespace relish {

// What symbols in the types of a step's data stand for: rows of a batch, and sizes of the columns as they
// are.
std::map<std::string, std::int64_t> sizes_of_batches(const TrainingProgram& program,
                                                     const TrainOptions& options, const DataSet& data,
                                                     const DataParameters& parameters);
// Puts the functions of the steps, made again such that a step of these sizes holds no more than the option
// memory_budget says, into the module; a note tells what they hold.
void hold_budget(const Invocation& invocation, const Module& source, const std::string& function,
                 SetupTrainerOptions setup, const std::map<std::string, std::int64_t>& sizes, Module& module);

}  // namespace relish
