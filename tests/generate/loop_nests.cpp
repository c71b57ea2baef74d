// Nests that write all of a buffer: loops with and without blocks, fused and split, and reductions.
#include "tests/generate/loop_generator.h"
#include "tests/generate/names.h"

namespace relish::generate {
namespace {

struct Loop {
  ScalarVar var;
  Scalar begin, extent;
};

Stmt wrap(const std::vector<Loop>& loops, Stmt body, LoopKind outer, const Attributes& annotations,
          const CommentsPtr& comments) {
  for (std::size_t i = loops.size(); i-- > 0;) {
    const bool first = i == 0;
    body = make_stmt(For{loops[i].var, loops[i].begin, loops[i].extent, first ? outer : LoopKind::Serial,
                         std::move(body), first ? annotations : Attributes{}},
                     {}, first ? comments : nullptr);
  }
  return body;
}

}  // namespace

Stmt LoopGenerator::reduction(const Buffer& buffer) {
  cover("reduction");
  loosen(5);
  const Scope scope(*this);
  BlockStmt block;
  block.name = block_name(random_);
  std::vector<Loop> loops;
  std::vector<Scalar> place;
  const auto add = [&](const Scalar& extent, IterKind kind) {
    const ScalarVar loop(variable_name(random_), extent.dtype()),
        axis(variable_name(random_), extent.dtype());
    loops.push_back({loop, int_literal(extent.dtype(), 0), extent});
    block.iters.push_back({axis, kind, int_literal(extent.dtype(), 0), extent, Scalar(loop)});
    if (kind == IterKind::Spatial) place.emplace_back(axis);
    indices.push_back({Scalar(axis), extent});
  };
  for (const Scalar& dim : buffer.shape()) add(dim, IterKind::Spatial);
  for (std::int64_t count = random_.between(1, 2); count > 0; --count)
    add(random_.pick(extents_), IterKind::Reduce);

  const DType dtype = buffer.dtype();
  const Scalar old = load(buffer, place);
  const bool sum = random_.chance(0.7);
  const Scalar term = scalar(dtype, 2);
  const Scalar start = sum ? zero(dtype) : (is_float(dtype) ? float_literal(dtype, -1000) : min_value(dtype));
  block.init = make_stmt(Store{buffer, place, start});
  const BinaryOp op = sum ? BinaryOp::Add : BinaryOp::Max;
  block.body = make_stmt(Store{buffer, place, binary(op, old, term)}, {}, comments());
  return wrap(loops, make_stmt(std::move(block), {}, nullptr), LoopKind::Serial, {}, comments());
}

Stmt LoopGenerator::fill(const Buffer& buffer) {
  if (!is_bool(buffer.dtype()) && random_.chance(0.3)) return reduction(buffer);
  const Scope scope(*this);
  std::vector<Loop> loops;
  std::vector<Scalar> place;
  const bool block_style = random_.chance(0.7);
  BlockStmt block;
  block.name = block_name(random_);
  for (const Scalar& extent : buffer.shape()) {
    const DType dtype = extent.dtype();
    const Scalar nothing = int_literal(dtype, 0);
    const auto size = extent.as_int();
    ScalarVar loop(variable_name(random_), dtype);
    Scalar at = loop;
    const double form = random_.uniform();
    if (form < 0.1) {
      cover("loop that does not begin at 0");
      const std::int64_t begin = random_.between(1, 3);
      loops.push_back({loop, int_literal(dtype, begin), extent});
      at = at - int_literal(dtype, begin);
    } else if (form < 0.25 && block_style && (!size || *size > 1)) {
      // Split by 2; where the extent is odd the last instance is left out by a predicate.
      cover("split loop with a predicate");
      const Scalar two = int_literal(dtype, 2);
      const Scalar outer = size ? int_literal(dtype, (*size + 1) / 2)
                                : binary(BinaryOp::FloorDiv, extent + int_literal(dtype, 1), two);
      const ScalarVar inner(variable_name(random_), dtype);
      loops.push_back({loop, nothing, outer});
      loops.push_back({inner, nothing, two});
      at = Scalar(loop) * two + Scalar(inner);
      const Scalar inside = at < extent;
      block.predicate = block.predicate.defined() ? logical(LogicalOp::And, block.predicate, inside) : inside;
    } else {
      loops.push_back({loop, nothing, extent});
    }
    if (block_style) {
      const ScalarVar axis(variable_name(random_), dtype);
      block.iters.push_back({axis, IterKind::Spatial, nothing, extent, at});
      at = axis;
    }
    place.push_back(at);
    indices.push_back({at, extent});
  }

  LoopKind kind = LoopKind::Serial;
  Attributes annotations;
  if (!loops.empty()) {
    const double choice = random_.uniform();
    if (choice < 0.15) kind = LoopKind::Parallel;
    if (choice >= 0.15 && choice < 0.3) kind = LoopKind::Vectorized;
    if (choice >= 0.3 && choice < 0.4) kind = LoopKind::Unrolled;
    if (kind != LoopKind::Serial) cover("kinds of loops");
    if (random_.chance(0.1)) {
      cover("loop annotations");
      annotations = attributes();
    }
  }
  std::vector<Stmt> body;
  if (block_style && random_.chance(0.2)) {
    cover("block allocation");
    const Buffer temporary(variable_name(random_), buffer.dtype(), {int_literal(DType::Int32, 2)});
    block.allocations.push_back(temporary);
    for (int i = 0; i < 2; ++i) {
      body.push_back(make_stmt(Store{temporary, {int_literal(DType::Int32, i)}, scalar(buffer.dtype(), 1)},
                               {}, comments()));
    }
    readable.push_back(temporary);
  }
  body.push_back(make_stmt(Store{buffer, place, scalar(buffer.dtype(), 3)}, {}, comments()));
  Stmt inside = seq(std::move(body));
  if (block_style) {
    cover("block");
    if (random_.chance(0.2)) {
      cover("declared regions");
      BufferRegion whole{buffer, {}};
      for (const Scalar& dim : buffer.shape()) whole.dims.push_back({int_literal(dim.dtype(), 0), dim});
      block.writes = std::vector<BufferRegion>{whole};
    }
    if (random_.chance(0.15)) block.attributes = attributes();
    block.body = std::move(inside);
    inside = make_stmt(std::move(block), {}, comments());
  }
  return wrap(loops, std::move(inside), kind, annotations, comments());
}

}  // namespace relish::generate
