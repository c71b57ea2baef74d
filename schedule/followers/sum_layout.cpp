// Moving one dimension behind the others.
#include "schedule/followers/sum_layout.h"

#include <algorithm>
#include <vector>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "loops/nest.h"

namespace relish {
namespace {

template <class T>
std::vector<T> moved_last(std::vector<T> each, std::size_t position) {
  const auto at = each.begin() + static_cast<std::ptrdiff_t>(position);
  std::rotate(at, at + 1, each.end());
  return each;
}

// A buffer and the one that stands for it, whose last dimension is that of the other.
struct Laid {
  Buffer before, after;
  std::size_t dimension;
};

Laid laid(const Buffer& buffer, std::size_t dimension) {
  return {
      buffer,
      Buffer(buffer.name(), buffer.dtype(), moved_last(buffer.shape(), dimension), "global", buffer.span()),
      dimension};
}

Stmt in_terms_of(const Stmt& stmt, const Laid& buffer) {
  return rewrite(
      stmt,
      [&](const Scalar& scalar) -> std::optional<Scalar> {
        const auto* loaded = scalar.as<Load>();
        if (!loaded || !(*loaded->buffer == buffer.before)) return std::nullopt;
        return load(buffer.after, moved_last(loaded->indices, buffer.dimension), scalar.span());
      },
      [&](const Stmt& part) -> std::optional<Stmt> {
        if (const auto* block = part.as<BlockStmt>(); block && (block->reads || block->writes)) {
          BlockStmt copy = *block;
          copy.reads = copy.writes = std::nullopt;
          return make_stmt(std::move(copy), part->span, part->comments);
        }
        const auto* store = part.as<Store>();
        if (!store || !(store->buffer == buffer.before)) return std::nullopt;
        return make_stmt(Store{buffer.after, moved_last(store->indices, buffer.dimension), store->value},
                         part->span, part->comments);
      });
}

// The variable that is that index in all accesses of the buffer; none when there are others.
std::optional<ScalarVar> var_of(const Stmt& stmt, const Buffer& buffer, std::size_t dimension) {
  std::optional<ScalarVar> found;
  for (const Access& access : accesses_in(stmt)) {
    if (!(*access.buffer == buffer)) continue;
    const auto var = (*access.indices)[dimension].as_var();
    if (!var || (found && !(*found == *var))) return std::nullopt;
    found = var;
  }
  return found;
}

// The dimension of the buffer of which the variable is the index, in all accesses.
std::optional<std::size_t> dimension_of(const Stmt& stmt, const Buffer& buffer, const ScalarVar& var) {
  for (std::size_t d = 0; d < buffer.shape().size(); ++d)
    if (var_of(stmt, buffer, d) == std::optional(var)) return d;
  return std::nullopt;
}

// The nest with the loop of that axis as the last one of those that its store tells apart.
Stmt with_axis_last(const Nest& nest, const ScalarVar& axis) {
  std::vector<const Axis*> order;
  const auto take = [&](const auto& wanted) {
    for (const Axis& each : nest.axes)
      if (wanted(each)) order.push_back(&each);
  };
  take([&](const Axis& each) { return each.stored && !(each.var == axis); });
  take([&](const Axis& each) { return each.var == axis; });
  take([&](const Axis& each) { return !each.stored; });
  Stmt result = nest.block ? nest.block_stmt : nest.store_stmt;
  for (std::size_t i = order.size(); i-- > 0;) {
    For loop = *order[i]->loop;
    loop.body = result;
    result = make_stmt(std::move(loop), order[i]->span);
  }
  return result;
}

// All elements of the buffer from where they are.
Stmt copy_from(const Laid& buffer, Span span) {
  BlockStmt block;
  block.name = "turned";
  std::vector<ScalarVar> loops;
  std::vector<Scalar> place;
  for (std::size_t d = 0; d < buffer.before.shape().size(); ++d) {
    const Scalar& extent = buffer.before.shape()[d];
    const std::string name = "i" + std::to_string(d);
    loops.emplace_back(name, extent.dtype(), span);
    const ScalarVar axis("v_" + name, extent.dtype(), span);
    block.iters.push_back(
        {axis, IterKind::Spatial, int_literal(extent.dtype(), 0), extent, use(loops.back())});
    place.push_back(use(axis));
  }
  block.body = make_stmt(
      Store{buffer.before, place, load(buffer.after, moved_last(place, buffer.dimension), span)}, span);
  Stmt result = make_stmt(std::move(block), span);
  for (std::size_t d = loops.size(); d-- > 0;) {
    const Scalar& extent = buffer.before.shape()[d];
    result =
        make_stmt(For{loops[d], int_literal(extent.dtype(), 0), extent, LoopKind::Serial, result, {}}, span);
  }
  return result;
}

}  // namespace

std::optional<LaidNests> as_sums_lie(const WindowedNests& nests, std::size_t dimension) {
  auto made = perfect_nest(nests.nest), taken = perfect_nest(nests.reader);
  if (!made || !taken || !find_stored_axes(*taken)) return std::nullopt;
  const Laid sums = laid(made->store->buffer, dimension);
  LaidNests result;
  result.nest = in_terms_of(nests.nest, sums);
  Laid handed = sums;
  if (nests.next.defined()) {
    const auto axis = var_of(nests.next, sums.before, dimension);
    const auto at = axis ? dimension_of(nests.next, nests.handed, *axis) : std::nullopt;
    if (!at) return std::nullopt;
    handed = laid(nests.handed, *at);
    result.next = in_terms_of(in_terms_of(nests.next, sums), handed);
  }
  const Buffer& stored = taken->store->buffer;
  const auto axis = var_of(nests.reader, nests.handed, handed.dimension);
  const auto at = axis ? dimension_of(nests.reader, stored, *axis) : std::nullopt;
  if (!at) return std::nullopt;
  result.handed = handed.after;
  result.reader = in_terms_of(with_axis_last(*taken, *axis), handed);
  if (*at + 1 == stored.shape().size()) return result;
  const Laid turned = laid(stored, *at);
  result.taken = turned.after;
  result.reader = in_terms_of(result.reader, turned);
  result.copy = copy_from(turned, nests.reader->span);
  return result;
}

}  // namespace relish
