// Bounds of views whose sizes are numbers.
#include "ir/verify/view_bounds.h"

#include <fmt/format.h>

namespace relish {
namespace {

std::optional<std::string> fault_of_region(const BufferRegion& region) {
  for (std::size_t d = 0; d < region.dims.size() && d < region.buffer.shape().size(); ++d) {
    const auto begin = region.dims[d].begin.as_int(), extent = region.dims[d].extent.as_int();
    const auto size = region.buffer.shape()[d].as_int();
    if (!begin || !extent || !size) continue;
    if (*begin < 0 || *extent < 0 || *extent > *size || *begin > *size - *extent) {
      return fmt::format("found {} elements from {} in dimension {} of a region of {}, which has {}", *extent,
                         *begin, d, region.buffer.name(), *size);
    }
  }
  return std::nullopt;
}

// Leading dimensions of extent 1 may be left out of the view.
std::optional<std::string> fault_of_shape(const BufferView& view) {
  const std::vector<Scalar>& shape = view.buffer.shape();
  const std::vector<RegionDim>& dims = view.region->dims;
  if (shape.size() > dims.size()) return std::nullopt;
  const std::size_t skipped = dims.size() - shape.size();
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const auto extent = dims[d].extent.as_int();
    const auto given = d < skipped ? std::optional<std::int64_t>(1) : shape[d - skipped].as_int();
    if (extent && given && *extent != *given) {
      return fmt::format("found the extent {} of the view {} for dimension {} of a region, which has {}",
                         *given, view.buffer.name(), d, *extent);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> fault_of_view(const BufferView& view) {
  if (view.region) {
    auto fault = fault_of_region(*view.region);
    return fault ? fault : fault_of_shape(view);
  }
  const Buffer& source = view.source;
  if (source.is_pointer() || !source.strides().empty() || source.elem_offset().defined()) return std::nullopt;
  std::int64_t size = 1;
  for (const Scalar& dim : source.shape())
    if (!dim.as_int() || __builtin_mul_overflow(size, *dim.as_int(), &size)) return std::nullopt;
  std::int64_t last = 0, next = 1;
  if (const Scalar& offset = view.buffer.elem_offset(); offset.defined()) {
    if (!offset.as_int()) return std::nullopt;
    last = *offset.as_int();
  }
  const std::vector<Scalar>& shape = view.buffer.shape();
  for (std::size_t d = shape.size(); d-- > 0;) {
    const auto extent = shape[d].as_int();
    const auto stride =
        view.buffer.strides().empty() ? std::optional(next) : view.buffer.strides()[d].as_int();
    if (!extent || *extent <= 0 || !stride || *stride < 0) return std::nullopt;
    // Beyond 64 bits the nearest number, which is outside of any source.
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(*extent - 1, *stride, &reach)) reach = INT64_MAX;
    if (__builtin_add_overflow(last, reach, &last)) last = INT64_MAX;
    if (__builtin_mul_overflow(next, *extent, &next)) next = INT64_MAX;
  }
  if (last >= 0 && last < size) return std::nullopt;
  return fmt::format("found the view {} that reaches element {} of {}, which has {}", view.buffer.name(),
                     last, source.name(), size);
}

}  // namespace relish
