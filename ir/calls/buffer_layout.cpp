// Layouts of buffer parameters.
#include "ir/calls/buffer_layout.h"

#include <fmt/format.h>

namespace relish {

void bind_layout(const Buffer& buffer, const Shape& shape, SymbolValues& symbols) {
  const Shape strides = row_major_strides(shape);
  for (std::size_t d = 0; d < buffer.strides().size() && d < strides.size(); ++d)
    if (const auto var = buffer.strides()[d].as_var()) symbols.emplace(var->id(), strides[d]);
  if (!buffer.elem_offset().defined()) return;
  if (const auto var = buffer.elem_offset().as_var()) symbols.emplace(var->id(), 0);
}

void check_layout(const Buffer& buffer, const Shape& shape, const SymbolValues& symbols,
                  ErrorClass error_class, Span span, std::string_view what) {
  const auto value = [&](const Scalar& scalar) {
    return evaluate_int(scalar, [&](const ScalarVar& var) -> std::optional<std::int64_t> {
      const auto found = symbols.find(var.id());
      return found == symbols.end() ? std::nullopt : std::optional(found->second);
    });
  };
  const Shape strides = row_major_strides(shape);
  for (std::size_t d = 0; d < buffer.strides().size() && d < strides.size(); ++d) {
    const auto declared = value(buffer.strides()[d]);
    if (shape[d] <= 1 || declared == strides[d]) continue;
    fail(error_class, span, "buffer.strides",
         fmt::format("{} declares stride {} for dimension {}; the tensor is row-major, with {}", what,
                     declared ? std::to_string(*declared) : "unknown", d, strides[d]));
  }
  if (!buffer.elem_offset().defined()) return;
  const auto offset = value(buffer.elem_offset());
  if (offset == 0) return;
  fail(error_class, span, "buffer.offset",
       fmt::format("{} declares elem_offset {}; a tensor begins at 0", what,
                   offset ? std::to_string(*offset) : "unknown"));
}

}  // namespace relish
