// TVM's implicit conversions between scalar operands, and the lanes of vectors.
#include "frontend/types/scalar_rules.h"

#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "frontend/context.h"
#include "support/fix.h"

namespace relish {
namespace {

std::optional<BinaryOp> binary_of(ast::Operator op) {
  switch (op) {
    case ast::Operator::Add:
      return BinaryOp::Add;
    case ast::Operator::Sub:
      return BinaryOp::Sub;
    case ast::Operator::Mul:
      return BinaryOp::Mul;
    case ast::Operator::Div:
      return BinaryOp::Div;
    case ast::Operator::FloorDiv:
      return BinaryOp::FloorDiv;
    case ast::Operator::Mod:
      return BinaryOp::FloorMod;
    case ast::Operator::ShiftLeft:
      return BinaryOp::ShiftLeft;
    case ast::Operator::ShiftRight:
      return BinaryOp::ShiftRight;
    case ast::Operator::BitAnd:
      return BinaryOp::BitAnd;
    case ast::Operator::BitOr:
      return BinaryOp::BitOr;
    case ast::Operator::BitXor:
      return BinaryOp::BitXor;
    default:
      return std::nullopt;
  }
}

std::optional<CompareOp> compare_of(ast::Operator op) {
  switch (op) {
    case ast::Operator::Lt:
      return CompareOp::Lt;
    case ast::Operator::Le:
      return CompareOp::Le;
    case ast::Operator::Gt:
      return CompareOp::Gt;
    case ast::Operator::Ge:
      return CompareOp::Ge;
    case ast::Operator::Eq:
      return CompareOp::Eq;
    case ast::Operator::Ne:
      return CompareOp::Ne;
    default:
      return std::nullopt;
  }
}

DType common_dtype(DType a, DType b, Span at) {
  if (a == b) return a;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  if (is_bool(a) || is_bool(b)) return is_bool(a) ? b : a;
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  if (is_float(a)) {
    type_error(at, "scalar.dtype",
               fmt::format("found {} beside {}; expected one of them cast", name_of(a), name_of(b)));
  }
  return is_unsigned_int(a) ? a : b;
}

// A finite number must stay one: infinity is written as such.
Scalar real_literal(DType dtype, double value, Span at) {
  Scalar literal = float_literal(dtype, value, at);
  if (std::isfinite(value) && !std::isfinite(literal.as<FloatLiteral>()->value)) {
    type_error(at, "scalar.literal",
               fmt::format("found {}, which is no value of {}; infinity is T.{}(\"{}\")", value,
                           name_of(dtype), name_of(dtype), value < 0 ? "-inf" : "inf"));
  }
  return literal;
}

// A power of two numbers as written is a number too, with Python's value: 4 ** 0.5, 2 ** 10.
std::optional<ScalarOperand> power_of_literals(const ScalarOperand& a, const ScalarOperand& b, Span at) {
  const auto *base = a.value.as<IntLiteral>(), *exponent = b.value.as<IntLiteral>();
  const auto *real_base = a.value.as<FloatLiteral>(), *real_exponent = b.value.as<FloatLiteral>();
  if (!(base || real_base) || !(exponent || real_exponent) || is_bool(a.value.dtype())) return std::nullopt;
  const bool bare = a.bare && b.bare;
  if (base && exponent && exponent->value >= 0) {
    if (a.value.dtype() != b.value.dtype()) return std::nullopt;
    std::int64_t power = 1, factor = base->value;
    for (std::int64_t left = exponent->value; left > 0; left /= 2) {
      if (left % 2 != 0 && __builtin_mul_overflow(power, factor, &power)) return std::nullopt;
      if (left > 1 && __builtin_mul_overflow(factor, factor, &factor)) return std::nullopt;
    }
    if (!holds(a.value.dtype(), power)) return std::nullopt;
    return ScalarOperand{int_literal(a.value.dtype(), power, at), bare};
  }
  const double power = std::pow(base ? static_cast<double>(base->value) : real_base->value,
                                exponent ? static_cast<double>(exponent->value) : real_exponent->value);
  if (!std::isfinite(power)) return std::nullopt;
  // The dtype of the float among the two; of two ints that of a float as written.
  const DType dtype = real_base                      ? a.value.dtype()
                      : real_exponent                ? b.value.dtype()
                      : size_of(a.value.dtype()) < 8 ? DType::Float32
                                                     : DType::Float64;
  return ScalarOperand{float_literal(dtype, power, at), bare};
}

}  // namespace

bool holds(DType dtype, std::int64_t value) {
  int bits = size_of(dtype) * 8;
  if (is_bool(dtype)) return value == 0 || value == 1;
  if (is_unsigned_int(dtype)) return value >= 0 && (bits >= 63 || value < (std::int64_t{1} << bits));
  return bits >= 64 || (value >= -(std::int64_t{1} << (bits - 1)) && value < (std::int64_t{1} << (bits - 1)));
}

ScalarOperand ScalarRules::convert(DType dtype, const ScalarOperand& operand, Span at) const {
  if (operand.value.dtype() == dtype) return {operand.value, false};
  if (operand.bare) {
    if (auto* integer = operand.value.as<IntLiteral>()) {
      if (is_float(dtype)) return {real_literal(dtype, static_cast<double>(integer->value), at)};
      if (!holds(dtype, integer->value)) {
        type_error(at, "scalar.literal",
                   fmt::format("found {}, which is no value of {}", integer->value, name_of(dtype)));
      }
      return {int_literal(dtype, integer->value, at)};
    }
    if (auto* real = operand.value.as<FloatLiteral>(); real && is_float(dtype)) {
      return {real_literal(dtype, real->value, at)};
    }
  }
  return {cast(dtype, settled(operand).value, at)};
}

void ScalarRules::promote(ScalarOperand& a, ScalarOperand& b, Span at) const {
  DType wanted;
  if (a.bare != b.bare) {
    const ScalarOperand& literal = a.bare ? a : b;
    DType other = (a.bare ? b : a).value.dtype();
    bool integer = literal.value.as<IntLiteral>() != nullptr;
    // A float beside an integer makes both float32; a number beside a bool is an integer of its own.
    wanted = integer ? (is_bool(other) ? literal.value.dtype() : other)
                     : (is_float(other) ? other : DType::Float32);
  } else {
    a = settled(a);
    b = settled(b);
    if (a.value.dtype() == b.value.dtype()) return;
    wanted = common_dtype(a.value.dtype(), b.value.dtype(), at);
  }
  a = convert(wanted, a, a.value.span());
  b = convert(wanted, b, b.value.span());
}

ScalarOperand ScalarRules::combine(ast::Operator op, ScalarOperand a, ScalarOperand b, Span at) {
  if (op == ast::Operator::Pow) {
    if (auto power = power_of_literals(a, b, at)) return *power;
    promote(a, b, at);
    return {intrinsic(Intrinsic::Pow, {a.value, b.value}, at)};
  }
  if (auto arithmetic = binary_of(op)) {
    promote(a, b, at);
    return {binary(*arithmetic, a.value, b.value, at)};
  }
  if (auto comparison = compare_of(op)) {
    promote(a, b, at);
    return {compare(*comparison, a.value, b.value, at)};
  }
  if (op == ast::Operator::And || op == ast::Operator::Or) {
    return {logical(op == ast::Operator::And ? LogicalOp::And : LogicalOp::Or, a.value, b.value, at)};
  }
  type_error(at, "scalar.operator",
             fmt::format("the operator '{}' does not apply to scalars", ast::text_of(op)));
}

ScalarOperand ScalarRules::settled(const ScalarOperand& operand) const {
  auto* real = operand.bare ? operand.value.as<FloatLiteral>() : nullptr;
  if (!real) return operand;
  return {real_literal(plain_integer_ == DType::Int32 ? DType::Float32 : DType::Float64, real->value,
                       operand.value.span())};
}

void ScalarRules::expect_bool(const Scalar& condition, Span at) const {
  if (is_bool(condition.dtype())) return;
  fail(ErrorClass::Type, at, "scalar.condition",
       fmt::format("found a condition of dtype {}; expected a comparison or a bool",
                   name_of(condition.dtype())),
       {insert_here(at, " != 0")});
}

void ScalarRules::expect_index(const Scalar& index, Span at) const {
  if (is_int(index.dtype())) return;
  const SourceFile* file = Sources::instance().find(at.file);
  std::vector<DiagnosticNote> notes;
  if (file && at.end - at.begin < 80 && !index.as<FloatLiteral>() && !is_bool(index.dtype())) {
    notes.push_back(write_here(
        at, fmt::format("T.Cast(\"int32\", {})", file->text().substr(at.begin, at.end - at.begin))));
  }
  if (auto* real = index.as<FloatLiteral>();
      real && std::trunc(real->value) == real->value && std::abs(real->value) < 9e15) {
    notes.push_back(write_here(at, fmt::format("{}", static_cast<std::int64_t>(real->value))));
  }
  fail(ErrorClass::Type, at, "scalar.index",
       fmt::format("found an index of dtype {}; expected an integer", name_of(index.dtype())),
       std::move(notes));
}

// ---- Vectors.

ScalarVar ScalarRules::lane(int lanes) {
  return lanes_.try_emplace(lanes, "lane", DType::Int32).first->second;
}

int ScalarRules::lanes_of(const Scalar& scalar, Span at) const {
  if (lanes_.empty() || !scalar.defined()) return 1;
  std::vector<ScalarVar> vars;
  collect_vars(scalar, vars);
  int found = 1;
  for (const auto& [lanes, variable] : lanes_) {
    for (const ScalarVar& var : vars) {
      if (!(var == variable)) continue;
      if (found > 1) {
        type_error(
            at, "vector.lanes",
            fmt::format("found a vector of {} lanes beside one of {}; expected as many", found, lanes));
      }
      found = lanes;
      break;
    }
  }
  return found;
}

void ScalarRules::refuse_vector(const Scalar& scalar, Span at) const {
  int lanes = lanes_of(scalar, at);
  if (lanes == 1) return;
  type_error(at, "vector.place", fmt::format("found a vector of {} lanes; expected a scalar", lanes));
}

// base + lane * stride.
Scalar ScalarRules::ramp(const ScalarOperand& base, const ScalarOperand& stride, std::int64_t lanes,
                         Span at) {
  if (lanes == 1) return settled(base).value;
  for (const ScalarOperand* part : {&base, &stride}) {
    expect_index(part->value, at);
    refuse_vector(part->value, at);
  }
  ScalarOperand place{use(lane(static_cast<int>(lanes)), at)};
  const bool close = stride.value.as_int() == 1;
  ScalarOperand offset = close ? place : combine(ast::Operator::Mul, place, stride, at);
  if (base.value.as_int() == 0) return convert(settled(base).value.dtype(), offset, at).value;
  return combine(ast::Operator::Add, base, offset, at).value;
}

Scalar complement_of(const Scalar& bits, Span at) {
  const DType dtype = bits.dtype();
  const std::int64_t ones = is_signed_int(dtype) ? -1 : *max_value(dtype).as_int();
  return binary(BinaryOp::BitXor, bits, int_literal(dtype, ones, at), at);
}

}  // namespace relish
