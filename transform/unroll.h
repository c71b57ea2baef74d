// Loops of few rounds written out.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

struct UnrollOptions {
  std::int64_t most_rounds = 16;  // loops of more stay
};

// `for` loops whose bounds are numbers, inner ones first. A function stops growing at some 100,000 bindings:
// the loops that would exceed that stay. Functions without such loops keep their handles. UsageError when
// most_rounds is negative.
Module unroll(const Module& module, const UnrollOptions& options = {});

}  // namespace relish
