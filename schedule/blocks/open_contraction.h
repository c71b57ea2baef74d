// Contractions of which only the run knows how many terms are summed. The result begins before them, so each
// part of the sums is added to it where it is: no block holds sums of its own, and panels are as large as the
// caches however large the factors are.
#pragma once

#include <optional>

#include "schedule/shapes/contraction_parts.h"
#include "schedule/target.h"

namespace relish {

// The loops; none for terms of a known number, for several axes of rows, columns or terms, and under guards.
// Of rows or columns whose number only the run knows it decides, by that number alone, whether they are few.
std::optional<Stmt> open_contraction(const Contraction& contraction, const Target& target);

}  // namespace relish
