// Collecting loads, with what decides whether they are done.
#include "schedule/stages/buffer_reads.h"

#include <algorithm>

#include "ir/scalars/scalar_order.h"
#include "loops/accesses.h"

namespace relish {

bool is_among(const std::vector<Scalar>& indices, const std::vector<std::vector<Scalar>>& known) {
  return std::any_of(known.begin(), known.end(),
                     [&](const std::vector<Scalar>& each) { return same_indices(each, indices); });
}

void collect_reads(const Scalar& value, const Buffer& buffer, bool always, BufferReads& reads) {
  if (const auto* loaded = value.as<Load>(); loaded && *loaded->buffer == buffer) {
    if (!is_among(loaded->indices, reads.all)) reads.all.push_back(loaded->indices);
    if (always && !is_among(loaded->indices, reads.always)) reads.always.push_back(loaded->indices);
  }
  if (const auto* chosen = value.as<Select>(); chosen && chosen->lazy) {
    collect_reads(chosen->condition, buffer, always, reads);
    collect_reads(chosen->a, buffer, false, reads);
    return collect_reads(chosen->b, buffer, false, reads);
  }
  if (const auto* joined = value.as<Logical>()) {
    collect_reads(joined->a, buffer, always, reads);
    return collect_reads(joined->b, buffer, false, reads);
  }
  // What a name inside of the expression stands for is known there only.
  if (const auto* named = value.as<Let>()) {
    collect_reads(named->value, buffer, always, reads);
    return collect_reads(named->body, buffer, false, reads);
  }
  for_each_operand(value, [&](const Scalar& operand) { collect_reads(operand, buffer, always, reads); });
}

BufferReads reads_of(const Stage& stage, const Buffer& buffer) {
  BufferReads reads;
  for (const StageValue& value : stage.values) {
    collect_reads(value.value, buffer, true, reads);
    for (const Scalar& index : value.indices) collect_reads(index, buffer, false, reads);
  }
  if (stage.init.defined()) collect_reads(stage.init, buffer, false, reads);
  return reads;
}

int count_loads(const Scalar& value, const Buffer& buffer) {
  std::vector<Access> loads;
  collect_loads(value, loads);
  return static_cast<int>(
      std::count_if(loads.begin(), loads.end(), [&](const Access& load) { return *load.buffer == buffer; }));
}

bool tells_iterations_apart(const std::vector<Scalar>& indices, const Stage& stage) {
  std::vector<bool> taken(indices.size());
  return std::all_of(stage.axes.begin(), stage.axes.end(), [&](const StageAxis& axis) {
    bool alone = false;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      if (!uses_var(indices[d], axis.var)) continue;
      if (alone || taken[d]) return false;
      taken[d] = alone = true;
      const auto* sum = indices[d].as<Binary>();
      const bool by_one = indices[d].as_var() ||
                          (sum && (sum->op == BinaryOp::Add || sum->op == BinaryOp::Sub) &&
                           ((sum->a.as_var() == axis.var && sum->b.as_int()) ||
                            (sum->op == BinaryOp::Add && sum->a.as_int() && sum->b.as_var() == axis.var)));
      if (!by_one) return false;
    }
    return alone;
  });
}

}  // namespace relish
