// Names that stand in statements only, and in functions only, with what is written in the other place: one
// table for messages and for the pages of `doc`.
#pragma once

#include <string_view>

namespace relish {

// Of a built-in of statements, what an R.function has for it: "R.random.normal(key, (3, 4))", or a sentence.
// Empty for names that are none.
std::string_view written_in_functions(std::string_view builtin);
// Of a name that stands in functions, "R.match_cast" or "T.float32", what a statement has for it.
std::string_view written_in_statements(std::string_view name);

}  // namespace relish
