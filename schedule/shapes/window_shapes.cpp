// A panel of windows holds the places between columns (or rows) as well, and sums for these are computed in
// vain: whether that is less work than a copy of each element for each window that sees it.
#include "schedule/shapes/window_shapes.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "schedule/shapes/padding.h"

namespace relish {
namespace {

// Blocks of so many places at most: of images of a batch, and of one image, whose blocks run at once.
constexpr std::int64_t most_places = 1024, most_places_alone = 320;
// What the copy of an element into a panel costs, in products of two vectors.
constexpr double copy_cost = 0.35;

// How many sums are computed for each that is asked for.
double overhead(const Blocked& columns, std::int64_t wanted, std::int64_t in_tile) {
  const double computed = static_cast<double>(columns.rounds()) *
                          static_cast<double>(rounds_of(columns.size(), in_tile) * in_tile);
  return computed / static_cast<double>(wanted);
}

// How many columns lie side by side where a factor has the places of windows; 0: not those of one index.
std::int64_t segment_of(const std::vector<WindowAxis>& windows) {
  std::int64_t segment = 1;
  for (std::size_t i = windows.size(); i-- > 1;) {
    if (windows[i].step != 1) break;
    const std::int64_t extent = extent_of(windows[i].column);
    segment *= extent;
    if (windows[i].places(extent) != extent) break;
  }
  return segment > 1 ? segment : 0;
}

// Segments of that many columns in a block at most, for a part of a private cache: of one image, whose blocks
// run at once, and of the items of a batch, of which a block has many.
constexpr std::int64_t part_of_sums = 4, part_of_item_sums = 2;

// What the copy of an item takes, in products of a vector: it goes through squares of registers. A block
// must have so many products for each copy: with steps, which other ways copy element by element, copies may
// take a tenth of its time; without, what tiles that run on over the ends of rows compute in vain, about a
// fourteenth where an image has fourteen places in a row.
constexpr double copy_of_item = 1, products_of_copy = 14, products_of_step = 10;

// Whether a block computes enough with the items of images to copy each of them by itself. Where it has not
// all rows of the images, their neighbours would be copied with them; rows and columns that change sides are
// quicker then.
bool worth_items(const Contraction& contraction, std::int64_t rows, const Blocked& columns,
                 std::int64_t lanes) {
  double copies = copy_of_item, products = static_cast<double>(rows) / static_cast<double>(lanes);
  bool steps = false, cut = false;
  for (const WindowAxis& window : contraction.windows) {
    const bool all = window.column != columns.cut || columns.chunk == extent_of(columns.cut);
    copies *= all ? static_cast<double>(window.step)
                  : static_cast<double>(window.places(columns.chunk)) / static_cast<double>(columns.chunk);
    products *= static_cast<double>(window.terms);
    steps = steps || window.step != 1;
    cut = cut || !all;
  }
  return !cut && products >= copies * (steps ? products_of_step : products_of_copy);
}

// The part of the terms that count where windows outside of segments of so many columns are at one place.
double share_outside(const Contraction& contraction, std::int64_t segment) {
  double share = 1;
  std::int64_t inside = 1;
  for (std::size_t i = contraction.windows.size(); i-- > 0;) {
    const WindowAxis& window = contraction.windows[i];
    if (inside >= segment && window.term)
      share *= seen_share(contraction.guard, *window.column, *window.term);
    inside *= extent_of(window.column);
  }
  return share;
}

// How many columns at the end have no terms, as the items of a batch have none.
std::int64_t items_of(const std::vector<WindowAxis>& windows) {
  return windows.back().term ? 0 : extent_of(windows.back().column);
}

// Takes columns and tiles of whole segments; false when none is made of whole tiles.
bool takes_segments(const Contraction& contraction, ContractionShapes& shapes, Blocked& columns,
                    TileTask task, const Target& target, std::int64_t most) {
  task.segment = segment_of(contraction.windows);
  if (task.segment == 0 || task.segment % task.lanes != 0) return false;
  columns.inside.clear();
  columns.spans.clear();
  columns.inner = 1;
  for (std::size_t i = 1; i < contraction.windows.size(); ++i) {
    columns.inside.push_back(contraction.windows[i].column);
    columns.spans.push_back(extent_of(contraction.windows[i].column));
    columns.inner *= columns.spans.back();
  }
  const std::int64_t part = contraction.items_last ? part_of_item_sums : part_of_sums;
  most = std::min(most, target.private_cache_bytes / (part * shapes.rows.size() * task.bytes));
  const std::int64_t extent = extent_of(columns.cut);
  columns.chunk = 1;
  for (std::int64_t chunk = 2; chunk <= extent && chunk * columns.inner <= most; ++chunk)
    if (extent % chunk == 0) columns.chunk = chunk;
  if (contraction.items_last && !worth_items(contraction, shapes.rows.size(), columns, task.lanes))
    return false;
  task.columns = columns.size();
  task.stored_rows = task.stored_columns = 0;
  shapes.segment = task.segment;
  TimedTile best = timed_tile(task, target);
  best.cost *= share_outside(contraction, task.segment);
  // Parts of the items alone are at one place of the image, where fewer terms count at its border.
  if (const std::int64_t items = items_of(contraction.windows); items > 0 && items % task.lanes == 0) {
    task.segment = items;
    TimedTile apart = timed_tile(task, target);
    apart.cost *= share_outside(contraction, items);
    if (apart.cost < best.cost) {
      best = apart;
      shapes.segment = items;
    }
  }
  shapes.tile = best.tile;
  shapes.columns = std::move(columns);
  shapes.right = PanelOrder::ByWindow;
  return true;
}

// A tile's places of an axis of rows, and of all axes inside of that all of them; the time of all tiles.
struct PlacedTile {
  TimedTile timed;
  std::vector<std::int64_t> places;  // of the cut axis, then of those inside
  std::vector<std::int64_t> spans;   // of a block, in whole tiles
};

// Chooses tiles whose rows are the same distances apart everywhere.
class PlaceSearch {
 public:
  PlaceSearch(const Contraction& contraction, const Blocked& rows, const TileTask& task, const Target& target)
      : task_(task), target_(target), extents_{rows.chunk}, seen_{share_of(contraction, rows.cut)} {
    for (const Axis* axis : rows.inside) {
      extents_.push_back(extent_of(axis));
      seen_.push_back(share_of(contraction, axis));
    }
  }

  PlacedTile best() {
    std::vector<std::int64_t> places(extents_.size(), 1);
    std::int64_t inner = 1;
    for (std::size_t i = extents_.size(); i-- > 0 && inner <= most_tile_rows;) {
      try_along(i, places, inner);
      places[i] = extents_[i];
      inner *= extents_[i];
    }
    // At one place of all other axes: fewer terms count where it is at the border of an image.
    const std::vector<std::int64_t> alone(extents_.size(), 1);
    for (std::size_t i = 0; i + 1 < extents_.size(); ++i) try_along(i, alone, 1);
    return best_;
  }

 private:
  // The part of the terms that count at the places of an axis.
  static double share_of(const Contraction& contraction, const Axis* axis) {
    for (const Meeting& meeting : contraction.meetings)
      if (meeting.row == axis) return seen_share(contraction.guard, *axis, *meeting.term);
    return 1;
  }

  // Any number of places of that axis, with as many of the others as there are.
  void try_along(std::size_t axis, std::vector<std::int64_t> places, std::int64_t others) {
    for (std::int64_t each = 1; each <= extents_[axis] && each * others <= most_tile_rows; ++each) {
      places[axis] = each;
      std::vector<std::int64_t> spans = extents_;
      spans[axis] = rounds_of(extents_[axis], each) * each;
      std::int64_t all = 1;
      for (const std::int64_t span : spans) all *= span;
      TimedTile timed = best_vectors(task_, each * others, all, target_);
      for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i] == 1) timed.cost *= seen_[i];
      if (timed.cost < best_.timed.cost * 0.999) best_ = {timed, places, spans};
    }
  }

  const TileTask& task_;
  const Target& target_;
  std::vector<std::int64_t> extents_;
  std::vector<double> seen_;  // by axis: the part of the terms that count when a tile is at one place of it
  PlacedTile best_;
};

// Whether a block holds the axis, all of it or a chunk that is the same in every round.
bool holds(const Blocked& blocks, const Axis* axis) {
  return (blocks.cut == axis && blocks.known() && extent_of(axis) % blocks.chunk == 0) ||
         std::find(blocks.inside.begin(), blocks.inside.end(), axis) != blocks.inside.end();
}

// What the copy of an element by itself costs, in products of a vector.
constexpr double copy_of_a_row = 2;

}  // namespace

void try_windows(const Contraction& contraction, ContractionShapes& shapes, TileTask task,
                 const Target& target) {
  if (contraction.windows.empty() || shapes.direct || !shapes.columns.known()) return;
  const Blocked& summed = shapes.summed;
  for (const WindowAxis& window : contraction.windows) {
    const bool inside =
        std::find(summed.inside.begin(), summed.inside.end(), window.term) != summed.inside.end();
    if (window.term && !inside && !(summed.cut == window.term && summed.whole())) return;
  }
  const bool steps = std::any_of(contraction.windows.begin(), contraction.windows.end(),
                                 [](const WindowAxis& window) { return window.step != 1; });
  if (steps && !contraction.items_last) return;
  Blocked columns;
  const std::size_t before = contraction.columns.size() - contraction.windows.size();
  columns.around.assign(contraction.columns.begin(),
                        contraction.columns.begin() + static_cast<std::ptrdiff_t>(before));
  columns.cut = contraction.windows.front().column;
  if (contraction.items_last) {
    takes_segments(contraction, shapes, columns, task, target, most_places);
    return;
  }
  std::int64_t wanted = extent_of(columns.cut);
  for (std::size_t i = 1; i < contraction.windows.size(); ++i) {
    const WindowAxis& window = contraction.windows[i];
    const std::int64_t extent = extent_of(window.column);
    columns.inside.push_back(window.column);
    columns.spans.push_back(window.places(extent));
    wanted *= extent;
    columns.inner *= columns.spans.back();
    if (columns.inner > most_places) return;
  }
  const std::int64_t most = columns.around.empty() ? most_places_alone : most_places;
  RegisterTile tile;
  double least = 1e300;
  const std::int64_t extent = extent_of(columns.cut);
  std::int64_t chosen = 0;
  for (columns.chunk = 1; columns.chunk <= extent; ++columns.chunk) {
    if (extent % columns.chunk != 0 || (columns.size() > most && columns.chunk > 1)) continue;
    task.columns = columns.size();
    const RegisterTile each = best_tile(task, target);
    const double cost = overhead(columns, wanted, each.columns());
    if (cost > least) continue;
    least = cost;
    tile = each;
    chosen = columns.chunk;
  }
  columns.chunk = chosen;
  const std::int64_t all =
      std::accumulate(shapes.columns.spans.begin(), shapes.columns.spans.end(), extent_of(shapes.columns.cut),
                      [](std::int64_t product, std::int64_t span) { return product * span; });
  const double panels = overhead(shapes.columns, all, shapes.tile.columns());
  // All rows share a panel that is copied once, before the blocks.
  std::int64_t rows = shapes.rows.size();
  if (shapes.columns.around.empty() && shapes.rows.known()) rows *= shapes.rows.rounds();
  const double products = static_cast<double>(rows) / static_cast<double>(2 * task.lanes);
  if ((least - panels) * products >= copy_cost) return;
  // Rows of whole tiles need no sums between them.
  if (const std::int64_t segment = segment_of(contraction.windows);
      segment % (2 * task.lanes) == 0 && segment > 0 &&
      takes_segments(contraction, shapes, columns, task, target, most))
    return;
  shapes.columns = std::move(columns);
  shapes.tile = tile;
  shapes.right = PanelOrder::ByWindow;
}

void try_left_windows(const Contraction& contraction, ContractionShapes& shapes, TileTask task,
                      const Target& target) {
  const Blocked& summed = shapes.summed;
  if (contraction.meetings.empty() || shapes.direct || shapes.in_windows() || !holds(summed, summed.cut) ||
      !shapes.rows.known())
    return;
  Blocked rows = shapes.rows;
  while (extent_of(rows.cut) % rows.chunk != 0) --rows.chunk;
  const bool shared = std::any_of(
      contraction.meetings.begin(), contraction.meetings.end(),
      [&](const Meeting& meeting) { return holds(rows, meeting.row) && holds(summed, meeting.term); });
  if (!shared) return;
  task.columns = shapes.columns.size();
  const double plain =
      best_vectors(task, shapes.tile.rows, rounds_of(task.rows, shapes.tile.rows) * shapes.tile.rows, target)
          .cost *
      static_cast<double>(rows.size()) / static_cast<double>(task.rows);
  task.rows = rows.size();
  task.stored_rows = task.stored_columns = 0;
  const PlacedTile placed = PlaceSearch(contraction, rows, task, target).best();
  if (placed.timed.cost > plain + copy_of_a_row * static_cast<double>(rows.size())) return;
  rows.spans.assign(placed.spans.begin() + 1, placed.spans.end());
  rows.inner = std::accumulate(rows.spans.begin(), rows.spans.end(), std::int64_t{1}, std::multiplies<>());
  shapes.rows = std::move(rows);
  shapes.tile = placed.timed.tile;
  shapes.row_places = placed.places;
  shapes.left = PanelOrder::ByWindow;
}

}  // namespace relish
