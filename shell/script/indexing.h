// Indexing and slicing of script values at top level: x[i], x[a:b:c], x[i, a:b], x[indices], d["name"].
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "shell/script/script_value.h"

namespace relish {

// One item between the commas of a subscript.
struct SubscriptItem {
  struct Slice {
    std::optional<std::int64_t> begin, end, step;
  };
  struct Rest {};  // `...`
  std::variant<ScriptValue, Slice, Rest> kind;
  Span span;
};

// The positions that a slice of a dimension of `length` takes.
struct SlicePositions {
  std::int64_t begin = 0, count = 0, step = 1;
  std::int64_t end = 0;  // where the slice stops, of the dimension or beside it
};
SlicePositions slice_positions(const SubscriptItem::Slice& slice, std::int64_t length, Span span);
// The position that an index, from the end when negative, means; RuntimeError when it is out of range.
std::int64_t item_position(std::int64_t index, std::int64_t length, Span span, std::string_view what);

// TypeError for what cannot be a key of a dict.
void check_key(const ScriptValue& key, Span span);

// The key of a dict that is written as several: d[1, 2] is d[(1, 2)].
std::optional<SubscriptItem> key_of_several(const std::vector<SubscriptItem>& items,
                                            const ScriptValue& object);

// RuntimeError for an index out of range or a key that is not there; TypeError for kinds without indexing.
ScriptValue subscript(const ScriptValue& object, const std::vector<SubscriptItem>& items, Span span);

}  // namespace relish
