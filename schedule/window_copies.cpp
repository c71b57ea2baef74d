// Loops over places, which padding does not belong to.
#include "schedule/window_copies.h"

#include "ir/rewriting/rewrite.h"

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

Stmt copied_places(const BlockText& text, const WindowPanel& panel, std::vector<BlockLoop> outside,
                   const std::vector<Scalar>& terms, const std::vector<PlaceBounds>& all,
                   const Scalar& read) {
  const auto found = guarded_places(read, all);
  const GuardedPlaces copied = found ? *found : GuardedPlaces{all, {}, read};
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
  if (copied.guard.defined())
    body = make_stmt(IfStmt{substitute(copied.guard, shifted), body, {}}, text.span());
  return text.in_loops(outside, body);
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
