// The loops over the terms of a tile, and what the tile asks for in them.
#pragma once

#include <functional>
#include <vector>

#include "schedule/blocks/scope.h"

namespace relish {

// `products` in the loops of `terms`, which makes new ones each time, with `asks` behind the first part of
// them: at first the stores of the tile before wait for their lines of memory, and what is asked for beside
// these comes late or not at all.
Stmt summed_with_asks(const BlockText& text, const std::function<BlockPlaces()>& terms,
                      const std::function<Stmt(const BlockPlaces&)>& products, std::vector<Stmt> asks);

}  // namespace relish
