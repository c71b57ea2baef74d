// A loop over terms as one over the parts of an element around one over elements.
#include "schedule/nests/packed_terms.h"

#include <algorithm>
#include <vector>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "loops/nest.h"
#include "loops/reduction.h"

namespace relish {
namespace {

// Parts of an element, and of how many elements a sum is worth it. Vectors can be loaded from several places,
// but not those of elements of fewer bytes.
constexpr std::int64_t most_parts_of_element = 8, least_elements = 16, least_gathered_bytes = 4;

bool is_quotient(BinaryOp op) { return op == BinaryOp::FloorDiv || op == BinaryOp::Div; }
bool is_remainder(BinaryOp op) { return op == BinaryOp::FloorMod || op == BinaryOp::TruncMod; }

// The quotient or remainder of just the axis by a number, which is not negative in a loop that begins at 0.
const Binary* digit_of(const Scalar& value, const Axis& axis) {
  const auto* node = value.as<Binary>();
  if (!node || is_float(value.dtype()) || !(is_quotient(node->op) || is_remainder(node->op))) return nullptr;
  const auto var = node->a.as_var();
  const bool of_axis = var && (*var == axis.var || *var == axis.loop->var);
  return of_axis && node->b.as_int().value_or(0) > 1 ? node : nullptr;
}

// How many terms lie in an element; 0 where the axis has other digits too, or nothing is read at a quotient.
std::int64_t parts_of_element(const Scalar& value, const Axis& axis) {
  std::int64_t parts = 0;
  bool fits = true;
  for_each_scalar(value, [&](const Scalar& at) {
    const auto* node = at.as<Binary>();
    if (!node || is_float(at.dtype()) || !(is_quotient(node->op) || is_remainder(node->op)) ||
        !mentions(at, axis))
      return;
    const Binary* digit = digit_of(at, axis);
    const std::int64_t by = digit ? *digit->b.as_int() : 0;
    fits = fits && by > 1 && (parts == 0 || parts == by);
    parts = by;
  });
  if (!fits || parts > most_parts_of_element) return 0;
  std::vector<Access> loads;
  collect_loads(value, loads);
  const bool packed = std::any_of(loads.begin(), loads.end(), [&](const Access& load) {
    const Binary* last = load.indices->empty() ? nullptr : digit_of(load.indices->back(), axis);
    return last && is_quotient(last->op) &&
           static_cast<std::int64_t>(size_of(load.buffer->dtype())) < least_gathered_bytes;
  });
  return packed ? parts : 0;
}

}  // namespace

std::optional<Stmt> unpack_terms(const Stmt& stmt, RangeProver& prover) {
  auto found = perfect_nest(stmt);
  if (!found || !find_stored_axes(*found, false, true)) return std::nullopt;
  const Nest& nest = *found;
  const auto update = as_update(*nest.store);
  const bool starts = nest.block && nest.block->init.defined();
  const Store* init = starts ? matching_init(nest) : nullptr;
  if (!update || !reassociable(*nest.store) || (starts && !init)) return std::nullopt;
  if (const auto* guarded = update->addend.as<Select>(); guarded && guarded->lazy) return std::nullopt;
  std::vector<Access> loads;
  collect_loads(update->addend, loads);
  for (const Access& load : loads)
    if (*load.buffer == nest.store->buffer) return std::nullopt;

  const auto fits = [](const Axis& axis) {
    const For& loop = *axis.loop;
    return !axis.stored && loop.kind == LoopKind::Serial && loop.annotations.empty() &&
           (!axis.iter || axis.iter->kind == IterKind::Reduce) && loop.extent.as_int().value_or(0) > 0;
  };
  std::int64_t parts = 0;
  std::size_t at = 0;
  for (; at < nest.axes.size() && parts == 0; ++at)
    if (fits(nest.axes[at])) parts = parts_of_element(update->addend, nest.axes[at]);
  if (parts == 0) return std::nullopt;
  const Axis& axis = nest.axes[--at];
  const std::int64_t extent = *axis.loop->extent.as_int();
  if (extent % parts != 0 || extent / parts < least_elements) return std::nullopt;
  for (const Axis& other : nest.axes)
    if (mentions(other.loop->extent, axis)) return std::nullopt;
  enter(nest, prover);
  const bool fails = may_fault(nest, init, prover);
  leave(nest, prover);
  if (fails) return std::nullopt;

  const DType counted = axis.loop->var.dtype(), used = axis.var.dtype();
  const ScalarVar part(axis.loop->var.name() + "_part", counted, axis.span);
  const ScalarVar element(axis.loop->var.name(), counted, axis.span);
  // In a block variables of its own stand for the loops'.
  const ScalarVar in_part = nest.block ? ScalarVar(axis.var.name() + "_part", used, axis.span) : part;
  const ScalarVar in_element = nest.block ? ScalarVar(axis.var.name(), used, axis.span) : element;
  const auto unpacked = [&](const Scalar& value) {
    const Scalar digits = rewrite(value, [&](const Scalar& each) -> std::optional<Scalar> {
      const Binary* digit = digit_of(each, axis);
      if (!digit) return std::nullopt;
      return cast(each.dtype(), use(is_quotient(digit->op) ? in_element : in_part));
    });
    const Scalar whole = use(in_element) * int_literal(used, parts) + use(in_part);
    return substitute(digits, {{axis.var.id(), whole}, {axis.loop->var.id(), cast(counted, whole)}});
  };
  Store store = *nest.store;
  store.value = unpacked(store.value);
  Stmt body = make_stmt(std::move(store), nest.store_stmt->span, nest.store_stmt->comments);
  const Scalar begin = int_literal(counted, 0), all_parts = int_literal(counted, parts),
               elements = int_literal(counted, extent / parts);
  if (nest.block) {
    BlockStmt block = *nest.block;
    block.body = body;
    block.reads = block.writes = std::nullopt;
    const auto old = std::find_if(block.iters.begin(), block.iters.end(),
                                  [&](const IterVar& iter) { return iter.var == axis.var; });
    IterVar of_elements = *old, of_parts = *old;
    of_elements.var = in_element;
    of_elements.extent = int_literal(old->extent.dtype(), extent / parts);
    of_elements.binding = use(element);
    of_parts.var = in_part;
    of_parts.extent = int_literal(old->extent.dtype(), parts);
    of_parts.binding = use(part);
    *old = of_parts;
    block.iters.insert(old + 1, of_elements);
    body = make_stmt(std::move(block), nest.block_stmt->span, nest.block_stmt->comments);
  }
  for (std::size_t i = nest.axes.size(); i-- > 0;) {
    For loop = *nest.axes[i].loop;
    loop.body = body;
    if (i != at) {
      body = make_stmt(std::move(loop), nest.axes[i].span);
      continue;
    }
    loop.var = element;
    loop.extent = elements;
    body = make_stmt(std::move(loop), axis.span);
    body = make_stmt(For{part, begin, all_parts, LoopKind::Serial, body, {}}, axis.span);
  }
  return body;
}

}  // namespace relish
