// Rows of data that are fetched before they are read: a round of a loop tells which rows the next one gathers
// (step::RowsAhead), and code asks for a piece of them before each tile of registers, whose operands are in
// the caches already. Whatever is fetched, or is not, changes no result.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jit/runtime/context.h"

namespace relish::jit {

// A tensor of which rows are read, as compiled code tells it.
struct RowSource {
  const char* data;
  std::int64_t rows, row_bytes;
};

// The share of one thread. Code takes pieces by itself: while there are some left, it asks for the lines of
// the next one.
struct alignas(64) PiecesAhead {
  static constexpr std::int64_t line_bytes = 64;
  // A processor forgets what it is asked for beyond the loads that it can have under way.
  static constexpr std::int64_t lines = 8;

  std::int64_t left = 0;                 // field 0
  const char* const* next = nullptr;     // field 1: the first address of each
  std::vector<const char*> pieces = {};  // all

  void clear();
  void add_row(const char* row, std::int64_t bytes);
};

class RowsAhead {
 public:
  // For so many threads the rows of these tensors whose numbers are given, each thread its part of them; what
  // was told before is forgotten.
  void tell(std::span<const RowSource> sources, std::span<const std::int64_t> rows, std::size_t threads);
  // Nothing is ahead for a thread of which nothing was told.
  PiecesAhead* of(int participant);

 private:
  PiecesAhead own_, none_;  // of the thread that calls
  std::vector<PiecesAhead> others_;
};

// Row `at` of the table is taken now; the one behind it is told.
extern "C" void rt_rows_ahead(RtContext* context, const std::int64_t* table, std::int64_t rows,
                              std::int64_t length, std::int64_t at, const RowSource* sources,
                              std::int64_t count);

}  // namespace relish::jit
