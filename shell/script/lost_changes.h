// A change that nobody would see, when it is about to be made: whether in Python somebody else would, and
// what to write instead.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/ast.h"
#include "shell/script/indexing.h"

namespace relish {

// Whether what stands behind the steps is held by others too, who in Python would see it change.
bool is_held_elsewhere(const ScriptValue& held, const std::vector<std::vector<SubscriptItem>>& steps,
                       const ast::UnreadChange& unread);

// A change as it is written, and what a message adds to make a statement of it.
struct ChangeText {
  Span span;
  std::string_view before = "", behind = "";
};
struct LostChange {
  const std::string& name;
  Span root;  // the name in front
  ChangeText change;
  const ast::UnreadChange& unread;
  std::function<bool(std::string_view name)> is_tensor;
};
std::string words_of(const LostChange& lost);

}  // namespace relish
