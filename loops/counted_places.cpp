// Counting.
#include "loops/counted_places.h"

#include <algorithm>
#include <map>

namespace relish {
namespace {

constexpr std::int64_t most_counted = 256;

}  // namespace

std::optional<CountedPlaces> counted_places(const std::vector<Scalar>& indices, const CountedLoop& loop) {
  for (const Scalar& index : indices) {
    std::vector<ScalarVar> vars;
    collect_vars(index, vars);
    const bool alone =
        std::all_of(vars.begin(), vars.end(), [&](const ScalarVar& var) { return var == loop.var; });
    if (!alone) return std::nullopt;
  }
  CountedPlaces places;
  for (std::int64_t i = 0; i < std::min(loop.iterations, most_counted); ++i) {
    const ScalarMap here{{loop.var.id(), int_literal(loop.var.dtype(), loop.begin + i * loop.step)}};
    std::vector<std::int64_t>& place = places.emplace_back();
    for (const Scalar& index : indices) {
      const auto number = canonical(substitute(index, here)).as_int();
      if (!number) return std::nullopt;
      place.push_back(*number);
    }
  }
  return places;
}

std::optional<Meeting> meeting(const CountedPlaces& a, const CountedPlaces& b) {
  std::multimap<std::vector<std::int64_t>, std::int64_t> known;
  for (std::size_t i = 0; i < a.size(); ++i) known.emplace(a[i], static_cast<std::int64_t>(i));
  for (std::size_t i = 0; i < b.size(); ++i) {
    const auto [first, last] = known.equal_range(b[i]);
    for (auto each = first; each != last; ++each)
      if (each->second != static_cast<std::int64_t>(i))
        return Meeting{each->second, static_cast<std::int64_t>(i)};
  }
  return std::nullopt;
}

}  // namespace relish
