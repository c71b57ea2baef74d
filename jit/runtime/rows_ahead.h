// Rows of data that are fetched before they are read: a round of a loop tells which rows the next one gathers
// (step::RowsAhead), and code asks for a piece of them before each tile of registers, whose operands are in
// the caches already. Of rows that the next round copies, which are all that it does with them, code copies
// each piece some tiles later, when it has come, so that the round finds its rows where it wants them
// (step::RowsAhead::copied). Whatever is fetched, or is not, changes no result: what is copied is one value
// in all rounds and is forgotten behind them, and memory that is only asked for may be anybody's, or
// nobody's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "jit/runtime/context.h"

namespace relish::jit {

// A tensor of which rows are read, as compiled code tells it.
struct RowSource {
  const char* data;
  std::int64_t rows, row_bytes;
  std::int64_t copied;  // whether the next round copies these rows: 0 or 1
};

// The share of one thread. Code takes pieces by itself: while there are some left, it asks for the lines of
// the next one, and copies the one that it asked for so many pieces before.
struct alignas(64) PiecesAhead {
  static constexpr std::int64_t line_bytes = 64;
  // A processor forgets what it is asked for beyond the loads that it can have under way.
  static constexpr std::int64_t lines = 8;
  static constexpr std::int64_t piece_bytes = lines * line_bytes;
  static constexpr std::int64_t until_copied = 4;

  struct Piece {
    const char* asked;  // may be given back before code comes to it
    const char* from;
    char* to;
  };

  std::int64_t left = 0;           // field 0
  const Piece* next = nullptr;     // field 1
  std::vector<Piece> pieces = {};  // those that are told, between `until_copied` that are nothing
  char nowhere[piece_bytes];       // receives what is fetched only, and nobody reads it

  void clear();
  // How many pieces a row is, and whether so many still have room.
  static std::int64_t count_of(std::int64_t row_bytes);
  bool has_room(std::int64_t count) const;
  // `to`: where the row is copied, or null.
  void add_row(const char* row, std::int64_t bytes, char* to);
  void begin();
  // Copies what code has not come to.
  void finish();
};

class RowsAhead {
 public:
  // For so many threads the rows of these tensors whose numbers are given, each thread its part of them. What
  // was told before is there now; what is there already and nobody has taken is forgotten.
  void tell(std::span<const RowSource> sources, std::span<const std::int64_t> rows, std::size_t threads);
  // Nothing is ahead any more. Behind a loop, too: its tensors go, and others come to their addresses.
  void forget();
  // Nothing is ahead for a thread of which nothing was told.
  PiecesAhead* of(int participant);

  // The copy of these rows of the tensor, for whoever takes it to keep and write to until it is given back;
  // null where it is not there.
  char* take(const char* data, std::span<const std::int64_t> rows);
  // Nothing where the address is no copy that was taken.
  void give_back(const char* copy);

 private:
  // Used again and again, with what its vector holds: a steady round takes no memory.
  struct Copy {
    std::unique_ptr<char, void (*)(void*)> memory;
    std::int64_t bytes;
    const char* source = nullptr;
    std::vector<std::int64_t> rows = {};
  };

  char* room_for_copy(const RowSource& source, std::span<const std::int64_t> rows, std::size_t threads);
  Copy copy_of(std::int64_t bytes);
  void spare(Copy copy);

  PiecesAhead own_, none_;  // of the thread that calls
  std::vector<PiecesAhead> others_;
  std::vector<Copy> coming_, there_, taken_, spare_;
};

// Row `at` of the table is taken now; the one behind it is told.
extern "C" void rt_rows_ahead(RtContext* context, const std::int64_t* table, std::int64_t rows,
                              std::int64_t length, std::int64_t at, const RowSource* sources,
                              std::int64_t count);
extern "C" void rt_rows_forget(RtContext* context);
extern "C" char* rt_rows_take(RtContext* context, const char* data, const std::int64_t* rows,
                              std::int64_t count);
extern "C" void rt_rows_give_back(RtContext* context, const char* copy);

}  // namespace relish::jit
