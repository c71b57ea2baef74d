// Python's format specifications, as far as numbers and strings have them: f"{loss:.4f}", f"{name:>10}",
// f"{n:,}".
#pragma once

#include <string>
#include <string_view>

#include "shell/script/script_value.h"

namespace relish {

// The text of `value` under `spec` ("" is str()). A 0-d tensor is formatted by its element. SyntaxError for a
// spec that is none, TypeError for one that the value does not have.
std::string format_with_spec(const ScriptValue& value, std::string_view spec, Span span);

// The UTF-8 of a character, which is no surrogate.
std::string character_text(std::uint32_t code);
// It as an escape of a literal, such as \u200b.
std::string escape_of(std::uint32_t code);

}  // namespace relish
