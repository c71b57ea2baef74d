// Printing of scalar expressions: symbolic dimensions and the arithmetic of prim_funcs, with no more
// parentheses than the precedence of Python asks for.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "ir/printer/printer_internal.h"
#include "runtime/format.h"
#include "runtime/half.h"

namespace relish::printing {
namespace {

// How strongly an operator binds; the order is that of Python.
enum Precedence : int { Any = 0, Or, And, Negation, Comparison, Shift, Sum, Product, Sign, Atom };

struct Infix {
  std::string_view text;
  int precedence;
};

// The operator between operands, or no text for those that print as calls.
Infix infix_of(BinaryOp op, DType dtype) {
  switch (op) {
    case BinaryOp::Add:
      return {" + ", Sum};
    case BinaryOp::Sub:
      return {" - ", Sum};
    case BinaryOp::Mul:
      return {" * ", Product};
    case BinaryOp::FloorDiv:
      return {" // ", Product};
    case BinaryOp::FloorMod:
      return {" % ", Product};
    case BinaryOp::Div:
      if (is_float(dtype)) return {" / ", Product};
      return {"", Atom};
    default:
      return {"", Atom};
  }
}

std::string_view call_of(BinaryOp op, DType dtype) {
  if (op == BinaryOp::TruncMod && is_float(dtype)) return "T.fmod";
  switch (op) {
    case BinaryOp::Div:
      return "T.Div";
    case BinaryOp::TruncMod:
      return "T.truncmod";
    case BinaryOp::Min:
      return "T.min";
    case BinaryOp::Max:
      return "T.max";
    case BinaryOp::BitAnd:
      return "T.bitwise_and";
    case BinaryOp::BitOr:
      return "T.bitwise_or";
    case BinaryOp::BitXor:
      return "T.bitwise_xor";
    case BinaryOp::ShiftLeft:
      return "T.shift_left";
    case BinaryOp::ShiftRight:
      return "T.shift_right";
    default:
      internal_failure(__FILE__, __LINE__, "op", "an infix operator");
  }
}

std::string_view text_of(CompareOp op) {
  switch (op) {
    case CompareOp::Eq:
      return " == ";
    case CompareOp::Ne:
      return " != ";
    case CompareOp::Lt:
      return " < ";
    case CompareOp::Le:
      return " <= ";
    case CompareOp::Gt:
      return " > ";
    case CompareOp::Ge:
      return " >= ";
  }
  internal_failure(__FILE__, __LINE__, "op", "unknown comparison");
}

class ScalarWriter {
 public:
  explicit ScalarWriter(Writer& writer) : w_(writer) {}

  void write(const Scalar& scalar, int precedence) {
    std::visit([&](const auto& kind) { write_kind(scalar, kind, precedence); }, scalar->kind);
  }

 private:
  void open(int precedence, int place) {
    if (precedence < place) w_.out += '(';
  }
  void close(int precedence, int place) {
    if (precedence < place) w_.out += ')';
  }

  template <class... Args>
  void call(std::string_view name, const Args&... args) {
    w_.text.uses_loops = true;
    w_.out += name;
    w_.out += '(';
    std::string_view separator = "";
    ((w_.out += separator, separator = ", ", write(args, Any)), ...);
    w_.out += ')';
  }

  void write_kind(const Scalar& scalar, const IntLiteral& literal, int precedence) {
    DType dtype = scalar.dtype();
    std::string text = is_bool(dtype)           ? (literal.value != 0 ? "True" : "False")
                       : dtype == DType::UInt64 ? std::to_string(static_cast<std::uint64_t>(literal.value))
                                                : std::to_string(literal.value);
    DType plain = w_.graph_level ? DType::Int64 : DType::Int32;
    if (dtype == plain || (is_bool(dtype) && w_.graph_level) || w_.text.options.for_messages) {
      bool sign = text.front() == '-';
      if (sign) open(Sign, precedence);
      w_.out += text;
      if (sign) close(Sign, precedence);
      return;
    }
    w_.text.uses_loops = true;
    // Integers of a text end at int64; the one literal beyond that occurs, the start of a minimum, has a
    // name.
    bool largest = dtype == DType::UInt64 && literal.value == -1;
    w_.out +=
        largest ? std::string("T.max_value(\"uint64\")") : fmt::format("T.{}({})", name_of(dtype), text);
  }

  void write_kind(const Scalar& scalar, const FloatLiteral& literal, int precedence) {
    bool plain = w_.graph_level && scalar.dtype() == DType::Float64 && std::isfinite(literal.value);
    bool sign = plain && std::signbit(literal.value);
    if (sign) open(Sign, precedence);
    write_float(w_, scalar.dtype(), literal.value);
    if (sign) close(Sign, precedence);
  }

  void write_kind(const Scalar&, const VarUse& use, int) {
    if (w_.graph_level && !w_.signature && !w_.declared.contains(use.var.id()) &&
        w_.symbol_ids.insert(use.var.id()).second) {
      w_.symbols.push_back(use.var);
    }
    w_.out += w_.name(use.var);
  }

  // A chain such as a + b - c leans to the left; its spine is followed without recursion.
  void write_kind(const Scalar& scalar, const Binary&, int precedence) {
    std::vector<const Binary*> spine;
    std::vector<Infix> operators;
    const Scalar* at = &scalar;
    int place = precedence;
    int parentheses = 0;
    while (const Binary* binary = at->as<Binary>()) {
      Infix infix = infix_of(binary->op, at->dtype());
      if (infix.text.empty()) break;
      if (infix.precedence < place && at != &scalar) break;  // needs parentheses: written as an operand
      if (infix.precedence < place) ++parentheses;
      place = infix.precedence;
      spine.push_back(binary);
      operators.push_back(infix);
      at = &binary->a;
    }
    if (spine.empty()) {
      const Binary& binary = *scalar.as<Binary>();
      call(call_of(binary.op, scalar.dtype()), binary.a, binary.b);
      return;
    }
    if (parentheses > 0) w_.out += '(';
    write(*at, place);
    for (std::size_t i = spine.size(); i-- > 0;) {
      w_.out += operators[i].text;
      write(spine[i]->b, operators[i].precedence + 1);
    }
    if (parentheses > 0) w_.out += ')';
  }

  void write_kind(const Scalar&, const Compare& compare, int precedence) {
    open(Comparison, precedence);
    // An if on two plain numbers would be decided when the text is read.
    const auto plain = [](const Scalar& side) {
      return side.as<IntLiteral>() && side.dtype() == DType::Int32;
    };
    if (!w_.graph_level && plain(compare.a) && plain(compare.b)) {
      w_.text.uses_loops = true;
      w_.out += fmt::format("T.int32({})", *compare.a.as_int());
    } else {
      write(compare.a, Comparison + 1);
    }
    w_.out += text_of(compare.op);
    write(compare.b, Comparison + 1);
    close(Comparison, precedence);
  }

  void write_kind(const Scalar&, const Logical& logical, int precedence) {
    int own = logical.op == LogicalOp::And ? And : Or;
    open(own, precedence);
    write(logical.a, own);
    w_.out += logical.op == LogicalOp::And ? " and " : " or ";
    write(logical.b, own + 1);
    close(own, precedence);
  }

  void write_kind(const Scalar&, const Not& negation, int precedence) {
    open(Negation, precedence);
    w_.out += "not ";
    write(negation.a, Negation);
    close(Negation, precedence);
  }

  void write_kind(const Scalar&, const Select& select, int) {
    call(select.lazy ? "T.if_then_else" : "T.Select", select.condition, select.a, select.b);
  }

  void write_kind(const Scalar& scalar, const Cast& cast, int) {
    w_.text.uses_loops = true;
    w_.out += w_.text.options.for_messages ? fmt::format("T.{}(", name_of(scalar.dtype()))
                                           : fmt::format("T.Cast(\"{}\", ", name_of(scalar.dtype()));
    write(cast.a, Any);
    w_.out += ')';
  }

  void write_kind(const Scalar& scalar, const Reinterpret& bits, int) {
    w_.text.uses_loops = true;
    w_.out += fmt::format("T.reinterpret(\"{}\", ", name_of(scalar.dtype()));
    write(bits.a, Any);
    w_.out += ')';
  }

  void write_kind(const Scalar&, const Let& let, int) {
    w_.text.uses_loops = true;
    // The value is written before the variable has its name, which it might shadow.
    std::string before = std::move(w_.out);
    w_.out.clear();
    write(let.value, Any);
    std::string value = std::exchange(w_.out, std::move(before));
    w_.out += "T.Let(";
    write(let.body, Any);
    w_.out += fmt::format(", where={{{}: {}}})", w_.name(let.var), value);
  }

  void write_kind(const Scalar&, const Load& load, int) {
    w_.out += w_.name(*load.buffer);
    write_indices(w_, load.indices);
  }

  void write_kind(const Scalar&, const IntrinsicCall& intrinsic, int) {
    w_.text.uses_loops = true;
    w_.out += fmt::format("T.{}(", info_of(intrinsic.intrinsic).name);
    write_list(w_, intrinsic.args, [&](const Scalar& arg) { write(arg, Any); });
    w_.out += ')';
  }

  void write_kind(const Scalar&, const TextLiteral& text, int) { write_string(w_, text.value); }

  void write_kind(const Scalar&, const DataOf& data, int) {
    w_.out += w_.name(*data.buffer);
    if (!data.whole && !data.buffer->is_pointer()) w_.out += ".data";
  }

  void write_kind(const Scalar&, const ForeignCall& called, int) {
    w_.text.uses_loops = true;
    if (called.of_module && !w_.text.class_name.empty()) w_.out += w_.text.class_name + ".";
    w_.out += called.of_module ? identifier(called.function) : called.function;
    w_.out += '(';
    for (std::size_t i = 0; i < called.args.size(); ++i) {
      if (i > 0) w_.out += ", ";
      if (!called.names[i].empty()) w_.out += called.names[i] + "=";
      write(called.args[i], Any);
    }
    w_.out += ')';
  }

  Writer& w_;
};

}  // namespace

void write_scalar(Writer& w, const Scalar& scalar, int precedence) {
  ScalarWriter(w).write(scalar, precedence);
}

namespace {

// Whether the decimal value reads as the literal's.
bool reads_as(DType dtype, double candidate, double value) {
  switch (dtype) {
    case DType::Float16:
      return double_to_half_bits(candidate) == double_to_half_bits(value);
    case DType::BFloat16:
      return double_to_bfloat16_bits(candidate) == double_to_bfloat16_bits(value);
    default:
      return candidate == value;
  }
}

// The fewest digits that read as the same value of the dtype.
std::string shortest(DType dtype, double value) {
  if (dtype == DType::Float64 || !std::isfinite(value)) return format_double(value);
  if (dtype == DType::Float32) return format_float(static_cast<float>(value));
  for (int digits = 0; digits < 9; ++digits) {
    char buffer[32];
    auto end =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, digits).ptr;
    double candidate = 0;
    std::from_chars(buffer, end, candidate);
    if (reads_as(dtype, candidate, value)) return format_double(candidate);
  }
  return format_double(value);
}

}  // namespace

void write_float(Writer& w, DType dtype, double value) {
  std::string text = shortest(dtype, value);
  bool finite = std::isfinite(value);
  if (finite && w.graph_level && dtype == DType::Float64) {
    w.out += text;
    return;
  }
  w.text.uses_loops = true;
  if (!finite) text = '"' + text + '"';
  w.out += fmt::format("T.{}({})", name_of(dtype), text);
}

void write_indices(Writer& w, const std::vector<Scalar>& indices) {
  if (indices.empty()) {
    w.out += "[()]";
    return;
  }
  w.out += '[';
  write_list(w, indices, [&](const Scalar& index) { write_scalar(w, index); });
  w.out += ']';
}

Scalar range_end(const Scalar& begin, const Scalar& extent) {
  auto begin_value = begin.as_int();
  auto extent_value = extent.as_int();
  if (begin_value && extent_value)
    return int_literal(extent.dtype(), *begin_value + *extent_value, extent.span());
  if (begin_value == 0) return extent;
  // Reading peels the begin off the end again, or else takes the difference.
  const auto ends_in_begin = [&](const Scalar& end) {
    const Binary* sum = end.as<Binary>();
    return sum && sum->op == BinaryOp::Add && structurally_equal(begin_value ? sum->b : sum->a, begin);
  };
  const Binary* difference = extent.as<Binary>();
  if (difference && difference->op == BinaryOp::Sub && structurally_equal(difference->b, begin) &&
      !ends_in_begin(difference->a)) {
    return difference->a;
  }
  return begin_value ? binary(BinaryOp::Add, extent, begin) : binary(BinaryOp::Add, begin, extent);
}

}  // namespace relish::printing
