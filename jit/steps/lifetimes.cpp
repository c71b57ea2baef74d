// Lives of places, by steps.
#include "jit/steps/lifetimes.h"

#include <algorithm>
#include <unordered_map>

#include "jit/steps/plan.h"
#include "support/interrupt.h"

namespace relish::jit {
namespace {

// First and last step of a list that name a place.
struct Named {
  std::int64_t first = 0, last = 0;
};

// Of the places that are made in the list, in order of their numbers.
std::vector<std::pair<PlaceId, Named>> named_places(const StepList& steps, const std::vector<Place>& places,
                                                    std::uint32_t list) {
  std::unordered_map<PlaceId, Named> found;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    for_each_place(steps[i], [&](PlaceId place, bool) {
      if (places[place].list == list) found.try_emplace(place, Named{at, at}).first->second.last = at;
    });
  }
  std::vector<std::pair<PlaceId, Named>> sorted(found.begin(), found.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return sorted;
}

// What the list has made for itself alone, beside the arena.
bool is_owned(const Place& place) {
  if (!place.has_storage() || place.given) return false;
  return place.origin == Place::Returned || place.donated ||
         (place.origin == Place::Temporary && !place.slot);
}

StepList released(StepList steps, const std::vector<Place>& places,
                  const std::vector<std::pair<PlaceId, Named>>& named) {
  std::vector<std::pair<std::int64_t, PlaceId>> ends;
  for (const auto& [place, lives] : named)
    if (is_owned(places[place])) ends.emplace_back(lives.last, place);
  if (ends.empty()) return steps;
  std::sort(ends.begin(), ends.end());
  StepList result;
  result.reserve(steps.size() + ends.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Span span = steps[i].span;
    result.push_back(std::move(steps[i]));
    for (; next < ends.size() && ends[next].first == static_cast<std::int64_t>(i); ++next)
      result.push_back({span, step::Release{ends[next].second}});
  }
  return result;
}

// What was given up and is of no use to the body ends with the first step of it.
void end_behind_entry(std::vector<std::pair<PlaceId, Named>>& named, const std::vector<Place>& places,
                      std::int64_t entry) {
  std::unordered_set<PlaceId> known;
  for (auto& [id, lived] : named) {
    known.insert(id);
    if (places[id].donated) lived.last = std::max(lived.last, entry);
  }
  for (PlaceId id = 0; id < places.size(); ++id)
    if (places[id].donated && !known.contains(id)) named.emplace_back(id, Named{entry, entry});
}

bool is_known(const Place& place, const std::unordered_set<std::uint64_t>& symbols) {
  std::vector<ScalarVar> vars;
  for (const Scalar& dim : place.dims) collect_vars(dim, vars);
  return std::all_of(vars.begin(), vars.end(),
                     [&](const ScalarVar& var) { return symbols.contains(var.id()); });
}

// Bytes in whole lines, so that every address is aligned.
Scalar bytes_of(const Place& place) {
  const Scalar bytes =
      canonical(product(place.dims) * Scalar(static_cast<std::int64_t>(size_of(place.dtype))));
  if (const auto known = bytes.as_int()) return Scalar((*known + 63) / 64 * 64);
  return bytes;
}

}  // namespace

StepList with_releases(StepList steps, const std::vector<Place>& places, std::uint32_t list) {
  const auto named = named_places(steps, places, list);
  return released(std::move(steps), places, named);
}

StepList with_memory(StepList steps, std::vector<Place>& places, std::size_t entry,
                     const std::unordered_set<std::uint64_t>& known) {
  auto named = named_places(steps, places, 0);
  if (entry + 1 < steps.size()) end_behind_entry(named, places, static_cast<std::int64_t>(entry));
  std::vector<std::pair<Life, PlaceId>> lives;
  for (const auto& [id, lived] : named) {
    const Place& place = places[id];
    poll_interrupt(steps[static_cast<std::size_t>(lived.first)].span);
    if (place.origin == Place::Temporary && !place.given && is_known(place, known))
      lives.emplace_back(Life{lived.first, lived.last, bytes_of(place)}, id);
  }
  std::sort(lives.begin(), lives.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.begin, a.second) < std::pair(b.first.begin, b.second);
  });
  std::vector<Life> planned;
  for (const auto& [life, id] : lives) planned.push_back(life);
  const MemoryPlan plan = plan_memory(planned);
  step::TakeArena arena;
  arena.slots.resize(plan.slots.size());
  for (std::size_t i = 0; i < lives.size(); ++i) {
    places[lives[i].second].slot = plan.slot_of[i];
    arena.slots[plan.slot_of[i]].push_back(lives[i].second);
  }

  // Of what memory is refused that is for all of them at once: the first of an open size, or of any.
  const auto open = std::find_if(lives.begin(), lives.end(),
                                 [](const auto& life) { return !life.first.bytes.as_int().has_value(); });
  const bool taken = !lives.empty();
  const Span span = taken ? places[(open == lives.end() ? lives.begin() : open)->second].span : Span();
  StepList all = released(std::move(steps), places, named);
  if (!taken) return all;
  StepList result;
  result.reserve(all.size() + 2);
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(entry);
  result.insert(result.end(), std::make_move_iterator(all.begin()), std::make_move_iterator(begin));
  result.push_back({span, std::move(arena)});
  result.insert(result.end(), std::make_move_iterator(begin), std::make_move_iterator(all.end() - 1));
  result.push_back({all.back().span, step::ReturnArena{}});
  result.push_back(std::move(all.back()));
  return result;
}

}  // namespace relish::jit
