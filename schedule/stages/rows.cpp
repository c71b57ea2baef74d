// Which stages share the loops over rows.
#include "schedule/stages/rows.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/rewriting/rewrite.h"
#include "loops/work.h"
#include "schedule/stages/domains.h"
#include "support/failure.h"

namespace relish {
namespace {

// So few long rows are better taken apart: their stages run in parallel, or in the order of memory.
constexpr std::int64_t fewest_side_by_side = 8;
// A contraction of fewer products gains nothing by blocks.
constexpr std::int64_t least_block_products = 1 << 13;

std::size_t leading_spatial(const Stage& stage) {
  const auto first =
      std::find_if(stage.axes.begin(), stage.axes.end(), [](const StageAxis& axis) { return axis.reduces; });
  return static_cast<std::size_t>(first - stage.axes.begin());
}

// Of literal extents only.
std::optional<std::int64_t> iterations(const Stage& stage, std::size_t first, std::size_t last) {
  std::int64_t product = 1;
  for (std::size_t i = first; i < last; ++i) {
    const auto extent = stage.axes[i].extent.as_int();
    if (!extent || __builtin_mul_overflow(product, *extent, &product)) return std::nullopt;
  }
  return product;
}

bool uses_axes(const Scalar& value, const Stage& stage, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i)
    if (uses_var(value, stage.axes[i].var)) return true;
  return false;
}

// Whether the loops inside of the rows still go along memory: an access that moves with them does not have a
// row as its last index. In stages that sum; of others the order of the loops is as it was.
bool moves_inside(const Stage& stage, std::size_t rows) {
  if (!stage.reduces()) return true;
  bool fine = true;
  for_each_access(stage, [&](const Buffer&, const std::vector<Scalar>& indices, bool) {
    if (indices.empty() || !uses_axes(indices.back(), stage, 0, rows)) return;
    for (const Scalar& index : indices) fine = fine && !uses_axes(index, stage, rows, stage.axes.size());
  });
  return fine;
}

// For each row axis the dimension of a buffer by which all stages tell rows apart.
using RowDimensions = std::vector<std::size_t>;

// None when an iteration of the rows may access what another one does.
std::optional<RowDimensions> dimensions_of_rows(const Buffer& buffer, const std::vector<const Stage*>& stages,
                                                std::size_t rows) {
  RowDimensions result;
  const auto rank = static_cast<std::size_t>(buffer.rank());
  for (std::size_t k = 0; k < rows; ++k) {
    std::vector<bool> good(rank, true);
    for (const Stage* stage : stages)
      for_each_access(*stage, [&](const Buffer& each, const std::vector<Scalar>& indices, bool) {
        if (!(each == buffer)) return;
        for (std::size_t d = 0; d < rank; ++d)
          good[d] = good[d] && indices[d].as_var() == std::optional(stage->axes[k].var);
      });
    const auto found = std::find(good.begin(), good.end(), true);
    if (found == good.end()) return std::nullopt;
    result.push_back(static_cast<std::size_t>(found - good.begin()));
  }
  return result;
}

bool share_rows(const std::vector<const Stage*>& stages, std::size_t rows) {
  for (const Stage* stage : stages) {
    if (leading_spatial(*stage) < rows || !same_axes(*stages.front(), *stage, rows)) return false;
    if (!stage->distinct || !moves_inside(*stage, rows)) return false;
    const auto products = iterations(*stage, 0, stage->axes.size());
    if (is_contraction(*stage) && products.value_or(least_block_products) >= least_block_products)
      return false;
  }
  // What one stage writes the others access in the same row.
  std::unordered_map<std::uint64_t, Buffer> written;
  for (const Stage* stage : stages)
    for (const StageValue& value : stage->values)
      if (value.target.defined()) written.emplace(value.target.id(), value.target);
  for (const auto& each : written)
    if (!dimensions_of_rows(each.second, stages, rows)) return false;
  return true;
}

bool pays(const std::vector<const Stage*>& stages, std::size_t rows) {
  const auto count = iterations(*stages.front(), 0, rows);
  if (!count || *count >= fewest_side_by_side) return true;
  std::int64_t inside = 0;
  for (const Stage* stage : stages) {
    const auto own = iterations(*stage, rows, stage->axes.size());
    if (!own || *own >= least_parallel_work) return false;
    inside += *own;
  }
  return inside < least_parallel_work;
}

// Whether the stage accesses something that the others do, or begins what one behind it goes on with.
bool related(const std::vector<const Stage*>& stages, const Stage& next) {
  std::unordered_map<std::uint64_t, bool> known;
  for (const Stage* stage : stages)
    for_each_access(*stage, [&](const Buffer& buffer, const std::vector<Scalar>&, bool) {
      known.emplace(buffer.id(), true);
    });
  bool found = false, reads = false;
  for_each_access(next, [&](const Buffer& buffer, const std::vector<Scalar>&, bool store) {
    found = found || known.contains(buffer.id());
    reads = reads || !store;
  });
  return found || !reads;
}

std::vector<const Stage*> pointers_to(const std::vector<Stage>& stages) {
  std::vector<const Stage*> result;
  for (const Stage& stage : stages) result.push_back(&stage);
  return result;
}

// How many outer axes the stages of the group share with the next one; 0: none.
std::size_t common_rows(const RowGroup& group, const Stage& next) {
  // Of two checks, row by row, the second might fail before the first.
  if (next.checks() || group.stages.front().checks()) return 0;
  std::vector<const Stage*> all = pointers_to(group.stages);
  if (!related(all, next)) return 0;
  all.push_back(&next);
  if (all.front()->axes.empty() || next.axes.empty()) return 0;
  std::size_t most = leading_spatial(next);
  if (group.stages.size() > 1) most = std::min(most, group.rows);
  for (const Stage* stage : all) most = std::min(most, leading_spatial(*stage));
  // Rows of one element each would be what stages over one domain are, had they fitted together.
  if (std::all_of(all.begin(), all.end(), [&](const Stage* stage) { return stage->axes.size() == most; }))
    --most;
  for (std::size_t rows = most; rows > 0; --rows)
    if (share_rows(all, rows)) return pays(all, rows) ? rows : 0;
  return 0;
}

// Elements that a row of a permuted stage has side by side, at least: shorter runs are better taken in the
// order of memory.
constexpr std::int64_t least_run_of_row = 64;

// The same stage with that axis around the others.
Stage with_axis_first(const Stage& stage, std::size_t axis) {
  Stage result = stage;
  const auto at = result.axes.begin() + static_cast<std::ptrdiff_t>(axis);
  std::rotate(result.axes.begin(), at, at + 1);
  return result;
}

// How many outer axes the group shares with the stage as it is or, when it computes each element by itself,
// with another axis outside: the channels of images, which a norm sums for each. `next` becomes that one.
std::size_t common_rows_in_any_order(const RowGroup& group, Stage& next, std::int64_t least_run) {
  if (const std::size_t rows = common_rows(group, next); rows > 0) return rows;
  if (!next.maps() || next.axes.size() < 3) return 0;
  for (std::size_t axis = 1; axis + 1 < next.axes.size(); ++axis) {
    if (iterations(next, axis + 1, next.axes.size()).value_or(0) < least_run) continue;
    Stage turned = with_axis_first(next, axis);
    const std::size_t rows = common_rows(group, turned);
    if (rows != 1) continue;
    next = std::move(turned);
    return rows;
  }
  return 0;
}

// --- Statements.

Stmt in_loops(const std::vector<ScalarVar>& loops, const std::vector<StageAxis>& axes, std::size_t first,
              Stmt body, Span span) {
  for (std::size_t i = loops.size(); i-- > 0;) {
    const StageAxis& axis = axes[first + i];
    body = make_stmt(For{loops[i], int_literal(axis.var.dtype(), 0), axis.extent, LoopKind::Serial, body, {}},
                     span);
  }
  return body;
}

ScalarVar loop_of(const StageAxis& axis) {
  const std::string& name = axis.var.name();
  return {name.starts_with("v_") ? name.substr(2) : name, axis.var.dtype(), axis.var.span()};
}

// The block's variables for axes from `first` to `last`, driven by the loops.
std::vector<IterVar> iters_of(const std::vector<StageAxis>& axes, std::size_t first,
                              const std::vector<ScalarVar>& loops) {
  std::vector<IterVar> iters;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const StageAxis& axis = axes[first + i];
    iters.push_back({axis.var, axis.reduces ? IterKind::Reduce : IterKind::Spatial,
                     int_literal(axis.var.dtype(), 0), axis.extent, use(loops[i])});
  }
  return iters;
}

std::vector<Stmt> statements_of(const Stage& stage) {
  std::vector<Stmt> body;
  for (const StageValue& value : stage.values) {
    if (value.message) {
      body.push_back(make_stmt(AssertStmt{value.value, *value.message}, value.span, value.comments));
      continue;
    }
    Scalar stored = value.value;
    if (value.name.defined()) {
      body.push_back(make_stmt(DefineScalar{value.name, stored, true}, value.span, value.comments));
      stored = use(value.name, value.span);
    }
    if (value.target.defined())
      body.push_back(make_stmt(Store{value.target, value.indices, stored}, value.span,
                               value.name.defined() ? nullptr : value.comments));
  }
  return body;
}

// The part of a temporary that belongs to one row.
Buffer of_one_row(const Buffer& buffer, const RowDimensions& dimensions) {
  std::vector<Scalar> shape;
  bool literal = true;
  for (std::size_t d = 0; d < buffer.shape().size(); ++d) {
    if (std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end()) continue;
    shape.push_back(buffer.shape()[d]);
    literal = literal && shape.back().as_int();
  }
  return {buffer.name(), buffer.dtype(), std::move(shape), literal ? "local" : buffer.scope(), buffer.span()};
}

std::vector<Scalar> without(const std::vector<Scalar>& indices, const RowDimensions& dimensions) {
  std::vector<Scalar> result;
  for (std::size_t d = 0; d < indices.size(); ++d)
    if (std::find(dimensions.begin(), dimensions.end(), d) == dimensions.end()) result.push_back(indices[d]);
  return result;
}

void make_local(RowGroup& group, const Buffer& buffer, const Buffer& local, const RowDimensions& dimensions) {
  const auto of_row = [&](const Scalar& part) -> std::optional<Scalar> {
    const auto* loaded = part.as<Load>();
    if (!loaded || !(*loaded->buffer == buffer)) return std::nullopt;
    return load(local, without(loaded->indices, dimensions), part.span());
  };
  for (Stage& stage : group.stages) {
    if (stage.init.defined()) stage.init = rewrite(stage.init, of_row);
    for (StageValue& value : stage.values) {
      value.value = rewrite(value.value, of_row);
      if (!value.target.defined() || !(value.target == buffer)) continue;
      value.indices = without(value.indices, dimensions);
      value.target = local;
    }
  }
}

Stmt statement_of_rows(RowGroup group, const std::vector<Buffer>& own) {
  const std::vector<StageAxis> axes = group.stages.front().axes;
  for (Stage& stage : group.stages) {
    ScalarMap rows;
    for (std::size_t k = 0; k < group.rows; ++k) {
      rows.emplace(stage.axes[k].var.id(), use(axes[k].var));
      stage.axes[k] = axes[k];
    }
    replace_in(stage, rows, {});
  }
  BlockStmt row;
  for (const Buffer& buffer : own) {
    const auto dimensions = dimensions_of_rows(buffer, pointers_to(group.stages), group.rows);
    RELISH_CHECK(dimensions.has_value(), buffer.name());
    row.allocations.push_back(of_one_row(buffer, *dimensions));
    make_local(group, buffer, row.allocations.back(), *dimensions);
  }
  std::vector<ScalarVar> loops;
  for (std::size_t k = 0; k < group.rows; ++k) loops.push_back(loop_of(axes[k]));
  row.name = "row";
  row.iters = iters_of(axes, 0, loops);
  std::vector<Stmt> body;
  for (const Stage& stage : group.stages) body.push_back(nest_of(stage, group.rows));
  const Span span = group.stages.front().span;
  row.body = seq(std::move(body), span);
  return in_loops(loops, axes, 0, make_stmt(std::move(row), span), span);
}

}  // namespace

Stmt nest_of(const Stage& stage, std::size_t rows) {
  std::vector<ScalarVar> loops;
  for (std::size_t i = rows; i < stage.axes.size(); ++i) loops.push_back(loop_of(stage.axes[i]));
  std::vector<Stmt> body = statements_of(stage);
  if (loops.empty() && rows > 0 && !stage.init.defined()) return seq(std::move(body), stage.span);
  BlockStmt block;
  block.name = stage.name;
  block.iters = iters_of(stage.axes, rows, loops);
  block.body = seq(std::move(body), stage.span);
  if (stage.init.defined()) {
    const StageValue& value = stage.values.front();
    block.init = make_stmt(Store{value.target, value.indices, stage.init}, value.span);
  }
  return in_loops(loops, stage.axes, rows, make_stmt(std::move(block), stage.span), stage.span);
}

// Whether the last group follows a contraction, which it shares no rows with, element by element, and the
// stage, as a pool, takes windows of it: then it is done where the contraction has its elements ready.
bool between_contraction_and_windows(const std::vector<RowGroup>& groups, const Stage& stage) {
  if (groups.size() < 2 || groups.back().stages.size() != 1 || is_contraction(stage)) return false;
  const Stage &middle = groups.back().stages.front(), &first = groups[groups.size() - 2].stages.front();
  if (!middle.maps() || !is_contraction(first) || !loads_from(middle, first.values.front().target))
    return false;
  return std::any_of(middle.values.begin(), middle.values.end(), [&](const StageValue& value) {
    return value.target.defined() && reads_windows(stage, value.target);
  });
}

std::vector<RowGroup> group_rows(std::vector<Stage> stages, RowOrder order) {
  const std::int64_t least_run = order == RowOrder::AnyRuns ? 1 : least_run_of_row;
  std::vector<RowGroup> groups;
  for (Stage& stage : stages) {
    const std::size_t rows = groups.empty() || between_contraction_and_windows(groups, stage) ? 0
                             : order == RowOrder::AsTheyLie
                                 ? common_rows(groups.back(), stage)
                                 : common_rows_in_any_order(groups.back(), stage, least_run);
    if (rows > 0) {
      groups.back().rows = rows;
      groups.back().stages.push_back(std::move(stage));
    } else {
      groups.push_back({0, {}});
      groups.back().stages.push_back(std::move(stage));
    }
  }
  return groups;
}

std::vector<Stmt> statements_of(const std::vector<RowGroup>& groups, const std::vector<Buffer>& temporaries,
                                std::vector<Buffer>& allocations) {
  std::unordered_map<std::uint64_t, std::size_t> users;  // by temporary: its only group, or one that is none
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const Stage& stage : groups[g].stages)
      for_each_access(stage, [&](const Buffer& buffer, const std::vector<Scalar>&, bool) {
        const auto [known, fresh] = users.emplace(buffer.id(), g);
        if (!fresh && known->second != g) known->second = groups.size();
      });
  std::vector<std::vector<Buffer>> own(groups.size());
  for (const Buffer& buffer : temporaries) {
    const auto user = users.find(buffer.id());
    if (user == users.end()) continue;
    if (user->second < groups.size() && groups[user->second].stages.size() > 1)
      own[user->second].push_back(buffer);
    else
      allocations.push_back(buffer);
  }
  std::vector<Stmt> body;
  for (std::size_t g = 0; g < groups.size(); ++g)
    body.push_back(groups[g].stages.size() > 1 ? statement_of_rows(groups[g], own[g])
                                               : nest_of(groups[g].stages.front(), 0));
  return body;
}

}  // namespace relish
