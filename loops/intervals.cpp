// Interval arithmetic over scalar expressions.
#include "loops/intervals.h"

#include <algorithm>

#include "ir/rewriting/rewrite.h"
#include "ir/scalars/scalar_order.h"

namespace relish {
namespace {

// Beyond it nothing is counted: far outside of every dtype, and its square fits.
constexpr __int128 far = static_cast<__int128>(1) << 96;
// A size that is open has at most so many elements: more than a machine holds, of int64; of int32 so few that
// what tiles round up still fits.
constexpr std::int64_t most_long = std::int64_t{1} << 31, most_short = INT32_MAX - (1 << 16);

Interval within(Interval range) { return {std::max(range.low, -far), std::min(range.high, far)}; }

bool inside(const Interval& range, const Interval& whole) {
  return range.low >= whole.low && range.high <= whole.high;
}

Interval joined(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval product(const Interval& a, const Interval& b) {
  // Neither factor is above 2^96 and one of them is of a dtype, or both are small.
  const auto times = [](__int128 x, __int128 y) -> __int128 {
    __int128 result = 0;
    if (__builtin_mul_overflow(x, y, &result)) return (x < 0) == (y < 0) ? far : -far;
    return result;
  };
  const __int128 ends[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                           times(a.high, b.high)};
  return within({*std::min_element(std::begin(ends), std::end(ends)),
                 *std::max_element(std::begin(ends), std::end(ends))});
}

__int128 floor_quotient(__int128 a, __int128 b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

Interval quotient(const Interval& a, const Interval& b, bool floors) {
  // A quotient is no further from zero than its dividend, but for the floor of a small negative one, -1.
  const __int128 most = std::max(a.high, -a.low);
  if (b.low < 1) return {-most, most};
  const auto divide = [&](__int128 x, __int128 y) { return floors ? floor_quotient(x, y) : x / y; };
  return {divide(a.low, a.low < 0 ? b.low : b.high), divide(a.high, a.high < 0 ? b.high : b.low)};
}

Interval remainder(const Interval& a, const Interval& b, bool floors) {
  const __int128 most = std::max(b.high, -b.low) - 1;
  if (b.low < 1) return {-most - 1, most + 1};
  if (a.low >= 0) return {0, std::min(a.high, most)};
  return {floors ? 0 : std::max(a.low, -most), most};
}

}  // namespace

bool is_ring_operation(const Scalar& value) {
  const auto* node = value.as<Binary>();
  return node && is_signed_int(value.dtype()) &&
         (node->op == BinaryOp::Add || node->op == BinaryOp::Sub || node->op == BinaryOp::Mul);
}

Interval interval_of(DType dtype) {
  if (is_bool(dtype)) return {0, 1};
  if (!is_int(dtype)) return {INT64_MIN, INT64_MAX};
  const int bits = 8 * size_of(dtype);
  const __int128 one = 1;
  if (!is_signed_int(dtype)) return {0, (one << bits) - 1};
  return {-(one << (bits - 1)), (one << (bits - 1)) - 1};
}

Intervals::Intervals(const PrimFunc& function) {
  for (const PrimParam& param : function.params) {
    if (!param.buffer()) continue;
    for (const Scalar& dim : param.buffer()->shape())
      if (const auto var = dim.as_var())
        variables_[var->id()] = {0, var->dtype() == DType::Int64 ? most_long : most_short};
  }
  for_each_stmt(function.body, [&](const Stmt& stmt) {
    if (const auto* assign = stmt.as<AssignScalar>()) assigned_.insert(assign->var.id());
  });
  for_each_scalar(function.body, [&](const Scalar& value) {
    // A name for a part of an expression is used inside of it alone, and nothing is kept of it.
    if (const auto* named = value.as<Let>()) assigned_.insert(named->var.id());
  });
  for_each_stmt(function.body, [&](const Stmt& stmt) { note(stmt); });
}

void Intervals::note(const Stmt& stmt) {
  if (const auto* loop = stmt.as<For>()) {
    const Interval begin = of(loop->begin), extent = of(loop->extent);
    const __int128 more = std::max<__int128>(extent.high, 1) - 1;
    variables_[loop->var.id()] = {begin.low, begin.high + more};
  } else if (const auto* block = stmt.as<BlockStmt>()) {
    for (const IterVar& iter : block->iters) variables_[iter.var.id()] = of(iter.binding);
  } else if (const auto* defined = stmt.as<DefineScalar>()) {
    if (defined->value.defined()) variables_[defined->var.id()] = of(defined->value);
  }
}

Interval Intervals::of(const Scalar& value) {
  if (const auto known = known_.find(&value.node()); known != known_.end()) return known->second.range;
  const Interval whole = interval_of(value.dtype()), found = exact(value);
  const Interval result = inside(found, whole) ? found : whole;
  known_.emplace(&value.node(), Known{value, result});
  return result;
}

bool Intervals::may_wrap(const Scalar& value) {
  return is_ring_operation(value) && !inside(exact(value), interval_of(value.dtype()));
}

bool Intervals::may_leave(const For& loop) {
  const __int128 most = interval_of(loop.var.dtype()).high;
  const Interval extent = of(loop.extent);
  if (extent.high <= 1 || of(loop.begin).high + extent.high - 1 <= most) return false;
  // From i to n it ends with n, whatever i is.
  const auto* length = loop.extent.as<Binary>();
  if (!length || length->op != BinaryOp::Sub || !structurally_equal(length->b, loop.begin)) return true;
  return may_wrap(loop.begin) || may_wrap(loop.extent) || exact(length->a).high - 1 > most;
}

Interval Intervals::exact(const Scalar& value) {
  if (!is_ring_operation(value)) return computed(value);
  const auto* node = value.as<Binary>();
  const auto part = [&](const Scalar& operand) {
    return is_ring_operation(operand) ? exact(operand) : of(operand);
  };
  const Interval a = part(node->a), b = part(node->b);
  if (node->op == BinaryOp::Add) return within({a.low + b.low, a.high + b.high});
  if (node->op == BinaryOp::Sub) return within({a.low - b.high, a.high - b.low});
  return product(a, b);
}

Interval Intervals::computed(const Scalar& value) {
  const Interval whole = interval_of(value.dtype());
  if (!is_int(value.dtype()) && !is_bool(value.dtype())) return whole;
  if (const auto literal = value.as_int(); literal && value.dtype() != DType::UInt64)
    return {*literal, *literal};
  if (const auto var = value.as_var()) {
    const auto found = variables_.find(var->id());
    return found == variables_.end() || assigned_.contains(var->id()) ? whole : found->second;
  }
  if (const auto* node = value.as<Cast>())
    return is_int(node->a.dtype()) || is_bool(node->a.dtype()) ? of(node->a) : whole;
  if (const auto* node = value.as<Select>()) return joined(of(node->a), of(node->b));
  const auto* node = value.as<Binary>();
  if (!node) return whole;
  const Interval a = of(node->a), b = of(node->b);
  switch (node->op) {
    case BinaryOp::Add:  // of unsigned integers, below
    case BinaryOp::Mul:
    case BinaryOp::Sub:
      return whole;
    case BinaryOp::Div:
    case BinaryOp::FloorDiv:
      return quotient(a, b, node->op == BinaryOp::FloorDiv);
    case BinaryOp::TruncMod:
    case BinaryOp::FloorMod:
      return remainder(a, b, node->op == BinaryOp::FloorMod);
    case BinaryOp::Min:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case BinaryOp::Max:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case BinaryOp::BitAnd:
      if (a.low >= 0 && b.low >= 0) return {0, std::min(a.high, b.high)};
      return a.low >= 0 ? Interval{0, a.high} : b.low >= 0 ? Interval{0, b.high} : whole;
    case BinaryOp::ShiftRight:
      return a.low >= 0 ? Interval{0, a.high} : Interval{a.low, std::max<__int128>(a.high, 0)};
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
    case BinaryOp::ShiftLeft:
      return whole;
  }
  return whole;
}

}  // namespace relish
