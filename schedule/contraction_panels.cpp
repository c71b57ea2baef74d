// Where the elements of a panel lie.
#include "schedule/contraction_panels.h"

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
  }
  return indices;
}

}  // namespace relish
