// The page of an operator with its samples run as it is shown, so that what it tells is what this program
// does.
#pragma once

#include <string>

#include "ir/operators/op.h"
#include "shell/session.h"

namespace relish {

// The reference of `op` as text. The samples run by the engine of the settings, with nothing of the caller's
// session in sight.
std::string operator_page(const Op& op, const Settings& settings);

}  // namespace relish
