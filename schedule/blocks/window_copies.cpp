// Loops over places, which padding does not belong to.
#include "schedule/blocks/window_copies.h"

#include <algorithm>
#include <utility>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "loops/digits.h"
#include "loops/primitives.h"

namespace relish {

Scalar without_zeros(const Scalar& value) {
  const auto is_zero = [](const Scalar& part) {
    const auto* product = part.as<Binary>();
    return part.as_int() == 0 || (product && product->op == BinaryOp::Mul && product->a.as_int() == 0);
  };
  return rewrite(value, [&](const Scalar& part) -> std::optional<Scalar> {
    const auto* sum = part.as<Binary>();
    const bool adds = sum && sum->op == BinaryOp::Add;
    if (adds && is_zero(sum->a)) return sum->b;
    return (adds || (sum && sum->op == BinaryOp::Sub)) && is_zero(sum->b) ? std::optional(sum->a)
                                                                          : std::nullopt;
  });
}

Stmt cleared_panel(const BlockText& text, const Buffer& panel) {
  std::vector<BlockLoop> loops;
  std::vector<Scalar> at;
  for (const Scalar& extent : panel.shape()) {
    const ScalarVar place = text.variable("place");
    loops.push_back({place, extent});
    at.push_back(use(place));
  }
  return text.in_loops(loops, make_stmt(Store{panel, std::move(at), zero(panel.dtype())}, text.span()));
}

namespace {

// Which places the digits of `along` are, from `first` on up to the items.
ScalarMap as_digits(const BlockText& text, const std::vector<PlaceBounds>& bounds, std::size_t first,
                    const Scalar& along, std::vector<Scalar>& at) {
  ScalarMap digits;
  Scalar above = along;
  for (std::size_t i = bounds.size() - 1; i-- > first;) {
    const Scalar digit = i > first ? floor_mod(above, text.number(bounds[i].extent)) : above;
    if (i > first) above = floor_div(above, text.number(bounds[i].extent));
    at[i] = bounds[i].begin > 0 ? digit + text.number(bounds[i].begin) : digit;
    digits.insert_or_assign(bounds[i].var.id(), at[i]);
  }
  return digits;
}

// Whether the guard depends on a variable of the loops.
bool asks(const Scalar& guard, const std::vector<BlockLoop>& loops) {
  std::vector<ScalarVar> vars;
  if (guard.defined()) collect_vars(guard, vars);
  return std::any_of(loops.begin(), loops.end(), [&](const BlockLoop& loop) {
    return std::find(vars.begin(), vars.end(), loop.var) != vars.end();
  });
}

// The unrolled loops of a square stand for so many copies at most (see unrolls() of loops/work.h).
constexpr std::int64_t widest_item_square = 16;

// The same copies where the last place is an item, which what is read has first: vectors of places that lie
// side by side become vectors of items, in squares of registers, or halves, quarters and eighths of them.
class ItemCopies {
 public:
  ItemCopies(const BlockText& text, const WindowPanel& panel, const std::vector<Scalar>& terms,
             const GuardedPlaces& copied, std::int64_t lanes)
      : text_(text),
        panel_(panel),
        terms_(terms),
        copied_(copied),
        items_(copied.bounds.back()),
        lanes_(lanes) {
    for (const PlaceBounds& place : copied.bounds) {
      at_.push_back(place.begin > 0 ? use(place.var) + text.number(place.begin) : use(place.var));
      shifted_.insert_or_assign(place.var.id(), at_.back());
    }
  }

  Stmt write(const std::vector<BlockLoop>& outside) {
    const std::vector<PlaceBounds>& bounds = copied_.bounds;
    const Scalar& guard = copied_.guards.front();
    const std::size_t first = guard.defined() ? 1 : 0, last = bounds.size() - 1;
    const Scalar asked = guard.defined() ? substitute(guard, shifted_) : guard;
    std::vector<BlockLoop> loops = outside;
    const std::size_t run = first_of_run(first);
    for (std::size_t i = 0; i < std::min(run, last); ++i)
      if (i >= first) loops.push_back({bounds[i].var, text_.number(bounds[i].extent)});
    const auto* loaded = copied_.value.as<Load>();
    const bool squares = loaded && loaded->buffer->dtype() == panel_.buffer().dtype() && run < last &&
                         lanes_ > 1 && lanes_ <= widest_item_square && items_.extent % lanes_ == 0;
    Stmt body;
    if (squares) {
      body = in_parts(loops, bounds, run);
    } else {
      for (std::size_t i = run; i < last; ++i)
        loops.push_back({bounds[i].var, text_.number(bounds[i].extent)});
      loops.push_back({items_.var, text_.number(items_.extent)});
      body = text_.in_loops(loops, stored(at_, shifted_, {}));
    }
    if (!guard.defined()) return body;
    body = make_stmt(IfStmt{asked, body, {}}, text_.span());
    return text_.in_loops({{bounds[0].var, text_.number(bounds[0].extent)}}, body);
  }

 private:
  // From which place on, up to the items, all lie side by side in what is read.
  std::size_t first_of_run(std::size_t first) const {
    const auto* loaded = copied_.value.as<Load>();
    const std::size_t last = copied_.bounds.size() - 1;
    for (std::size_t run = first; loaded && run < last; ++run) {
      const ScalarVar along = text_.variable("place");
      std::vector<Scalar> at = at_;
      ScalarMap values = shifted_;
      for (const auto& [var, value] : as_digits(text_, copied_.bounds, run, use(along), at))
        values.insert_or_assign(var, value);
      std::vector<Scalar> indices;
      for (const Scalar& index : loaded->indices) indices.push_back(substitute(index, values));
      const auto where = counted_place(*loaded->buffer, indices);
      if (where && prove_equal(substitute(*where, {{along.id(), use(along) + text_.number(1)}}),
                               *where + text_.number(1)))
        return run;
    }
    return last;
  }

  // `held`: what is stored; undefined: what is read there.
  Stmt stored(const std::vector<Scalar>& at, const ScalarMap& values, const Scalar& held) const {
    return make_stmt(Store{panel_.buffer(), panel_.places(text_, terms_, at),
                           held.defined() ? held : substitute(copied_.value, values)},
                     text_.span());
  }

  // The places of a run in parts of squares, then those that make none.
  Stmt in_parts(const std::vector<BlockLoop>& loops, const std::vector<PlaceBounds>& bounds,
                std::size_t run) const {
    std::int64_t left = 1, done = 0;
    for (std::size_t i = run; i + 1 < bounds.size(); ++i) left *= bounds[i].extent;
    std::vector<Stmt> parts;
    for (std::int64_t size = lanes_; size > 1; size /= 2) {
      const std::int64_t squares = left / size;
      if (squares == 0) continue;
      parts.push_back(fresh_copy(in_squares(loops, run, done, squares, size)));
      done += squares * size;
      left -= squares * size;
    }
    if (left > 0) {
      const ScalarVar along = text_.variable("place");
      std::vector<BlockLoop> all = loops;
      all.push_back({along, text_.number(left)});
      all.push_back({items_.var, text_.number(items_.extent)});
      const auto [at, values] = standing(run, text_.number(done) + use(along), use(items_.var));
      parts.push_back(fresh_copy(text_.in_loops(all, stored(at, values, {}))));
    }
    return seq(std::move(parts), text_.span());
  }

  // The places, and what stands for their variables, at so far along the run, of an item.
  std::pair<std::vector<Scalar>, ScalarMap> standing(std::size_t run, const Scalar& along,
                                                     const Scalar& item) const {
    std::vector<Scalar> at = at_;
    ScalarMap values = shifted_;
    for (const auto& [var, value] : as_digits(text_, copied_.bounds, run, along, at))
      values.insert_or_assign(var, value);
    at.back() = items_.begin > 0 ? item + text_.number(items_.begin) : item;
    values.insert_or_assign(items_.var.id(), at.back());
    return {std::move(at), std::move(values)};
  }

  Stmt in_squares(std::vector<BlockLoop> loops, std::size_t run, std::int64_t done, std::int64_t squares,
                  std::int64_t size) const {
    const ScalarVar vector = text_.variable("vector"), square = text_.variable("place");
    const Buffer held("square", panel_.buffer().dtype(), {text_.number(lanes_), text_.number(size)}, "local");
    const Scalar first_item = use(vector) * text_.number(lanes_);
    Scalar first = use(square) * text_.number(size);
    if (done > 0) first = first + text_.number(done);
    const auto each = [&](std::int64_t rows, std::int64_t wide, const auto& make) {
      const ScalarVar row = text_.variable("row"), lane = text_.variable("lane");
      return text_.in_loops(
          {{row, text_.number(rows), LoopKind::Unrolled}, {lane, text_.number(wide), LoopKind::Vectorized}},
          make(use(row), use(lane)));
    };
    const Stmt in = each(lanes_, size, [&](const Scalar& item, const Scalar& place) {
      const auto [at, values] = standing(run, first + place, first_item + item);
      return make_stmt(Store{held, {item, place}, substitute(copied_.value, values)}, text_.span());
    });
    const Stmt out = each(size, lanes_, [&](const Scalar& place, const Scalar& item) {
      const auto [at, values] = standing(run, first + place, first_item + item);
      return stored(at, values, load(held, {item, place}));
    });
    BlockStmt block;
    block.name = "square";
    block.allocations = {held};
    block.body = seq({in, out}, text_.span());
    loops.push_back({vector, text_.number(items_.extent / lanes_)});
    loops.push_back({square, text_.number(squares)});
    return text_.in_loops(loops, make_stmt(std::move(block), text_.span()));
  }

  const BlockText& text_;
  const WindowPanel& panel_;
  const std::vector<Scalar>& terms_;
  const GuardedPlaces& copied_;
  const PlaceBounds& items_;
  const std::int64_t lanes_;
  std::vector<Scalar> at_;
  ScalarMap shifted_;
};

}  // namespace

Stmt copied_places(const BlockText& text, const WindowPanel& panel, std::vector<BlockLoop> outside,
                   const std::vector<Scalar>& terms, const std::vector<PlaceBounds>& all, const Scalar& read,
                   std::int64_t item_lanes) {
  const auto found = guarded_places(read, all);
  const bool inside_others = found && std::any_of(found->guards.begin() + 1, found->guards.end(),
                                                  [](const Scalar& guard) { return guard.defined(); });
  const GuardedPlaces copied =
      found && !inside_others ? *found : GuardedPlaces{all, std::vector<Scalar>(all.size()), read};
  if (item_lanes > 0 && !asks(copied.guards.front(), outside))
    return ItemCopies(text, panel, terms, copied, item_lanes).write(outside);
  ScalarMap shifted;
  std::vector<Scalar> at;
  std::vector<BlockLoop> inside;
  for (const PlaceBounds& place : copied.bounds) {
    at.push_back(place.begin > 0 ? use(place.var) + text.number(place.begin) : use(place.var));
    shifted.insert_or_assign(place.var.id(), at.back());
    (at.size() == 1 ? outside : inside).push_back({place.var, text.number(place.extent)});
  }
  Stmt body = text.in_loops(inside, make_stmt(Store{panel.buffer(), panel.places(text, terms, at),
                                                    substitute(copied.value, shifted)},
                                              text.span()));
  if (copied.guards.front().defined())
    body = make_stmt(IfStmt{substitute(copied.guards.front(), shifted), body, {}}, text.span());
  return text.in_loops(outside, body);
}

namespace {

// Runs of so many elements at most are copied as one vector, however long those of the processor are.
constexpr std::int64_t longest_vector = 64;

// Loops over places, each with what is asked of it behind it.
class MeetingCopies {
 public:
  MeetingCopies(const BlockText& text, const Buffer& panel, const GuardedPlaces& copied)
      : text_(text), panel_(panel), copied_(copied) {
    for (const PlaceBounds& place : copied.bounds) {
      at_.push_back(place.begin > 0 ? use(place.var) + text.number(place.begin) : use(place.var));
      shifted_.insert_or_assign(place.var.id(), at_.back());
    }
  }

  Stmt from(std::size_t place) const {
    const PlaceBounds& bounds = copied_.bounds[place];
    const bool last = place + 1 == copied_.bounds.size();
    const Scalar& guard = copied_.guards[place];
    if (!last) {
      Stmt body = from(place + 1);
      if (guard.defined())
        body = make_stmt(IfStmt{substitute(guard, shifted_), body, zeros(place + 1)}, text_.span());
      return text_.in_loops({{bounds.var, text_.number(bounds.extent)}}, body);
    }
    const Scalar chosen =
        guard.defined() ? if_then_else(guard, copied_.value, zero(copied_.value.dtype())) : copied_.value;
    const auto* loaded = chosen.as<Load>();
    const bool vector = loaded && loaded->buffer->dtype() == panel_.dtype() && bounds.extent > 1 &&
                        bounds.extent <= longest_vector;
    return text_.in_loops(
        {{bounds.var, text_.number(bounds.extent), vector ? LoopKind::Vectorized : LoopKind::Serial}},
        make_stmt(Store{panel_, at_, substitute(chosen, shifted_)}, text_.span()));
  }

 private:
  // At all places from that one on.
  Stmt zeros(std::size_t place) const {
    std::vector<Scalar> at(at_.begin(), at_.begin() + static_cast<std::ptrdiff_t>(place));
    std::vector<BlockLoop> loops;
    for (; place < at_.size(); ++place) {
      const PlaceBounds& bounds = copied_.bounds[place];
      loops.push_back({text_.variable(bounds.var.name()), text_.number(bounds.extent)});
      const Scalar var = use(loops.back().var);
      at.push_back(bounds.begin > 0 ? var + text_.number(bounds.begin) : var);
    }
    return text_.in_loops(loops, make_stmt(Store{panel_, std::move(at), zero(panel_.dtype())}, text_.span()));
  }

  const BlockText& text_;
  const Buffer& panel_;
  const GuardedPlaces& copied_;
  std::vector<Scalar> at_;
  ScalarMap shifted_;
};

}  // namespace

Stmt copied_meeting_places(const BlockText& text, const Buffer& panel, const std::vector<PlaceBounds>& all,
                           const Scalar& read) {
  const auto found = guarded_places(read, all);
  const GuardedPlaces copied = found ? *found : GuardedPlaces{all, std::vector<Scalar>(all.size()), read};
  return MeetingCopies(text, panel, copied).from(0);
}

Stmt turned_items(const BlockText& text, const Buffer& turned, const Buffer& sums) {
  const ScalarVar row = text.variable("row"), place = text.variable("place"), item = text.variable("item");
  const Scalar &items = turned.shape()[1], &places = turned.shape()[2];
  return text.in_loops({{row, sums.shape()[0]}, {place, places}, {item, items}},
                       make_stmt(Store{turned,
                                       {use(row), use(item), use(place)},
                                       load(sums, {use(row), use(place) * items + use(item)})},
                                 text.span()));
}

}  // namespace relish
