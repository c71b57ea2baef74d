// Where the elements of a panel lie.
#include "schedule/contraction_panels.h"

#include <algorithm>

namespace relish {
namespace {

// Rows that are a power of two apart would all fall into the same lines of a cache.
std::int64_t padded(std::int64_t terms, std::int64_t lanes) {
  return terms % (8 * lanes) == 0 ? terms + lanes : terms;
}

}  // namespace

Panel::Panel(const BlockText& text, const std::string& name, DType dtype, PanelOrder order,
             const Blocked& elements, const Blocked& summed, std::int64_t in_tile, std::int64_t lanes,
             bool all)
    : order_(order),
      all_(all),
      parts_(all ? summed.rounds() : 1),
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
      shape.push_back(text.number(terms_));
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
  if (all_ && part.defined()) indices.push_back(part);
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
                         const Blocked& summed, const RegisterTile& tile)
    : windows_(windows), strides_(windows.size(), 1) {
  for (std::size_t i = windows.size() - 1; i > 0; --i) strides_[i - 1] = strides_[i] * columns.spans[i - 1];
  std::int64_t read = rounds_of(columns.size(), tile.columns()) * tile.columns();
  for (std::size_t i = 0; i < windows.size(); ++i) read += (windows[i].places(1) - 1) * strides_[i];
  rows_ = rounds_of(read, strides_[0]);
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
                                    const Scalar& column) const {
  std::int64_t first = 0;
  for (std::size_t i = 0; i < windows_.size(); ++i) first += windows_[i].first() * strides_[i];
  Scalar place = first == 0 ? column : column + text.number(first);
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (shifts(i))
      place = place + text.times(terms[i], windows_[of_term_[i]].spacing * strides_[of_term_[i]]);
  std::vector<Scalar> indices;
  if (outside_ > 1) indices.push_back(outside(text, terms));
  indices.push_back(place);
  return indices;
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

}  // namespace relish
