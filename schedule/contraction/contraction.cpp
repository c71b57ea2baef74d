// Finding contractions: which axis belongs to which factor, and how each group of axes is cut into blocks.
#include "schedule/contraction/contraction.h"

#include <algorithm>
#include <numeric>

#include "loops/accesses.h"
#include "loops/faults.h"
#include "loops/nest.h"
#include "loops/reduction.h"
#include "schedule/blocks/blocks.h"
#include "schedule/blocks/open_contraction.h"
#include "schedule/contraction/sides.h"
#include "schedule/shapes/shapes.h"

namespace relish {
namespace {

bool uses(const Scalar& value, const Axis& axis) {
  std::vector<ScalarVar> vars;
  collect_vars(value, vars);
  return std::any_of(vars.begin(), vars.end(),
                     [&](const ScalarVar& var) { return var == axis.var || var == axis.loop->var; });
}

// Loops that the rule can cut: over a number of iterations that is known before all of them, all counted in
// one dtype, in no order that somebody asked for.
bool plain(const Nest& nest, RangeProver& prover) {
  return std::all_of(nest.axes.begin(), nest.axes.end(), [&](const Axis& axis) {
    const bool ordered =
        axis.iter && axis.iter->kind != IterKind::Spatial && axis.iter->kind != IterKind::Reduce;
    return (axis.loop->kind == LoopKind::Serial || axis.loop->kind == LoopKind::Parallel) && !ordered &&
           axis.loop->annotations.empty() && axis.loop->extent.as_int().value_or(1) > 0 &&
           std::none_of(
               nest.axes.begin(), nest.axes.end(),
               [&](const Axis& other) { return prover.depends_on(axis.loop->extent, other.loop->var); }) &&
           axis.loop->var.dtype() == nest.axes.front().loop->var.dtype();
  });
}

// Whether every iteration can be run, in any order.
bool free_of_faults(const Nest& nest, const Store* init, RangeProver& prover) {
  enter(nest, prover);
  const bool faults = may_fault(nest, init, prover);
  leave(nest, prover);
  return !faults;
}

bool may_fail(const Nest& nest, const Scalar& factor, RangeProver& prover) {
  enter(nest, prover);
  const bool fails = may_fault(factor, prover);
  leave(nest, prover);
  return fails;
}

// Whether the guard depends on nothing but what the factor depends on.
bool guards(const Scalar& guard, const Scalar& factor, const Nest& nest) {
  std::vector<Access> loads;
  collect_loads(guard, loads);
  return loads.empty() && std::all_of(nest.axes.begin(), nest.axes.end(), [&](const Axis& axis) {
           return !uses(guard, axis) || uses(factor, axis);
         });
}

// Products of so few rows are left to the rule for dots, from so many terms on.
constexpr std::int64_t most_rows_of_dots = 8, least_terms_of_dots = 64;

bool along_memory(const Scalar& factor, const Axis& axis) {
  const auto* loaded = factor.as<Load>();
  return loaded && !loaded->indices.empty() &&
         uses(loaded->indices[dimension_along_memory(*loaded->buffer)], axis);
}

// The same of a factor that is read where a condition holds.
bool reads_along(const Scalar& factor, const Axis& axis) {
  const auto* chosen = factor.as<Select>();
  return along_memory(chosen ? chosen->a : factor, axis);
}

// Fewer rows, where only the run knows how many, do without panels.
constexpr std::int64_t few_rows = 4;

// The axes by the factors that use them.
struct Groups {
  std::vector<const Axis*> batch, left, right, summed;
};

std::optional<Groups> grouped(const Nest& nest, const Scalar& left, const Scalar& right) {
  Groups groups;
  for (const Axis& axis : nest.axes) {
    const bool in_left = uses(left, axis), in_right = uses(right, axis);
    if (!in_left && !in_right) return std::nullopt;
    if (!axis.stored) {
      if (!in_left || !in_right) return std::nullopt;
      groups.summed.push_back(&axis);
    } else if (in_left && in_right) {
      groups.batch.push_back(&axis);
    } else {
      (in_left ? groups.left : groups.right).push_back(&axis);
    }
  }
  return groups;
}

const Axis* axis_of(const Nest& nest, const Scalar& index) {
  const auto var = strided_var(index);
  if (!var) return nullptr;
  for (const Axis& axis : nest.axes)
    if (axis.var == *var) return &axis;
  return nullptr;
}

// What only the run knows counts as so many.
constexpr std::int64_t guessed_extent = 64;

std::int64_t elements_of(const std::vector<const Axis*>& axes) {
  std::int64_t size = 1;
  for (const Axis* axis : axes)
    if (__builtin_mul_overflow(size, axis->loop->extent.as_int().value_or(guessed_extent), &size))
      return INT64_MAX;
  return size;
}

// The dimensions of the result in the order in which its elements are stored.
std::vector<std::size_t> stored_order(const Nest& nest, const Behind& behind) {
  if (!behind.order.empty()) return behind.order;
  std::vector<std::size_t> own(nest.store->indices.size());
  std::iota(own.begin(), own.end(), std::size_t{0});
  return own;
}

// The dimension of the result along which its elements are stored.
std::size_t last_stored(const Nest& nest, const std::vector<std::size_t>& order) {
  for (std::size_t i = order.size(); i-- > 0;)
    if (nest.store->buffer.shape()[order[i]].as_int() != 1) return order[i];
  return order.empty() ? 0 : order.back();
}

// The last axes of the result that the right factor alone uses: they become the columns, in the order of
// memory. The other axes of that factor are left in `others`.
std::vector<const Axis*> columns_of(const Nest& nest, const std::vector<std::size_t>& order,
                                    const Groups& groups, std::vector<const Axis*>& others) {
  std::vector<const Axis*> columns;
  for (std::size_t i = order.size(); i-- > 0;) {
    if (nest.store->buffer.shape()[order[i]].as_int() == 1) continue;
    const Axis* axis = axis_of(nest, nest.store->indices[order[i]]);
    const bool of_right = std::find(groups.right.begin(), groups.right.end(), axis) != groups.right.end();
    if (!axis || !of_right) break;
    columns.insert(columns.begin(), axis);
  }
  for (const Axis* axis : groups.right)
    if (std::find(columns.begin(), columns.end(), axis) == columns.end()) others.push_back(axis);
  return columns;
}

// Shorter runs of memory are copied element by element.
constexpr std::int64_t least_run = 8;

// Whether the columns lie in short runs where the factor is read, as windows do, while its terms lie side by
// side and the other factor is the smaller one: then rows of this one are copied by terms, and the other one
// gives the columns.
bool in_short_runs(const Scalar& right, const std::vector<const Axis*>& columns, const Groups& groups) {
  const std::int64_t run = columns.back()->loop->extent.as_int().value_or(least_run);
  return run < least_run && groups.summed.back()->loop->extent.as_int().value_or(guessed_extent) > run &&
         reads_along(right, *groups.summed.back()) && elements_of(groups.left) < elements_of(columns);
}

// Windows of the factor that a guard stands at, or of both.
void find_windows(Contraction& found, RangeProver& prover) {
  const bool guarded = found.guard.defined();
  found.windows.clear();
  found.meetings.clear();
  if (!guarded || !found.guards_left)
    found.windows = windows_of(*found.nest, found.right, found.columns, found.summed, prover);
  if (!guarded || found.guards_left)
    found.meetings = meetings_of(*found.nest, found.left, found.rows, found.summed, prover);
}

// The same sums with the rows as columns.
Contraction exchanged(const Contraction& contraction, RangeProver& prover) {
  Contraction result = contraction;
  std::swap(result.left, result.right);
  std::swap(result.rows, result.columns);
  result.guards_left = contraction.guard.defined() && !contraction.guards_left;
  find_windows(result, prover);
  return result;
}

// Batches of so many items at most may be the last columns, of sums for so many rows at least: each item is
// copied as a number of its own.
constexpr std::int64_t most_items = 64, least_rows_of_items = 16;

// The same sums with the items of a batch as the last columns: whole vectors of them see the same place of
// their images, however short those are and whatever their steps. None where rows of images are long enough.
std::optional<Contraction> with_items_last(const Contraction& contraction,
                                           const std::vector<const Axis*>& others, const Target& target,
                                           RangeProver& prover) {
  const std::int64_t lanes =
      target.vector_bytes / static_cast<std::int64_t>(size_of(contraction.nest->store->buffer.dtype()));
  if (others.size() != 1 || contraction.columns.size() < 2 ||
      elements_of(contraction.rows) < least_rows_of_items)
    return std::nullopt;
  const auto items = others.front()->loop->extent.as_int();
  if (!items || *items > most_items || *items % lanes != 0 ||
      std::any_of(contraction.columns.begin(), contraction.columns.end(),
                  [](const Axis* axis) { return !axis->loop->extent.as_int(); }))
    return std::nullopt;
  const bool steps = std::any_of(contraction.windows.begin(), contraction.windows.end(),
                                 [](const WindowAxis& window) { return window.step != 1; });
  if (contraction.windows.empty() || contraction.windows.front().column == others.front() ||
      (!steps && elements_of({contraction.columns.back()}) % (2 * lanes) == 0))
    return std::nullopt;
  Contraction result = contraction;
  std::rotate(result.columns.begin(), result.columns.begin() + 1, result.columns.end());
  result.items_last = true;
  find_windows(result, prover);
  return result.windows.size() == result.columns.size() ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<std::size_t> along_sums(const Contraction& contraction, const Target& target) {
  if (contraction.columns.size() != 1 || !turns_sums(contraction, shapes_of(contraction, target)))
    return std::nullopt;
  const std::vector<Scalar>& place = contraction.nest->store->indices;
  for (std::size_t d = 0; d < place.size(); ++d)
    if (place[d].as_var() == std::optional(contraction.columns.front()->var)) return d;
  return std::nullopt;
}

// The sum's addend as a product of two factors.
struct Factors {
  Scalar term, guard;  // a guarded product counts where the guard holds
  Scalar left, right;
  bool guards_left = false;
};

std::optional<Factors> factors_of(const Nest& nest) {
  const DType dtype = nest.store->buffer.dtype();
  const auto update = as_update(*nest.store);
  if (!update || update->op != BinaryOp::Add || (dtype != DType::Float32 && dtype != DType::Float64))
    return std::nullopt;
  Factors found{update->addend, {}, {}, {}};
  if (const auto* chosen = found.term.as<Select>(); chosen && chosen->lazy) {
    const auto* nothing = chosen->b.as<FloatLiteral>();
    if (!nothing || nothing->value != 0) return std::nullopt;
    found.guard = chosen->condition;
    found.term = chosen->a;
  }
  const auto* product = found.term.as<Binary>();
  if (!product || product->op != BinaryOp::Mul) return std::nullopt;
  std::vector<Access> loads;
  collect_loads(update->addend, loads);
  for (const Access& load : loads)
    if (*load.buffer == nest.store->buffer) return std::nullopt;
  found.left = product->a;
  found.right = product->b;
  if (!found.guard.defined()) return found;
  found.guards_left = guards(found.guard, found.left, nest);
  if (!found.guards_left && !guards(found.guard, found.right, nest)) return std::nullopt;
  Scalar& guarded = found.guards_left ? found.left : found.right;
  guarded = if_then_else(found.guard, guarded, zero(dtype));
  return found;
}

}  // namespace

std::optional<Contracted> contract(const Stmt& given, RangeProver& prover, const Target& target,
                                   const Behind& behind) {
  const Stmt stmt = without_unit_loops(given);
  auto found = perfect_nest(stmt);
  if (!found || !find_stored_axes(*found, true)) return std::nullopt;
  const Nest& nest = *found;
  if (!plain(nest, prover)) return std::nullopt;
  const bool starts = nest.block && nest.block->init.defined();
  const Store* init = starts ? matching_init(nest) : nullptr;
  if (starts && !init) return std::nullopt;

  auto factors = factors_of(nest);
  if (!factors) return std::nullopt;
  auto& [term, guard, left, right, guards_left] = *factors;
  auto groups = grouped(nest, left, right);
  if (!groups || groups->left.empty() || groups->right.empty() || groups->summed.empty()) return std::nullopt;
  // The factor that moves along the memory of the result gives the columns.
  std::vector<const Axis*> others;
  const std::vector<std::size_t> order = stored_order(nest, behind);
  std::vector<const Axis*> columns = columns_of(nest, order, *groups, others);
  if (columns.empty()) {
    std::swap(left, right);
    guards_left = guard.defined() && !guards_left;
    std::swap(groups->left, groups->right);
    others.clear();
    columns = columns_of(nest, order, *groups, others);
  }
  if (columns.empty()) return std::nullopt;
  if (in_short_runs(right, columns, *groups)) {
    std::swap(left, right);
    guards_left = guard.defined() && !guards_left;
    std::swap(groups->left, groups->right);
    columns = groups->right;
    others.clear();
  }
  const std::int64_t rows = elements_of(groups->left), sums = elements_of(groups->summed);
  if (rows < 2 || sums < 4 || elements_of(columns) < 4) return std::nullopt;
  // Both factors along memory: rows so few that a panel would be used once are dots.
  if (rows <= most_rows_of_dots && groups->summed.size() == 1 && sums >= least_terms_of_dots &&
      along_memory(left, *groups->summed.back()) && along_memory(right, *groups->summed.back()))
    return std::nullopt;
  // Panels hold the factor without a guard also where the guard does not hold.
  if (guard.defined() && may_fail(nest, guards_left ? right : left, prover)) return std::nullopt;
  std::vector<const Axis*> all;
  for (const Axis& axis : nest.axes) all.push_back(&axis);
  if (elements_of(all) < target.least_products || !free_of_faults(nest, init, prover)) return std::nullopt;

  // Axes of that factor which are not last in the result (images of a batch) fill blocks that the columns
  // alone leave small, so that a panel of the other factor serves them all.
  columns.insert(columns.begin(), others.begin(), others.end());
  Contraction contraction{&nest,
                          init,
                          left,
                          right,
                          groups->batch,
                          groups->left,
                          columns,
                          groups->summed,
                          guard,
                          term,
                          guards_left,
                          behind.by_vectors,
                          {},
                          {},
                          false,
                          behind.reads_elements,
                          last_stored(nest, order),
                          behind.nothing};
  find_windows(contraction, prover);
  // The places of windows decide by themselves which of their factors gives the columns.
  if (!behind.order.empty() && !(contraction.windows.empty() && contraction.meetings.empty()))
    return contract(stmt, prover, target, {false, false, {}, behind.nothing});
  auto last = with_items_last(contraction, others, target, prover);
  if (last && shapes_of(*last, target).segment > 0)
    contraction = std::move(*last);
  else if (Contraction turned = exchanged(contraction, prover);
           takes_less_exchanged(contraction, turned, target))
    contraction = std::move(turned);
  if (const auto open = open_contraction(contraction, target)) return Contracted{*open, {}, {}};
  Contracted result{blocks_of(contraction, target), {}, along_sums(contraction, target)};
  if (const auto& extent = groups->left.front()->loop->extent; groups->left.size() == 1 && !extent.as_int())
    result.few = extent < int_literal(extent.dtype(), few_rows);
  return result;
}

}  // namespace relish
