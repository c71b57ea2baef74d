// What a transform did, in a line: `+ main_adjoint  ~ main(x) (was main(x, w))  - old  stale: main_loss`.
#pragma once

#include <string>

#include "shell/workspace/origins.h"

namespace relish {

std::string transform_summary(const TransformCall& call);

}  // namespace relish
