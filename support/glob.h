// Patterns of names: `*` stands for any characters, `?` for one, `[abc]` and `[a-z]` for one of these,
// `[!abc]` for one that is none of them.
#pragma once

#include <string_view>

namespace relish {

// Whether the pattern matches the whole name. A `[` that nothing closes stands for itself.
bool matches_glob(std::string_view pattern, std::string_view name);

}  // namespace relish
