// Bounds of a term as bounds of its loop.
#include "schedule/blocks/padding.h"

#include "schedule/shapes/padding.h"

namespace relish {
namespace {

// The bound as the first of the terms, or as what is behind the last one.
Scalar as_limit(const BlockText& text, const TermBound& bound, const Scalar& place) {
  const std::int64_t each = bound.b < 0 ? -bound.b : bound.b;
  // b > 0: term >= (-a * along - c) / b, rounded up; b < 0: term <= (a * along + c) / -b, rounded down.
  const std::int64_t a = bound.b < 0 ? bound.a : -bound.a;
  const std::int64_t c = bound.b < 0 ? bound.c + each : each - 1 - bound.c;
  const Scalar moved = a < 0 ? text.number(c) - text.times(place, -a) : text.times(place, a) + text.number(c);
  return each == 1 ? moved : floor_div(moved, text.number(each));
}

}  // namespace

std::optional<SeenTerms> seen_terms(const BlockText& text, const Scalar& guard, const Axis& along,
                                    const Scalar& place, const Axis& term) {
  const auto padded = padded_terms(guard, along, term);
  if (!padded) return std::nullopt;
  Scalar begin = text.number(0), end = text.number(extent_of(&term));
  for (const TermBound& bound : padded->bounds) {
    const Scalar limit = as_limit(text, bound, place);
    if (bound.b < 0)
      end = min(end, limit);
    else
      begin = max(begin, limit);
  }
  return SeenTerms{begin, end - begin};
}

}  // namespace relish
