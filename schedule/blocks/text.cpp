// Loops over blocks, and their lengths.
#include "schedule/blocks/text.h"

namespace relish {

void let_stand_for(ScalarMap& values, const Axis* axis, const Scalar& value) {
  values.insert_or_assign(axis->var.id(), value);
  values.insert_or_assign(axis->loop->var.id(), value);
}

Stmt BlockText::in_loops(const std::vector<BlockLoop>& loops, Stmt body) const {
  for (std::size_t i = loops.size(); i-- > 0;)
    body = make_stmt(For{loops[i].var,
                         loops[i].begin.defined() ? loops[i].begin : number(0),
                         loops[i].extent,
                         loops[i].kind,
                         body,
                         {}},
                     span_);
  return body;
}

Scalar BlockText::iteration(const Blocked& blocks, const Scalar& round, const Scalar& inside) const {
  if (!round.defined()) return inside;
  const Scalar first = times(round, blocks.chunk);
  return inside.as_int() == 0 ? first : first + inside;
}
Scalar BlockText::length(const Blocked& blocks, const Scalar& round) const {
  const std::int64_t extent = extent_of(blocks.cut);
  if (!blocks.known())
    return min(number(blocks.chunk), blocks.cut->loop->extent - round * number(blocks.chunk));
  if (extent % blocks.chunk == 0) return number(blocks.chunk);
  return min(number(blocks.chunk), number(extent) - round * number(blocks.chunk));
}
Scalar BlockText::elements_in(const Blocked& blocks, const Scalar& round) const {
  if (blocks.inner == 1) return length(blocks, round);
  const Scalar done = round.defined() ? round * number(blocks.size()) : number(0);
  if (!blocks.known())
    return min(number(blocks.size()), blocks.cut->loop->extent * number(blocks.inner) - done);
  const std::int64_t extent = extent_of(blocks.cut);
  if (extent % blocks.chunk == 0) return number(blocks.size());
  return min(number(blocks.size()), number(extent * blocks.inner) - done);
}
Scalar BlockText::tiles_in(const Blocked& blocks, const Scalar& round, std::int64_t elements) const {
  const std::int64_t all = rounds_of(blocks.size(), elements);
  if (blocks.known()) return number(all);
  const Scalar length = elements_in(blocks, round);
  return min(number(all), floor_div(length + number(elements - 1), number(elements)));
}
Scalar BlockText::tiles_with_elements(const Blocked& blocks, const Scalar& round,
                                      std::int64_t elements) const {
  const std::int64_t all = rounds_of(blocks.size(), elements);
  if (blocks.even() || all == 1) return number(all);  // no block is without elements
  if (blocks.in_whole_tiles(elements))
    return min(number(all), number(extent_of(blocks.cut) / elements) - round * number(all));
  return min(number(all), floor_div(elements_in(blocks, round) + number(elements - 1), number(elements)));
}
Scalar BlockText::elements_of_tile(const Blocked& blocks, const Scalar& round, const Scalar& tile,
                                   std::int64_t elements) const {
  const bool full = blocks.even();
  if ((full && blocks.size() % elements == 0) || blocks.in_whole_tiles(elements)) return number(elements);
  if (full && blocks.size() < elements) return number(blocks.size());
  Scalar before = tile * number(elements);
  if (full) return min(number(elements), number(blocks.size()) - before);
  before = round.defined() ? round * number(blocks.chunk) + before : before;
  return min(number(elements), blocks.cut->loop->extent - before);
}
Scalar BlockText::in_tiles(const Scalar& tiles, std::int64_t elements) const {
  const auto known = tiles.as_int();
  return known ? number(*known * elements) : tiles * number(elements);
}

}  // namespace relish
