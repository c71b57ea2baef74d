// Proofs by where they were made.
#include "loops/proved.h"

namespace relish {

std::size_t Proved::Hash::operator()(const Key& key) const {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;
  std::uint64_t mixed = 0;
  for (const std::uint64_t part : key) {
    mixed = (mixed ^ part) * odd;
    mixed ^= mixed >> 32;
  }
  return mixed;
}

Proved::Key Proved::key_of(Place at, std::uint64_t what, const Scalar& a, const Scalar& b) {
  return {at, what, reinterpret_cast<std::uintptr_t>(a.operator->()),
          reinterpret_cast<std::uintptr_t>(b.operator->())};
}

Proved::Place Proved::next(Place from, Step step, std::uint64_t variable, const Scalar& a, const Scalar& b) {
  constexpr std::uint64_t kinds = 4;
  const auto [found, fresh] =
      next_.try_emplace(key_of(from, variable * kinds + static_cast<std::uint64_t>(step), a, b), places_ + 1);
  if (fresh) {
    ++places_;
    keep(a);
    keep(b);
  }
  return found->second;
}

void Proved::note(Place at, const Scalar& index, const Scalar& extent) {
  if (!in_range_.insert(key_of(at, 0, index, extent)).second) return;
  keep(index);
  keep(extent);
}

void Proved::note_safe(Place at, const Scalar& value) {
  if (safe_.insert(key_of(at, 0, value, {})).second) keep(value);
}

}  // namespace relish
