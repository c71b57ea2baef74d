// Which numbers a tensor can hold.
#include "stdlib/families/fill_value.h"

#include <fmt/format.h>

#include <cmath>

namespace relish {

void require_element(const CallView& call, std::string_view parameter, double number, Span at,
                     std::optional<DType> dtype) {
  if (!dtype) return;
  const double held = Tensor::scalar(*dtype, number).get_double(0);
  if (is_float(*dtype) ? !std::isfinite(number) || std::isfinite(held) : held == number) return;
  call.reject(parameter, at,
              fmt::format("{} is {}, which {} does not hold", parameter, number, name_of(*dtype)));
}

}  // namespace relish
