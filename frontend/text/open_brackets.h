// The brackets that are open at a place of a logical line. Internal to the scanner.
#pragma once

#include <string_view>
#include <vector>

#include "frontend/text/text_cursor.h"

namespace relish {

class OpenBrackets {
 public:
  explicit OpenBrackets(TextCursor& cursor) : cursor_(cursor) {}

  bool empty() const { return open_.empty(); }
  void clear() { open_.clear(); }
  // Each steps over the bracket where the cursor stands.
  void open(char kind);
  void close(char kind);
  // Reports the innermost one, and takes all of them for closed. `note_at`: where that shows, for the reason
  // `why`; the line's content ends at `content_end`.
  void report_unclosed(std::string_view why, Span note_at, std::size_t content_end,
                       std::uint32_t column_of_statement);

  std::size_t block_depth = 0;  // blocks open around the line: counts towards the nesting limit

 private:
  struct Bracket {
    char kind;
    std::uint32_t at;
  };

  TextCursor& cursor_;
  std::vector<Bracket> open_;
  bool nesting_reported_ = false;
};

}  // namespace relish
