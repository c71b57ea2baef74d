// What of a value changes while a statement runs: elements that it stores to and variables that it assigns.
#pragma once

#include <vector>

#include "ir/nodes/stmt.h"

namespace relish {

// The values as they are when the statement begins: elements and variables that it may change have names of
// their own in them, the same name for the same element. What is shown of these values holds to the end.
std::vector<Scalar> as_begun(std::vector<Scalar> values, const Stmt& stmt);

}  // namespace relish
