// Literals of the text to values: numbers, strings with their escapes, the parts of f-strings, lists of
// numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/ast.h"
#include "support/diagnostic.h"

namespace relish {

// A number as written. A `magnitude` of 2^63 fits int64 behind a minus only, a larger one uint64 only.
struct NumberText {
  bool integer = true;
  std::uint64_t magnitude = 0;
  double real = 0;
};
// Nothing after an error: a literal that does not fit int64, a float that overflows, a misplaced '_'.
std::optional<NumberText> read_number(std::string_view text, Span span, Diagnostics& diagnostics);

// The list with brackets, as the scanner found it.
std::optional<ast::NumberListValue> read_number_list(std::string_view text, Span span,
                                                     Diagnostics& diagnostics);

// One string token with prefix and quotes, cut into text and, in an f-string, fields. Offsets are into the
// token.
struct StringField {
  std::size_t begin, end;  // of the expression's text
  std::string spec;        // up to its first field
  char conversion = 0;
  // Texts and fields of the specification behind that; a field has a place, `begin` < `end`.
  struct Inner {
    std::string text;
    std::size_t begin = 0, end = 0;
    char conversion = 0;
  };
  std::vector<Inner> spec_fields = {};
};
struct StringPiece {
  std::string text;
  std::optional<StringField> field;
};
struct StringToken {
  bool format = false;
  std::vector<StringPiece> pieces;  // without format: one text
};
std::optional<StringToken> read_string(std::string_view token, Span span, Diagnostics& diagnostics);

}  // namespace relish
