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
  std::variant<ScriptValue, Slice> kind;
  Span span;
};

// RuntimeError for an index out of range or a key that is not there; TypeError for kinds without indexing.
ScriptValue subscript(const ScriptValue& object, const std::vector<SubscriptItem>& items, Span span);

}  // namespace relish
