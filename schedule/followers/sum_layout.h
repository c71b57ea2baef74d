// Nests in terms of buffers that lie as a contraction's blocks have their sums: filters last, say, where the
// text has images last.
#pragma once

#include <cstddef>
#include <optional>

#include "ir/nodes/stmt.h"

namespace relish {

// A contraction, what follows it element by element (undefined: nothing) and what reads windows of what these
// hand on, in loops around one store.
struct WindowedNests {
  Stmt nest, next, reader;
  Buffer handed;
};

struct LaidNests {
  Stmt nest, next, reader;
  Buffer handed;
  // The reader stores to `taken`, of which the copy makes its result; undefined where that lies so already.
  Stmt copy;
  Buffer taken;
};

// The same nests with that dimension of the contraction's result behind all others, also in what follows, and
// its loop the innermost one of the reader's elements. None when a nest has no such form.
std::optional<LaidNests> as_sums_lie(const WindowedNests& nests, std::size_t dimension);

}  // namespace relish
