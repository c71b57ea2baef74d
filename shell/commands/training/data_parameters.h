// Which parameters of a model the data of a job go to, before its trainer is made.
#pragma once

#include <string>
#include <vector>

#include "shell/commands/training/data_options.h"
#include "shell/commands/training/training.h"
#include "transform/setup_trainer.h"

namespace relish {

// The parameters that data without names give, where that is another choice than "the first, and those that
// cannot be trained": so many as there are tensors beside the targets, in the order of the parameters, if
// their types fit. None where the model or `wrt` says what is trained, or the numbers agree as it is.
// `values`: what params gives.
std::vector<std::string> inputs_by_count(const Module& module, const Function& model,
                                         const SetupTrainerOptions& options, const DataColumns& columns,
                                         const TensorsByName& values);

// UsageError for a value in params of what is a key of the model or of its loss, since each step draws it
// anew; with ignore_extra it is left out. `buffers` are no such keys.
void refuse_given_keys(const Invocation& invocation, const Function& model,
                       const SetupTrainerOptions& options, const std::vector<std::string>& buffers,
                       TensorsByName& values);

// UsageError for a name among the data that neither the model nor its loss has, with the nearest one.
void check_data_names(const Invocation& invocation, const DataColumns& columns, const Function& model,
                      const SetupTrainerOptions& options);

}  // namespace relish
