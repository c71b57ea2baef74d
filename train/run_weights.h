// The weights that a run folder stands for, where somebody asks for values of parameters.
#pragma once

#include <string>

#include "runtime/files.h"

namespace relish {

// The final ones, else those of the newest checkpoint, whose moving averages are taken where it has these.
// DataError when the job has left no weights yet, or the folder is none of a job.
NamedTensors weights_of_run(const std::string& folder);

}  // namespace relish
