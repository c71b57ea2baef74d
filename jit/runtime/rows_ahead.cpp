// Pieces of rows.
#include "jit/runtime/rows_ahead.h"

#include <algorithm>
#include <new>

#include "jit/runtime/runtime.h"

namespace relish::jit {
namespace {

constexpr std::int64_t piece_bytes = PiecesAhead::lines * PiecesAhead::line_bytes;
// Of one thread: more would drive out what the round itself works on.
constexpr std::size_t most_pieces = (256 << 10) / piece_bytes;

}  // namespace

void PiecesAhead::clear() {
  left = 0;
  pieces.clear();
}

// Short rows are read in less time than asking for them takes.
void PiecesAhead::add_row(const char* row, std::int64_t bytes) {
  if (bytes < piece_bytes) return;
  const std::size_t before = pieces.size(), whole = static_cast<std::size_t>(bytes / piece_bytes);
  const std::size_t all = whole + (bytes % piece_bytes != 0 ? 1 : 0);
  const std::size_t count = std::min(all, most_pieces - before);
  pieces.resize(before + count);
  const char** const made = pieces.data() + before;
  for (std::size_t i = 0; i < count; ++i) made[i] = row + static_cast<std::int64_t>(i) * piece_bytes;
  if (count > whole) made[whole] = row + bytes - piece_bytes;
}

void RowsAhead::tell(std::span<const RowSource> sources, std::span<const std::int64_t> rows,
                     std::size_t threads) {
  others_.resize(threads - 1);
  for (std::size_t t = 0; t < threads; ++t) {
    PiecesAhead& ahead = *of(static_cast<int>(t));
    ahead.clear();
    const std::size_t first = rows.size() * t / threads, end = rows.size() * (t + 1) / threads;
    for (const RowSource& source : sources) {
      for (const std::int64_t number : rows.subspan(first, end - first)) {
        const std::int64_t row = number < 0 ? number + source.rows : number;
        if (row >= 0 && row < source.rows)
          ahead.add_row(source.data + row * source.row_bytes, source.row_bytes);
      }
    }
    ahead.next = ahead.pieces.data();
    ahead.left = static_cast<std::int64_t>(ahead.pieces.size());
  }
}

PiecesAhead* RowsAhead::of(int participant) {
  if (participant == 0) return &own_;
  const auto other = static_cast<std::size_t>(participant - 1);
  return other < others_.size() ? &others_[other] : &none_;
}

extern "C" void rt_rows_ahead(RtContext* context, const std::int64_t* table, std::int64_t rows,
                              std::int64_t length, std::int64_t at, const RowSource* sources,
                              std::int64_t count) {
  const std::int64_t next = (at < 0 ? at + rows : at) + 1;
  const bool is_there = next > 0 && next < rows;
  const std::span<const std::int64_t> numbers(is_there ? table + next * length : nullptr,
                                              is_there ? static_cast<std::size_t>(length) : 0);
  CallState& state = *context->state;
  try {
    state.rows_ahead.tell({sources, static_cast<std::size_t>(count)}, numbers,
                          static_cast<std::size_t>(std::max(state.threads, 1)));
  } catch (const std::bad_alloc&) {  // they are fetched when they are read
  }
}

}  // namespace relish::jit
