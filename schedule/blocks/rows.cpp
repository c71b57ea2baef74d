// Loops over tiles of rows, and over the rows of one.
#include "schedule/blocks/rows.h"

namespace relish {

RowTiles::RowTiles(const BlockText& text, const ContractionShapes& shapes, const Scalar& round)
    : text_(text), shapes_(shapes) {
  if (!shapes.left_in_windows()) {
    const ScalarVar tile = text.variable("row_tile");
    loops_.push_back({tile, text.tiles_with_elements(shapes.rows, round, shapes.tile.rows)});
    tiles_.push_back(use(tile));
    among_all_ = use(tile);
    return;
  }
  for (std::size_t i = 0; i <= shapes.rows.inside.size(); ++i) {
    const std::int64_t tiles = rounds_of(places(i), shapes.row_places[i]);
    const ScalarVar tile = text.variable(name(i) + "_tile");
    if (tiles > 1) loops_.push_back({tile, text.number(tiles)});
    tiles_.push_back(tiles > 1 ? use(tile) : Scalar());
    if (tiles > 1) among_all_ = among_all_.defined() ? text.times(among_all_, tiles) + use(tile) : use(tile);
  }
  if (!among_all_.defined()) among_all_ = text.number(0);
}

std::string RowTiles::name(std::size_t axis) const {
  return (axis == 0 ? shapes_.rows.cut : shapes_.rows.inside[axis - 1])->loop->var.name();
}
std::int64_t RowTiles::places(std::size_t axis) const {
  return axis == 0 ? shapes_.rows.chunk : shapes_.rows.spans[axis - 1];
}
Scalar RowTiles::place(std::size_t axis) const {
  if (shapes_.row_places[axis] > 1) return {};
  return tiles_[axis].defined() ? tiles_[axis] : text_.number(0);
}
Scalar RowTiles::unrolled(const std::string& name, std::int64_t extent, std::vector<BlockLoop>& loops) const {
  const ScalarVar var = text_.variable(name);
  loops.push_back({var, text_.number(extent), LoopKind::Unrolled});
  return use(var);
}

TileRow RowTiles::row(std::vector<BlockLoop>& loops) const {
  if (!shapes_.left_in_windows()) {
    const Scalar row = unrolled("row", shapes_.tile.rows, loops);
    return {row, tile() * text_.number(shapes_.tile.rows) + row, {}};
  }
  TileRow row;
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    const std::int64_t each = shapes_.row_places[i];
    Scalar place = tiles_[i].defined() ? text_.times(tiles_[i], each) : Scalar();
    if (each > 1) {
      const Scalar inside = unrolled(name(i) + "_row", each, loops);
      place = place.defined() ? place + inside : inside;
      row.in_tile = row.in_tile.defined() ? row.in_tile * text_.number(each) + inside : inside;
    }
    if (row.in_block.defined()) row.in_block = text_.times(row.in_block, places(i));
    if (place.defined()) row.in_block = row.in_block.defined() ? row.in_block + place : place;
    row.places.push_back(place.defined() ? place : text_.number(0));
  }
  if (!row.in_tile.defined()) row.in_tile = text_.number(0);
  if (!row.in_block.defined()) row.in_block = text_.number(0);
  return row;
}

}  // namespace relish
