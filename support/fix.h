// Fixes: what a diagnostic proposes to do with the text, in a form that a machine can apply. They are read
// from the words that a user sees, so the two cannot differ:
//
//   a message that ends in  did you mean 'X'?   X in the place of what the diagnostic marks (inside the
//   quotes,
//                                               when that is a string)
//   a note                  write 'X' here      X in the place of what the note marks
//   a note                  insert 'X' here     X behind what the note marks
//   a note                  remove this         nothing in the place of what the note marks
//   a note                  put 'X' above this  the line X above that on which what it marks begins, as
//                                               deeply indented
//   a note                  put 'X' below this  the line X below that on which what it marks ends, indented
//   as
//                                               the line on which that begins
//   a note                  indent this         four spaces more before each line of what it marks
//   a note                  unindent this       each line of what it marks moves left, to the header above it
#pragma once

#include <span>
#include <string>
#include <vector>

#include "support/diagnostic.h"

namespace relish {

struct Fix {
  Span at;           // empty for an insertion
  std::string text;  // that takes its place
};

// The notes that are fixes.
DiagnosticNote write_here(Span at, std::string_view text);
DiagnosticNote insert_here(Span behind, std::string_view text);
DiagnosticNote remove_this(Span at);
DiagnosticNote put_above(Span at, std::string_view line);
DiagnosticNote put_below(Span at, std::string_view line);
DiagnosticNote indent_this(Span lines);
DiagnosticNote unindent_this(Span lines);
// A note that writes the candidate nearest to `wanted` in the place `at`; none when nothing is near.
std::vector<DiagnosticNote> write_nearest(Span at, std::string_view wanted,
                                          std::span<const std::string> candidates);

// The text at a place; empty when the place is unknown.
std::string_view written_at(Span at);

bool is_fix(const DiagnosticNote& note);
std::vector<Fix> fixes_of(const Diagnostic& diagnostic);
// The source with the fixes applied; they must not overlap. Of insertions at the same place the first comes
// first.
std::string apply_fixes(std::string_view source, std::vector<Fix> fixes);

}  // namespace relish
