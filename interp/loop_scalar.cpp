// Preparation of scalar expressions: each becomes a small tree of typed operations on cells. Arithmetic of
// float32 and smaller is done in double and rounded once, which gives the correctly rounded result of + - * /
// and sqrt (double has more than twice their precision plus two bits); integers wrap in two's complement.
#include <cmath>
#include <limits>

#include <bit>

#include "interp/loop_nodes.h"
#include "ir/calls/fault.h"
#include "ir/calls/foreign_calls.h"
#include "ir/nodes/short_circuit.h"
#include "support/overloaded.h"

namespace relish::interp {
namespace {

struct LiteralNode final : ScalarNodeProgram {
  Cell cell;
  explicit LiteralNode(Cell c) : cell(c) {}
  Cell eval(Frame&) const override { return cell; }
};

struct VarNode final : ScalarNodeProgram {
  std::size_t slot;
  explicit VarNode(std::size_t s) : slot(s) {}
  Cell eval(Frame& frame) const override { return frame.cells[slot]; }
};

struct SelectNode final : ScalarNodeProgram {
  ScalarProgram condition, a, b;
  bool lazy;
  SelectNode(ScalarProgram chooses, ScalarProgram left, ScalarProgram right, bool one_side)
      : condition(std::move(chooses)), a(std::move(left)), b(std::move(right)), lazy(one_side) {}
  Cell eval(Frame& frame) const override {
    const bool chosen = condition->eval(frame).integer != 0;
    if (lazy) return chosen ? a->eval(frame) : b->eval(frame);
    const Cell left = a->eval(frame);  // both sides: a fault in either is a fault
    const Cell right = b->eval(frame);
    return chosen ? left : right;
  }
};

// The second operand where the first does not decide.
struct LogicalNode final : ScalarNodeProgram {
  bool decisive;  // the first operand's value that decides
  ScalarProgram a, b;
  LogicalNode(bool decides, ScalarProgram left, ScalarProgram right)
      : decisive(decides), a(std::move(left)), b(std::move(right)) {}
  Cell eval(Frame& frame) const override {
    if ((a->eval(frame).integer != 0) == decisive) return integer(decisive);
    return integer(b->eval(frame).integer != 0);
  }
};

template <class T>
struct LoadNode final : ScalarNodeProgram {
  AccessProgram access;
  explicit LoadNode(AccessProgram a) : access(std::move(a)) {}
  Cell eval(Frame& frame) const override {
    const std::int64_t offset = access.offset(frame);
    return to_cell(reinterpret_cast<const T*>(access.data(frame))[offset]);
  }
};

template <class T>
T divide_checked(T a, T b, Span span) {
  if (b == 0) fail_fault({FaultKind::DivisionByZero}, span);
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
  }
  return static_cast<T>(a / b);
}

template <class T>
T remainder_checked(T a, T b, Span span) {
  if (b == 0) fail_fault({FaultKind::DivisionByZero}, span);
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return 0;
  }
  return static_cast<T>(a % b);
}

template <class T>
ScalarProgram real_binary(BinaryOp op, ScalarProgram a, ScalarProgram b) {
  const auto make = [&](auto f) {
    return binary_node(std::move(a), std::move(b),
                       [f](Cell x, Cell y) { return stored<T>(real(f(x.real, y.real))); });
  };
  switch (op) {
    case BinaryOp::Add:
      return make([](double x, double y) { return x + y; });
    case BinaryOp::Sub:
      return make([](double x, double y) { return x - y; });
    case BinaryOp::Mul:
      return make([](double x, double y) { return x * y; });
    case BinaryOp::Div:
      return make([](double x, double y) { return x / y; });
    case BinaryOp::Min:
      return make([](double x, double y) { return x < y ? x : y; });
    case BinaryOp::Max:
      return make([](double x, double y) { return x > y ? x : y; });
    case BinaryOp::FloorDiv:
      return make(
          [](double x, double y) { return std::floor(static_cast<double>(from_cell<T>(real(x / y)))); });
    case BinaryOp::TruncMod:
      return make([](double x, double y) { return std::fmod(x, y); });
    case BinaryOp::FloorMod:
      return make([](double x, double y) {
        const double r = std::fmod(x, y);
        return r != 0 && (r < 0) != (y < 0) ? r + y : r;
      });
    default:
      break;
  }
  RELISH_CHECK(false, "integer operation on floats");
}

template <>
ScalarProgram real_binary<Half>(BinaryOp op, ScalarProgram a, ScalarProgram b);
template <>
ScalarProgram real_binary<BFloat16>(BinaryOp op, ScalarProgram a, ScalarProgram b);

// Halves: as doubles, then one rounding to the storage type.
template <class T>
ScalarProgram half_binary(BinaryOp op, ScalarProgram a, ScalarProgram b) {
  ScalarProgram wide = real_binary<double>(op, std::move(a), std::move(b));
  return unary(std::move(wide), [](Cell c) { return stored<T>(c); });
}
template <>
ScalarProgram real_binary<Half>(BinaryOp op, ScalarProgram a, ScalarProgram b) {
  return half_binary<Half>(op, std::move(a), std::move(b));
}
template <>
ScalarProgram real_binary<BFloat16>(BinaryOp op, ScalarProgram a, ScalarProgram b) {
  return half_binary<BFloat16>(op, std::move(a), std::move(b));
}

template <class T>
ScalarProgram integer_binary(BinaryOp op, ScalarProgram a, ScalarProgram b, Span span) {
  using U = std::make_unsigned_t<T>;
  const auto make = [&](auto f) {
    return binary_node(std::move(a), std::move(b),
                       [f](Cell x, Cell y) { return to_cell(static_cast<T>(f(typed<T>(x), typed<T>(y)))); });
  };
  constexpr int bits = 8 * sizeof(T);
  switch (op) {
    // Products of narrow unsigned types would promote to int and overflow: compute in 64 bits.
    case BinaryOp::Add:
      return make([](T x, T y) { return static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y); });
    case BinaryOp::Sub:
      return make([](T x, T y) { return static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y); });
    case BinaryOp::Mul:
      return make([](T x, T y) { return static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y); });
    case BinaryOp::Div:
      return make([span](T x, T y) { return divide_checked(x, y, span); });
    case BinaryOp::TruncMod:
      return make([span](T x, T y) { return remainder_checked(x, y, span); });
    case BinaryOp::FloorDiv:
      return make([span](T x, T y) {
        const T q = divide_checked(x, y, span);
        const T r = remainder_checked(x, y, span);
        return static_cast<T>(r != 0 && ((r < 0) != (y < 0)) ? q - 1 : q);
      });
    case BinaryOp::FloorMod:
      return make([span](T x, T y) {
        const T r = remainder_checked(x, y, span);
        return static_cast<T>(r != 0 && ((r < 0) != (y < 0)) ? r + y : r);
      });
    case BinaryOp::Min:
      return make([](T x, T y) { return x < y ? x : y; });
    case BinaryOp::Max:
      return make([](T x, T y) { return x > y ? x : y; });
    case BinaryOp::BitAnd:
      return make([](T x, T y) { return x & y; });
    case BinaryOp::BitOr:
      return make([](T x, T y) { return x | y; });
    case BinaryOp::BitXor:
      return make([](T x, T y) { return x ^ y; });
    case BinaryOp::ShiftLeft:
      return make([span](T x, T y) -> T {
        if constexpr (std::is_signed_v<T>) {
          if (y < 0) fail_fault({FaultKind::NegativeShift, {}, {y}}, span);
        }
        return static_cast<U>(y) >= static_cast<U>(bits) ? T(0)
                                                         : static_cast<T>(static_cast<std::uint64_t>(x) << y);
      });
    case BinaryOp::ShiftRight:
      return make([span](T x, T y) -> T {
        if constexpr (std::is_signed_v<T>) {
          if (y < 0) fail_fault({FaultKind::NegativeShift, {}, {y}}, span);
        }
        if (static_cast<U>(y) >= static_cast<U>(bits)) return x < 0 ? T(-1) : T(0);
        return static_cast<T>(x >> y);
      });
  }
  RELISH_CHECK(false, "integer operation");
}

ScalarProgram prepare_binary(const Binary& node, DType dtype, Span span, Slots& slots) {
  ScalarProgram a = prepare(node.a, slots), b = prepare(node.b, slots);
  return visit_dtype(dtype, [&](auto tag) -> ScalarProgram {
    using T = decltype(tag);
    if constexpr (is_real_v<T>) {
      return real_binary<T>(node.op, std::move(a), std::move(b));
    } else if constexpr (std::is_same_v<T, bool>) {
      // Bits of bools: and, or, xor, min, max.
      return unary(integer_binary<std::uint8_t>(node.op, std::move(a), std::move(b), span),
                   [](Cell c) { return integer(c.integer != 0); });
    } else {
      return integer_binary<T>(node.op, std::move(a), std::move(b), span);
    }
  });
}

template <class T>
ScalarProgram compare_typed(CompareOp op, ScalarProgram a, ScalarProgram b) {
  const auto make = [&](auto f) {
    return binary_node(std::move(a), std::move(b), [f](Cell x, Cell y) {
      if constexpr (std::is_same_v<T, double>)
        return integer(f(x.real, y.real));
      else
        return integer(f(static_cast<T>(x.integer), static_cast<T>(y.integer)));
    });
  };
  switch (op) {
    case CompareOp::Eq:
      return make([](T x, T y) { return x == y; });
    case CompareOp::Ne:
      return make([](T x, T y) { return x != y; });
    case CompareOp::Lt:
      return make([](T x, T y) { return x < y; });
    case CompareOp::Le:
      return make([](T x, T y) { return x <= y; });
    case CompareOp::Gt:
      return make([](T x, T y) { return x > y; });
    case CompareOp::Ge:
      return make([](T x, T y) { return x >= y; });
  }
  RELISH_CHECK(false, "comparison");
}

ScalarProgram prepare_compare(const Compare& node, Slots& slots) {
  const DType operand = node.a.dtype();
  ScalarProgram a = prepare(node.a, slots), b = prepare(node.b, slots);
  if (is_float(operand)) return compare_typed<double>(node.op, std::move(a), std::move(b));
  if (operand == DType::UInt64) return compare_typed<std::uint64_t>(node.op, std::move(a), std::move(b));
  return compare_typed<std::int64_t>(node.op, std::move(a), std::move(b));
}

// float -> integer saturates and NaN gives 0.
template <class T>
T saturate(double value) {
  if (std::isnan(value)) return 0;
  constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double high = static_cast<double>(std::numeric_limits<T>::max());
  if (value <= low) return std::numeric_limits<T>::min();
  if (value >= high) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

struct LetNode final : ScalarNodeProgram {
  std::size_t slot;
  ScalarProgram value, body;
  LetNode(std::size_t s, ScalarProgram v, ScalarProgram b)
      : slot(s), value(std::move(v)), body(std::move(b)) {}
  Cell eval(Frame& frame) const override {
    frame.cells[slot] = value->eval(frame);
    return body->eval(frame);
  }
};

// The same bits as another dtype of the same width.
template <class From, class To>
struct ReinterpretNode final : ScalarNodeProgram {
  ScalarProgram a;
  explicit ReinterpretNode(ScalarProgram from) : a(std::move(from)) {}
  Cell eval(Frame& frame) const override {
    const From from = from_cell<From>(a->eval(frame));
    return to_cell<To>(std::bit_cast<To>(from));
  }
};

ScalarProgram prepare_reinterpret(DType from, DType to, ScalarProgram a) {
  return visit_dtype(from, [&](auto source) -> ScalarProgram {
    return visit_dtype(to, [&](auto target) -> ScalarProgram {
      using From = decltype(source);
      using To = decltype(target);
      if constexpr (sizeof(From) == sizeof(To)) {
        return std::make_unique<ReinterpretNode<From, To>>(std::move(a));
      } else {
        RELISH_CHECK(false, "reinterpretation between widths");
      }
    });
  });
}

}  // namespace

ScalarProgram prepare_cast(DType from, DType to, ScalarProgram a) {
  return visit_dtype(to, [&](auto tag) -> ScalarProgram {
    using T = decltype(tag);
    if (is_float(from)) {
      if constexpr (is_real_v<T>)
        return unary(std::move(a), [](Cell c) { return stored<T>(c); });
      else if constexpr (std::is_same_v<T, bool>)
        return unary(std::move(a), [](Cell c) { return integer(c.real != 0); });
      else
        return unary(std::move(a), [](Cell c) { return to_cell(saturate<T>(c.real)); });
    }
    if constexpr (std::is_same_v<T, float>) {  // 64-bit integers round once, not through double
      if (from == DType::UInt64)
        return unary(std::move(a), [](Cell c) {
          return to_cell(static_cast<float>(static_cast<std::uint64_t>(c.integer)));
        });
      return unary(std::move(a), [](Cell c) { return to_cell(static_cast<float>(c.integer)); });
    } else if constexpr (is_real_v<T>) {
      if (from == DType::UInt64)
        return unary(std::move(a), [](Cell c) {
          return stored<T>(real(static_cast<double>(static_cast<std::uint64_t>(c.integer))));
        });
      return unary(std::move(a), [](Cell c) { return stored<T>(real(static_cast<double>(c.integer))); });
    } else if constexpr (std::is_same_v<T, bool>) {
      return unary(std::move(a), [](Cell c) { return integer(c.integer != 0); });
    } else {
      return unary(std::move(a), [](Cell c) { return stored<T>(c); });
    }
  });
}

AccessProgram::AccessProgram(const Buffer& buffer, const std::vector<Scalar>& indices, Span span,
                             Slots& slots)
    : buffer_(static_cast<std::size_t>(slots.buffer(buffer))), name_(buffer.name()), span_(span) {
  for (const Scalar& index : indices) {
    indices_.push_back(prepare(index, slots));
    unsigned_.push_back(index.dtype() == DType::UInt64);
  }
}

void AccessProgram::out_of_range(std::size_t dimension, std::int64_t index, std::int64_t extent) const {
  fail_fault({FaultKind::IndexOutOfRange,
              name_,
              {static_cast<std::int64_t>(dimension), index, extent, unsigned_[dimension] ? 1 : 0}},
             span_);
}

ScalarProgram prepare(const Scalar& scalar, Slots& slots) {
  const DType dtype = scalar.dtype();
  const Span span = scalar.span();
  return std::visit(
      Overloaded{
          [&](const IntLiteral& n) -> ScalarProgram {
            return std::make_unique<LiteralNode>(integer(n.value));
          },
          [&](const FloatLiteral& n) -> ScalarProgram {
            return visit_dtype(dtype, [&](auto tag) -> ScalarProgram {
              return std::make_unique<LiteralNode>(stored<decltype(tag)>(real(n.value)));
            });
          },
          [&](const VarUse& n) -> ScalarProgram {
            return std::make_unique<VarNode>(static_cast<std::size_t>(slots.scalar(n.var)));
          },
          [&](const Binary& n) { return prepare_binary(n, dtype, span, slots); },
          [&](const Compare& n) { return prepare_compare(n, slots); },
          [&](const Logical& n) -> ScalarProgram {
            return std::make_unique<LogicalNode>(n.op == LogicalOp::Or, prepare(n.a, slots),
                                                 prepare(n.b, slots));
          },
          [&](const Not& n) -> ScalarProgram {
            return unary(prepare(n.a, slots), [](Cell c) { return integer(c.integer == 0); });
          },
          [&](const Select& n) -> ScalarProgram {
            return std::make_unique<SelectNode>(prepare(n.condition, slots), prepare(n.a, slots),
                                                prepare(n.b, slots), is_one_sided(n, dtype));
          },
          [&](const Cast& n) { return prepare_cast(n.a.dtype(), dtype, prepare(n.a, slots)); },
          [&](const Reinterpret& n) { return prepare_reinterpret(n.a.dtype(), dtype, prepare(n.a, slots)); },
          [&](const Let& n) -> ScalarProgram {
            const auto slot = static_cast<std::size_t>(slots.scalar(n.var));
            ScalarProgram value = prepare(n.value, slots);
            return std::make_unique<LetNode>(slot, std::move(value), prepare(n.body, slots));
          },
          [&](const Load& n) -> ScalarProgram {
            AccessProgram access(*n.buffer, n.indices, span, slots);
            return visit_dtype(n.buffer->dtype(), [&](auto tag) -> ScalarProgram {
              return std::make_unique<LoadNode<decltype(tag)>>(std::move(access));
            });
          },
          [&](const IntrinsicCall& n) { return prepare_math(n, dtype, slots); },
          // An address alone does nothing.
          [&](const TextLiteral&) -> ScalarProgram { return std::make_unique<LiteralNode>(integer(0)); },
          [&](const DataOf&) -> ScalarProgram { return std::make_unique<LiteralNode>(integer(0)); },
          [&](const ForeignCall& n) -> ScalarProgram { refuse_foreign_call(n, span); },
      },
      scalar.node().kind);
}

}  // namespace relish::interp
