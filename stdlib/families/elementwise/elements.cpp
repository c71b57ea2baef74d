// Conversion of whole tensors.
#include "stdlib/families/elementwise/elements.h"

#include "support/interrupt.h"

namespace relish {

Tensor convert_tensor(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  Tensor result = Tensor::empty(dtype, x.shape());
  visit_dtype(x.dtype(), [&](auto from) {
    using From = decltype(from);
    visit_dtype(dtype, [&](auto to) {
      using To = decltype(to);
      const From* source = x.view<From>().data();
      To* target = result.mutable_view<To>().data();
      in_polled_parts(x.size(), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) target[i] = convert_element<To>(source[i]);
      });
    });
  });
  return result;
}

}  // namespace relish
