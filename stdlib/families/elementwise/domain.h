// The element types that an elementwise operator takes: the check of its operands, and the dispatch of its
// evaluation to those types only.
#pragma once

#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"

namespace relish::elementwise {

// Numbers: integers and floats, not bool. Bits: integers and bool. All: numbers and bool.
enum class Domain { Floats, Integers, Bits, Numbers, All };
enum class Result { Same, Bool };

// Rejects argument `i`, a tensor or scalar, by "dtype" when it is of another dtype.
template <Domain domain>
void require_domain(const CallView& call, std::size_t i) {
  if constexpr (domain == Domain::Floats) require_float(call, i);
  if constexpr (domain == Domain::Integers) require_integer(call, i, Bools::Refused);
  if constexpr (domain == Domain::Bits) require_integer(call, i, Bools::Taken);
  if constexpr (domain == Domain::Numbers) require_number(call, i);
}

// f(element) for the storage type of `dtype`, which is in the domain.
template <Domain domain, class F>
void visit(DType dtype, F&& f) {
  if constexpr (domain == Domain::Floats) {
    visit_float(dtype, f);
  } else {
    visit_dtype(dtype, [&](auto element) {
      using T = decltype(element);
      constexpr bool is_bits = domain == Domain::Integers || domain == Domain::Bits;
      if constexpr (!(is_bits && StorageFloat<T>) &&
                    !((domain == Domain::Integers || domain == Domain::Numbers) && std::same_as<T, bool>)) {
        f(element);
      } else {
        internal_failure(__FILE__, __LINE__, "dtype", "inference refuses this dtype");
      }
    });
  }
}

}  // namespace relish::elementwise
