// Copies by squares:
//
//   for every tile of the panel, every vector of its elements, all terms but for those along memory:
//     for every whole vector of the terms along memory:
//       read a vector of terms of each of these elements into a local buffer
//       store the columns of that buffer, each of which is a vector of elements
//   for every tile: the terms behind those vectors
#include "schedule/blocks/turns.h"

namespace relish {
namespace {

// The unrolled loops of a square stand for so many copies at most (see unrolls() of loops/work.h).
constexpr std::int64_t widest_turn = 16;

class TurnWriter {
 public:
  TurnWriter(const TurnedPart& turned, const BlockText& text)
      : turned_(turned),
        text_(text),
        wide_(turned.panel.in_tile()),
        tiles_(rounds_of(turned.elements.size(), wide_)),
        terms_(turned.terms.loops.back().extent) {}

  Stmt write() {
    const auto known = terms_.as_int();
    const Scalar squares =
        known ? text_.number(*known / turned_.lanes) : floor_div(terms_, text_.number(turned_.lanes));
    std::vector<Stmt> parts;
    if (squares.as_int() != 0) parts.push_back(whole_squares(squares));
    const Scalar done = text_.in_tiles(squares, turned_.lanes);
    const Scalar rest = known ? text_.number(*known % turned_.lanes) : terms_ - done;
    if (rest.as_int() != 0) parts.push_back(last_terms(done, rest));
    return seq(std::move(parts), text_.span());
  }

 private:
  // The factor at that element of the block and that term along memory.
  Scalar read(const Scalar& element, const Scalar& term) const {
    const Blocked& elements = turned_.elements;
    const Scalar at = text_.iteration(elements, turned_.round, element);
    const bool behind = !elements.even_in_tiles(wide_);
    ScalarMap values = turned_.values;
    let_stand_for(values, elements.cut, behind ? min(at, text_.number(extent_of(elements.cut) - 1)) : at);
    return substitute(substitute(turned_.factor, values), along(term));
  }
  // Lets it stand for the last loop over terms.
  ScalarMap along(const Scalar& term) const { return {{turned_.terms.loops.back().var.id(), term}}; }
  // The loops over the other terms.
  std::vector<BlockLoop> outside() const {
    const std::vector<BlockLoop>& loops = turned_.terms.loops;
    return {loops.begin(), loops.end() - 1};
  }
  Stmt written(const Scalar& tile, const Scalar& inside, const Scalar& term, const Scalar& value) const {
    const Scalar position = substitute(turned_.terms.position, along(term));
    return make_stmt(
        Store{turned_.panel.buffer(),
              turned_.panel.at(turned_.round, turned_.part, position, {{}, tile, inside}), value},
        text_.span());
  }

  Stmt whole_squares(const Scalar& squares) const {
    const std::int64_t lanes = turned_.lanes;
    const ScalarVar tile = text_.variable("tile"), vector = text_.variable("vector"),
                    square = text_.variable("square");
    const Scalar first_element = use(vector) * text_.number(lanes),
                 first_term = use(square) * text_.number(lanes);
    const Buffer held("square", turned_.panel.buffer().dtype(), {text_.number(lanes), text_.number(lanes)},
                      "local");
    const auto each = [&](const auto& make) {
      const ScalarVar outside = text_.variable("row"), inside = text_.variable("lane");
      return text_.in_loops({{outside, text_.number(lanes), LoopKind::Unrolled},
                             {inside, text_.number(lanes), LoopKind::Vectorized}},
                            make(use(outside), use(inside)));
    };
    const Stmt in = each([&](const Scalar& element, const Scalar& term) {
      const Scalar at = use(tile) * text_.number(wide_) + first_element + element;
      return make_stmt(Store{held, {element, term}, read(at, first_term + term)}, text_.span());
    });
    const Stmt out = each([&](const Scalar& term, const Scalar& element) {
      return written(use(tile), first_element + element, first_term + term, load(held, {element, term}));
    });
    BlockStmt block;
    block.name = "square";
    block.allocations = {held};
    block.body = seq({in, out}, text_.span());
    return in_all({{tile, text_.number(tiles_)}, {vector, text_.number(wide_ / lanes)}}, {{square, squares}},
                  make_stmt(std::move(block), text_.span()));
  }

  Stmt last_terms(const Scalar& done, const Scalar& rest) const {
    const ScalarVar tile = text_.variable("tile"), inside = text_.variable("inside"),
                    term = text_.variable("term");
    const Scalar at = use(tile) * text_.number(wide_) + use(inside);
    return in_all({{tile, text_.number(tiles_)}, {inside, text_.number(wide_)}}, {{term, rest}},
                  written(use(tile), use(inside), done + use(term), read(at, done + use(term))));
  }

  // In loops over elements, over the other terms, and along memory. The parts share the variables of the
  // other terms: each has a copy of its loops.
  Stmt in_all(std::vector<BlockLoop> loops, const std::vector<BlockLoop>& inside, Stmt body) const {
    ScalarMap fresh;
    for (const BlockLoop& loop : outside()) {
      loops.push_back({text_.variable(loop.var.name()), loop.extent, loop.kind});
      fresh.insert_or_assign(loop.var.id(), use(loops.back().var));
    }
    loops.insert(loops.end(), inside.begin(), inside.end());
    BufferMap buffers;
    return text_.in_loops(loops, fresh.empty() ? body : substitute(body, fresh, buffers));
  }

  const TurnedPart& turned_;
  const BlockText& text_;
  const std::int64_t wide_, tiles_;
  const Scalar terms_;
};

}  // namespace

bool turns_in_squares(const TurnedPart& turned) {
  const auto* loaded = turned.factor.as<Load>();
  return loaded && loaded->buffer->dtype() == turned.panel.buffer().dtype() &&
         turned.panel.order() == PanelOrder::ByTile && turned.elements.known() &&
         turned.elements.inside.empty() && turned.lanes > 1 && turned.lanes <= widest_turn &&
         turned.panel.in_tile() % turned.lanes == 0 &&
         turned.terms.loops.back().extent.as_int().value_or(turned.lanes) >= turned.lanes;
}

Stmt turned_copy(const TurnedPart& turned, const BlockText& text) { return TurnWriter(turned, text).write(); }

}  // namespace relish
