// Pieces of rows.
#include "jit/runtime/rows_ahead.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "jit/runtime/runtime.h"

namespace relish::jit {
namespace {

// Of one thread: more would drive out what the round itself works on.
constexpr std::int64_t most_pieces = (256 << 10) / PiecesAhead::piece_bytes;

std::span<const std::int64_t> part_of(std::span<const std::int64_t> rows, std::size_t thread,
                                      std::size_t threads) {
  const std::size_t first = rows.size() * thread / threads, end = rows.size() * (thread + 1) / threads;
  return rows.subspan(first, end - first);
}

}  // namespace

void PiecesAhead::clear() {
  left = 0;
  pieces.assign(until_copied, Piece{nowhere, nowhere, nowhere});
}

// Short rows are read in less time than asking for them takes.
std::int64_t PiecesAhead::count_of(std::int64_t row_bytes) {
  return row_bytes < piece_bytes ? 0 : (row_bytes - 1) / piece_bytes + 1;
}

bool PiecesAhead::has_room(std::int64_t count) const {
  return static_cast<std::int64_t>(pieces.size()) - until_copied + count <= most_pieces;
}

// The last piece ends with the row, over some of the one before. Rows are told for every round of a loop, so
// their pieces are written without a look at each.
void PiecesAhead::add_row(const char* row, std::int64_t bytes, char* to) {
  const std::int64_t told = static_cast<std::int64_t>(pieces.size()) - until_copied;
  const std::int64_t all = count_of(bytes), count = std::min(all, most_pieces - told);
  if (count <= 0) return;
  const std::size_t first = pieces.size();
  pieces.resize(first + static_cast<std::size_t>(count));
  Piece* piece = pieces.data() + first;
  for (std::int64_t i = 0; i < count; ++i, ++piece) {
    const std::int64_t at = i + 1 == all ? bytes - piece_bytes : i * piece_bytes;
    piece->asked = row + at;
    piece->from = to ? row + at : nowhere;
    piece->to = to ? to + at : nowhere;
  }
}

void PiecesAhead::begin() {
  if (pieces.size() > until_copied) {
    left = static_cast<std::int64_t>(pieces.size());
    pieces.insert(pieces.end(), until_copied, Piece{nowhere, nowhere, nowhere});
  }
  next = pieces.data() + until_copied;
}

void PiecesAhead::finish() {
  for (; left > 0; --left, ++next) {
    const Piece& piece = next[-until_copied];
    if (piece.to != nowhere) std::memcpy(piece.to, piece.from, piece_bytes);
  }
}

void RowsAhead::tell(std::span<const RowSource> sources, std::span<const std::int64_t> rows,
                     std::size_t threads) {
  own_.finish();
  for (PiecesAhead& each : others_) each.finish();
  for (Copy& each : there_) spare(std::move(each));
  there_.clear();
  std::swap(there_, coming_);
  others_.resize(threads - 1);
  for (std::size_t t = 0; t < threads; ++t) of(static_cast<int>(t))->clear();
  for (const RowSource& source : sources) {
    char* const copy = source.copied != 0 ? room_for_copy(source, rows, threads) : nullptr;
    const std::int64_t* const first = rows.data();
    for (std::size_t t = 0; t < threads; ++t) {
      for (const std::int64_t& number : part_of(rows, t, threads)) {
        const std::int64_t row = number < 0 ? number + source.rows : number;
        if (row < 0 || row >= source.rows) continue;
        of(static_cast<int>(t))
            ->add_row(source.data + row * source.row_bytes, source.row_bytes,
                      copy ? copy + (&number - first) * source.row_bytes : nullptr);
      }
    }
  }
  for (std::size_t t = 0; t < threads; ++t) of(static_cast<int>(t))->begin();
}

void RowsAhead::forget() {
  own_.left = 0;
  for (PiecesAhead& each : others_) each.left = 0;
  for (std::vector<Copy>* copies : {&coming_, &there_}) {
    for (Copy& each : *copies) spare(std::move(each));
    copies->clear();
  }
}

PiecesAhead* RowsAhead::of(int participant) {
  if (participant == 0) return &own_;
  const auto other = static_cast<std::size_t>(participant - 1);
  return other < others_.size() ? &others_[other] : &none_;
}

// Null where not all of them can be copied. Numbers that the kernel may count otherwise, or refuse, are its
// own.
char* RowsAhead::room_for_copy(const RowSource& source, std::span<const std::int64_t> rows,
                               std::size_t threads) {
  const std::int64_t pieces = PiecesAhead::count_of(source.row_bytes);
  if (pieces == 0 || rows.empty() || pieces > most_pieces) return nullptr;
  for (std::size_t t = 0; t < threads; ++t) {
    const auto count = static_cast<std::int64_t>(part_of(rows, t, threads).size());
    if (count > most_pieces / pieces || !of(static_cast<int>(t))->has_room(count * pieces)) return nullptr;
  }
  for (const std::int64_t number : rows)
    if (number < 0 || number >= source.rows) return nullptr;
  Copy copy = copy_of(static_cast<std::int64_t>(rows.size()) * source.row_bytes);
  copy.source = source.data;
  copy.rows.assign(rows.begin(), rows.end());
  coming_.push_back(std::move(copy));
  return coming_.back().memory.get();
}

RowsAhead::Copy RowsAhead::copy_of(std::int64_t bytes) {
  const auto found =
      std::find_if(spare_.begin(), spare_.end(), [&](const Copy& each) { return each.bytes >= bytes; });
  if (found != spare_.end()) {
    Copy copy = std::move(*found);
    spare_.erase(found);
    return copy;
  }
  spare_.clear();
  const std::int64_t line = PiecesAhead::line_bytes, whole = (bytes + line - 1) / line * line;
  auto* made =
      static_cast<char*>(std::aligned_alloc(static_cast<std::size_t>(line), static_cast<std::size_t>(whole)));
  if (made == nullptr) throw std::bad_alloc();
  return {{made, std::free}, whole};
}

char* RowsAhead::take(const char* data, std::span<const std::int64_t> rows) {
  const auto found = std::find_if(there_.begin(), there_.end(), [&](const Copy& each) {
    return each.source == data && std::equal(each.rows.begin(), each.rows.end(), rows.begin(), rows.end());
  });
  if (found == there_.end()) return nullptr;
  taken_.push_back(std::move(*found));
  there_.erase(found);
  return taken_.back().memory.get();
}

void RowsAhead::give_back(const char* copy) {
  const auto found =
      std::find_if(taken_.begin(), taken_.end(), [&](const Copy& each) { return each.memory.get() == copy; });
  if (found == taken_.end()) return;
  spare(std::move(*found));
  taken_.erase(found);
}

void RowsAhead::spare(Copy copy) {
  try {
    spare_.push_back(std::move(copy));
  } catch (const std::bad_alloc&) {  // the next copy has other memory
  }
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
    state.rows_ahead.forget();
  }
}

extern "C" void rt_rows_forget(RtContext* context) { context->state->rows_ahead.forget(); }

extern "C" char* rt_rows_take(RtContext* context, const char* data, const std::int64_t* rows,
                              std::int64_t count) {
  try {
    return context->state->rows_ahead.take(data, {rows, static_cast<std::size_t>(count)});
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

extern "C" void rt_rows_give_back(RtContext* context, const char* copy) {
  context->state->rows_ahead.give_back(copy);
}

}  // namespace relish::jit
