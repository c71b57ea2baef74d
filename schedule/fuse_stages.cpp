// The order of the steps of fusing.
#include "schedule/fuse_stages.h"

#include <algorithm>

#include "schedule/stage_sums.h"

namespace relish {
namespace {

bool runs_loops(const RowGroup& group) {
  return std::any_of(group.stages.begin(), group.stages.end(),
                     [](const Stage& stage) { return !stage.axes.empty(); });
}

// Whether the schedule does the second group where the first, a contraction, has its elements ready. Asked of
// a processor that is no particular one, so that the text is the same everywhere.
bool is_epilogue(const RowGroup& contraction, const RowGroup& next, ReadyContractions& known) {
  if (contraction.stages.size() != 1 || next.stages.size() != 1) return false;
  const Stage& stage = contraction.stages.front();
  if (!is_contraction(stage) || !next.stages.front().maps()) return false;
  if (!loads_from(next.stages.front(), stage.values.front().target)) return false;
  RangeProver prover;
  std::vector<ScalarVar> sizes;
  for (const StageAxis& axis : stage.axes) collect_vars(axis.extent, sizes);
  for (const ScalarVar& size : sizes) prover.assume_dimension(size);
  return takes_epilogue(nest_of(stage, 0), nest_of(next.stages.front(), 0), prover, known);
}

}  // namespace

FusedBody fuse_stages(std::vector<Stage> stages, const std::vector<Buffer>& temporaries, Span span,
                      ReadyContractions& known) {
  BufferIds unseen;
  for (const Buffer& buffer : temporaries) unseen.insert(buffer.id());
  const std::size_t before = stages.size();
  join_sums(stages, unseen);
  compute_in_readers(stages, unseen);
  join_domains(stages, unseen);
  const std::vector<RowGroup> groups = group_rows(std::move(stages));
  FusedBody fused;
  fused.changed = groups.size() < before;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const bool epilogue = g > 0 && is_epilogue(groups[g - 1], groups[g], known);
    if (epilogue)
      fused.on_tiles.insert(groups[g - 1].stages.front().values.front().target.id());
    else if (runs_loops(groups[g]))
      ++fused.loops;
  }
  fused.body = statement_of(groups, temporaries, fused.allocations, span);
  return fused;
}

}  // namespace relish
