// Numbers of data in the dtypes that a model takes. What stays as it is in another dtype is taken: labels of
// any width, integers as the floats that a loss wants, floats of another width; anything else is refused, and
// `cast` is the way.
#pragma once

#include "shell/command.h"
#include "shell/commands/training/data_options.h"

namespace relish {

inline constexpr std::string_view cast_doc =
    "take data of a dtype that the model has not as astype does, also where numbers change by it";

// The columns in the dtypes of the parameters of `function` that take them, or of the function of `prepare`
// that does. One note tells which are taken as other kinds of numbers. DataError for what would change.
void fit_dtypes(const Invocation& invocation, DataSet& data, const TrainingProgram& program,
                const Function& function, const DataParameters& parameters);

}  // namespace relish
