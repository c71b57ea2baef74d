// Which argument of a call does not fit its parameter: for those who call with values that a user gave, and
// who say where he gave the one at fault.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "ir/nodes/module.h"
#include "runtime/value.h"
#include "support/failure.h"

namespace relish {

struct ArgumentFault {
  std::size_t argument;
  Failure failure;  // as bind_arguments throws it, at the parameter
};

// The first argument that does not fit, as bind_arguments (ir/calls/entry.h) finds it. There are as many
// arguments as parameters.
std::optional<ArgumentFault> find_argument_fault(std::string_view function_name, std::span<const Var> params,
                                                 std::span<const Value> args);

}  // namespace relish
