// Choosing the sizes of blocks and tiles.
#include "schedule/shapes/shapes.h"

#include <algorithm>
#include <numeric>

#include "loops/accesses.h"
#include "schedule/shapes/window_shapes.h"

namespace relish {
namespace {

constexpr std::int64_t terms_in_part = 256;
// Columns of a block at most, however large the cache is: other threads take other blocks.
constexpr std::int64_t most_of_block = 512;
// Blocks of more rows are so many at least: each is a task of the threads.
constexpr std::int64_t least_tall_blocks = 8;
// Tiles of rows whose number only the run knows are chosen for so many: often it is a power of two.
constexpr std::int64_t guessed_rows = 64;
// Blocks of such rows, where all of the right factor stays in the private cache: several also of few rows.
constexpr std::int64_t open_rows_of_block = 32;
// A factor so many times smaller than the sums of a block is looked at instead of them.
constexpr std::int64_t smaller_part = 4;

bool is_axis(const Scalar& index, const Axis* axis) {
  const auto var = index.as_var();
  return var && (*var == axis->var || *var == axis->loop->var);
}

bool is_known(const Axis* axis) { return axis->loop->extent.as_int().has_value(); }

// Blocks of at most `most` elements: as many of the last axes as fit.
Blocked blocked(const std::vector<const Axis*>& axes, std::int64_t most) {
  Blocked result;
  std::size_t at = axes.size() - 1;
  while (at > 0 && is_known(axes[at]) && result.inner * extent_of(axes[at]) * 2 <= most)
    result.inner *= extent_of(axes[at--]);
  for (std::size_t i = at + 1; i < axes.size(); ++i) result.spans.push_back(extent_of(axes[i]));
  result.cut = axes[at];
  result.inside.assign(axes.begin() + static_cast<std::ptrdiff_t>(at) + 1, axes.end());
  result.around.assign(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(at));
  result.chunk = std::clamp<std::int64_t>(most / result.inner, 1, extent_of(result.cut));
  return result;
}

// The same number of rounds, or more of them, in chunks of equal size.
void balance(Blocked& blocks, std::int64_t rounds) {
  if (!blocks.known()) return;
  const std::int64_t extent = extent_of(blocks.cut);
  blocks.chunk = rounds_of(extent, std::clamp<std::int64_t>(rounds, 1, extent));
}

// Chunks of whole tiles, or one of all elements where these are fewer.
void round_up_to_tiles(Blocked& blocks, std::int64_t elements) {
  blocks.chunk = std::min(rounds_of(blocks.chunk, elements) * elements, extent_of(blocks.cut));
}

// The terms of a sum in parts: of one size, where that is at least half of the most.
Blocked parts_of(const std::vector<const Axis*>& summed) {
  Blocked parts = blocked(summed, terms_in_part);
  if (!parts.known()) return parts;
  for (std::int64_t chunk = parts.chunk; chunk > 0 && chunk * 2 >= parts.chunk; --chunk) {
    if (extent_of(parts.cut) % chunk != 0) continue;
    parts.chunk = chunk;
    break;
  }
  return parts;
}

// The elements of axes together, as far as these are known; else more than any cache holds.
std::int64_t elements_of_axes(const std::vector<const Axis*>& axes) {
  std::int64_t all = 1;
  for (const Axis* axis : axes)
    if (__builtin_mul_overflow(all, extent_of(axis), &all)) return INT64_MAX / 4;
  return std::min(all, INT64_MAX / 4);
}

// Rows of a block at most.
std::int64_t most_rows_of_block(const Contraction& contraction, std::int64_t most, const Target& target,
                                std::int64_t bytes) {
  std::int64_t right = 0;
  const bool fits = !__builtin_mul_overflow(elements_of_axes(contraction.columns),
                                            elements_of_axes(contraction.summed), &right) &&
                    right <= target.private_cache_bytes * 3 / 4 / bytes;
  const bool open = contraction.rows.size() == 1 && !is_known(contraction.rows.front());
  return open && fits ? open_rows_of_block : most * 3 / 4;
}

// Whether complete sums of a tile can be stored to the result itself where tiles are whole.
bool may_store_tiles(const Contraction& contraction) {
  if (!contraction.by_vectors || contraction.guard.defined()) return false;
  const Scalar& last = contraction.nest->store->indices[contraction.last];
  return contraction.columns.size() == 1 && last.as_var() == std::optional(contraction.columns.back()->var) &&
         (!contraction.init || contraction.init->value.as<FloatLiteral>());
}

// Whether a tile is stored where its last part of terms is summed, with what reads elements of its own behind
// it: these are asked for while it is summed, and what follows it runs beside the sums of the next tile.
bool asks(const Contraction& contraction, const ContractionShapes& shapes) {
  if (!contraction.reads_elements || contraction.guard.defined() || shapes.in_windows() ||
      shapes.left_in_windows() || !shapes.rows.inside.empty() || !shapes.columns.inside.empty())
    return false;
  const Scalar& last = contraction.nest->store->indices[contraction.last];
  return shapes.summed.has_known_parts() && last.as_var() == std::optional(contraction.columns.back()->var) &&
         (!contraction.init || contraction.init->value.as<FloatLiteral>());
}

// Whether the last of several parts of a tile's terms goes to the result with the sums before it.
// Where nothing follows, tiles may end behind the last element.
bool finishes_tiles(const Contraction& contraction, const ContractionShapes& shapes, bool ends_here) {
  return may_store_tiles(contraction) && !shapes.asks && !shapes.summed.whole() &&
         shapes.summed.has_known_parts() &&
         (ends_here || (shapes.rows.in_whole_tiles(shapes.tile.rows) &&
                        shapes.columns.in_whole_tiles(shapes.tile.columns())));
}

// How many rows of tiles read the right factor where it is; any number when it is as small as that.
constexpr std::int64_t most_direct_rows = 2;
constexpr std::int64_t small_factor_bytes = 1 << 14;

// Whether the factor is a load that runs along `axis` and has that nowhere else.
bool runs_along(const Scalar& factor, const Axis* axis) {
  const auto* loaded = factor.as<Load>();
  if (!loaded || loaded->indices.empty()) return false;
  const std::size_t along = dimension_along_memory(*loaded->buffer);
  const auto var = loaded->indices[along].as_var();
  if (!var || (*var != axis->var && *var != axis->loop->var)) return false;
  std::vector<ScalarVar> others;
  for (std::size_t d = 0; d < along; ++d) collect_vars(loaded->indices[d], others);
  return std::none_of(others.begin(), others.end(),
                      [&](const ScalarVar& other) { return other == axis->var || other == axis->loop->var; });
}

// The rows of a tile, so many at most, that read the right factor where it is: of few rows one tile or two,
// of more a part that goes into them.
std::int64_t direct_rows(std::int64_t rows, std::int64_t most) {
  if (rows <= 12 * most_direct_rows) {
    const std::int64_t in_tile = rows > 12 ? rounds_of(rows, most_direct_rows) : rows;
    return in_tile <= most ? in_tile : 0;
  }
  for (std::int64_t in_tile = std::min<std::int64_t>(most, 12); in_tile > 3; --in_tile)
    if (rows % in_tile == 0) return in_tile;
  return 0;
}

// Whether few rows, or a small right factor, meet whole tiles of columns, which are then chosen.
bool reads_directly(const Contraction& contraction, ContractionShapes& shapes, std::int64_t lanes,
                    std::int64_t registers, std::int64_t most, std::int64_t bytes) {
  const std::int64_t columns = extent_of(shapes.columns.cut), rows = shapes.rows.size();
  const Blocked& summed = shapes.summed;
  const bool small = summed.whole() && summed.known() && shapes.columns.known() && columns <= most &&
                     summed.size() * columns * bytes <= small_factor_bytes;
  if (!shapes.columns.known() || contraction.columns.size() > 1 || contraction.summed.size() > 1 ||
      contraction.guard.defined() || shapes.rows.rounds() > 1 || (rows > 12 * most_direct_rows && !small) ||
      !runs_along(contraction.right, shapes.columns.cut))
    return false;
  for (std::int64_t vectors = 4; vectors > 0; --vectors) {
    const std::int64_t wide = vectors * lanes;
    const std::int64_t in_tile = direct_rows(rows, std::max<std::int64_t>(registers * 5 / 8, 1) / vectors);
    if (columns % wide != 0 || in_tile == 0) continue;
    shapes.tile = {in_tile, vectors, lanes};
    shapes.columns.chunk = wide;
    for (std::int64_t chunk = wide; chunk <= std::min(most, columns); chunk += wide)
      if (columns % chunk == 0) shapes.columns.chunk = chunk;
    return true;
  }
  return false;
}

// What a panel of all of a factor may hold.
constexpr std::int64_t most_of_a_factor = 1 << 23;

// Whether the factor with these axes has known sizes, fits into one panel, and is used by several blocks of
// the other one.
bool fits_at_once(const Blocked& own, const Blocked& other, const Blocked& summed, std::int64_t tile) {
  const bool several = other.rounds() > 1 || !other.around.empty();
  if (!several || !own.known() || !own.around.empty() || !summed.known() ||
      !std::all_of(summed.around.begin(), summed.around.end(), is_known))
    return false;
  std::int64_t size = 0;
  return !__builtin_mul_overflow(own.rounds() * (own.size() + tile), summed.parts() * summed.size(), &size) &&
         size <= most_of_a_factor;
}

// So many lines of a first cache hold the terms of a tile's rows, where those lie side by side.
constexpr std::int64_t most_lines_of_terms = 64;
// A left factor that a few blocks of columns use is not worth a copy, when its terms lie side by side.
constexpr std::int64_t most_direct_blocks = 4;

// By how many bytes a step along the axis moves the factor, of which it is one index; 0 when it is none or
// only the run knows.
std::int64_t bytes_along(const Load& loaded, const Axis* axis, std::int64_t bytes) {
  std::int64_t stride = bytes;
  for (std::size_t d = loaded.indices.size(); d-- > 0;) {
    if (is_axis(loaded.indices[d], axis)) return stride;
    const auto extent = loaded.buffer->shape()[d].as_int();
    if (!extent || __builtin_mul_overflow(stride, *extent, &stride)) return 0;
  }
  return 0;
}

// Whether too many of so many steps along the axis fall into the same lines of a cache, or may do so.
bool in_same_lines(const Load& loaded, const Axis* axis, std::int64_t steps, std::int64_t bytes) {
  const std::int64_t stride = bytes_along(loaded, axis, bytes);
  return stride == 0 || steps * std::gcd(stride, bytes_of_places) > most_lines_in_place * bytes_of_places;
}

// Whether all terms of a row lie side by side, and few blocks read them: then the rows need not be whole
// tiles.
bool reads_filters_directly(const Contraction& contraction, const ContractionShapes& shapes) {
  return contraction.summed.size() > 1 && ends_with(*contraction.left.as<Load>(), contraction.summed) &&
         shapes.summed.known() && shapes.columns.known() && shapes.columns.around.empty() &&
         shapes.columns.rounds() <= most_direct_blocks && shapes.rows.known() && shapes.rows.inside.empty();
}

// Whether the left factor can be read where it is. Its rows are whole tiles, one column of blocks uses it,
// and its terms lie side by side, or its rows do and the terms are few; or the terms of filters lie side by
// side. What a tile reads does not all fall into the same lines of a cache.
bool reads_left_directly(const Contraction& contraction, const ContractionShapes& shapes,
                         std::int64_t bytes) {
  const auto* loaded = contraction.left.as<Load>();
  if (!loaded || (contraction.guard.defined() && contraction.guards_left) || contraction.rows.size() > 1)
    return false;
  const bool plain = !contraction.guard.defined() && contraction.summed.size() == 1 &&
                     shapes.columns.rounds() == 1 && shapes.columns.around.empty() &&
                     shapes.rows.in_whole_tiles(shapes.tile.rows);
  const bool by_terms = (plain && runs_along(contraction.left, shapes.summed.cut)) ||
                        reads_filters_directly(contraction, shapes);
  const bool by_rows = plain && runs_along(contraction.left, shapes.rows.cut) && shapes.summed.known() &&
                       shapes.summed.whole() && shapes.summed.size() <= most_lines_of_terms;
  if (!by_terms && !by_rows) return false;
  return !in_same_lines(*loaded, by_terms ? shapes.rows.cut : shapes.summed.cut,
                        by_terms ? shapes.tile.rows : shapes.summed.size(), bytes);
}

// So many blocks of columns where one block would hold all: a task of the threads each.
constexpr std::int64_t most_column_blocks = 8;

// Cuts the columns of what would be one block, so that each block copies the columns that it uses, on the
// thread that uses them. False where it stays one.
bool cut_columns(const Contraction& contraction, ContractionShapes& shapes) {
  Blocked& columns = shapes.columns;
  const std::int64_t in_tile = shapes.tile.columns();
  if (!contraction.around.empty() || shapes.in_windows() || shapes.left_in_windows() ||
      !shapes.rows.known() || !shapes.rows.whole() || !columns.known() || !columns.whole() ||
      !columns.inside.empty() || extent_of(columns.cut) % in_tile != 0)
    return false;
  const std::int64_t tiles = extent_of(columns.cut) / in_tile;
  columns.chunk = in_tile * rounds_of(tiles, most_column_blocks);
  return tiles > 1;
}

// So many rows, or less, stay in the cache of a core while one block of columns after the other reads them.
constexpr std::int64_t most_rows_of_columns = 256;

// Rows of a block, where each part of the terms goes over all of them, and how many such blocks there are.
constexpr std::int64_t rows_of_part = 32, least_blocks_of_part = 8;
// Fewer columns read a row too seldom for a copy of its own.
constexpr std::int64_t least_columns_of_part = 64;

std::int64_t in_whole_tiles(std::int64_t most, std::int64_t tile) {
  return std::max(most / tile * tile, tile);
}

// Whether both factors stay in the cache that a core has for itself, with what is made of them.
bool stays_in_cache(const Contraction& contraction, const Target& target, std::int64_t bytes) {
  std::int64_t elements = 0;
  return !__builtin_add_overflow(elements_of_axes(contraction.rows), elements_of_axes(contraction.columns),
                                 &elements) &&
         !__builtin_mul_overflow(elements, elements_of_axes(contraction.summed), &elements) &&
         elements <= target.private_cache_bytes * 3 / 4 / bytes;
}

// Whether the sums so far are few enough for a buffer of their own, where the result may not hold them.
bool keeps_few_sums(const Contraction& contraction, const ContractionShapes& shapes) {
  if (shapes.summed.whole() || (contraction.ends_here && contraction.begins_with_zero())) return true;
  std::int64_t sums = 0;
  return !__builtin_mul_overflow(elements_of_axes(contraction.rows), shapes.columns.size(), &sums) &&
         sums <= most_of_a_factor;
}

// Of rows whose number only the run knows no buffer holds sums, but the result may.
bool may_be_open(const Contraction& contraction) {
  return contraction.rows.size() == 1 && contraction.ends_here && contraction.begins_with_zero();
}

// Lets each part of the terms go over all rows, where these are many and the sums of a tile need nothing but
// the tile: so nothing is copied to memory and read from there again. False where that is not so.
bool go_in_parts(const Contraction& contraction, ContractionShapes& shapes, const Target& target,
                 std::int64_t bytes) {
  if (!contraction.around.empty() || contraction.guard.defined() || shapes.direct || shapes.in_windows() ||
      shapes.left_in_windows() || contraction.columns.size() != 1 || !shapes.columns.known() ||
      !shapes.summed.has_known_parts() || !(shapes.rows.has_known_parts() || may_be_open(contraction)) ||
      extent_of(contraction.columns.front()) < least_columns_of_part ||
      stays_in_cache(contraction, target, bytes))
    return false;
  ContractionShapes in_parts = shapes;
  Blocked &rows = in_parts.rows, &columns = in_parts.columns;
  const std::int64_t most_columns = target.private_cache_bytes / (2 * terms_in_part * bytes);
  in_parts.tile =
      best_tile({rows_of_part, std::min(extent_of(columns.cut), most_columns), shapes.summed.size(),
                 shapes.tile.lanes, bytes, rows.known() ? extent_of(contraction.rows.back()) : 0,
                 rows.known() ? extent_of(columns.cut) : 0},
                target);
  const RegisterTile& tile = in_parts.tile;
  rows = blocked(contraction.rows, in_whole_tiles(rows_of_part, tile.rows));
  columns = blocked(contraction.columns, in_whole_tiles(most_columns, tile.columns()));
  balance(columns, columns.rounds());
  if (columns.rounds() > 1) round_up_to_tiles(columns, tile.columns());
  if (rows.parts() < least_blocks_of_part || !rows.inside.empty()) return false;
  in_parts.left_direct = in_parts.left_once = in_parts.right_once = false;
  const bool whole = rows.in_whole_tiles(tile.rows) && columns.in_whole_tiles(tile.columns());
  in_parts.stores_tiles =
      may_store_tiles(contraction) && in_parts.summed.whole() && (whole || contraction.ends_here);
  in_parts.asks = asks(contraction, in_parts);
  in_parts.finishes_tiles = finishes_tiles(contraction, in_parts, contraction.ends_here);
  in_parts.parts_first = true;
  if (!(in_parts.stores_tiles || in_parts.asks || in_parts.finishes_tiles) ||
      !keeps_few_sums(contraction, in_parts))
    return false;
  shapes = in_parts;
  return true;
}

// Elements that are one axis, of a factor without a guard, are copied tile by tile.
bool in_tiles(const Contraction& contraction, const Blocked& elements, bool left) {
  return elements.inside.empty() && !(contraction.guard.defined() && contraction.guards_left == left);
}

}  // namespace

std::int64_t Blocked::parts() const {
  std::int64_t all = rounds();
  for (const Axis* axis : around)
    if (__builtin_mul_overflow(all, extent_of(axis), &all)) return INT64_MAX / 4;
  return all;
}

bool ends_with(const Load& loaded, const std::vector<const Axis*>& terms) {
  if (loaded.indices.empty()) return false;
  const std::size_t count = dimension_along_memory(*loaded.buffer) + 1;
  if (count <= terms.size()) return false;
  const std::size_t first = count - terms.size();
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (!is_axis(loaded.indices[first + i], terms[i]) ||
        (i > 0 && loaded.buffer->shape()[first + i].as_int() != extent_of(terms[i])))
      return false;
  return true;
}

bool ContractionShapes::small_beside_sums(const std::vector<const Axis*>& terms, bool of_columns) const {
  std::int64_t size = smaller_part * (of_columns ? columns : rows).size();
  for (const Axis* axis : terms)
    if (__builtin_mul_overflow(size, extent_of(axis), &size)) return false;
  return size <= rows.size() * columns.size();
}

bool moves_along(const Scalar& factor, const Axis* axis) {
  const auto* loaded = factor.as<Load>();
  if (!loaded || loaded->indices.empty()) return true;
  std::vector<ScalarVar> vars;
  collect_vars(loaded->indices[dimension_along_memory(*loaded->buffer)], vars);
  return std::any_of(vars.begin(), vars.end(),
                     [&](const ScalarVar& var) { return var == axis->var || var == axis->loop->var; });
}

bool turns_sums(const Contraction& contraction, const ContractionShapes& shapes) {
  const Store& store = *contraction.nest->store;
  return shapes.left_in_windows() &&
         !is_axis(store.indices[dimension_along_memory(store.buffer)], contraction.columns.back());
}

ContractionShapes shapes_of(const Contraction& contraction, const Target& target) {
  const auto bytes = static_cast<std::int64_t>(size_of(contraction.nest->store->buffer.dtype()));
  const std::int64_t lanes = target.vector_bytes / bytes;
  // Panels and sums of a block stay in the cache that a core has for itself.
  const std::int64_t most =
      std::clamp<std::int64_t>(target.private_cache_bytes / (4 * terms_in_part * bytes), 8, most_of_block);
  ContractionShapes shapes;
  Blocked &rows = shapes.rows, &columns = shapes.columns;
  rows = blocked(contraction.rows, most_rows_of_block(contraction, most, target, bytes));
  columns = blocked(contraction.columns, most);
  // Every block of rows reads all columns: of many rows, blocks are larger ones, so that a panel that no
  // private cache holds comes from memory less often. Half of the cache has the rows, the rest fewer columns
  // and the sums of both.
  const std::int64_t tall = std::min(extent_of(rows.cut) / least_tall_blocks,
                                     target.private_cache_bytes / (2 * terms_in_part * bytes));
  if (contraction.rows.size() == 1 && rows.known() && tall > rows.chunk) {
    rows = blocked(contraction.rows, tall);
    columns = blocked(contraction.columns, most / 2);
  }
  shapes.summed = parts_of(contraction.summed);
  const std::int64_t rounds = rows.rounds();
  balance(rows, rounds > 1 && rounds < 8 ? rounds + rounds % 2 : rounds);
  balance(columns, columns.rounds());
  const bool stores = may_store_tiles(contraction) && shapes.summed.whole();
  const bool by_tiles = stores || (contraction.reads_elements && shapes.summed.whole());
  const bool may_be_whole = by_tiles && rows.known() && columns.known() && rows.inside.empty();
  const TileTask task{rows.known() ? rows.size() : std::min(rows.size(), guessed_rows),
                      columns.size(),
                      shapes.summed.size(),
                      lanes,
                      bytes,
                      may_be_whole ? extent_of(rows.cut) : 0,
                      may_be_whole ? extent_of(columns.cut) : 0,
                      0,
                      rows.known() && contraction.windows.empty() && contraction.meetings.empty() &&
                              !runs_by_rows(contraction) && in_tiles(contraction, rows, true)
                          ? extent_of(rows.cut)
                          : 0};
  shapes.tile = best_tile(task, target);
  shapes.direct = reads_directly(contraction, shapes, lanes, target.vector_registers, most, bytes);
  shapes.right = in_tiles(contraction, columns, false) ? PanelOrder::ByTile : PanelOrder::ByTerm;
  try_windows(contraction, shapes, task, target);
  try_left_windows(contraction, shapes, task, target);
  const bool windows = shapes.right == PanelOrder::ByWindow;
  const RegisterTile& tile = shapes.tile;
  const auto stored = [&] {
    const bool in_one_vector = columns.known() && columns.inside.empty() && columns.rounds() == 1 &&
                               tile.vectors == 1 && columns.size() < tile.columns();
    return stores && rows.in_whole_tiles(tile.rows) &&
           (columns.in_whole_tiles(tile.columns()) || in_one_vector);
  };
  shapes.stores_tiles = stored();
  if (!shapes.left_in_windows())
    shapes.left = runs_by_rows(contraction)           ? PanelOrder::ByElement
                  : in_tiles(contraction, rows, true) ? PanelOrder::ByTile
                                                      : PanelOrder::ByTerm;
  if (shapes.direct) {
    shapes.left_direct = reads_left_directly(contraction, shapes, bytes);
    shapes.asks = asks(contraction, shapes);
    shapes.finishes_tiles = finishes_tiles(contraction, shapes, false);
    return shapes;
  }
  if (rows.inner == 1 && rows.rounds() > 1 && !shapes.left_in_windows()) round_up_to_tiles(rows, tile.rows);
  if (columns.inner == 1 && columns.rounds() > 1 && !windows) round_up_to_tiles(columns, tile.columns());
  if (go_in_parts(contraction, shapes, target, bytes)) return shapes;
  shapes.stores_tiles = stored();
  shapes.left_direct = !shapes.left_in_windows() && reads_left_directly(contraction, shapes, bytes);
  const bool cut = cut_columns(contraction, shapes);
  shapes.left_once = !shapes.left_direct && !shapes.left_in_windows() &&
                     fits_at_once(rows, columns, shapes.summed, tile.rows);
  if (cut && !shapes.left_direct && !shapes.left_once) columns.chunk = extent_of(columns.cut);
  shapes.right_once = !windows && fits_at_once(columns, rows, shapes.summed, tile.columns());
  shapes.asks = asks(contraction, shapes);
  shapes.finishes_tiles = finishes_tiles(contraction, shapes, false);
  return shapes;
}

std::optional<FewRows> few_rows_of(const Contraction& contraction, const ContractionShapes& shapes) {
  const Blocked& columns = shapes.columns;
  const auto* loaded = contraction.left.as<Load>();
  const std::int64_t in_tile = shapes.tile.columns();
  const std::int64_t tiles = columns.known() ? rounds_of(extent_of(columns.cut), in_tile) : 0;
  const bool plain = contraction.around.empty() && !contraction.guard.defined() && !shapes.direct &&
                     !shapes.in_windows() && !shapes.left_in_windows() && contraction.rows.size() == 1 &&
                     contraction.columns.size() == 1 && contraction.summed.size() == 1;
  if (!plain || !loaded || shapes.rows.known() || tiles < 2 || extent_of(columns.cut) % in_tile != 0 ||
      !shapes.summed.known() || !runs_along(contraction.left, shapes.summed.cut))
    return std::nullopt;
  const auto bytes = static_cast<std::int64_t>(size_of(contraction.nest->store->buffer.dtype()));
  if (in_same_lines(*loaded, shapes.rows.cut, shapes.tile.rows, bytes)) return std::nullopt;
  FewRows few{shapes, {}};
  few.shapes.rows.chunk = most_rows_of_columns / shapes.tile.rows * shapes.tile.rows;
  few.shapes.columns.chunk = std::min(columns.chunk, in_tile * rounds_of(tiles, most_column_blocks));
  few.shapes.columns_first = few.shapes.left_direct = true;
  few.shapes.parts_first = few.shapes.stores_tiles = few.shapes.finishes_tiles = false;
  few.shapes.left_once = few.shapes.right_once = false;
  few.shapes.left_ahead = few.shapes.right_ahead = few.shapes.rows_ahead =
      few.shapes.columns_ahead = {};  // of panels that these shapes have not
  const Scalar& rows = shapes.rows.cut->loop->extent;
  few.holds = rows < int_literal(rows.dtype(), few.shapes.rows.chunk + 1);
  return few;
}

}  // namespace relish
