// What was proved of indices, and under which loops, variables and conditions: whoever asks the same again,
// as each copy of an unrolled loop does, need not prove it again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/nodes/scalar.h"

namespace relish {

class Proved {
 public:
  // Inside which loops, behind which variables and conditions: the same number for the same ones.
  using Place = std::size_t;
  static constexpr Place outside = 0;
  enum class Step : std::uint8_t { Loop, Variable, Condition };

  // The place inside or behind one more of them: a loop by its variable, begin and extent; a variable and its
  // value; a condition alone.
  Place next(Place from, Step step, std::uint64_t variable, const Scalar& a, const Scalar& b = {});

  // 0 <= index < extent.
  bool holds(Place at, const Scalar& index, const Scalar& extent) const {
    return in_range_.contains(key_of(at, 0, index, extent));
  }
  void note(Place at, const Scalar& index, const Scalar& extent);
  // No evaluation of the value fails.
  bool is_safe(Place at, const Scalar& value) const { return safe_.contains(key_of(at, 0, value, {})); }
  void note_safe(Place at, const Scalar& value);

 private:
  // Scalars by their nodes, which are kept, so that no other ever has the address.
  using Key = std::array<std::uint64_t, 4>;
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  static Key key_of(Place at, std::uint64_t what, const Scalar& a, const Scalar& b);
  void keep(const Scalar& scalar) {
    if (scalar.defined()) kept_.push_back(scalar);
  }

  std::unordered_map<Key, Place, Hash> next_;
  std::unordered_set<Key, Hash> in_range_, safe_;
  std::vector<Scalar> kept_;
  Place places_ = outside;
};

}  // namespace relish
