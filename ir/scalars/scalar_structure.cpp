// Structure of scalar expressions without algebra: equality, substitution, variables, evaluation.
#include <algorithm>
#include <bit>
#include <unordered_set>

#include "ir/calls/fault.h"
#include "ir/nodes/scalar.h"
#include "ir/scalars/scalar_order.h"
#include "support/checked.h"

namespace relish {
namespace {

template <class T>
int order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

int compare_lists(const std::vector<Scalar>& a, const std::vector<Scalar>& b) {
  if (int c = order(a.size(), b.size())) return c;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (int c = compare_structure(a[i], b[i])) return c;
  }
  return 0;
}

// Compares two nodes of the same kind. Right operands first: they are small in chains such as a + b + c.
struct NodeOrder {
  int operator()(const IntLiteral& a, const IntLiteral& b) const { return order(a.value, b.value); }
  int operator()(const FloatLiteral& a, const FloatLiteral& b) const {
    return order(std::bit_cast<std::uint64_t>(a.value), std::bit_cast<std::uint64_t>(b.value));
  }
  int operator()(const VarUse& a, const VarUse& b) const { return order(a.var.id(), b.var.id()); }
  int operator()(const Binary& a, const Binary& b) const { return pair(a, b); }
  int operator()(const Compare& a, const Compare& b) const { return pair(a, b); }
  int operator()(const Logical& a, const Logical& b) const { return pair(a, b); }
  int operator()(const Not& a, const Not& b) const { return compare_structure(a.a, b.a); }
  int operator()(const Select& a, const Select& b) const {
    if (int c = order(a.lazy, b.lazy)) return c;
    if (int c = compare_structure(a.condition, b.condition)) return c;
    if (int c = compare_structure(a.a, b.a)) return c;
    return compare_structure(a.b, b.b);
  }
  int operator()(const Cast& a, const Cast& b) const { return compare_structure(a.a, b.a); }
  int operator()(const Reinterpret& a, const Reinterpret& b) const { return compare_structure(a.a, b.a); }
  int operator()(const Let& a, const Let& b) const {
    if (int c = order(a.var.id(), b.var.id())) return c;
    if (int c = compare_structure(a.value, b.value)) return c;
    return compare_structure(a.body, b.body);
  }
  int operator()(const Load& a, const Load& b) const {
    if (int c = order(a.buffer->id(), b.buffer->id())) return c;
    return compare_lists(a.indices, b.indices);
  }
  int operator()(const IntrinsicCall& a, const IntrinsicCall& b) const {
    if (int c = order(a.intrinsic, b.intrinsic)) return c;
    return compare_lists(a.args, b.args);
  }
  int operator()(const TextLiteral& a, const TextLiteral& b) const { return order(a.value, b.value); }
  int operator()(const DataOf& a, const DataOf& b) const {
    if (int c = order(a.whole, b.whole)) return c;
    return order(a.buffer->id(), b.buffer->id());
  }
  int operator()(const ForeignCall& a, const ForeignCall& b) const {
    if (int c = order(a.function, b.function)) return c;
    if (int c = order(a.of_module, b.of_module)) return c;
    if (int c = order(a.names, b.names)) return c;
    return compare_lists(a.args, b.args);
  }

  template <class K>
  static int pair(const K& a, const K& b) {
    if (int c = order(a.op, b.op)) return c;
    if (int c = compare_structure(a.b, b.b)) return c;
    return compare_structure(a.a, b.a);
  }
};

}  // namespace

int compare_structure(const Scalar& a, const Scalar& b) {
  if (a.same_as(b)) return 0;
  if (int c = order(a->kind.index(), b->kind.index())) return c;
  if (int c = order(a->dtype, b->dtype)) return c;
  return std::visit(
      [&](const auto& left) { return NodeOrder{}(left, std::get<std::decay_t<decltype(left)>>(b->kind)); },
      a->kind);
}

bool structurally_equal(const Scalar& a, const Scalar& b) { return compare_structure(a, b) == 0; }

namespace {

class Substitution {
 public:
  Substitution(const ScalarMap& scalars, const BufferMap& buffers) : scalars_(scalars), buffers_(buffers) {}

  Scalar operator()(const Scalar& s) const {
    return std::visit([&](const auto& node) { return apply(s, node); }, s->kind);
  }

 private:
  Scalar rebuilt(const Scalar& s, ScalarKind kind) const {
    return Scalar(std::make_shared<const ScalarNode>(s->span, s->dtype, std::move(kind)));
  }

  Scalar apply(const Scalar& s, const IntLiteral&) const { return s; }
  Scalar apply(const Scalar& s, const FloatLiteral&) const { return s; }
  Scalar apply(const Scalar& s, const VarUse& node) const {
    auto found = scalars_.find(node.var.id());
    if (found == scalars_.end()) return s;
    const Scalar& value = found->second;
    if (value.dtype() == s.dtype()) return value;
    // The types around the variable stay right: a literal takes the variable's dtype, the rest is cast.
    if (std::optional<std::int64_t> literal = value.as_int(); literal && is_int(s.dtype())) {
      return int_literal(s.dtype(), *literal, value.span());
    }
    return cast(s.dtype(), value, value.span());
  }
  Scalar apply(const Scalar& s, const Binary& n) const { return apply_pair(s, n); }
  Scalar apply(const Scalar& s, const Compare& n) const { return apply_pair(s, n); }
  Scalar apply(const Scalar& s, const Logical& n) const { return apply_pair(s, n); }
  Scalar apply(const Scalar& s, const Not& n) const {
    Scalar a = (*this)(n.a);
    return a.same_as(n.a) ? s : rebuilt(s, Not{std::move(a)});
  }
  Scalar apply(const Scalar& s, const Cast& n) const {
    Scalar a = (*this)(n.a);
    return a.same_as(n.a) ? s : rebuilt(s, Cast{std::move(a)});
  }
  Scalar apply(const Scalar& s, const Reinterpret& n) const {
    Scalar a = (*this)(n.a);
    return a.same_as(n.a) ? s : rebuilt(s, Reinterpret{std::move(a)});
  }
  Scalar apply(const Scalar& s, const Let& n) const {
    const auto found = scalars_.find(n.var.id());
    const std::optional<ScalarVar> renamed = found == scalars_.end() ? std::nullopt : found->second.as_var();
    Scalar value = (*this)(n.value), body = (*this)(n.body);
    if (!renamed && value.same_as(n.value) && body.same_as(n.body)) return s;
    return rebuilt(s, Let{renamed.value_or(n.var), std::move(value), std::move(body)});
  }
  Scalar apply(const Scalar& s, const Select& n) const {
    Scalar condition = (*this)(n.condition), a = (*this)(n.a), b = (*this)(n.b);
    if (condition.same_as(n.condition) && a.same_as(n.a) && b.same_as(n.b)) return s;
    return rebuilt(s, Select{std::move(condition), std::move(a), std::move(b), n.lazy});
  }
  Scalar apply(const Scalar& s, const Load& n) const {
    auto found = buffers_.find(n.buffer->id());
    std::vector<Scalar> indices = n.indices;
    const bool changed = apply_all(indices);
    if (found == buffers_.end() && !changed) return s;
    if (found == buffers_.end()) return rebuilt(s, Load{n.buffer, std::move(indices)});
    return load(found->second, std::move(indices), s.span());
  }
  Scalar apply(const Scalar& s, const IntrinsicCall& n) const {
    std::vector<Scalar> args = n.args;
    return apply_all(args) ? rebuilt(s, IntrinsicCall{n.intrinsic, std::move(args)}) : s;
  }
  Scalar apply(const Scalar& s, const TextLiteral&) const { return s; }
  Scalar apply(const Scalar& s, const DataOf& n) const {
    auto found = buffers_.find(n.buffer->id());
    return found == buffers_.end() ? s : data_of(found->second, n.whole, s.span());
  }
  Scalar apply(const Scalar& s, const ForeignCall& n) const {
    ForeignCall copy = n;
    return apply_all(copy.args) ? rebuilt(s, std::move(copy)) : s;
  }

  template <class K>
  Scalar apply_pair(const Scalar& s, const K& n) const {
    Scalar a = (*this)(n.a), b = (*this)(n.b);
    return a.same_as(n.a) && b.same_as(n.b) ? s : rebuilt(s, K{n.op, std::move(a), std::move(b)});
  }

  bool apply_all(std::vector<Scalar>& list) const {
    bool changed = false;
    for (Scalar& item : list) {
      Scalar replaced = (*this)(item);
      if (replaced.same_as(item)) continue;
      item = std::move(replaced);
      changed = true;
    }
    return changed;
  }

  const ScalarMap& scalars_;
  const BufferMap& buffers_;
};

// Calls `visit` for every variable use, left to right, with a stack of its own.
template <class F>
void each_var(const Scalar& root, F&& visit) {
  std::vector<const Scalar*> stack{&root};
  while (!stack.empty()) {
    const Scalar& scalar = *stack.back();
    stack.pop_back();
    if (const auto* used = scalar.as<VarUse>()) visit(used->var);
    const std::size_t first = stack.size();
    for_each_operand(scalar, [&](const Scalar& operand) { stack.push_back(&operand); });
    std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
  }
}

}  // namespace

Scalar substitute(const Scalar& expression, const ScalarMap& scalars, const BufferMap& buffers) {
  if (scalars.empty() && buffers.empty()) return expression;
  return Substitution(scalars, buffers)(expression);
}

void collect_vars(const Scalar& expression, std::vector<ScalarVar>& into) {
  if (auto var = expression.as_var()) {  // what a dimension mostly is
    if (std::find(into.begin(), into.end(), *var) == into.end()) into.push_back(*var);
    return;
  }
  std::unordered_set<std::uint64_t> seen;
  for (const ScalarVar& var : into) seen.insert(var.id());
  each_var(expression, [&](const ScalarVar& var) {
    if (seen.insert(var.id()).second) into.push_back(var);
  });
}

std::int64_t wrap_to(DType dtype, std::int64_t value) {
  switch (dtype) {
    case DType::Bool:
      return value != 0;
    case DType::Int8:
      return static_cast<std::int8_t>(value);
    case DType::Int16:
      return static_cast<std::int16_t>(value);
    case DType::Int32:
      return static_cast<std::int32_t>(value);
    case DType::UInt8:
      return static_cast<std::uint8_t>(value);
    case DType::UInt16:
      return static_cast<std::uint16_t>(value);
    case DType::UInt32:
      return static_cast<std::uint32_t>(value);
    default:
      return value;
  }
}

std::optional<std::int64_t> fold_binary(BinaryOp op, DType dtype, std::int64_t a, std::int64_t b) {
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  const bool wide_unsigned = dtype == DType::UInt64;
  const std::int64_t bits = std::int64_t{8} * size_of(dtype);
  auto wrapped = [&](std::uint64_t value) { return wrap_to(dtype, static_cast<std::int64_t>(value)); };
  switch (op) {
    case BinaryOp::Add:
      return wrapped(ua + ub);
    case BinaryOp::Sub:
      return wrapped(ua - ub);
    case BinaryOp::Mul:
      return wrapped(ua * ub);
    case BinaryOp::Div:
    case BinaryOp::TruncMod:
    case BinaryOp::FloorDiv:
    case BinaryOp::FloorMod: {
      const bool division = op == BinaryOp::Div || op == BinaryOp::FloorDiv;
      const bool floors = op == BinaryOp::FloorDiv || op == BinaryOp::FloorMod;
      if (b == 0) return std::nullopt;
      if (wide_unsigned) return wrapped(division ? ua / ub : ua % ub);
      if (b == -1) return division ? wrapped(0 - ua) : 0;  // the least integer has no negation; it wraps
      std::int64_t quotient = a / b, remainder = a % b;
      if (floors && remainder != 0 && (remainder < 0) != (b < 0)) {
        --quotient;
        remainder += b;
      }
      return wrap_to(dtype, division ? quotient : remainder);
    }
    case BinaryOp::Min:
      return (wide_unsigned ? ua < ub : a < b) ? a : b;
    case BinaryOp::Max:
      return (wide_unsigned ? ua > ub : a > b) ? a : b;
    case BinaryOp::BitAnd:
      return a & b;
    case BinaryOp::BitOr:
      return a | b;
    case BinaryOp::BitXor:
      return a ^ b;
    case BinaryOp::ShiftLeft:
      if (b < 0) return std::nullopt;
      return b >= bits ? 0 : wrapped(ua << ub);
    case BinaryOp::ShiftRight:
      if (b < 0) return std::nullopt;
      if (wide_unsigned) return b >= bits ? 0 : wrapped(ua >> ub);
      return wrap_to(dtype, a >> (b >= bits ? bits - 1 : b));
  }
  return std::nullopt;
}

std::optional<std::int64_t> fold_exactly(BinaryOp op, DType dtype, std::int64_t a, std::int64_t b) {
  if (dtype != DType::Int64) return fold_binary(op, dtype, a, b);
  switch (op) {
    case BinaryOp::Add:
      return checked_add(a, b);
    case BinaryOp::Sub:
      return checked_sub(a, b);
    case BinaryOp::Mul:
      return checked_mul(a, b);
    case BinaryOp::Div:
    case BinaryOp::FloorDiv:
      if (b == -1) return checked_negate(a);
      break;
    default:
      break;
  }
  return fold_binary(op, dtype, a, b);
}

bool fold_compare(CompareOp op, DType dtype, std::int64_t a, std::int64_t b) {
  const bool less =
      dtype == DType::UInt64 ? static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b) : a < b;
  switch (op) {
    case CompareOp::Eq:
      return a == b;
    case CompareOp::Ne:
      return a != b;
    case CompareOp::Lt:
      return less;
    case CompareOp::Le:
      return less || a == b;
    case CompareOp::Gt:
      return !less && a != b;
    case CompareOp::Ge:
      return !less;
  }
  return false;
}

namespace {

using VarValue = std::function<std::optional<std::int64_t>(const ScalarVar&)>;
using OptionalInt = std::optional<std::int64_t>;

struct IntEvaluator {
  const VarValue& value_of;

  OptionalInt operator()(const Scalar& s) const {
    if (is_float(s.dtype())) return std::nullopt;
    return std::visit([&](const auto& node) { return apply(s, node); }, s->kind);
  }

  OptionalInt apply(const Scalar&, const IntLiteral& n) const { return n.value; }
  OptionalInt apply(const Scalar&, const FloatLiteral&) const { return std::nullopt; }
  OptionalInt apply(const Scalar&, const VarUse& n) const { return value_of(n.var); }
  OptionalInt apply(const Scalar& s, const Binary& n) const {
    const OptionalInt a = (*this)(n.a), b = (*this)(n.b);
    if (!a || !b) return std::nullopt;
    const OptionalInt folded = fold_exactly(n.op, s.dtype(), *a, *b);
    if (folded) return folded;
    const bool shift = n.op == BinaryOp::ShiftLeft || n.op == BinaryOp::ShiftRight;
    if (shift) fail_fault({.kind = FaultKind::NegativeShift, .values = {*b}}, s.span());
    if (fold_binary(n.op, s.dtype(), *a, *b))
      fail_fault({FaultKind::SizeOverflow, std::string(symbol_of(n.op)), {*a, *b}}, s.span());
    fail_fault({.kind = FaultKind::DivisionByZero}, s.span());
  }
  OptionalInt apply(const Scalar&, const Compare& n) const {
    const OptionalInt a = (*this)(n.a), b = (*this)(n.b);
    if (!a || !b) return std::nullopt;
    return fold_compare(n.op, n.a.dtype(), *a, *b);
  }
  OptionalInt apply(const Scalar&, const Logical& n) const {
    const OptionalInt a = (*this)(n.a);
    if (!a) return std::nullopt;
    const bool decisive = n.op == LogicalOp::Or;  // then the right is not computed: it may fail
    if ((*a != 0) == decisive) return decisive;
    const OptionalInt b = (*this)(n.b);
    return b ? OptionalInt(*b != 0) : std::nullopt;
  }
  OptionalInt apply(const Scalar&, const Not& n) const {
    const OptionalInt a = (*this)(n.a);
    return a ? OptionalInt(*a == 0) : std::nullopt;
  }
  OptionalInt apply(const Scalar&, const Select& n) const {
    const OptionalInt condition = (*this)(n.condition);
    if (!condition) return std::nullopt;
    return (*this)(*condition ? n.a : n.b);
  }
  OptionalInt apply(const Scalar& s, const Cast& n) const {
    const OptionalInt a = (*this)(n.a);
    return a ? OptionalInt(wrap_to(s.dtype(), *a)) : std::nullopt;
  }
  OptionalInt apply(const Scalar&, const Reinterpret&) const { return std::nullopt; }
  OptionalInt apply(const Scalar&, const Let& n) const {
    const OptionalInt value = (*this)(n.value);
    if (!value) return std::nullopt;
    const VarValue inside = [&](const ScalarVar& var) { return var == n.var ? value : value_of(var); };
    return IntEvaluator{inside}(n.body);
  }
  OptionalInt apply(const Scalar&, const Load&) const { return std::nullopt; }
  OptionalInt apply(const Scalar&, const TextLiteral&) const { return std::nullopt; }
  OptionalInt apply(const Scalar&, const DataOf&) const { return std::nullopt; }
  OptionalInt apply(const Scalar&, const ForeignCall&) const { return std::nullopt; }
  OptionalInt apply(const Scalar& s, const IntrinsicCall& n) const {
    const OptionalInt a = (*this)(n.args[0]);
    if (!a) return std::nullopt;
    switch (n.intrinsic) {
      case Intrinsic::Abs:
        return *a < 0 && !is_unsigned_int(s.dtype()) ? fold_binary(BinaryOp::Sub, s.dtype(), 0, *a) : a;
      case Intrinsic::Floor:
      case Intrinsic::Ceil:
      case Intrinsic::Round:
      case Intrinsic::Trunc:
        return a;
      default:
        return std::nullopt;
    }
  }
};

}  // namespace

std::optional<std::int64_t> evaluate_int(const Scalar& expression, const VarValue& value_of) {
  return IntEvaluator{value_of}(expression);
}

}  // namespace relish
