// Symbolic sizes of a function become numbers.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ir/nodes/module.h"

namespace relish {

// Sizes that the parameters' types name, by name. None is below 0. UsageError for one that they do not name;
// TypeError when another function calls this one and the types no longer go together.
Module bind_symbols(const Module& module, std::string_view function,
                    const std::map<std::string, std::int64_t>& sizes);

}  // namespace relish
