// Panels of a contraction: the copies of parts of a factor that its tiles read, and where in them an element
// is.
#pragma once

#include <string>
#include <vector>

#include "schedule/blocks/text.h"
#include "schedule/shapes/shapes.h"

namespace relish {

// An element of a block: where it is among all, and in which tile at which place.
struct BlockPlace {
  Scalar among_all, tile, inside;
};

// One part of the terms of one block, or all parts of all blocks one behind the other.
class Panel {
 public:
  Panel() = default;
  // `name`: of the buffer. `elements`: rows or columns; `in_tile`: how many of them a tile has.
  Panel(const BlockText& text, const std::string& name, DType dtype, PanelOrder order,
        const Blocked& elements, const Blocked& summed, std::int64_t in_tile, std::int64_t lanes, bool all);

  const Buffer& buffer() const { return buffer_; }
  PanelOrder order() const { return order_; }
  std::int64_t in_tile() const { return in_tile_; }
  // The indices of a term of that part and an element of that block; undefined rounds are the only ones.
  std::vector<Scalar> at(const Scalar& block, const Scalar& part, const Scalar& term,
                         const BlockPlace& element) const;

 private:
  Buffer buffer_;
  PanelOrder order_ = PanelOrder::ByTerm;
  bool all_ = false;
  std::int64_t parts_ = 1, terms_ = 1, elements_ = 1, in_tile_ = 1;
};

// The places of windows, for each term that adds to no column: one run of memory, in which the columns of a
// tile lie side by side, beginning at their terms.
class WindowPanel {
 public:
  WindowPanel() = default;
  WindowPanel(const BlockText& text, const std::string& name, DType dtype,
              const std::vector<WindowAxis>& windows, const Blocked& columns, const Blocked& summed,
              const RegisterTile& tile, std::int64_t segment);

  const Buffer& buffer() const { return buffer_; }
  // The indices of a column of a tile and a term of the part. `terms`: variables of the axes of the part, in
  // its order.
  std::vector<Scalar> at(const BlockText& text, const std::vector<Scalar>& terms, const Scalar& tile,
                         const Scalar& column) const;
  // Of tiles that are parts of segments: the place of all columns of a tile along each window outside, in the
  // block; the first windows, as many as there are results.
  std::vector<Scalar> outside_of(const BlockText& text, const Scalar& tile) const;
  // The indices of places, and how many of them there are along the first axis: those behind the last that is
  // seen are computed with and never used.
  std::vector<Scalar> places(const BlockText& text, const std::vector<Scalar>& terms,
                             const std::vector<Scalar>& places) const;
  std::int64_t rows() const { return rows_; }
  const std::vector<WindowAxis>& windows() const { return windows_; }
  // Whether that axis of the part adds to a column.
  bool shifts(std::size_t term) const { return of_term_[term] != none; }

 private:
  Scalar outside(const BlockText& text, const std::vector<Scalar>& terms) const;

  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::vector<WindowAxis> windows_;
  std::vector<std::int64_t> strides_;  // by window
  std::vector<std::size_t> of_term_;   // by axis of the part: the window whose column it adds to
  std::vector<std::int64_t> extents_;  // by axis of the part
  std::int64_t rows_ = 1, outside_ = 1;
  std::int64_t in_tile_ = 1, in_segment_ = 0;  // columns of a tile; tiles of a segment, 0: one of all
  std::size_t outer_ = 0;                      // so many windows are outside of segments
  Buffer buffer_;
};

// The places of a left factor of windows: an index for each row and term that meet, and for each axis that
// goes alone, in the order in which the factor runs through memory.
class MeetingPanel {
 public:
  // An index: of a row of the block, of a term of the part, or of both.
  struct Dimension {
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::size_t row = none, term = none;  // by axis of the block, and of the part: the cut one is first
    Meeting meeting;                      // of both
    std::int64_t terms = 1;               // of both: how many the part has
    std::int64_t seen = 1, all = 1;       // places, and those in whole tiles
    const Axis* axis() const { return meeting.row; }
  };

  MeetingPanel() = default;
  MeetingPanel(const BlockText& text, const std::string& name, DType dtype, const Contraction& contraction,
               const ContractionShapes& shapes);

  const Buffer& buffer() const { return buffer_; }
  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  // Whether it has places that no part writes: those of a padding, and behind the last that is seen.
  bool has_padding() const { return padded_; }
  // The indices of a row of the block and a term of the part, both by places of their axes.
  std::vector<Scalar> at(const BlockText& text, const std::vector<Scalar>& rows,
                         const std::vector<Scalar>& terms) const;

 private:
  std::vector<Dimension> dimensions_;
  Buffer buffer_;
  bool padded_ = false;
};

}  // namespace relish
