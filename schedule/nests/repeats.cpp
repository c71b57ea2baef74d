// One loop for the repetitions and one for what is repeated.
#include "schedule/nests/repeats.h"

#include <algorithm>

#include "ir/rewriting/rewrite.h"
#include "loops/iterations.h"
#include "loops/nest.h"

namespace relish {
namespace {

// Shorter rows are no quicker than single elements.
constexpr std::int64_t least_repeated = 8;

const Binary* digit_by(const Scalar& value, const Axis& axis) {
  const auto* node = value.as<Binary>();
  if (!node || (node->op != BinaryOp::FloorMod && node->op != BinaryOp::FloorDiv)) return nullptr;
  const auto var = node->a.as_var();
  return var && (*var == axis.var || *var == axis.loop->var) ? node : nullptr;
}

// How often a row of `length` lies in the extent; undefined: not a whole number of times.
Scalar repetitions(const Scalar& extent, const Scalar& length, RangeProver& prover) {
  if (const auto all = extent.as_int(), each = length.as_int(); all && each)
    return *each >= least_repeated && *all > *each && *all % *each == 0
               ? int_literal(extent.dtype(), *all / *each)
               : Scalar();
  const auto* product = extent.as<Binary>();
  if (!product || product->op != BinaryOp::Mul || length.as_int().value_or(least_repeated) < least_repeated ||
      !prover.nonnegative(length))
    return {};
  if (prover.same(product->a, length)) return product->b;
  if (prover.same(product->b, length)) return product->a;
  return {};
}

bool runs_along(const For& loop, const Nest& nest, RangeProver& prover) {
  for (std::size_t i = 0; i + 1 < nest.axes.size(); ++i)
    prover.enter_loop(nest.axes[i].loop->var, nest.axes[i].loop->begin, nest.axes[i].loop->extent);
  const bool affine = traits_of(loop, prover).affine;
  for (std::size_t i = 0; i + 1 < nest.axes.size(); ++i) prover.leave_loop();
  return affine;
}

}  // namespace

std::optional<Stmt> part_repeats(const Stmt& stmt, RangeProver& prover) {
  auto found = perfect_nest(stmt);
  if (!found || !find_stored_axes(*found, false, true)) return std::nullopt;
  const Nest& nest = *found;
  const Axis& axis = nest.axes.back();
  const For& loop = *axis.loop;
  if (!axis.stored || loop.kind != LoopKind::Serial || !loop.annotations.empty() ||
      (axis.iter && axis.iter->kind != IterKind::Spatial) || (nest.block && nest.block->init.defined()) ||
      runs_along(loop, nest, prover))
    return std::nullopt;
  Scalar length;
  for_each_scalar(nest.store->value, [&](const Scalar& part) {
    const Binary* digit = digit_by(part, axis);
    if (digit && !length.defined() && digit->op == BinaryOp::FloorMod) length = digit->b;
  });
  if (!length.defined() || mentions(length, axis)) return std::nullopt;
  const DType counted = loop.var.dtype(), used = axis.var.dtype();
  const Scalar each = cast(counted, length), times = repetitions(loop.extent, each, prover);
  if (!times.defined()) return std::nullopt;

  const ScalarVar around(loop.var.name() + "_0", counted, axis.span),
      inside(loop.var.name() + "_1", counted, axis.span);
  // In a block variables of its own stand for the loops'.
  const ScalarVar round = nest.block ? ScalarVar(axis.var.name() + "_0", used, axis.span) : around;
  const ScalarVar element = nest.block ? ScalarVar(axis.var.name() + "_1", used, axis.span) : inside;
  const auto parted = [&](const Scalar& value) {
    const Scalar digits = rewrite(value, [&](const Scalar& part) -> std::optional<Scalar> {
      const Binary* digit = digit_by(part, axis);
      if (!digit || !prover.same(digit->b, length)) return std::nullopt;
      return cast(part.dtype(), use(digit->op == BinaryOp::FloorDiv ? round : element));
    });
    const Scalar whole = use(round) * cast(used, length) + use(element);
    return substitute(digits, {{axis.var.id(), whole}, {loop.var.id(), cast(counted, whole)}});
  };
  Store store = *nest.store;
  store.value = parted(store.value);
  for (Scalar& index : store.indices) index = parted(index);
  Stmt body = make_stmt(std::move(store), nest.store_stmt->span, nest.store_stmt->comments);
  if (nest.block) {
    BlockStmt block = *nest.block;
    block.body = body;
    block.reads = block.writes = std::nullopt;
    const auto old = std::find_if(block.iters.begin(), block.iters.end(),
                                  [&](const IterVar& iter) { return iter.var == axis.var; });
    IterVar of_elements = *old;
    of_elements.var = element;
    of_elements.extent = cast(old->extent.dtype(), each);
    of_elements.binding = use(inside);
    old->var = round;
    old->extent = cast(old->extent.dtype(), times);
    old->binding = use(around);
    block.iters.insert(old + 1, of_elements);
    body = make_stmt(std::move(block), nest.block_stmt->span, nest.block_stmt->comments);
  }
  const Scalar begin = int_literal(counted, 0);
  body = make_stmt(For{inside, begin, each, LoopKind::Serial, body, {}}, axis.span);
  prover.enter_loop(around, begin, times);
  const bool side_by_side = runs_along(*body.as<For>(), nest, prover);
  prover.leave_loop();
  if (!side_by_side) return std::nullopt;
  body = make_stmt(For{around, begin, times, LoopKind::Serial, body, {}}, axis.span);
  for (std::size_t i = nest.axes.size() - 1; i-- > 0;) {
    For outer = *nest.axes[i].loop;
    outer.body = body;
    body = make_stmt(std::move(outer), nest.axes[i].span);
  }
  return body;
}

}  // namespace relish
