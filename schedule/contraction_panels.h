// Panels of a contraction: the copies of parts of a factor that its tiles read, and where in them an element
// is.
#pragma once

#include <string>
#include <vector>

#include "schedule/block_text.h"
#include "schedule/contraction_shapes.h"

namespace relish {

// An element of a block: where it is among all, and in which tile at which place.
struct BlockPlace {
  Scalar among_all, tile, inside;
};

// One part of the terms of one block, or all parts of all blocks one behind the other.
class Panel {
 public:
  Panel() = default;
  // `name`: of the buffer. `elements`: rows or columns; `in_tile`: how many of them a tile has.
  Panel(const BlockText& text, const std::string& name, DType dtype, PanelOrder order,
        const Blocked& elements, const Blocked& summed, std::int64_t in_tile, std::int64_t lanes, bool all);

  const Buffer& buffer() const { return buffer_; }
  PanelOrder order() const { return order_; }
  std::int64_t in_tile() const { return in_tile_; }
  // The indices of a term of that part and an element of that block; undefined rounds are the only ones.
  std::vector<Scalar> at(const Scalar& block, const Scalar& part, const Scalar& term,
                         const BlockPlace& element) const;

 private:
  Buffer buffer_;
  PanelOrder order_ = PanelOrder::ByTerm;
  bool all_ = false;
  std::int64_t parts_ = 1, terms_ = 1, elements_ = 1, in_tile_ = 1;
};

}  // namespace relish
