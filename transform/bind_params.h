// Binding of parameters to constants.
#pragma once

#include <map>
#include <string>

#include "ir/nodes/module.h"
#include "runtime/tensor.h"

namespace relish {

// The function without the parameters in `values`, which become constants; symbolic dims that they fix are
// replaced. Unknown function or parameter: UsageError; a value that does not fit: DataError.
Module bind_params(const Module& module, std::string_view function,
                   const std::map<std::string, Tensor>& values);

}  // namespace relish
