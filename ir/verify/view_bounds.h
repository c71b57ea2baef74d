// What is known of a view before it runs.
#pragma once

#include <optional>
#include <string>

#include "ir/nodes/stmt.h"

namespace relish {

// Why no run can make the view: its region lies beyond the buffer, the view has another shape than its
// region, or it reaches beyond its source. Nothing where that depends on sizes that are not known.
std::optional<std::string> fault_of_view(const BufferView& view);

}  // namespace relish
