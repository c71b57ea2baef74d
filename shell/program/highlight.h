// The kinds of tokens of a text, for colours: of what one types, and of programs that are printed. One walk,
// for whole texts and for those that are not whole yet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace relish {

enum class TokenKind : std::uint8_t { Keyword, String, Number, Comment, Name, Decorator, Command, Fault };

struct TokenSpan {
  std::size_t begin = 0, end = 0;
  TokenKind kind = TokenKind::Name;
};

// In order and apart from each other; what has no kind is left out. Name: of a namespace, as R.nn.relu.
// Fault: a bracket that closes nothing, a string without an end, a name that R does not have, a `:` command
// that is none.
std::vector<TokenSpan> token_spans(std::string_view text);

// What a terminal is told to begin and to end that kind.
std::string_view color_of(TokenKind kind);
inline constexpr std::string_view color_end = "\x1b[0m";

// The text with colours.
std::string in_colors(std::string_view text);

}  // namespace relish
