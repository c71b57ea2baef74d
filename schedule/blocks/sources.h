// Parts of factors asked for before they are copied into panels: where each part of the terms goes over all
// rows, the tiles of a block ask for what the next block of rows copies, and share what the next part copies
// of the columns. A run of one part is a few lines of memory, and the next run is somewhere else, so no
// processor foresees them; a copy that waits for memory would hold up sums that need nothing but caches.
#pragma once

#include "schedule/blocks/rows.h"
#include "schedule/blocks/scope.h"

namespace relish {

// Decides the shares of a tile. `bytes`: of an element.
void ask_for_sources(const Contraction& contraction, ContractionShapes& shapes, std::int64_t bytes,
                     const Target& target);

// T.evaluate of elements of the left factor, one of each line that this tile asks for.
Stmt asked_of_rows(const ContractionScope& scope, const RowTiles& rows, const Scalar& column_tile);
// The same of the right factor, where the numbers of parts and blocks are known.
Stmt asked_of_columns(const ContractionScope& scope, const RowTiles& rows, const Scalar& column_tile);

}  // namespace relish
