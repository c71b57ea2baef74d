// Comparison of results with expected ones, and `call --batch`: many calls in one process.
#pragma once

#include <optional>
#include <string>

#include "runtime/files.h"
#include "shell/command.h"
#include "shell/script/compare_tensors.h"

namespace relish {

// What differs first, in words; nothing when all results agree. NaN equals NaN here.
std::optional<std::string> compare_results(const NamedTensors& results, const NamedTensors& expected,
                                           Closeness closeness);

// One call a line: {"file", "function", "arg": {…}, "params", "dim": {…}, "out", "expect", "rtol", "atol"}; a
// JSON object a line with "ok", "exit" and "results" or "error". A failing line does not stop the rest; the
// exit code is the first failing line's.
ScriptValue run_batch_calls(Invocation& invocation);

}  // namespace relish
