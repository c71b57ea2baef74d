// The loops' variables become digits of the new one.
#include "schedule/nests/joined_terms.h"

#include <algorithm>

#include "loops/accesses.h"
#include "loops/digits.h"
#include "loops/nest.h"

namespace relish {
namespace {

// A loop of so many terms has no short ends.
constexpr std::int64_t long_enough = 256;

bool mentions_axis(const Scalar& value, const Axis& axis) {
  std::vector<ScalarVar> vars;
  collect_vars(value, vars);
  return std::any_of(vars.begin(), vars.end(),
                     [&](const ScalarVar& var) { return var == axis.var || var == axis.loop->var; });
}

bool can_be_joined(const Axis& axis, const Nest& nest) {
  const bool plain = axis.loop->kind == LoopKind::Serial && axis.loop->annotations.empty() &&
                     axis.loop->extent.as_int().value_or(0) > 1 &&
                     (!axis.iter || axis.iter->kind == IterKind::Reduce) &&
                     axis.loop->var.dtype() == nest.axes.front().loop->var.dtype() &&
                     axis.var.dtype() == axis.loop->var.dtype();
  return plain && std::none_of(nest.store->indices.begin(), nest.store->indices.end(),
                               [&](const Scalar& index) { return mentions_axis(index, axis); });
}

// Digits of one variable for the axes from `first` on.
class JoinedAxes {
 public:
  JoinedAxes(const Nest& nest, std::size_t first)
      : nest_(nest),
        first_(first),
        index_(nest.axes.back().loop->var.dtype()),
        loop_("k", index_, nest.axes.back().span),
        term_(nest.block ? ScalarVar("v_k", index_, nest.axes.back().span) : loop_) {
    Scalar above = use(term_);
    for (std::size_t i = nest.axes.size(); i-- > first;) {
      const Axis& axis = nest.axes[i];
      const std::int64_t extent = *axis.loop->extent.as_int();
      all_ *= extent;
      const Scalar divisor = int_literal(index_, extent);
      for (const ScalarVar& var : {axis.var, axis.loop->var})
        digits_.insert_or_assign(var.id(), i > first ? floor_mod(above, divisor) : above);
      if (i > first) above = floor_div(above, divisor);
    }
  }

  // Whether everything that the value reads runs on over the ends of the loops.
  bool run_on() const {
    std::vector<Access> loads;
    collect_loads(nest_.store->value, loads);
    bool any = false;
    for (const Access& load : loads) {
      bool moves = false;
      for (const Scalar& index : *load.indices)
        for (std::size_t i = first_; i < nest_.axes.size(); ++i)
          moves = moves || mentions_axis(index, nest_.axes[i]);
      if (!moves) continue;
      std::vector<Scalar> indices;
      for (const Scalar& index : *load.indices) indices.push_back(substitute(index, digits_));
      const auto place = counted_place(*load.buffer, indices);
      const Scalar one = int_literal(index_, 1);
      if (!place || !prove_equal(substitute(*place, {{term_.id(), use(term_) + one}}), *place + one))
        return false;
      any = true;
    }
    return any;
  }

  Stmt written() const {
    Stmt body = substitute(nest_.store_stmt, digits_);
    if (nest_.block) {
      BlockStmt block = *nest_.block;
      std::erase_if(block.iters, [&](const IterVar& iter) { return digits_.contains(iter.var.id()); });
      block.iters.push_back(
          {term_, IterKind::Reduce, int_literal(index_, 0), int_literal(index_, all_), use(loop_)});
      block.reads = block.writes = std::nullopt;
      block.body = body;
      body = make_stmt(std::move(block), nest_.block_stmt->span);
    }
    const For& last = *nest_.axes.back().loop;
    body = make_stmt(For{loop_, int_literal(index_, 0), int_literal(index_, all_), last.kind, body, {}},
                     nest_.axes.back().span);
    for (std::size_t i = first_; i-- > 0;) {
      For loop = *nest_.axes[i].loop;
      loop.body = body;
      body = make_stmt(std::move(loop), nest_.axes[i].span);
    }
    return body;
  }

 private:
  const Nest& nest_;
  std::size_t first_;
  DType index_;
  ScalarVar loop_, term_;
  std::int64_t all_ = 1;
  ScalarMap digits_;
};

// Whether the loops' variables are only in indices of loads.
bool only_in_loads(const Scalar& value, const Nest& nest, std::size_t first) {
  if (value.as<Load>()) return true;
  if (const auto* node = value.as<Binary>())
    return only_in_loads(node->a, nest, first) && only_in_loads(node->b, nest, first);
  for (std::size_t i = first; i < nest.axes.size(); ++i)
    if (mentions_axis(value, nest.axes[i])) return false;
  return true;
}

}  // namespace

Stmt with_joined_terms(const Stmt& stmt) {
  const auto nest = perfect_nest(stmt);
  if (!nest || !is_float(nest->store->buffer.dtype()) ||
      nest->axes.back().loop->extent.as_int().value_or(long_enough) >= long_enough)
    return stmt;
  std::size_t first = nest->axes.size();
  while (first > 0 && can_be_joined(nest->axes[first - 1], *nest)) --first;
  for (; first + 1 < nest->axes.size(); ++first) {
    const JoinedAxes joined(*nest, first);
    if (only_in_loads(nest->store->value, *nest, first) && joined.run_on()) return joined.written();
  }
  return stmt;
}

}  // namespace relish
