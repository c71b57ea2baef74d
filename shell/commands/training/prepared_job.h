// What a call of `train` asks for, as a job that can run: the functions of its trainer, the data that they
// take, and what it is told beside.
#pragma once

#include "shell/command.h"
#include "train/train.h"

namespace relish {

struct PreparedJob {
  TrainingProgram program;
  TrainOptions options;
  DataSet data;
};
// Of the options of an invocation of `train`, whose model is `function` of its module. UsageError, TypeError,
// DataError.
PreparedJob prepare_job(const Invocation& invocation, const std::string& function);

}  // namespace relish
