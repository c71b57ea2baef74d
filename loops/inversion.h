// Inversion of accesses: which iterations of a domain access a given element. An index may be a sum of axes
// with integer factors and of what no axis stands in, and of quotients and remainders (floor) of such sums by
// positive numbers: strided, shifted, flattened, folded and padded accesses are of this form.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/nodes/scalar.h"

namespace relish {

// An axis of a domain: var runs over [begin, begin + extent), which may name axes before it.
struct DomainAxis {
  ScalarVar var;
  Scalar begin, extent;
};

// The iterations that access the element with the indices `targets`: those of the `free` axes, in full, for
// which the conditions hold; an axis of the domain is there what `at` says.
struct Inversion {
  std::vector<DomainAxis> free;  // axes of the domain, or new ones
  ScalarMap at;                  // in terms of targets and free axes; free axes of the domain are not in it
  std::vector<Scalar> conditions;
  // An equation held no axis that it could be solved for: only some elements are accessed at all.
  bool sparse = false;
};

// `targets` run over [0, extents); what is known to hold of them is no condition. Nothing when an index is of
// another form.
std::optional<Inversion> invert(std::span<const Scalar> indices, std::span<const ScalarVar> targets,
                                std::span<const Scalar> extents, std::span<const DomainAxis> domain);

// Whether each element is accessed by one iteration at most (as far as inversion tells).
bool injective(std::span<const Scalar> indices, std::span<const Scalar> extents,
               std::span<const DomainAxis> domain);

}  // namespace relish
