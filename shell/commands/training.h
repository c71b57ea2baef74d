// What `train` and `evaluate` share: data sets and start values from a script's values or the shell's files.
#pragma once

#include "shell/command.h"
#include "train/batches.h"
#include "train/program.h"

namespace relish {

// Tensors of an option: (inputs…, targets) as a tuple or list of tensors, or FILE[:ENTRY],… on the command
// line.
DataSet data_set(const Invocation& invocation, std::string_view option);
TensorsByName parameter_values(const Invocation& invocation);

}  // namespace relish
