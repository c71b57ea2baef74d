// What a value that a trainer's function computes is in the text that the user wrote.
#pragma once

#include <string>

#include "ir/nodes/module.h"
#include "train/not_finite_origin.h"

namespace relish {

// "'h' of main", "the gradient of a part of what main returns": the binding of the user's, or what it is a
// part of, in a function that no trainer made. As it is called there, where the text does not say.
std::string value_in_text(const Module& module, const NotFiniteOrigin& origin);

}  // namespace relish
