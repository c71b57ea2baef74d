// The scanner: cuts a source into logical lines and finds the block structure, so that the grammar sees one
// statement or header at a time. It knows strings, brackets, continuations, comments and indentation, and
// nothing else of the language; what is wrong at that level (bad bytes, unclosed brackets, unindents) is
// reported here, with its place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostic.h"

namespace relish {

// A bracketed list of at least 64 plain numbers, brackets included: one token for the grammar.
struct NumberRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// One logical line with the lines of its block, if it is the header of one.
struct Line {
  Span span;                    // the statement's text, without indentation and comments behind it
  std::string_view first_word;  // "def", "return", "x"; "@" for a decorator; empty for other openings
  bool header = false;          // ends in ':' and owns `body`
  bool damaged = false;         // a fault inside was reported: not to be parsed
  std::vector<std::string>
      comments;                  // on lines of their own before it or inside it, without "#" and one blank
  std::string trailing_comment;  // behind it on its last line
  std::vector<NumberRange> number_lists;
  std::vector<Line> body;
};

struct ScannedSource {
  std::vector<Line> lines;
  std::vector<std::string> end_comments;  // after the last statement
};

// Scans `text`, the source with id `file` or its beginning. Line::first_word points into it. The shape of the
// tree follows the indentation as Python has it: tabs go to the next multiple of 8, and a source whose blocks
// would differ under another tab width is refused.
ScannedSource scan_source(std::uint32_t file, std::string_view text, Diagnostics& diagnostics);

// What an input still lacks: the question of the REPL after every typed line.
enum class Missing : std::uint8_t {
  Nothing,       // a whole input, or one whose error is best shown now
  Bracket,       // an open bracket
  String,        // an open triple-quoted string
  Continuation,  // a backslash at the end
  Body,          // a decorator, or a header whose block has not begun
  BlankLine,     // an open block: one empty line more ends it (two end a class)
};

// Looks at the whole text typed so far, line ends included.
Missing missing_input(std::string_view text);

inline bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }
// Words that open a block: class def with for while if elif else, and those that are refused by name later.
bool opens_block(std::string_view word);

// The least number of entries that makes a bracketed list of plain numbers one token.
inline constexpr std::size_t number_list_minimum = 64;

}  // namespace relish
