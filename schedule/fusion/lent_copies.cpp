// What speaks against reading the source of a copy.
#include "schedule/fusion/lent_copies.h"

#include <algorithm>

#include "schedule/plain_indices.h"

namespace relish {
namespace {

// The source of a copy may have so many times its elements: it stays alive until the last reader.
constexpr std::int64_t most_of_source = 4;
// What only the run knows counts as so many.
constexpr std::int64_t guessed_dimension = 64;

std::int64_t guessed_size(const Buffer& buffer) {
  std::int64_t size = 1;
  for (const Scalar& dim : buffer.shape())
    if (__builtin_mul_overflow(size, dim.as_int().value_or(guessed_dimension), &size)) return INT64_MAX;
  return size;
}

// Whether elements that lie side by side in the result do so in the source, or are one element of it.
bool stays_along_memory(const Stage& copy) {
  if (copy.axes.empty()) return true;
  const StageValue& value = copy.values.front();
  const ScalarVar& last = copy.axes.back().var;
  const std::vector<Scalar>& from = value.value.as<Load>()->indices;
  if (value.indices.empty() || value.indices.back().as_var() != std::optional(last)) return false;
  for (std::size_t d = 0; d + 1 < from.size(); ++d)
    if (uses_var(from[d], last)) return false;
  if (from.empty() || !uses_var(from.back(), last)) return true;
  const Scalar step = substitute(from.back(), {{last.id(), use(last) + int_literal(last.dtype(), 1)}});
  return prove_equal(step, from.back() + int_literal(from.back().dtype(), 1));
}

}  // namespace

bool copies_elements(const FusibleCall& call) {
  const std::vector<Stage>& stages = call.callee->stages;
  return stages.size() == 1 && stages.front().copies_elements() &&
         has_affine_loads(stages.front().values.front().value);
}

bool may_read_through(const FusibleCall& call, const FusibleCall& reader) {
  const Stage& copy = call.callee->stages.front();
  const StageValue& value = copy.values.front();
  if (guessed_size(*value.value.as<Load>()->buffer) / most_of_source > guessed_size(value.target))
    return false;
  const std::vector<Stage>& readers = reader.callee->stages;
  return stays_along_memory(copy) || copies_elements(reader) ||
         std::any_of(readers.begin(), readers.end(), is_contraction);
}

}  // namespace relish
