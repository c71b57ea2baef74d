// Terms in two parts, with asking between them.
#include "schedule/blocks/terms.h"

namespace relish {
namespace {

// One part of so many of the terms is summed before anything is asked for. Of fewer terms than `least` the
// rest would be too short for what is asked for to arrive.
constexpr std::int64_t share_before_asks = 4, least_terms_around_asks = 32;

// Whether the outermost loop can be cut, and its parts are long enough. A loop of a number that only the run
// knows stays whole: that both parts stay inside of what panels hold would not be seen.
bool can_be_cut(const std::vector<BlockLoop>& loops) {
  const auto outermost = loops.front().extent.as_int();
  if (!outermost || loops.front().begin.defined()) return false;
  std::int64_t terms = 1;  // loops inside whose number only the run knows are taken to be long
  for (const BlockLoop& loop : loops)
    if (__builtin_mul_overflow(terms, loop.extent.as_int().value_or(least_terms_around_asks), &terms))
      return *outermost >= share_before_asks;
  return *outermost >= share_before_asks && terms >= least_terms_around_asks;
}

}  // namespace

Stmt summed_with_asks(const BlockText& text, const std::function<BlockPlaces()>& terms,
                      const std::function<Stmt(const BlockPlaces&)>& products, std::vector<Stmt> asks) {
  BlockPlaces first = terms();
  std::vector<Stmt> body = std::move(asks);
  if (body.empty() || !can_be_cut(first.loops)) {
    body.push_back(text.in_loops(first.loops, products(first)));
    return seq(std::move(body), text.span());
  }
  const std::int64_t all = *first.loops.front().extent.as_int(), before = all / share_before_asks;
  first.loops.front().extent = text.number(before);
  body.insert(body.begin(), text.in_loops(first.loops, products(first)));
  BlockPlaces rest = terms();
  rest.loops.front().begin = text.number(before);
  rest.loops.front().extent = text.number(all - before);
  body.push_back(text.in_loops(rest.loops, products(rest)));
  return seq(std::move(body), text.span());
}

}  // namespace relish
