#pragma once

// Tables by name for what grows with a text: names of bindings, of their variables, of functions. An entry
// lies in the table itself beside its hash, so a lookup touches one place of memory; in the tables of the
// standard library it touches three, which is what made the time of large texts grow faster than their size.
// An insertion moves entries: keep no reference across one.

#include <tsl/hopscotch_map.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace relish {

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
};

template <typename Value>
using FlatNames = tsl::hopscotch_map<std::string, Value, NameHash, std::equal_to<>,
                                     std::allocator<std::pair<std::string, Value>>, 30, true>;

}  // namespace relish
