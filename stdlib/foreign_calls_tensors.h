// The rows of calls that are of tensors; stdlib/foreign_calls.h has their form.
#pragma once

#include "stdlib/foreign_calls.h"

namespace relish {

std::span<const ForeignCallRow> tensor_call_rows();

}  // namespace relish
