// From the sums of a block, or of a tile, to the result.
#pragma once

#include <functional>

#include "schedule/blocks/panels.h"
#include "schedule/blocks/scope.h"

namespace relish {

// Sets the block's sums to 0.
Stmt cleared_sums(const ContractionScope& scope, const Buffer& sums);
// The sum as the result's element of that row and column of the block, both of which have one axis inside.
Stmt stored_at(const ContractionScope& scope, const Scalar& row, const Scalar& column, const Scalar& sum);
// Asks for what is read behind the sums of a tile: T.evaluate(result[...]) for each vector of them.
Stmt asked(const ContractionScope& scope, const Scalar& row_tile, const Scalar& column_tile);
// Stores the sums of a tile, of which `sum` gives each.
Stmt stored_tile(const ContractionScope& scope,
                 const std::function<Scalar(const BlockPlace& row, const BlockPlace& column)>& sum,
                 const Scalar& row_tile, const Scalar& column_tile);
// Stores the block's sums.
Stmt stored(ContractionScope& scope, const Buffer& sums);

}  // namespace relish
