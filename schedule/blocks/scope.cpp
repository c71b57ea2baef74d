// Places and terms that stand for axes.
#include "schedule/blocks/scope.h"

#include <algorithm>
#include <utility>

#include "loops/digits.h"

namespace relish {
namespace {

void stand_at(ScalarMap& values, const BlockText& text, const Blocked& blocks, const Scalar& round,
              std::size_t axis, const Scalar& place) {
  let_stand_for(values, axis == 0 ? blocks.cut : blocks.inside[axis - 1],
                axis == 0 ? text.iteration(blocks, round, place) : place);
}

}  // namespace

ContractionScope::ContractionScope(const Contraction& written, const Target& target)
    : ContractionScope(written, shapes_of(written, target)) {}

ContractionScope::ContractionScope(const Contraction& written, ContractionShapes sizes)
    : BlockText(written.nest->axes.front().loop->var.dtype(), written.nest->store_stmt->span),
      contraction(written),
      shapes(std::move(sizes)),
      dtype(written.nest->store->buffer.dtype()) {}

Scalar ContractionScope::part() const {
  Scalar part;
  const auto joins = [&](const Scalar& inside, const Scalar& extent) {
    part = part.defined() ? part * extent + inside : inside;
  };
  for (const Axis* axis : shapes.summed.around) joins(values.at(axis->var.id()), axis->loop->extent);
  if (summed_round.defined()) joins(summed_round, number(shapes.summed.rounds()));
  return part;
}

BlockPlaces ContractionScope::places(const Blocked& blocks, const Scalar& round) {
  const ScalarVar cut = variable(blocks.cut->loop->var.name() + (round.defined() ? "_1" : ""));
  BlockPlaces result{{{cut, length(blocks, round)}}, use(cut)};
  let_stand_for(values, blocks.cut, iteration(blocks, round, use(cut)));
  for (std::size_t i = 0; i < blocks.inside.size(); ++i) {
    const Axis* axis = blocks.inside[i];
    const ScalarVar var = variable(axis->loop->var.name());
    let_stand_for(values, axis, use(var));
    result.loops.push_back({var, axis->loop->extent});
    result.position = result.position * number(blocks.spans[i]) + use(var);
  }
  return result;
}

BlockPlaces ContractionScope::as_one(const Load& there, const Blocked& blocks, const Scalar& round,
                                     const std::string& name, BlockPlaces apart) {
  const ScalarMap before = values;
  const bool whole_chunks = apart.loops.front().extent.as_int() == blocks.chunk;
  for (std::size_t first = whole_chunks ? 0 : 1; first < blocks.inside.size(); ++first) {
    bool dense = true;  // no place of the block is behind the last element
    for (std::size_t i = std::max<std::size_t>(first, 1); i <= blocks.inside.size(); ++i)
      dense = dense && blocks.spans[i - 1] == extent_of(blocks.inside[i - 1]);
    if (!dense) continue;
    const ScalarVar along = variable(name);
    const std::int64_t size = joined_terms(values, *this, blocks, round, first, use(along));
    std::vector<Scalar> indices;
    for (const Scalar& index : there.indices) indices.push_back(substitute(index, values));
    const auto place = counted_place(*there.buffer, indices);
    if (place &&
        prove_equal(substitute(*place, {{along.id(), use(along) + number(1)}}), *place + number(1))) {
      BlockPlaces joined{{apart.loops.begin(), apart.loops.begin() + static_cast<std::ptrdiff_t>(first)}, {}};
      for (std::size_t i = 0; i < first; ++i) {
        const Scalar outside = use(joined.loops[i].var);
        joined.position = i == 0 ? outside : joined.position * number(blocks.spans[i - 1]) + outside;
      }
      joined.position = first == 0 ? use(along) : joined.position * number(size) + use(along);
      joined.loops.push_back({along, number(size)});
      return joined;
    }
    values = before;
  }
  return apart;
}

void ContractionScope::stand_in_block(const Blocked& blocks, const Scalar& round, std::size_t axis,
                                      const Scalar& place) {
  stand_at(values, *this, blocks, round, axis, place);
}

std::int64_t joined_terms(ScalarMap& values, const BlockText& text, const Blocked& summed,
                          const Scalar& round, std::size_t first, const Scalar& term) {
  std::int64_t all = 1;
  for (std::size_t i = summed.inside.size() + 1; i-- > first;) {
    const std::int64_t extent = i == 0 ? summed.chunk : summed.spans[i - 1];
    const Scalar above = all > 1 ? floor_div(term, text.number(all)) : term;
    stand_at(values, text, summed, round, i, i == first ? above : floor_mod(above, text.number(extent)));
    all *= extent;
  }
  return all;
}

}  // namespace relish
