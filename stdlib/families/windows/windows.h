// Windows that slide over the spatial dimensions of a tensor: what convolutions, pools and resizing share.
// Sizes and paddings are read from attributes here; everything behind works on dimensions in the
// order batch, channels, spatial, whatever the layout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stdlib/families/language/pace.h"
#include "stdlib/families/shapes/layout.h"

namespace relish::windows {

using Sizes = std::vector<std::int64_t>;

// Steps, paddings and sizes of windows are below this, so that places in any tensor that fits memory fit
// int64.
inline constexpr std::int64_t most_step = INT32_MAX;

// The letters of `n` spatial dimensions: "W", "HW", "DHW".
std::string_view spatial_letters(int n);

// The attribute `name`, an int (for every dimension) or a list of one or `n`; rejects by the attribute's name
// what is of another length, below `least` or above most_step.
Sizes sizes(const CallView& call, std::string_view name, int n, std::int64_t least);

// One spatial dimension of a sliding window: position k of window p lies at p * stride - before + k *
// dilation.
struct Axis {
  std::int64_t stride = 1, dilation = 1, before = 0, after = 0;

  Scalar position(const Scalar& p, const Scalar& k) const;
  // How many windows of `kernel` positions fit, by the rule of convolutions (rounded down).
  Scalar count(const Scalar& in, const Scalar& kernel) const;
  // Extent of a window from its first to its last position.
  Scalar span(const Scalar& kernel) const;
};
// From the attributes strides, dilation and padding: one number, `n` (both sides) or 2n (all before, then all
// after). Rejects by the name of each.
std::vector<Axis> axes(const CallView& call, int n);
// Padding as it is printed: all before, then all after.
Attribute padding_attribute(const std::vector<Axis>& axes);
Attribute strides_attribute(const std::vector<Axis>& axes);
Attribute dilation_attribute(const std::vector<Axis>& axes);

// Calls visit(index) for every index of `shape`, in row-major order.
template <class Visit>
void for_each_index(const Shape& shape, Visit&& visit) {
  for (std::int64_t extent : shape) {
    if (extent <= 0) return;
  }
  Shape index(shape.size(), 0);
  Pace pace;
  while (true) {
    visit(static_cast<const Shape&>(index));
    pace();
    std::size_t dim = shape.size();
    while (true) {
      if (dim == 0) return;
      --dim;
      if (++index[dim] < shape[dim]) break;
      index[dim] = 0;
    }
  }
}

// The element of a row-major tensor at an index in the layout's order.
template <class Strides>
std::int64_t offset(const Strides& strides, const Shape& index) {
  std::int64_t result = 0;
  for (std::size_t i = 0; i < index.size(); ++i) result += index[i] * strides[i];
  return result;
}

// Conjunction of conditions; undefined when there are none.
Scalar all_of(const std::vector<Scalar>& conditions);
// value() where the condition holds (or is undefined), else zero of its dtype.
Scalar guarded(const Scalar& condition, const Scalar& value);

// Defaults of attributes as text, by the number of spatial dimensions; the first is for any number of them.
inline constexpr std::string_view default_steps[] = {"1", "[1]", "[1, 1]", "[1, 1, 1]"};
inline constexpr std::string_view default_padding[] = {"0", "[0, 0]", "[0, 0, 0, 0]", "[0, 0, 0, 0, 0, 0]"};
inline constexpr std::string_view default_layout[] = {"\"NCHW\"", "\"NCW\"", "\"NCHW\"", "\"NCDHW\""};

inline constexpr Param data_param = {"data", ParamKind::Tensor, "tensor", "",
                                     "input, in the order of layout"};
constexpr Param layout_param(int rank) {
  return {"layout", ParamKind::Attribute, "str", default_layout[rank], "order of the dimensions of data"};
}
inline constexpr Param out_layout_param = {"out_layout", ParamKind::Attribute, "str or None", "None",
                                           "order of the dimensions of the result; None: as layout"};

}  // namespace relish::windows
