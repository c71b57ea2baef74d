// The regions of buffers that a block reads and writes, found from its loads and stores.
#pragma once

#include <vector>

#include "ir/nodes/stmt.h"

namespace relish {

struct BlockRegions {
  std::vector<BufferRegion> reads, writes;
};

// What the block declares, and where it declares nothing what its statements access: one region a buffer, in
// order of first access. A dimension is one index where every access has the same one and it depends on
// nothing that is bound inside the block's body; otherwise the whole extent. Of a block with init, the
// element that it updates is no read.
BlockRegions regions_of(const BlockStmt& block);

}  // namespace relish
