// The order of the steps of fusing.
#include "schedule/fuse_stages.h"

#include <algorithm>

namespace relish {

FusedBody fuse_stages(std::vector<Stage> stages, const std::vector<Buffer>& temporaries, Span span) {
  BufferIds unseen;
  for (const Buffer& buffer : temporaries) unseen.insert(buffer.id());
  const std::size_t before = stages.size();
  compute_in_readers(stages, unseen);
  join_domains(stages, unseen);
  const std::vector<RowGroup> groups = group_rows(std::move(stages));
  FusedBody fused;
  fused.changed = groups.size() < before;
  fused.loops =
      static_cast<std::size_t>(std::count_if(groups.begin(), groups.end(), [](const RowGroup& group) {
        return std::any_of(group.stages.begin(), group.stages.end(),
                           [](const Stage& stage) { return !stage.axes.empty(); });
      }));
  fused.body = statement_of(groups, temporaries, fused.allocations, span);
  return fused;
}

}  // namespace relish
