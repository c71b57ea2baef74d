// The order of the elements of a line: equal elements keep theirs, and NaN comes last in either direction.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/tensor.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/language/pace.h"

namespace relish {

// An integer that is less than another where the element comes before the other's; equal elements have equal
// ones.
template <class T>
auto order_key(T element, bool descending) {
  using Key = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;
  constexpr Key top = Key{1} << (sizeof(Key) * 8 - 1);
  Key key = 0;
  if constexpr (StorageFloat<T>) {
    const auto value = to_compute(element);
    using Value = std::remove_const_t<decltype(value)>;
    if (std::isnan(value)) return ~Key{0};
    const Value positive = value + Value{0};  // of both zeros
    static_assert(sizeof(Key) == sizeof(Value));
    std::memcpy(&key, &positive, sizeof key);
    // Of a negative number all bits, of another the sign; without a branch, as signs may be anything.
    key ^= static_cast<Key>(Key{0} - (key >> (sizeof(Key) * 8 - 1))) | top;
  } else {
    key = static_cast<Key>(element);
    if constexpr (std::is_signed_v<T>) key ^= top;
  }
  return descending ? ~key : key;
}

// Puts elements of a line in order. Kept over the lines of a tensor, so that they share their room.
class LineSorter {
 public:
  // The positions of the first `count` of a line of `length` elements in sorted order; at(i) is where element
  // i lies in `source`.
  template <class T, class At>
  void first(const T* source, const At& at, std::int64_t length, bool descending, std::int64_t count,
             std::vector<std::int64_t>& order) {
    // A position stands behind its key in the number that is sorted, so that no two are equal.
    if (sizeof(order_key(T{}, false)) == 4 && length <= std::int64_t{1} << 32)
      sort(narrow_, other_narrow_, source, at, length, descending, count, order);
    else
      sort(wide_, other_wide_, source, at, length, descending, count, order);
  }

 private:
  using Wide = unsigned __int128;

  template <class Packed, class T, class At>
  void sort(std::vector<Packed>& keys, std::vector<Packed>& other, const T* source, const At& at,
            std::int64_t length, bool descending, std::int64_t count, std::vector<std::int64_t>& order) {
    constexpr int bits = sizeof(Packed) * 4;
    keys.resize(static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < length; ++i)
      keys[static_cast<std::size_t>(i)] =
          static_cast<Packed>(order_key(source[at(i)], descending)) << bits | static_cast<Packed>(i);
    pace_(length);
    const auto before = [&](Packed a, Packed b) {
      pace_();
      return a < b;
    };
    constexpr std::int64_t short_line = 512;
    if (count < length / 8)
      std::partial_sort(keys.begin(), keys.begin() + count, keys.end(), before);
    else if (length < short_line)
      std::sort(keys.begin(), keys.end(), before);
    else
      sort_by_digits(keys, other);
    order.resize(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = static_cast<std::int64_t>(keys[i] & ((Packed{1} << bits) - 1));
  }

  // By one byte of the keys after the other, the least significant first; bytes in which all are alike are
  // left out. The positions behind the keys are in order already.
  template <class Packed>
  void sort_by_digits(std::vector<Packed>& keys, std::vector<Packed>& other) {
    constexpr int bits = sizeof(Packed) * 4, digits = bits / 8;
    const auto digit_of = [](Packed key, int digit) {
      return static_cast<std::size_t>(key >> (bits + digit * 8)) & 255;
    };
    std::array<std::array<std::size_t, 256>, digits> counts{};
    in_parts(keys, [&](Packed key) {
      for (int digit = 0; digit < digits; ++digit)
        ++counts[static_cast<std::size_t>(digit)][digit_of(key, digit)];
    });
    other.resize(keys.size());
    for (int digit = 0; digit < digits; ++digit) {
      std::array<std::size_t, 256>& places = counts[static_cast<std::size_t>(digit)];
      if (places[digit_of(keys[0], digit)] == keys.size()) continue;
      std::size_t next = 0;
      for (std::size_t& place : places) next += std::exchange(place, next);
      in_parts(keys, [&](Packed key) { other[places[digit_of(key, digit)]++] = key; });
      keys.swap(other);
    }
  }

  // Visits every key, and looks for a signal between parts of them.
  template <class Packed, class Visit>
  void in_parts(const std::vector<Packed>& keys, Visit&& visit) {
    constexpr std::size_t part = std::size_t{1} << 14;
    for (std::size_t begin = 0; begin < keys.size(); begin += part) {
      const std::size_t end = std::min(keys.size(), begin + part);
      for (std::size_t i = begin; i < end; ++i) visit(keys[i]);
      pace_(static_cast<std::int64_t>(end - begin));
    }
  }

  std::vector<std::uint64_t> narrow_, other_narrow_;
  std::vector<Wide> wide_, other_wide_;
  Pace pace_;
};

// The position of the element that is `place`th in sorted order.
template <class T, class At>
std::int64_t position_in_order(const T* source, const At& at, std::int64_t length, std::int64_t place,
                               Pace& pace) {
  using Key = decltype(order_key(T{}, false));
  struct Element {
    Key key;
    std::int64_t position;
  };
  std::vector<Element> elements(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < length; ++i)
    elements[static_cast<std::size_t>(i)] = {order_key(source[at(i)], false), i};
  std::nth_element(elements.begin(), elements.begin() + place, elements.end(),
                   [&](const Element& a, const Element& b) {
                     pace();
                     return a.key != b.key ? a.key < b.key : a.position < b.position;
                   });
  return elements[static_cast<std::size_t>(place)].position;
}

}  // namespace relish
