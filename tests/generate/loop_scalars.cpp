// Scalar expressions of prim_funcs: every kind of node, with operands kept where the operation is defined.
#include <cmath>
#include <limits>

#include "tests/generate/loop_generator.h"

namespace relish::generate {
namespace {

bool holds_integers(DType dtype) { return is_int(dtype); }

}  // namespace

Scalar LoopGenerator::literal_of(DType dtype) {
  if (is_bool(dtype)) return bool_literal(random_.chance(0.5));
  if (is_float(dtype)) {
    constexpr double tame[] = {0.5, 1.0, -1.25, 2.0, 0.125, -0.5, 3.0};
    constexpr double wild[] = {0.0,     -0.0,  0.1,  1e-45, 3.4028234663852886e38,
                               1e-7,    65504, 1e16, 1e-5,  std::numeric_limits<double>::infinity(),
                               -1.0 / 3};
    const bool any = !options_.evaluated && random_.chance(0.4);
    return float_literal(dtype, any ? random_.pick(wild) : random_.pick(tame));
  }
  if (!options_.evaluated && random_.chance(0.1))
    return random_.chance(0.5) ? max_value(dtype) : min_value(dtype);
  return int_literal(dtype, is_signed_int(dtype) ? random_.between(-3, 7) : random_.between(0, 7));
}

Scalar LoopGenerator::index_below(const Scalar& extent) {
  std::vector<Scalar> fitting;
  for (const Index& index : indices) {
    if (structurally_equal(index.extent, extent)) fitting.push_back(index.value);
  }
  if (!fitting.empty() && random_.chance(0.75)) {
    Scalar at = random_.pick(fitting);
    if (!random_.chance(0.15)) return at;
    cover("reversed index");
    return extent - int_literal(extent.dtype(), 1) - at;
  }
  const auto size = extent.as_int();
  if (size && random_.chance(0.4)) return int_literal(extent.dtype(), random_.below(*size));
  // An index may be computed from loads, which have indices of their own: these are plain.
  if (!in_index_ && random_.chance(0.4)) {
    cover("computed index");
    in_index_ = true;
    const Scalar value = random_.chance(0.2) ? far_product(extent.dtype()) : integer(extent.dtype(), 1);
    in_index_ = false;
    if (random_.chance(0.6)) return binary(BinaryOp::FloorMod, value, extent);
    cover("clamped index");
    const Scalar last = extent - int_literal(extent.dtype(), 1);
    return binary(BinaryOp::Max, binary(BinaryOp::Min, value, last), int_literal(extent.dtype(), 0));
  }
  if (indices.empty()) return int_literal(extent.dtype(), 0);
  return binary(BinaryOp::FloorMod, random_.pick(indices).value, extent);
}

std::vector<Scalar> LoopGenerator::indices_of(const Buffer& buffer) {
  std::vector<Scalar> result;
  for (const Scalar& dim : buffer.shape()) result.push_back(index_below(dim));
  return result;
}

// A product that soon leaves its dtype.
Scalar LoopGenerator::far_product(DType dtype) {
  cover("far product");
  const Scalar index = indices.empty() ? int_literal(dtype, 3) : cast(dtype, random_.pick(indices).value);
  const int bits = 8 * size_of(dtype);
  return index * int_literal(dtype, std::int64_t{1} << (bits - random_.between(2, 4)));
}

Scalar LoopGenerator::leaf(DType dtype) {
  std::vector<const Buffer*> same, other;
  for (const Buffer& buffer : readable) (buffer.dtype() == dtype ? same : other).push_back(&buffer);
  const double choice = random_.uniform();
  if (choice < 0.5 && !same.empty()) {
    const Buffer& buffer = *random_.pick(same);
    return load(buffer, indices_of(buffer));
  }
  if (choice < 0.65 && !other.empty()) {
    cover("cast of a load");
    const Buffer& buffer = *random_.pick(other);
    return cast(dtype, load(buffer, indices_of(buffer)));
  }
  if (choice < 0.8 && !scalars.empty()) return cast(dtype, Scalar(random_.pick(scalars)));
  if (choice < 0.9 && !indices.empty()) return cast(dtype, random_.pick(indices).value);
  return literal_of(dtype);
}

Scalar LoopGenerator::condition(int depth) {
  if (depth <= 0 || random_.chance(0.5)) {
    constexpr CompareOp ops[] = {CompareOp::Eq, CompareOp::Ne, CompareOp::Lt,
                                 CompareOp::Le, CompareOp::Gt, CompareOp::Ge};
    cover("comparison");
    const DType dtype = random_.chance(0.5) && !indices.empty() ? indices.back().value.dtype()
                        : options_.differentiable               ? DType::Int64
                                                                : home_;
    const CompareOp op = random_.pick(ops);
    const bool far = is_signed_int(dtype) && !options_.differentiable && random_.chance(0.1);
    const Scalar a = far ? far_product(dtype) : leaf(dtype), b = scalar(dtype, depth - 1);
    return compare(op, a, b);
  }
  if (random_.chance(0.25)) {
    cover("not");
    return logical_not(condition(depth - 1));
  }
  if (random_.chance(0.15) && is_float(home_)) {
    constexpr Intrinsic tests[] = {Intrinsic::IsNan, Intrinsic::IsInf, Intrinsic::IsFinite};
    cover("test of a float");
    const Intrinsic test = random_.pick(tests);
    return intrinsic(test, {scalar(home_, depth - 1)});
  }
  cover("and, or");
  const LogicalOp op = random_.chance(0.5) ? LogicalOp::And : LogicalOp::Or;
  const Scalar a = condition(depth - 1), b = condition(depth - 1);
  return logical(op, a, b);
}

Scalar LoopGenerator::divisor(DType dtype, int depth) {
  if (is_float(dtype)) return intrinsic(Intrinsic::Abs, {scalar(dtype, depth)}) + float_literal(dtype, 1);
  if (random_.chance(0.6)) return int_literal(dtype, random_.between(1, 7));
  return binary(BinaryOp::Max, scalar(dtype, depth), int_literal(dtype, 1));
}

// Those of floats without ends of a domain and cuts, where neighbours of an argument have far values.
bool well_conditioned(Intrinsic which) {
  switch (which) {
    case Intrinsic::Acos:
    case Intrinsic::Acosh:
    case Intrinsic::Asin:
    case Intrinsic::Atanh:
    case Intrinsic::Atan2:
    case Intrinsic::Copysign:
    case Intrinsic::Nextafter:
    case Intrinsic::Ldexp:
    case Intrinsic::Clz:
    case Intrinsic::Popcount:
      return false;
    default:
      return true;
  }
}

// An intrinsic on an operand inside its domain, where the result is of moderate size.
Scalar LoopGenerator::real(DType dtype, int depth) {
  std::vector<Intrinsic> choices;
  for (const IntrinsicInfo& info : intrinsics()) {
    if (info.result == IntrinsicResult::Operand && info.arity <= 2 && well_conditioned(info.which))
      choices.push_back(info.which);
  }
  const Intrinsic which = random_.pick(choices);
  const Scalar x = scalar(dtype, depth - 1);
  const auto positive = [&] { return intrinsic(Intrinsic::Abs, {x}) + float_literal(dtype, 0.5); };
  const auto small = [&](const Scalar& e) {
    return binary(BinaryOp::Min, binary(BinaryOp::Max, e, float_literal(dtype, -2)), float_literal(dtype, 2));
  };
  const bool tame = options_.evaluated || random_.chance(0.5);
  cover("intrinsic");
  loosen(4);
  switch (which) {
    case Intrinsic::Log:
    case Intrinsic::Log2:
    case Intrinsic::Log10:
    case Intrinsic::Rsqrt:
    case Intrinsic::Sqrt:
    case Intrinsic::Log1p:
      return intrinsic(which, {tame ? positive() : x});
    case Intrinsic::Exp:
    case Intrinsic::Exp2:
    case Intrinsic::Exp10:
    case Intrinsic::Expm1:
    case Intrinsic::Sinh:
    case Intrinsic::Cosh:
    case Intrinsic::Sin:
    case Intrinsic::Cos:
      return intrinsic(which, {tame ? small(x) : x});
    case Intrinsic::Tan:
      return intrinsic(which, {tame ? small(x) * float_literal(dtype, 0.5) : x});
    case Intrinsic::Pow: {
      const Scalar y = scalar(dtype, depth - 1);
      if (!tame) return intrinsic(which, {x, y});
      return intrinsic(which, {small(positive()), small(y)});
    }
    default:
      return info_of(which).arity == 2 ? intrinsic(which, {x, scalar(dtype, depth - 1)})
                                       : intrinsic(which, {x});
  }
}

Scalar LoopGenerator::integer(DType dtype, int depth) {
  const Scalar a = scalar(dtype, depth - 1);
  switch (random_.below(6)) {
    case 0: {
      constexpr BinaryOp divisions[] = {BinaryOp::FloorDiv, BinaryOp::FloorMod, BinaryOp::Div,
                                        BinaryOp::TruncMod};
      cover("integer division");
      const BinaryOp op = random_.pick(divisions);
      return binary(op, a, divisor(dtype, depth - 1));
    }
    case 1: {
      constexpr BinaryOp bits[] = {BinaryOp::BitAnd, BinaryOp::BitOr, BinaryOp::BitXor};
      cover("bit operation");
      const BinaryOp op = random_.pick(bits);
      return binary(op, a, scalar(dtype, depth - 1));
    }
    case 2: {
      cover("shift");
      const std::int64_t amount = random_.between(0, size_of(dtype) * 8 - 1);
      const BinaryOp op = random_.chance(0.5) ? BinaryOp::ShiftLeft : BinaryOp::ShiftRight;
      return binary(op, a, int_literal(dtype, amount));
    }
    case 3:
      cover("absolute integer");
      return is_signed_int(dtype) ? intrinsic(Intrinsic::Abs, {a}) : a;
    default: {
      constexpr BinaryOp ring[] = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul};
      const BinaryOp op = random_.pick(ring);
      return binary(op, a, scalar(dtype, depth - 1));
    }
  }
}

Scalar LoopGenerator::scalar(DType dtype, int depth) {
  if (depth <= 0 || random_.chance(0.25)) return leaf(dtype);
  if (is_bool(dtype)) return condition(depth);
  const double choice = random_.uniform();
  if (choice < 0.1) {
    cover("select");
    const Scalar chosen = condition(depth - 1), a = scalar(dtype, depth - 1), b = scalar(dtype, depth - 1);
    return random_.chance(0.5) ? select(chosen, a, b) : if_then_else(chosen, a, b);
  }
  if (choice < 0.2) {
    cover("minimum, maximum");
    const BinaryOp op = random_.chance(0.5) ? BinaryOp::Min : BinaryOp::Max;
    const Scalar a = scalar(dtype, depth - 1), b = scalar(dtype, depth - 1);
    return binary(op, a, b);
  }
  if (choice < 0.27 && !options_.differentiable) {
    constexpr DType others[] = {DType::Float32, DType::Float64, DType::Int32, DType::Int64, DType::UInt8};
    const DType other = random_.pick(others);
    cover("cast");
    return cast(dtype, scalar(other, depth - 1));
  }
  if (holds_integers(dtype)) return integer(dtype, depth);
  if (choice < 0.5) return real(dtype, depth);
  if (choice < 0.6) {
    cover("float division");
    const Scalar a = scalar(dtype, depth - 1);
    return binary(BinaryOp::Div, a, divisor(dtype, depth - 1));
  }
  constexpr BinaryOp ring[] = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul};
  const BinaryOp op = random_.pick(ring);
  const Scalar a = scalar(dtype, depth - 1), b = scalar(dtype, depth - 1);
  return binary(op, a, b);
}

}  // namespace relish::generate
