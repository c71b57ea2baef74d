// Golden files of what is told of each module of a text that reads without errors.
#pragma once

#include <functional>
#include <string>

#include "ir/nodes/module.h"
#include "tests/golden/golden_file.h"

namespace relish::testing {

// What `text` gives for the modules of the file, one after the other; else the errors, also those that it
// throws.
Outcome outcome_of_modules(const GoldenFile& file, const std::function<std::string(const Module&)>& text);

}  // namespace relish::testing
