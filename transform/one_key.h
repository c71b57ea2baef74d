// A function that draws by keys of its own as one that a step calls: with a single key.
#pragma once

#include <string>
#include <vector>

#include "ir/nodes/module.h"

namespace relish {

// The function with one key in place of all its parameters that are keys, from which each of these is folded
// (see ir/calls/own_keys.h): the key of its training form, when it has one, else a parameter where the first
// of them stood, under its name. Parameters named in `others` are none of these: running values. `key`
// becomes the name of the key, when there is one.
FunctionPtr with_one_key(const FunctionPtr& function, const std::vector<std::string>& others,
                         std::string& key);

}  // namespace relish
