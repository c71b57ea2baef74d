// The order of the steps of fusing.
#include "schedule/fusion/fuse_stages.h"

#include <algorithm>

#include "schedule/followers/followers.h"
#include "schedule/stages/domains.h"
#include "schedule/stages/places.h"
#include "schedule/stages/sums.h"
#include "schedule/stages/values.h"

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

// What a group of one stage stores and the next one takes windows of; undefined when that is nothing, or
// others use it too.
Buffer handed_on(const std::vector<RowGroup>& groups, std::size_t maker, const BufferIds& unseen) {
  if (groups[maker].stages.size() != 1) return {};
  const Stage& next = groups[maker + 1].stages.front();
  for (const StageValue& value : groups[maker].stages.front().values) {
    if (!value.target.defined() || !unseen.contains(value.target.id()) || !reads_windows(next, value.target))
      continue;
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const Stage& stage : groups[g].stages)
        if (g != maker && g != maker + 1 &&
            (loads_from(stage, value.target) || stores_to(stage, value.target)))
          return {};
    return value.target;
  }
  return {};
}

// What the schedule hands from a contraction, or what follows that on its tiles, to windows of it in the
// group, block by block.
Buffer handed_in_blocks(const std::vector<RowGroup>& groups, const std::vector<Stmt>& statements,
                        std::size_t group, bool behind_epilogue, const BufferIds& unseen,
                        ReadyContractions& known) {
  const std::size_t first = group - (behind_epilogue ? 2 : 1);
  if (groups[first].stages.size() != 1 || !is_contraction(groups[first].stages.front())) return {};
  const Buffer handed = handed_on(groups, group - 1, unseen);
  if (!handed.defined()) return {};
  RangeProver prover;
  std::vector<ScalarVar> sizes;
  for (std::size_t g = first; g <= group; ++g)
    for (const Stage& stage : groups[g].stages)
      for (const StageAxis& axis : stage.axes) collect_vars(axis.extent, sizes);
  for (const ScalarVar& size : sizes) prover.assume_dimension(size);
  const Stmt between = behind_epilogue ? statements[group - 1] : Stmt();
  return takes_reader(statements[first], between, statements[group], handed, prover, known) ? handed
                                                                                            : Buffer();
}

// The nests of the groups, and which of them are one loop.
FusedBody body_of(const std::vector<RowGroup>& groups, const std::vector<Buffer>& temporaries,
                  const BufferIds& unseen, Span span, ReadyContractions& known) {
  FusedBody fused;
  std::vector<Stmt> statements = statements_of(groups, temporaries, fused.allocations);
  bool behind_epilogue = false;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const bool epilogue = g > 0 && is_epilogue(groups[g - 1], groups[g], known);
    const Buffer handed = g == 0 || epilogue
                              ? Buffer()
                              : handed_in_blocks(groups, statements, g, behind_epilogue, unseen, known);
    if (epilogue)
      fused.on_tiles.insert(groups[g - 1].stages.front().values.front().target.id());
    else if (handed.defined())
      fused.on_tiles.insert(handed.id());
    else if (runs_loops(groups[g]))
      ++fused.loops;
    behind_epilogue = epilogue;
  }
  fused.body = seq(std::move(statements), span);
  return fused;
}

}  // namespace

bool is_small(const Buffer& buffer) {
  constexpr std::int64_t most = 1024;
  return product(buffer.shape()).as_int().value_or(most + 1) <= most;
}

FusedBody fuse_stages(std::vector<Stage> stages, const std::vector<Buffer>& temporaries, Span span,
                      ReadyContractions& known) {
  BufferIds unseen;
  for (const Buffer& buffer : temporaries) unseen.insert(buffer.id());
  const std::size_t before = stages.size();
  join_sums(stages, unseen);
  copy_in_own_places(stages, unseen);
  compute_in_readers(stages, unseen);
  join_domains(stages, unseen);
  // What joins the rows of others by another order of its loops counts as one with them. When they hand it
  // but a few numbers, it keeps the order of memory and a loop of its own; else its runs of a row must be
  // long.
  const std::vector<RowGroup> in_order = group_rows(stages, RowOrder::AsTheyLie);
  std::vector<RowGroup> groups = group_rows(stages, RowOrder::AnyRuns);
  FusedBody fused = body_of(groups, temporaries, unseen, span, known);
  if (in_order.size() > groups.size()) {
    FusedBody apart;
    apart.body = seq(statements_of(in_order, temporaries, apart.allocations), span);
    if (std::all_of(apart.allocations.begin(), apart.allocations.end(), [&](const Buffer& buffer) {
          return is_small(buffer) || fused.on_tiles.contains(buffer.id());
        })) {
      fused.changed = in_order.size() < before;
      fused.allocations = std::move(apart.allocations);
      fused.body = apart.body;
      return fused;
    }
    groups = group_rows(std::move(stages), RowOrder::LongRuns);
    fused = body_of(groups, temporaries, unseen, span, known);
  }
  fused.changed = groups.size() < before;
  return fused;
}

}  // namespace relish
