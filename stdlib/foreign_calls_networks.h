// The rows of calls that are of networks; stdlib/foreign_calls.h has their form.
#pragma once

#include "stdlib/foreign_calls.h"

namespace relish {

std::span<const ForeignCallRow> network_call_rows();

}  // namespace relish
