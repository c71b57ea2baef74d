#pragma once

// Where each function of a module stands, by name. A module's functions are a plain list that passes change
// as they like, so what is kept here is only believed where the list still agrees with it: it is made at the
// first question, grows with the list, and is made anew when it was wrong. Several threads may ask at once.
// Copies of a module start without.

#include <cstddef>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "support/flat_names.h"

namespace relish {

class FunctionPositions {
 public:
  FunctionPositions() = default;
  FunctionPositions(const FunctionPositions&) {}
  FunctionPositions(FunctionPositions&&) noexcept {}
  FunctionPositions& operator=(const FunctionPositions&);
  FunctionPositions& operator=(FunctionPositions&&) noexcept;
  ~FunctionPositions() = default;

  // The first of `functions` that is called so. `name_at(i)` is the name of the i-th of `count`.
  template <typename NameAt>
  std::optional<std::size_t> find(std::string_view name, std::size_t count, const NameAt& name_at) const {
    // A short list is faster looked through; and a name that is not there may have come by a replacement.
    if (count >= least) {
      const std::lock_guard lock(mutex_);
      if (known_ > count) forget();
      for (; known_ < count; ++known_) positions_.try_emplace(std::string(name_at(known_)), known_);
      auto found = positions_.find(name);
      if (found != positions_.end()) {
        if (name_at(found->second) == name) return found->second;
        forget();
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (name_at(i) == name) return i;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t least = 16;
  void forget() const {
    positions_.clear();
    known_ = 0;
  }

  mutable std::mutex mutex_;
  mutable FlatNames<std::size_t> positions_;
  mutable std::size_t known_ = 0;  // of the list's functions are in the table
};

inline FunctionPositions& FunctionPositions::operator=(const FunctionPositions& other) {
  if (this == &other) return *this;
  const std::lock_guard lock(mutex_);
  forget();
  return *this;
}

inline FunctionPositions& FunctionPositions::operator=(FunctionPositions&& other) noexcept {
  if (this == &other) return *this;
  const std::lock_guard lock(mutex_);
  forget();
  return *this;
}

}  // namespace relish
