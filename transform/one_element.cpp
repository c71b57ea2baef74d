#include "transform/one_element.h"

#include <algorithm>

namespace relish {

bool has_one_element(const Type& type) {
  const TensorType* tensor = type.tensor();
  return tensor && tensor->rank > 0 && tensor->shape &&
         std::all_of(tensor->shape->begin(), tensor->shape->end(),
                     [](const Scalar& dim) { return dim.as_int() == std::optional<std::int64_t>(1); });
}

std::vector<DiagnosticNote> notes_of_one_element(const Type& type) {
  if (!has_one_element(type)) return {};
  return {{{},
           "write R.squeeze(…) of it, which has rank 0; a size beside a tensor, as T.float32(n), counts as a "
           "tensor of shape (1,)"}};
}

}  // namespace relish
