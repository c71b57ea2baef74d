// A loss of shape (1,): what a number of the text beside a sum gives, R.sum(x) / T.float32(n).
#pragma once

#include <vector>

#include "ir/nodes/type.h"
#include "support/diagnostic.h"

namespace relish {

// Whether a tensor has one element and a rank beside.
bool has_one_element(const Type& type);
// For the message that refuses it where a tensor of rank 0 is wanted; nothing for other types.
std::vector<DiagnosticNote> notes_of_one_element(const Type& type);

}  // namespace relish
