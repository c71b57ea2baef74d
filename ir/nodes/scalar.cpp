// Construction of scalar expressions: conversion of operands by TVM's rules and the checks that keep every
// scalar well typed.
#include "ir/nodes/scalar.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "ir/nodes/identity.h"
#include "ir/scalars/scalar_order.h"
#include "runtime/half.h"
#include "support/counted.h"
#include "support/failure.h"

namespace relish {
namespace {

Scalar make(DType dtype, ScalarKind kind, Span span) {
  return Scalar(std::make_shared<const ScalarNode>(span, dtype, std::move(kind)));
}

[[noreturn]] void ill_typed(Span span, std::string_view id, std::string message) {
  fail(ErrorClass::Type, span, id, std::move(message));
}

bool is_literal(const Scalar& s) { return s.as<IntLiteral>() || s.as<FloatLiteral>(); }

bool int_fits(std::int64_t value, DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return value == 0 || value == 1;
    case DType::Int8:
      return value >= INT8_MIN && value <= INT8_MAX;
    case DType::Int16:
      return value >= INT16_MIN && value <= INT16_MAX;
    case DType::Int32:
      return value >= INT32_MIN && value <= INT32_MAX;
    case DType::Int64:
      return true;
    case DType::UInt8:
      return value >= 0 && value <= UINT8_MAX;
    case DType::UInt16:
      return value >= 0 && value <= UINT16_MAX;
    case DType::UInt32:
      return value >= 0 && value <= std::int64_t{UINT32_MAX};
    case DType::UInt64:
      return value >= 0;
    default:
      return false;
  }
}

// A finite number must stay one: infinity is written as such.
Scalar finite_literal(DType dtype, double value, Span span) {
  Scalar result = float_literal(dtype, value, span);
  if (std::isfinite(value) && !std::isfinite(result.as<FloatLiteral>()->value))
    ill_typed(span, "scalar.literal",
              fmt::format("found {}, which is no value of {}", value, name_of(dtype)));
  return result;
}

// The literal with the wanted dtype, when its value is one of that kind.
std::optional<Scalar> adopt(const Scalar& value, DType wanted) {
  if (const auto* i = value.as<IntLiteral>()) {
    const bool large_unsigned = value.dtype() == DType::UInt64 && i->value < 0;
    if (is_float(wanted) && value.dtype() != DType::Bool && !large_unsigned)
      return finite_literal(wanted, static_cast<double>(i->value), value.span());
    if (is_int(wanted) && !large_unsigned && int_fits(i->value, wanted)) {
      return int_literal(wanted, i->value, value.span());
    }
    return std::nullopt;
  }
  const auto* f = value.as<FloatLiteral>();
  if (f && is_float(wanted)) return finite_literal(wanted, f->value, value.span());
  return std::nullopt;
}

// The dtype of an operation on two expressions: float beats integer, wider beats narrower, unsigned beats
// signed of equal width, and bool is the narrowest integer.
DType common_dtype(DType a, DType b, Span span) {
  if (a == b) return a;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  if (is_bool(a)) return b;
  if (is_bool(b)) return a;
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  if (is_float(a)) {
    ill_typed(
        span, "scalar.dtype",
        fmt::format("{} and {} have no common dtype; expected an explicit cast", name_of(a), name_of(b)));
  }
  return is_unsigned_int(a) ? a : b;
}

void unify(Scalar& a, Scalar& b, Span span) {
  RELISH_CHECK(a.defined() && b.defined());
  if (a.dtype() == b.dtype()) return;
  const bool literal_a = is_literal(a), literal_b = is_literal(b);
  if (literal_a != literal_b) {
    Scalar& from = literal_a ? a : b;
    if (std::optional<Scalar> adopted = adopt(from, (literal_a ? b : a).dtype())) {
      from = *adopted;
      return;
    }
  }
  const DType dtype = common_dtype(a.dtype(), b.dtype(), span);
  for (Scalar* side : {&a, &b}) {
    std::optional<Scalar> adopted = is_literal(*side) ? adopt(*side, dtype) : std::nullopt;
    *side = adopted ? *adopted : cast(dtype, *side, side->span());
  }
}

Span span_or(Span given, const Scalar& a, const Scalar& b) {
  return given.known() ? given : cover(a.span(), b.span());
}

}  // namespace

std::string_view symbol_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
      return "+";
    case BinaryOp::Sub:
      return "-";
    case BinaryOp::Mul:
      return "*";
    case BinaryOp::Div:
      return "/";
    case BinaryOp::TruncMod:
      return "truncmod";
    case BinaryOp::FloorDiv:
      return "//";
    case BinaryOp::FloorMod:
      return "%";
    case BinaryOp::Min:
      return "min";
    case BinaryOp::Max:
      return "max";
    case BinaryOp::BitAnd:
      return "&";
    case BinaryOp::BitOr:
      return "|";
    case BinaryOp::BitXor:
      return "^";
    case BinaryOp::ShiftLeft:
      return "<<";
    case BinaryOp::ShiftRight:
      return ">>";
  }
  return "?";
}

ScalarVar::ScalarVar(std::string name, DType dtype, Span span)
    : node_(std::make_shared<const Node>(Node{next_identity(), std::move(name), dtype, span})) {}

namespace {

// Moves the operands of a node that goes away to `pending`.
void give_up_operands(ScalarKind& kind, std::vector<Scalar>& pending) {
  const auto give_up = [&](Scalar& operand) {
    if (operand.defined()) pending.push_back(std::move(operand));
  };
  std::visit(
      [&](auto& node) {
        if constexpr (requires { node.condition; }) give_up(node.condition);
        if constexpr (requires { node.a; }) give_up(node.a);
        if constexpr (requires { node.b; }) give_up(node.b);
        if constexpr (requires { node.value.defined(); }) give_up(node.value);
        if constexpr (requires { node.body; }) give_up(node.body);
        if constexpr (requires { node.indices; })
          for (Scalar& index : node.indices) give_up(index);
        if constexpr (requires { node.args; })
          for (Scalar& argument : node.args) give_up(argument);
      },
      kind);
}

bool is_leaf(const ScalarKind& kind) {
  return std::holds_alternative<IntLiteral>(kind) || std::holds_alternative<FloatLiteral>(kind) ||
         std::holds_alternative<VarUse>(kind);
}

}  // namespace

// The outermost destructor empties the list that the nodes below it fill.
ScalarNode::~ScalarNode() {
  static thread_local std::vector<Scalar>* pending = nullptr;
  if (is_leaf(kind)) return;
  if (pending) {
    give_up_operands(kind, *pending);
    return;
  }
  std::vector<Scalar> mine;
  pending = &mine;
  give_up_operands(kind, mine);
  while (!mine.empty()) {
    const Scalar last = std::move(mine.back());
    mine.pop_back();
  }
  pending = nullptr;
}

Scalar::Scalar(std::int64_t value) : Scalar(int_literal(DType::Int64, value)) {}

Scalar::Scalar(const ScalarVar& var) : Scalar(use(var)) {}

DType Scalar::dtype() const { return node_->dtype; }

Span Scalar::span() const { return node_->span; }

std::optional<std::int64_t> Scalar::as_int() const {
  const auto* literal = as<IntLiteral>();
  return literal ? std::optional(literal->value) : std::nullopt;
}

std::optional<ScalarVar> Scalar::as_var() const {
  const auto* used = as<VarUse>();
  return used ? std::optional(used->var) : std::nullopt;
}

Buffer::Buffer(std::string name, DType dtype, std::vector<Scalar> shape, std::string scope, Span span)
    : node_(std::make_shared<const Node>(Node{
          next_identity(), std::move(name), dtype, std::move(shape), std::move(scope), span, {}, {}, {}})) {}

Buffer Buffer::with_layout(std::vector<Scalar> strides, Scalar elem_offset) const {
  RELISH_CHECK(strides.empty() || strides.size() == node_->shape.size());
  Buffer copy;
  copy.node_ = std::make_shared<const Node>(Node{next_identity(), node_->name, node_->dtype, node_->shape,
                                                 node_->scope, node_->span, std::move(strides),
                                                 std::move(elem_offset), node_->pointer_type});
  return copy;
}

Buffer Buffer::as_pointer(std::string type) const {
  RELISH_CHECK(!type.empty());
  Buffer copy;
  copy.node_ =
      std::make_shared<const Node>(Node{next_identity(), node_->name, node_->dtype, node_->shape,
                                        node_->scope, node_->span, node_->strides, node_->elem_offset, type});
  return copy;
}

Scalar int_literal(DType dtype, std::int64_t value, Span span) {
  RELISH_CHECK(!is_float(dtype));
  return make(dtype, IntLiteral{value}, span);
}

Scalar float_literal(DType dtype, double value, Span span) {
  RELISH_CHECK(is_float(dtype));
  // A literal is a value of its dtype, so that its shortest text reads as the same literal.
  if (dtype == DType::Float32) value = static_cast<float>(value);
  if (dtype == DType::Float16) value = static_cast<float>(Half(value));
  if (dtype == DType::BFloat16) value = static_cast<float>(BFloat16(value));
  return make(dtype, FloatLiteral{value}, span);
}

Scalar bool_literal(bool value, Span span) { return int_literal(DType::Bool, value ? 1 : 0, span); }

Scalar literal(DType dtype, double value, Span span) {
  if (is_float(dtype)) return float_literal(dtype, value, span);
  // 2^63 is the first double beyond int64, and the cast below is undefined from there on.
  RELISH_CHECK(std::trunc(value) == value && std::abs(value) < 9223372036854775808.0);
  const auto integer = static_cast<std::int64_t>(value);
  RELISH_CHECK(int_fits(integer, dtype), fmt::format("{} is no {}", value, name_of(dtype)));
  return int_literal(dtype, integer, span);
}

Scalar zero(DType dtype) { return is_float(dtype) ? float_literal(dtype, 0) : int_literal(dtype, 0); }

Scalar use(const ScalarVar& var, Span span) {
  RELISH_CHECK(var.defined());
  return make(var.dtype(), VarUse{var}, span);
}

Scalar binary(BinaryOp op, Scalar a, Scalar b, Span span) {
  const Span at = span_or(span, a, b);
  unify(a, b, at);
  DType dtype = a.dtype();
  const bool bits = op >= BinaryOp::BitAnd;
  if (bits && is_float(dtype)) {
    ill_typed(at, "scalar.dtype", fmt::format("{} takes integers, found {}", symbol_of(op), name_of(dtype)));
  }
  // bool stays bool only where the result is one again: bit operations, minimum and maximum.
  const bool keeps_bool = op == BinaryOp::Min || op == BinaryOp::Max ||
                          (bits && op != BinaryOp::ShiftLeft && op != BinaryOp::ShiftRight);
  if (is_bool(dtype) && !keeps_bool) {
    dtype = DType::Int32;
    a = cast(dtype, a, a.span());
    b = cast(dtype, b, b.span());
  }
  return make(dtype, Binary{op, std::move(a), std::move(b)}, at);
}

Scalar compare(CompareOp op, Scalar a, Scalar b, Span span) {
  const Span at = span_or(span, a, b);
  unify(a, b, at);
  return make(DType::Bool, Compare{op, std::move(a), std::move(b)}, at);
}

Scalar logical(LogicalOp op, Scalar a, Scalar b, Span span) {
  const Span at = span_or(span, a, b);
  for (const Scalar* side : {&a, &b}) {
    if (!is_bool(side->dtype())) {
      ill_typed(side->span().known() ? side->span() : at, "scalar.bool",
                fmt::format("operand of {} has dtype {}; expected bool", op == LogicalOp::And ? "and" : "or",
                            name_of(side->dtype())));
    }
  }
  return make(DType::Bool, Logical{op, std::move(a), std::move(b)}, at);
}

Scalar logical_not(Scalar a, Span span) {
  const Span at = span.known() ? span : a.span();
  if (!is_bool(a.dtype())) {
    ill_typed(at, "scalar.bool",
              fmt::format("operand of not has dtype {}; expected bool", name_of(a.dtype())));
  }
  return make(DType::Bool, Not{std::move(a)}, at);
}

namespace {

Scalar make_select(Scalar condition, Scalar a, Scalar b, bool lazy, Span span) {
  const Span at = span.known() ? span : cover(condition.span(), cover(a.span(), b.span()));
  if (!is_bool(condition.dtype())) {
    ill_typed(condition.span().known() ? condition.span() : at, "scalar.bool",
              fmt::format("condition has dtype {}; expected bool", name_of(condition.dtype())));
  }
  unify(a, b, at);
  const DType dtype = a.dtype();
  return make(dtype, Select{std::move(condition), std::move(a), std::move(b), lazy}, at);
}

}  // namespace

Scalar select(Scalar condition, Scalar a, Scalar b, Span span) {
  return make_select(std::move(condition), std::move(a), std::move(b), false, span);
}

Scalar if_then_else(Scalar condition, Scalar a, Scalar b, Span span) {
  return make_select(std::move(condition), std::move(a), std::move(b), true, span);
}

Scalar cast(DType dtype, Scalar a, Span span) {
  if (a.dtype() == dtype) return a;
  const Span at = span.known() ? span : a.span();
  return make(dtype, Cast{std::move(a)}, at);
}

Scalar reinterpret(DType dtype, Scalar a, Span span) {
  if (a.dtype() == dtype) return a;
  const Span at = span.known() ? span : a.span();
  if (size_of(a.dtype()) != size_of(dtype) || is_bool(dtype) || is_bool(a.dtype())) {
    ill_typed(at, "scalar.reinterpret",
              fmt::format("{} is reinterpreted as {}; expected a dtype of the same width", name_of(a.dtype()),
                          name_of(dtype)));
  }
  return make(dtype, Reinterpret{std::move(a)}, at);
}

Scalar let(ScalarVar var, Scalar value, Scalar body, Span span) {
  RELISH_CHECK(var.dtype() == value.dtype());
  const DType dtype = body.dtype();
  return make(dtype, Let{std::move(var), std::move(value), std::move(body)}, span);
}

Scalar load(const Buffer& buffer, std::vector<Scalar> indices, Span span) {
  if (static_cast<int>(indices.size()) != buffer.rank()) {
    ill_typed(span, "buffer.rank",
              fmt::format("{} is indexed with {}; it has rank {}", buffer.name(),
                          counted(indices.size(), "index", "indices"), buffer.rank()));
  }
  for (const Scalar& index : indices) {
    if (!is_int(index.dtype())) {
      ill_typed(index.span().known() ? index.span() : span, "buffer.index",
                fmt::format("index of {} has dtype {}; expected an integer", buffer.name(),
                            name_of(index.dtype())));
    }
  }
  return make(buffer.dtype(), Load{std::make_shared<const Buffer>(buffer), std::move(indices)}, span);
}

Scalar intrinsic(Intrinsic which, std::vector<Scalar> args, Span span) {
  const IntrinsicInfo& info = info_of(which);
  if (static_cast<int>(args.size()) != info.arity) {
    ill_typed(span, "intrinsic.arity",
              fmt::format("T.{} is given {}; it takes {}", info.name, counted(args.size(), "argument"),
                          info.arity));
  }
  const bool mixed = info.operands == IntrinsicOperands::FloatAndInt32;
  if (!mixed) {
    // Each with each, so that all get the widest dtype.
    for (std::size_t i = 1; i < args.size(); ++i) unify(args[0], args[i], span);
    for (std::size_t i = 1; i < args.size(); ++i) unify(args[0], args[i], span);
  }
  const DType dtype = args[0].dtype();
  const Span at = span.known() ? span : args[0].span();
  const auto expect = [&](bool good, std::string_view wanted, DType found) {
    if (good) return;
    ill_typed(at, "intrinsic.dtype",
              fmt::format("T.{} takes {}, found {}", info.name, wanted, name_of(found)));
  };
  switch (info.operands) {
    case IntrinsicOperands::Floats:
      expect(is_float(dtype), "floats", dtype);
      break;
    case IntrinsicOperands::WideFloats:
      expect(dtype == DType::Float32 || dtype == DType::Float64, "float32 or float64", dtype);
      break;
    case IntrinsicOperands::Numbers:
      break;
    case IntrinsicOperands::Integers:
      expect(!is_float(dtype) && !is_bool(dtype), "integers", dtype);
      break;
    case IntrinsicOperands::FloatAndInt32:
      expect(is_float(dtype), "a float first", dtype);
      expect(args[1].dtype() == DType::Int32, "an int32 behind the float", args[1].dtype());
      break;
  }
  const DType result = info.result == IntrinsicResult::Bool    ? DType::Bool
                       : info.result == IntrinsicResult::Int32 ? DType::Int32
                                                               : dtype;
  return make(result, IntrinsicCall{which, std::move(args)}, at);
}

Scalar text_literal(std::string value, Span span) {
  return make(DType::UInt64, TextLiteral{std::move(value)}, span);
}

Scalar data_of(const Buffer& buffer, bool whole, Span span) {
  return make(DType::UInt64, DataOf{std::make_shared<const Buffer>(buffer), whole}, span);
}

Scalar foreign_call(ForeignCall call, DType result, Span span) {
  RELISH_CHECK(call.names.size() == call.args.size());
  return make(result, std::move(call), span);
}

bool is_pointer(const Scalar& scalar) {
  const auto* call = scalar.as<ForeignCall>();
  return scalar.as<DataOf>() || scalar.as<TextLiteral>() || (call && call->is_pointer);
}

Scalar floor_div(const Scalar& a, const Scalar& b) { return binary(BinaryOp::FloorDiv, a, b); }
Scalar floor_mod(const Scalar& a, const Scalar& b) { return binary(BinaryOp::FloorMod, a, b); }
Scalar min(const Scalar& a, const Scalar& b) { return binary(BinaryOp::Min, a, b); }
Scalar max(const Scalar& a, const Scalar& b) { return binary(BinaryOp::Max, a, b); }
Scalar equal(const Scalar& a, const Scalar& b) { return compare(CompareOp::Eq, a, b); }

Scalar maximum_ieee(const Scalar& left, const Scalar& right) {
  Scalar a = left, b = right;
  unify(a, b, cover(a.span(), b.span()));
  if (!is_float(a.dtype())) return max(a, b);
  // Equal zeros of either sign add up to +0 unless both are -0; an unordered pair adds up to NaN.
  const Scalar tie = select(equal(a, zero(a.dtype())), a + b, a);
  return select(a > b, a, select(b > a, b, select(equal(a, b), tie, a + b)));
}

Scalar minimum_ieee(const Scalar& left, const Scalar& right) {
  Scalar a = left, b = right;
  unify(a, b, cover(a.span(), b.span()));
  if (!is_float(a.dtype())) return min(a, b);
  // -(-a - b) is -0 unless both zeros are +0.
  const Scalar minus_one = float_literal(a.dtype(), -1);
  const Scalar tie = select(equal(a, zero(a.dtype())), (a * minus_one - b) * minus_one, a);
  return select(a < b, a, select(b < a, b, select(equal(a, b), tie, a + b)));
}

Scalar min_value(DType dtype) {
  if (is_float(dtype)) return float_literal(dtype, -std::numeric_limits<double>::infinity());
  switch (dtype) {
    case DType::Int8:
      return int_literal(dtype, INT8_MIN);
    case DType::Int16:
      return int_literal(dtype, INT16_MIN);
    case DType::Int32:
      return int_literal(dtype, INT32_MIN);
    case DType::Int64:
      return int_literal(dtype, INT64_MIN);
    default:
      return int_literal(dtype, 0);
  }
}

Scalar max_value(DType dtype) {
  if (is_float(dtype)) return float_literal(dtype, std::numeric_limits<double>::infinity());
  switch (dtype) {
    case DType::Bool:
      return int_literal(dtype, 1);
    case DType::Int8:
      return int_literal(dtype, INT8_MAX);
    case DType::Int16:
      return int_literal(dtype, INT16_MAX);
    case DType::Int32:
      return int_literal(dtype, INT32_MAX);
    case DType::Int64:
      return int_literal(dtype, INT64_MAX);
    case DType::UInt8:
      return int_literal(dtype, UINT8_MAX);
    case DType::UInt16:
      return int_literal(dtype, UINT16_MAX);
    case DType::UInt32:
      return int_literal(dtype, UINT32_MAX);
    default:
      return int_literal(dtype, -1);  // uint64: all bits
  }
}

}  // namespace relish
