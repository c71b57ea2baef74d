// Where the elements of a panel lie.
#include "schedule/blocks/panels.h"

#include <algorithm>
#include <numeric>

namespace relish {
namespace {

// Rows that are a power of two apart would all fall into the same lines of a cache.
std::int64_t padded(std::int64_t terms, std::int64_t lanes) {
  return terms % (8 * lanes) == 0 ? terms + lanes : terms;
}

// A line of a cache, and so many of them that tiles as far apart fall into a few places of the first one.
constexpr std::int64_t line_bytes = 64, lines_apart = 8;

// The terms of a tile, with some that nothing uses behind them: a copy goes from tile to tile, and where a
// tile takes less than a line of a term, the line must be there still when its next term comes.
std::int64_t terms_apart(std::int64_t terms, std::int64_t term_bytes) {
  if (term_bytes >= line_bytes || terms * term_bytes % (lines_apart * line_bytes) != 0) return terms;
  return terms + line_bytes / std::gcd(line_bytes, term_bytes);
}

}  // namespace

Panel::Panel(const BlockText& text, const std::string& name, DType dtype, PanelOrder order,
             const Blocked& elements, const Blocked& summed, std::int64_t in_tile, std::int64_t lanes,
             bool all)
    : order_(order),
      all_(all),
      parts_(all ? summed.parts() : 1),
      terms_(summed.size()),
      elements_(rounds_of(elements.size(), in_tile) * in_tile),
      in_tile_(in_tile) {
  std::vector<Scalar> shape;
  const auto dimension = [&](std::int64_t extent) {
    if (extent > 1) shape.push_back(text.number(extent));
  };
  if (all) {
    dimension(elements.rounds());
    dimension(parts_);
  }
  switch (order) {
    case PanelOrder::ByElement:
      shape.push_back(text.number(elements_));
      shape.push_back(text.number(padded(terms_, lanes)));
      break;
    case PanelOrder::ByTerm:
      shape.push_back(text.number(terms_));
      shape.push_back(text.number(elements_ + lanes));
      break;
    case PanelOrder::ByTile:
      dimension(elements_ / in_tile);
      shape.push_back(text.number(
          elements_ == in_tile ? terms_
                               : terms_apart(terms_, in_tile * static_cast<std::int64_t>(size_of(dtype)))));
      shape.push_back(text.number(in_tile));
      break;
    case PanelOrder::ByWindow:
      break;  // a WindowPanel
  }
  buffer_ = Buffer(name + "_panel", dtype, std::move(shape));
}

std::vector<Scalar> Panel::at(const Scalar& block, const Scalar& part, const Scalar& term,
                              const BlockPlace& element) const {
  std::vector<Scalar> indices;
  if (all_ && block.defined()) indices.push_back(block);
  if (all_ && parts_ > 1) indices.push_back(part);
  switch (order_) {
    case PanelOrder::ByElement:
      indices.push_back(element.among_all);
      indices.push_back(term);
      break;
    case PanelOrder::ByTerm:
      indices.push_back(term);
      indices.push_back(element.among_all);
      break;
    case PanelOrder::ByTile:
      if (elements_ > in_tile_) indices.push_back(element.tile);
      indices.push_back(term);
      indices.push_back(element.inside);
      break;
    case PanelOrder::ByWindow:
      break;
  }
  return indices;
}

WindowPanel::WindowPanel(const BlockText& text, const std::string& name, DType dtype,
                         const std::vector<WindowAxis>& windows, const Blocked& columns,
                         const Blocked& summed, const RegisterTile& tile, std::int64_t segment)
    : windows_(windows), strides_(windows.size(), 1), in_tile_(tile.columns()) {
  for (std::size_t i = windows.size() - 1; i > 0; --i)
    strides_[i - 1] = strides_[i] * windows[i].places(extent_of(windows[i].column));
  if (segment > 0) {
    in_segment_ = segment / in_tile_;
    outer_ = windows.size();
    for (std::int64_t inside = 1; inside < segment; inside *= extent_of(windows[outer_].column)) --outer_;
    rows_ = windows[0].places(columns.chunk);
  } else {
    std::int64_t read = rounds_of(columns.size(), in_tile_) * in_tile_;
    for (std::size_t i = 0; i < windows.size(); ++i) read += (windows[i].places(1) - 1) * strides_[i];
    rows_ = rounds_of(read, strides_[0]);
  }
  // The places of all terms would fall into the same lines of a cache.
  if (rows_ * strides_[0] % (8 * tile.lanes) == 0) ++rows_;
  const auto axis_of_part = [&](const Axis* axis, std::int64_t extent) {
    const auto found = std::find_if(windows.begin(), windows.end(),
                                    [&](const WindowAxis& window) { return window.term == axis; });
    of_term_.push_back(found == windows.end() ? none : static_cast<std::size_t>(found - windows.begin()));
    extents_.push_back(extent);
    if (found == windows.end()) outside_ *= extent;
  };
  axis_of_part(summed.cut, summed.chunk);
  for (std::size_t i = 0; i < summed.inside.size(); ++i) axis_of_part(summed.inside[i], summed.spans[i]);
  std::vector<Scalar> shape;
  if (outside_ > 1) shape.push_back(text.number(outside_));
  shape.push_back(text.number(rows_ * strides_[0]));
  buffer_ = Buffer(name + "_windows", dtype, std::move(shape));
}

Scalar WindowPanel::outside(const BlockText& text, const std::vector<Scalar>& terms) const {
  Scalar position;
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (!shifts(i)) position = position.defined() ? position * text.number(extents_[i]) + terms[i] : terms[i];
  return position;
}

std::vector<Scalar> WindowPanel::at(const BlockText& text, const std::vector<Scalar>& terms,
                                    const Scalar& tile, const Scalar& column) const {
  std::int64_t first = 0;
  for (std::size_t i = 0; i < windows_.size(); ++i) first += windows_[i].first() * strides_[i];
  Scalar place = column;
  if (in_segment_ == 0) {
    place = text.times(tile, in_tile_) + place;
  } else {
    // The digits of the tile's number are its segment, by the windows outside, and its place there.
    if (in_segment_ > 1) place = text.times(floor_mod(tile, text.number(in_segment_)), in_tile_) + place;
    const std::vector<Scalar> along = outside_of(text, tile);
    for (std::size_t i = outer_; i-- > 0;)
      place = text.times(along[i], windows_[i].step * strides_[i]) + place;
  }
  if (first != 0) place = place + text.number(first);
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (shifts(i))
      place = place + text.times(terms[i], windows_[of_term_[i]].spacing * strides_[of_term_[i]]);
  std::vector<Scalar> indices;
  if (outside_ > 1) indices.push_back(outside(text, terms));
  indices.push_back(place);
  return indices;
}

std::vector<Scalar> WindowPanel::outside_of(const BlockText& text, const Scalar& tile) const {
  std::vector<Scalar> along(outer_);
  Scalar rest = in_segment_ > 1 ? floor_div(tile, text.number(in_segment_)) : tile;
  for (std::size_t i = outer_; i-- > 0;) {
    const Scalar extent = text.number(extent_of(windows_[i].column));
    along[i] = i > 0 ? floor_mod(rest, extent) : rest;
    if (i > 0) rest = floor_div(rest, extent);
  }
  return along;
}

std::vector<Scalar> WindowPanel::places(const BlockText& text, const std::vector<Scalar>& terms,
                                        const std::vector<Scalar>& places) const {
  Scalar place;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Scalar along = text.times(places[i], strides_[i]);
    place = place.defined() ? place + along : along;
  }
  std::vector<Scalar> indices;
  if (outside_ > 1) indices.push_back(outside(text, terms));
  indices.push_back(place);
  return indices;
}

namespace {

// The axes of a block in their order.
std::vector<const Axis*> axes_of(const Blocked& blocks) {
  std::vector<const Axis*> axes{blocks.cut};
  axes.insert(axes.end(), blocks.inside.begin(), blocks.inside.end());
  return axes;
}
std::int64_t length_of(const Blocked& blocks, std::size_t axis) {
  return axis == 0 ? blocks.chunk : extent_of(blocks.inside[axis - 1]);
}

// By which index of its load the factor moves with the axis; behind all when by none.
std::size_t position_in(const Scalar& factor, const Axis* axis) {
  const auto* chosen = factor.as<Select>();
  const auto* loaded = chosen ? chosen->a.as<Load>() : factor.as<Load>();
  if (!loaded) return 0;
  for (std::size_t d = 0; d < loaded->indices.size(); ++d) {
    std::vector<ScalarVar> vars;
    collect_vars(loaded->indices[d], vars);
    if (std::any_of(vars.begin(), vars.end(),
                    [&](const ScalarVar& var) { return var == axis->var || var == axis->loop->var; }))
      return d;
  }
  return loaded->indices.size();
}

}  // namespace

MeetingPanel::MeetingPanel(const BlockText& text, const std::string& name, DType dtype,
                           const Contraction& contraction, const ContractionShapes& shapes) {
  const std::vector<const Axis*> rows = axes_of(shapes.rows), terms = axes_of(shapes.summed);
  std::vector<bool> met(terms.size(), false);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Dimension dimension;
    dimension.row = r;
    dimension.meeting.row = rows[r];
    for (const Meeting& meeting : contraction.meetings) {
      const auto term = std::find(terms.begin(), terms.end(), meeting.term);
      if (meeting.row != rows[r] || term == terms.end()) continue;
      dimension.meeting = meeting;
      dimension.term = static_cast<std::size_t>(term - terms.begin());
      dimension.terms = length_of(shapes.summed, dimension.term);
      met[dimension.term] = true;
    }
    const std::int64_t length = length_of(shapes.rows, r), each = shapes.row_places[r];
    dimension.seen = dimension.meeting.places(length, dimension.terms);
    dimension.all = dimension.meeting.places(rounds_of(length, each) * each, dimension.terms);
    dimensions_.push_back(dimension);
  }
  for (std::size_t t = 0; t < terms.size(); ++t) {
    if (met[t]) continue;
    Dimension dimension;
    dimension.term = t;
    dimension.meeting.row = terms[t];
    dimension.seen = dimension.all = length_of(shapes.summed, t);
    dimensions_.push_back(dimension);
  }
  std::stable_sort(dimensions_.begin(), dimensions_.end(), [&](const Dimension& a, const Dimension& b) {
    return position_in(contraction.left, a.axis()) < position_in(contraction.left, b.axis());
  });
  padded_ = contraction.guard.defined() ||
            std::any_of(dimensions_.begin(), dimensions_.end(),
                        [](const Dimension& dimension) { return dimension.all != dimension.seen; });
  std::vector<Scalar> shape;
  for (const Dimension& dimension : dimensions_) shape.push_back(text.number(dimension.all));
  buffer_ = Buffer(name + "_windows", dtype, std::move(shape));
}

std::vector<Scalar> MeetingPanel::at(const BlockText& text, const std::vector<Scalar>& rows,
                                     const std::vector<Scalar>& terms) const {
  std::vector<Scalar> indices;
  for (const Dimension& dimension : dimensions_) {
    if (dimension.row == Dimension::none) {
      indices.push_back(terms[dimension.term]);
      continue;
    }
    const Meeting& meeting = dimension.meeting;
    Scalar place = text.times(rows[dimension.row], meeting.row_step);
    if (dimension.term != Dimension::none) {
      const Scalar far = text.times(terms[dimension.term], meeting.reach());
      const std::int64_t first = meeting.first(dimension.terms);
      place = meeting.term_step > 0 ? place + far : place + text.number(first) - far;
    }
    indices.push_back(place);
  }
  return indices;
}

}  // namespace relish
