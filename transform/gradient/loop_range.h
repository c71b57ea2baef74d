// The range of a loop in a graph function, as scalars that stand where the loop does: how many rounds there
// are, which one has an index, and which index stands at the same place from the other end.
#pragma once

#include <optional>

#include "ir/nodes/expr.h"
#include "transform/gradient/job.h"

namespace relish {

// The range of a loop whose bounds are known where it stands.
struct LoopRange {
  Scalar begin, end, step;

  static std::optional<LoopRange> of(const Loop& loop, const GradientJob& job);

  // The index that stands at the same place from the other end.
  Scalar mirrored(const ScalarVar& index) const;
  // How many rounds came before the one with this index.
  Scalar place(const Scalar& index) const;
  Scalar rounds(const GradientJob& job) const;

 private:
  // 1, or -1 where the index falls.
  Scalar towards() const;
};

}  // namespace relish
