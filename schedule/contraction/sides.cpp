// The time that a contraction takes: its sums, the copies of both factors, and of the result where it is
// turned.
#include "schedule/contraction/sides.h"

#include <algorithm>

#include "schedule/shapes/shapes.h"

namespace relish {
namespace {

// What copies take, in products of a vector: an element among neighbours, what a run of them adds, an element
// by itself or where a guard is asked for each, one that passes through squares of registers, and one of a
// result that does.
constexpr double copy_in_a_run = 0.2, begin_of_a_run = 4, copy_alone = 3, copy_in_a_square = 1, turn = 2;
// Less than that is no reason to turn results.
constexpr double worth = 0.97;

double extents_of(const std::vector<const Axis*>& axes) {
  double size = 1;
  for (const Axis* axis : axes) size *= static_cast<double>(extent_of(axis));
  return size;
}

double copies_in_runs(const Axis* along) {
  return copy_in_a_run + begin_of_a_run / static_cast<double>(extent_of(along));
}

// A contraction, its shapes, and what of it is copied how often.
struct Sides {
  const Contraction& contraction;
  const ContractionShapes& shapes;
  const std::vector<Meeting>& met;  // by its columns; those of its rows it has itself

  double row_blocks() const { return blocks_of_axes(shapes.rows); }
  double column_blocks() const { return blocks_of_axes(shapes.columns); }
  double terms() const { return extents_of(contraction.summed); }

  double right() const {
    if (shapes.direct) return 0;
    const auto columns = static_cast<double>(shapes.columns.size());
    if (shapes.in_windows())
      return columns * terms() * shared(met) * row_blocks() * column_blocks() *
             copies_in_runs(contraction.columns.back());
    const double blocks = shapes.right_once ? column_blocks() : row_blocks() * column_blocks();
    const Axis* last = contraction.columns.back();
    if (!moves_along(contraction.right, last) && moves_along(contraction.right, contraction.summed.back()))
      return columns * terms() * blocks * copy_in_a_square;
    const bool guarded = contraction.guard.defined() && !contraction.guards_left;
    const bool along = moves_along(contraction.right, last) && !steps(last) && !guarded;
    return columns * terms() * blocks * (along ? copies_in_runs(last) : copy_alone);
  }
  double left() const {
    if (shapes.left_direct) return 0;
    const auto rows = static_cast<double>(shapes.rows.size());
    if (shapes.left_in_windows())
      return rows * terms() * shared(contraction.meetings) * row_blocks() * column_blocks() *
             copies_in_runs(contraction.rows.back());
    const double blocks = shapes.left_once ? row_blocks() : row_blocks() * column_blocks();
    return rows * terms() * blocks * (runs_by_rows(contraction) ? copy_in_a_run : copy_alone);
  }

 private:
  static double blocks_of_axes(const Blocked& blocks) {
    return extents_of(blocks.around) * static_cast<double>(blocks.rounds());
  }
  // How many places there are for each pair of an element and a term that meet there.
  static double shared(const std::vector<Meeting>& meetings) {
    double part = 1;
    for (const Meeting& meeting : meetings) {
      const std::int64_t elements = extent_of(meeting.row), terms = extent_of(meeting.term);
      part *= static_cast<double>(meeting.places(elements, terms)) / static_cast<double>(elements * terms);
    }
    return part;
  }
  bool steps(const Axis* axis) const {
    return std::any_of(met.begin(), met.end(),
                       [&](const Meeting& meeting) { return meeting.row == axis && meeting.row_step > 1; });
  }
};

double time_of(const Sides& sides, const Target& target) {
  const ContractionShapes& shapes = sides.shapes;
  const Buffer& result = sides.contraction.nest->store->buffer;
  const TileTask task{shapes.rows.size(),
                      shapes.columns.size(),
                      shapes.summed.size(),
                      shapes.tile.lanes,
                      static_cast<std::int64_t>(size_of(result.dtype())),
                      shapes.stores_tiles ? extent_of(shapes.rows.cut) : 0,
                      shapes.stores_tiles ? extent_of(shapes.columns.cut) : 0};
  const double block = tile_cost(task, shapes.tile, shapes.rows_in_tiles(), target);
  double time = sides.row_blocks() * sides.column_blocks() * sides.terms() * block;
  if (turns_sums(sides.contraction, shapes))
    time += turn * extents_of(sides.contraction.rows) * extents_of(sides.contraction.columns);
  return time + sides.left() + sides.right();
}

bool all_known(const Contraction& contraction) {
  return std::all_of(contraction.nest->axes.begin(), contraction.nest->axes.end(),
                     [](const Axis& axis) { return axis.loop->extent.as_int().has_value(); });
}

}  // namespace

bool takes_less_exchanged(const Contraction& contraction, const Contraction& exchanged,
                          const Target& target) {
  if ((contraction.meetings.empty() && exchanged.meetings.empty()) || !all_known(contraction)) return false;
  const ContractionShapes plain = shapes_of(contraction, target), turned = shapes_of(exchanged, target);
  return time_of({exchanged, turned, contraction.meetings}, target) <
         worth * time_of({contraction, plain, exchanged.meetings}, target);
}

}  // namespace relish
