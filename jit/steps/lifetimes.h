// When memory is taken and given back: a step::Release behind the last step that uses what a list owns, and
// the arena of a function.
#pragma once

#include <unordered_set>

#include "jit/steps/steps.h"

namespace relish::jit {

// The whole list number `list` with releases of what is made in it.
StepList with_releases(StepList steps, const std::vector<Place>& places, std::uint32_t list);

// The list of a function, whole and with releases. An arena is taken before step number `entry` for the
// temporaries whose sizes follow from the symbols that are known there (by id), and returned before the last
// step.
StepList with_memory(StepList steps, std::vector<Place>& places, std::size_t entry,
                     const std::unordered_set<std::uint64_t>& known);

}  // namespace relish::jit
