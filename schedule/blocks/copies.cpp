// Loops that copy: along memory in what they read, or in squares of registers.
#include "schedule/blocks/copies.h"

#include "schedule/blocks/turns.h"
#include "schedule/blocks/window_copies.h"

namespace relish {
namespace {

constexpr std::size_t none = MeetingPanel::Dimension::none;
// Terms of a row are copied by so many vectors at once.
constexpr std::int64_t copied_vectors = 4;

// Loops over the terms of the part; with `joins` one over those that lie side by side in the factor.
BlockPlaces terms_in(ContractionScope& scope, const Scalar& factor, bool joins) {
  BlockPlaces terms = scope.places(scope.shapes.summed, scope.summed_round);
  const auto* loaded = factor.as<Load>();
  return loaded && joins
             ? scope.as_one(*loaded, scope.shapes.summed, scope.summed_round, "term", std::move(terms))
             : terms;
}

// The copy runs along memory in what it reads.
Stmt copied(ContractionScope& scope, const Panel& panel, const Scalar& factor, const Blocked& blocks,
            const Scalar& round, bool along_terms) {
  const BlockPlaces sum = terms_in(scope, factor, panel.order() == PanelOrder::ByElement || along_terms);
  BlockPlaces element;
  BlockPlace place;
  Scalar behind;
  const std::int64_t size = panel.in_tile(), all = rounds_of(blocks.size(), size);
  // Behind the last element that one is copied again: so all of the panel is written, in loops of fixed
  // lengths. Where elements lie side by side the copy ends with them instead.
  const auto stands_at = [&](const Scalar& at) {
    const Scalar found = scope.iteration(blocks, round, at);
    let_stand_for(scope.values, blocks.cut,
                  blocks.even_in_tiles(size) ? found : min(found, scope.number(extent_of(blocks.cut) - 1)));
  };
  const bool repeats = along_terms && blocks.known() && blocks.inside.empty();
  if (panel.order() == PanelOrder::ByTile) {
    const ScalarVar tile = scope.variable("tile"), inside = scope.variable("inside");
    const Scalar elements = scope.elements_of_tile(blocks, round, use(tile), size);
    const auto* loaded = factor.as<Load>();
    const bool as_vector = !along_terms && loaded && loaded->buffer->dtype() == scope.dtype;
    // Tiles that end behind the last element are whole too, with zeros there: by masks, where vectors copy.
    const bool ragged = !repeats && !elements.as_int();
    element.loops = {{tile, repeats ? scope.number(all) : scope.tiles_with_elements(blocks, round, size)},
                     {inside, repeats || ragged ? scope.number(size) : elements,
                      as_vector ? LoopKind::Vectorized : LoopKind::Serial}};
    place = {{}, use(tile), use(inside)};
    const Scalar at = use(tile) * scope.number(size) + use(inside);
    if (repeats)
      stands_at(at);
    else
      let_stand_for(scope.values, blocks.cut, scope.iteration(blocks, round, at));
    if (ragged) behind = scope.iteration(blocks, round, at) < blocks.cut->loop->extent;
  } else if (repeats && !blocks.even_in_tiles(size)) {
    const ScalarVar row = scope.variable(blocks.cut->loop->var.name());
    element.loops = {{row, scope.number(all * size)}};
    place = {use(row), {}, {}};
    stands_at(use(row));
  } else if (along_terms && !blocks.known() && blocks.inside.empty()) {
    // Of a number that only the run knows whole tiles too, with zeros behind the last.
    const ScalarVar row = scope.variable(blocks.cut->loop->var.name());
    element.loops = {{row, scope.in_tiles(scope.tiles_in(blocks, round, size), size)}};
    place = {use(row), {}, {}};
    let_stand_for(scope.values, blocks.cut, scope.iteration(blocks, round, use(row)));
    behind = use(row) < scope.length(blocks, round);
  } else {
    element = scope.places(blocks, round);
    place = {element.position, {}, {}};
  }
  const Scalar read = substitute(factor, scope.values);
  std::vector<BlockLoop> loops = along_terms ? element.loops : sum.loops;
  const std::vector<BlockLoop>& inner = along_terms ? sum.loops : element.loops;
  loops.insert(loops.end(), inner.begin(), inner.end());
  return scope.in_loops(
      loops, make_stmt(Store{panel.buffer(), panel.at(round, scope.part(), sum.position, place),
                             behind.defined() ? if_then_else(behind, read, zero(read.dtype())) : read},
                       scope.span()));
}

}  // namespace

Stmt copied_right(ContractionScope& scope, const Panel& panel) {
  const bool along_terms = moves_along(scope.contraction.right, scope.contraction.summed.back()) &&
                           !moves_along(scope.contraction.right, scope.contraction.columns.back());
  const BlockPlaces terms = terms_in(scope, scope.contraction.right, along_terms);
  const TurnedPart turned{
      panel, scope.contraction.right, scope.shapes.columns, scope.column_round, scope.part(),
      terms, scope.shapes.tile.lanes, scope.values};
  if (along_terms && turns_in_squares(turned)) return turned_copy(turned, scope);
  return copied(scope, panel, scope.contraction.right, scope.shapes.columns, scope.column_round, along_terms);
}

Stmt copied_left(ContractionScope& scope, const Panel& panel) {
  return copied(scope, panel, scope.contraction.left, scope.shapes.rows, scope.row_round,
                runs_by_rows(scope.contraction));
}

Stmt copied_rows(ContractionScope& scope, const Panel& panel) {
  const ContractionShapes& shapes = scope.shapes;
  const Blocked &terms = shapes.summed, &rows = shapes.rows;
  std::int64_t wide = copied_vectors * shapes.tile.lanes;
  // Of a known number vectors end with the terms; of others the last one ends behind them, with zeros.
  while (terms.known() && wide > 1 && terms.chunk % wide != 0) wide /= 2;
  if (panel.order() != PanelOrder::ByElement || !terms.inside.empty() || (terms.known() && !terms.even()) ||
      wide < shapes.tile.lanes)
    return copied_left(scope, panel);
  const ScalarVar vector = scope.variable("vector"), row = scope.variable(rows.cut->loop->var.name()),
                  lane = scope.variable("lane");
  const Scalar term = use(vector) * scope.number(wide) + use(lane),
               at = scope.iteration(terms, scope.summed_round, term),
               found = scope.iteration(rows, scope.row_round, use(row));
  ScalarMap places = scope.values;
  let_stand_for(places, terms.cut, at);
  let_stand_for(
      places, rows.cut,
      rows.in_whole_tiles(shapes.tile.rows) ? found : min(found, rows.cut->loop->extent - scope.number(1)));
  const Scalar read = substitute(scope.contraction.left, places);
  const Scalar vectors =
      terms.known() ? scope.number(terms.chunk / wide)
                    : floor_div(scope.elements_in(terms, scope.summed_round) + scope.number(wide - 1),
                                scope.number(wide));
  const Scalar all =
      scope.in_tiles(scope.tiles_with_elements(rows, scope.row_round, shapes.tile.rows), shapes.tile.rows);
  return scope.in_loops(
      {{vector, vectors}, {row, all}, {lane, scope.number(wide), LoopKind::Vectorized}},
      make_stmt(
          Store{panel.buffer(), panel.at(scope.row_round, scope.part(), term, {use(row), {}, {}}),
                terms.known() ? read : if_then_else(at < terms.cut->loop->extent, read, zero(scope.dtype))},
          scope.span()));
}

Stmt copied_windows(ContractionScope& scope, const WindowPanel& panel) {
  const BlockPlaces sum = scope.places(scope.shapes.summed, scope.summed_round);
  std::vector<BlockLoop> outside;
  std::vector<PlaceBounds> all;
  for (std::size_t i = 0; i < sum.loops.size(); ++i)
    if (!panel.shifts(i)) outside.push_back(sum.loops[i]);
  for (std::size_t i = 0; i < scope.contraction.windows.size(); ++i) {
    const WindowAxis& window = scope.contraction.windows[i];
    all.push_back({scope.variable(window.column->loop->var.name() + "_place"), 0,
                   window.places(i == 0 ? scope.shapes.columns.chunk : extent_of(window.column))});
    const Scalar place = use(all.back().var);
    const Scalar at = window.first() > 0 ? place - scope.number(window.first()) : place;
    const Scalar column = window.step == 1 ? at : scope.number(0);
    let_stand_for(scope.values, window.column,
                  i == 0 ? scope.iteration(scope.shapes.columns, scope.column_round, column) : column);
    if (window.term) let_stand_for(scope.values, window.term, window.step == 1 ? scope.number(0) : at);
  }
  return copied_places(scope, panel, std::move(outside), sum.variables(), all,
                       without_zeros(substitute(scope.contraction.right, scope.values)),
                       scope.contraction.items_last ? scope.shapes.tile.lanes : 0);
}

Stmt copied_meetings(ContractionScope& scope, const MeetingPanel& panel) {
  std::vector<PlaceBounds> all;
  for (const MeetingPanel::Dimension& dimension : panel.dimensions()) {
    const ScalarVar place = scope.variable(dimension.axis()->loop->var.name() + "_place");
    all.push_back({place, 0, dimension.seen});
    Scalar at = use(place);
    if (const std::int64_t first = dimension.meeting.first(dimension.terms); first > 0)
      at = at - scope.number(first);
    const bool by_row = dimension.row != none && dimension.meeting.row_step == 1;
    const Scalar term = dimension.meeting.term_step < 0 ? scope.number(0) - at : at;
    if (dimension.row != none)
      scope.stand_in_block(scope.shapes.rows, scope.row_round, dimension.row, by_row ? at : scope.number(0));
    if (dimension.term != none)
      scope.stand_in_block(scope.shapes.summed, scope.summed_round, dimension.term,
                           by_row ? scope.number(0) : term);
  }
  return copied_meeting_places(scope, panel.buffer(), all,
                               without_zeros(substitute(scope.contraction.left, scope.values)));
}

}  // namespace relish
