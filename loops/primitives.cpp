// Splitting, and unrolling with jamming.
#include "loops/primitives.h"

#include <string>
#include <vector>

#include "ir/rewriting/rewrite.h"
#include "support/failure.h"

namespace relish {
namespace {

void check_splits(const For& loop) { RELISH_CHECK(loop.begin.as_int() == 0 && !loop.step.defined()); }

// One of the two loops that a split makes, in the text named k_0 and k_1 as TVM's primitive names them.
ScalarVar part_of(const For& loop, int part) {
  return {loop.var.name() + "_" + std::to_string(part), loop.var.dtype(), loop.var.span()};
}

Scalar number(const For& loop, std::int64_t value) { return int_literal(loop.var.dtype(), value); }

// How many whole rounds of `factor` iterations there are.
Scalar whole_rounds(const For& loop, std::int64_t factor) {
  if (const auto extent = loop.extent.as_int()) return number(loop, *extent / factor);
  return floor_div(loop.extent, number(loop, factor));
}

// What unroll_and_jam leaves of so many iterations, fewer than the factor.
bool is_rest(const Scalar& extent, std::int64_t factor) {
  const auto* rest = extent.as<Binary>();
  const auto* done = rest && rest->op == BinaryOp::Sub ? rest->b.as<Binary>() : nullptr;
  const auto* rounds = done && done->op == BinaryOp::Mul ? done->a.as<Binary>() : nullptr;
  return rounds && rounds->op == BinaryOp::FloorDiv && done->b.as_int() == factor &&
         rounds->b.as_int() == factor;
}

}  // namespace

Buffer remade(const Buffer& buffer, const ScalarMap& scalars, BufferMap& buffers) {
  std::vector<Scalar> shape = buffer.shape(), strides = buffer.strides();
  for (Scalar& size : shape) size = substitute(size, scalars, buffers);
  for (Scalar& stride : strides) stride = substitute(stride, scalars, buffers);
  Buffer copy(buffer.name(), buffer.dtype(), std::move(shape), buffer.scope(), buffer.span());
  const Scalar& offset = buffer.elem_offset();
  if (!strides.empty() || offset.defined())
    copy = copy.with_layout(std::move(strides),
                            offset.defined() ? substitute(offset, scalars, buffers) : offset);
  buffers.insert_or_assign(buffer.id(), copy);
  return copy;
}

void rename_bound(const Stmt& stmt, ScalarMap& scalars, BufferMap& buffers) {
  const auto renamed = [&](const ScalarVar& var) {
    scalars.insert_or_assign(var.id(), use(ScalarVar(var.name(), var.dtype(), var.span())));
  };
  // In the order of the text: a size of a buffer names what is bound before it.
  for_each_stmt(stmt, [&](const Stmt& inner) {
    if (const auto* loop = inner.as<For>()) renamed(loop->var);
    if (const auto* define = inner.as<DefineScalar>()) renamed(define->var);
    if (const auto* allocate = inner.as<AllocateStmt>()) remade(allocate->buffer, scalars, buffers);
    if (const auto* declared = inner.as<ViewStmt>()) remade(declared->view.buffer, scalars, buffers);
    const auto* block = inner.as<BlockStmt>();
    if (!block) return;
    for (const IterVar& iter : block->iters) renamed(iter.var);
    for (const Buffer& buffer : block->allocations) remade(buffer, scalars, buffers);
    for (const BufferView& view : block->views) remade(view.buffer, scalars, buffers);
  });
}

Stmt fresh_copy(const Stmt& stmt, ScalarMap scalars, BufferMap buffers) {
  rename_bound(stmt, scalars, buffers);
  return substitute(stmt, scalars, buffers);
}

Stmt split(const For& loop, Span span, std::int64_t factor,
           const std::function<Stmt(const For& inner)>& round) {
  check_splits(loop);
  const ScalarVar outer = part_of(loop, 0), inner = part_of(loop, 1);
  const Scalar first = use(outer) * number(loop, factor);
  const auto extent = loop.extent.as_int();
  const Scalar rounds = extent ? number(loop, (*extent + factor - 1) / factor)
                               : floor_div(loop.extent + number(loop, factor - 1), number(loop, factor));
  const Scalar here =
      extent && *extent % factor == 0 ? number(loop, factor) : min(number(loop, factor), loop.extent - first);
  For part = loop;
  part.var = inner;
  part.extent = here;
  part.body = substitute(loop.body, ScalarMap{{loop.var.id(), first + use(inner)}});
  For whole = loop;
  whole.var = outer;
  whole.extent = rounds;
  whole.body = round(part);
  return make_stmt(std::move(whole), span);
}

Stmt unroll_and_jam(const For& loop, Span span, std::int64_t factor) {
  check_splits(loop);
  const auto* swept = loop.body.as<For>();
  RELISH_CHECK(swept != nullptr);
  if (loop.extent.as_int().value_or(factor) < factor || is_rest(loop.extent, factor))
    return make_stmt(loop, span);
  const Scalar rounds = whole_rounds(loop, factor);
  const auto extent = loop.extent.as_int();
  std::vector<Stmt> parts;
  if (rounds.as_int().value_or(1) > 0) {
    const ScalarVar outer = part_of(loop, 0), inner = part_of(loop, 1);
    const Scalar at = use(outer) * number(loop, factor) + use(inner);
    For unrolled{inner,
                 number(loop, 0),
                 number(loop, factor),
                 LoopKind::Unrolled,
                 substitute(swept->body, ScalarMap{{loop.var.id(), at}}),
                 {}};
    For sweep = *swept;
    sweep.body = make_stmt(std::move(unrolled), span);
    For main = loop;
    main.var = outer;
    main.extent = rounds;
    main.body = make_stmt(std::move(sweep), loop.body->span);
    parts.push_back(make_stmt(std::move(main), span));
  }
  if (!extent || *extent % factor != 0) {
    const ScalarVar last = part_of(loop, 1);
    const Scalar done = extent ? number(loop, *extent / factor * factor) : rounds * number(loop, factor);
    For rest = loop;
    rest.var = last;
    rest.extent = extent ? number(loop, *extent % factor) : loop.extent - done;
    ScalarMap scalars;
    BufferMap buffers;
    rename_bound(loop.body, scalars, buffers);
    scalars.insert_or_assign(loop.var.id(), done + use(last));
    rest.body = substitute(loop.body, scalars, buffers);
    parts.push_back(make_stmt(std::move(rest), span));
  }
  return seq(std::move(parts), span);
}

}  // namespace relish
