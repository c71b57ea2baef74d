// Parts of panels asked for before the tiles that read them: a panel of all of a factor that the private
// cache does not keep comes from further away, slower than a tile uses it up.
#pragma once

#include <vector>

#include "schedule/blocks/panels.h"
#include "schedule/blocks/rows.h"
#include "schedule/blocks/scope.h"

namespace relish {

// Decides which panels are asked for, and in which shares. `bytes`: of an element.
void ask_ahead(ContractionShapes& shapes, std::int64_t bytes, const Target& target);

// T.evaluate of elements of the right panel: each tile of rows asks for its share of what the next tile of
// columns reads.
Stmt asked_of_right(const ContractionScope& scope, const Panel& right, const RowTiles& rows,
                    const Scalar& column_tile);
// The same of the left panel: a tile of columns asks for its share of the terms of the next part of these
// rows.
Stmt asked_of_left(const ContractionScope& scope, const Panel& left, const RowTiles& rows,
                   const Scalar& column_tile);

}  // namespace relish
