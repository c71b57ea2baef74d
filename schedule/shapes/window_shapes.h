// The sizes of blocks and tiles where a factor has the places of windows, for shapes.h.
#pragma once

#include "schedule/shapes/shapes.h"

namespace relish {

// Takes columns and tiles for a right factor of windows, when the sums for places between the columns cost
// less than copies of all elements would.
void try_windows(const Contraction& contraction, ContractionShapes& shapes, TileTask task,
                 const Target& target);

// Takes rows and tiles for a left factor of windows: of each place that rows and terms share one copy, from
// where a tile takes numbers at any distance.
void try_left_windows(const Contraction& contraction, ContractionShapes& shapes, TileTask task,
                      const Target& target);

}  // namespace relish
