// Functions of T in scalar expressions, by tables: typed literals, casts, arithmetic, math.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "frontend/text/literals.h"
#include "frontend/types/scalar_function.h"
#include "support/counted.h"
#include "support/fix.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

struct BinaryName {
  std::string_view name;
  BinaryOp op;
};
// Functions behind "T." that stand for an operator.
constexpr std::array<BinaryName, 24> binary_names = {{
    {"Add", BinaryOp::Add},
    {"add", BinaryOp::Add},
    {"Sub", BinaryOp::Sub},
    {"Mul", BinaryOp::Mul},
    {"Div", BinaryOp::Div},
    {"FloorDiv", BinaryOp::FloorDiv},
    {"FloorMod", BinaryOp::FloorMod},
    {"Mod", BinaryOp::TruncMod},
    {"Min", BinaryOp::Min},
    {"Max", BinaryOp::Max},
    {"min", BinaryOp::Min},
    {"max", BinaryOp::Max},
    {"floordiv", BinaryOp::FloorDiv},
    {"floormod", BinaryOp::FloorMod},
    {"indexdiv", BinaryOp::FloorDiv},
    {"indexmod", BinaryOp::FloorMod},
    {"truncdiv", BinaryOp::Div},
    {"truncmod", BinaryOp::TruncMod},
    {"div", BinaryOp::Div},
    {"bitwise_and", BinaryOp::BitAnd},
    {"bitwise_or", BinaryOp::BitOr},
    {"bitwise_xor", BinaryOp::BitXor},
    {"shift_left", BinaryOp::ShiftLeft},
    {"shift_right", BinaryOp::ShiftRight},
}};

struct CompareName {
  std::string_view name;
  CompareOp op;
};
constexpr std::array<CompareName, 6> compare_names = {{{"LT", CompareOp::Lt},
                                                       {"LE", CompareOp::Le},
                                                       {"GT", CompareOp::Gt},
                                                       {"GE", CompareOp::Ge},
                                                       {"EQ", CompareOp::Eq},
                                                       {"NE", CompareOp::Ne}}};

// Other functions behind "T.", for suggestions.
constexpr std::array<std::string_view, 42> other_names = {"reads",
                                                          "writes",
                                                          "where",
                                                          "func_attr",
                                                          "sblock_attr",
                                                          "block_attr",
                                                          "alloc_buffer",
                                                          "match_buffer",
                                                          "sblock_alloc_buffer",
                                                          "evaluate",
                                                          "decl_buffer",
                                                          "attr",
                                                          "meta_var",
                                                          "axis",
                                                          "launch_thread",
                                                          "env_thread",
                                                          "Select",
                                                          "if_then_else",
                                                          "Cast",
                                                          "cast",
                                                          "And",
                                                          "Or",
                                                          "Not",
                                                          "ceildiv",
                                                          "min_value",
                                                          "max_value",
                                                          "infinity",
                                                          "FloatImm",
                                                          "IntImm",
                                                          "const",
                                                          "likely",
                                                          "ignore_loop_partition",
                                                          "fmod",
                                                          "bitwise_not",
                                                          "nan",
                                                          "reinterpret",
                                                          "Broadcast",
                                                          "Ramp",
                                                          "Shuffle",
                                                          "Let",
                                                          "q_multiply_shift",
                                                          "q_multiply_shift_per_axis"};

// Division of integers by name; the operators // and % take floats as well.
constexpr std::array<std::string_view, 6> integer_only = {"floordiv", "floormod", "indexdiv",
                                                          "indexmod", "truncdiv", "truncmod"};
// Names of arguments that are also given by position.
constexpr std::array<std::string_view, 16> argument_names = {
    "value",       "a",    "b",     "c",      "x",     "y",  "condition", "true_value",
    "false_value", "base", "lanes", "stride", "dtype", "x1", "x2",        "span"};

// "float32" or A.dtype, beside an expression.
bool names_dtype(const ast::Expr& expr) {
  const auto* attribute = expr.as<ast::Attribute>();
  return expr.as<ast::StringValue>() || (attribute && attribute->name == "dtype");
}

std::vector<std::string> known_functions() {
  std::vector<std::string> known;
  for (const BinaryName& entry : binary_names) known.push_back("T." + std::string(entry.name));
  for (const CompareName& entry : compare_names) known.push_back("T." + std::string(entry.name));
  for (std::string_view entry : other_names) known.push_back("T." + std::string(entry));
  for (const IntrinsicInfo& entry : intrinsics()) known.push_back("T." + std::string(entry.name));
  return known;
}

// The largest finite value.
double largest_of(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return 65504.0;
    case DType::BFloat16:
      return 3.3895313892515355e38;
    case DType::Float32:
      return static_cast<double>(std::numeric_limits<float>::max());
    default:
      return std::numeric_limits<double>::max();
  }
}

// ((x << left) * y) >> right, rounded half up.
ScalarOperand fixed_point_product(const Scalar& x, const Scalar& y, const Scalar& left, const Scalar& right,
                                  Span span) {
  const auto both = [&](BinaryOp op, const Scalar& a, const Scalar& b) { return binary(op, a, b, span); };
  const Scalar one = int_literal(DType::Int64, 1, span);
  const Scalar product = both(BinaryOp::Mul, both(BinaryOp::ShiftLeft, x, left), y);
  const Scalar half = both(BinaryOp::ShiftLeft, one, both(BinaryOp::Sub, right, one));
  const Scalar shifted = both(BinaryOp::ShiftRight, both(BinaryOp::Add, product, half), right);
  return {cast(DType::Int32, shifted, span)};
}

}  // namespace

// Those that are neither an operator's name nor an intrinsic.
std::span<const ScalarFunction::Form> ScalarFunction::forms() {
  using F = ScalarFunction;
  static constexpr std::array<Form, 28> all = {{
      {"And", &F::connective},
      {"Or", &F::connective},
      {"Not", &F::negation},
      {"Select", &F::choice},
      {"if_then_else", &F::choice},
      {"Cast", &F::conversion},
      {"cast", &F::conversion},
      {"reinterpret", &F::reinterpretation},
      {"get_active_lane_mask", &F::lane_mask},
      {"Ramp", &F::ramp},
      {"ramp", &F::ramp},
      {"Broadcast", &F::broadcast},
      {"broadcast", &F::broadcast},
      {"Shuffle", &F::shuffle},
      {"q_multiply_shift", &F::multiply_shift},
      {"q_multiply_shift_per_axis", &F::multiply_shift_per_axis},
      {"fmod", &F::float_remainder},
      {"ceildiv", &F::ceiling_division},
      {"infinity", &F::special_float},
      {"nan", &F::special_float},
      {"min_value", &F::limit},
      {"max_value", &F::limit},
      {"FloatImm", &F::immediate},
      {"IntImm", &F::immediate},
      {"const", &F::immediate},
      {"likely", &F::hint},
      {"ignore_loop_partition", &F::hint},
      {"bitwise_not", &F::complement},
  }};
  return all;
}

ScalarOperand ScalarFunction::read() {
  refuse_unsupported();
  if (name_ == "undef") {
    // Any value will do.
    for (const ast::Argument& argument : call_.arguments)
      if (argument.name.empty() || argument.name == "dtype")
        return {zero(reader_.dtype_argument(*argument.value))};
  }
  gather_arguments();
  if (auto dtype = dtype_from_name(name_)) return typed_literal(*dtype);
  if (auto vector = vector_type(name_)) return vector_of(vector->first, vector->second);
  for (const BinaryName& entry : binary_names)
    if (entry.name == name_) return arithmetic(entry.op);
  for (const CompareName& entry : compare_names)
    if (entry.name == name_) return comparison(entry.op);
  for (const Form& form : forms())
    if (form.name == name_) return (this->*form.read)();
  if (auto which = intrinsic_from_name(name_)) return intrinsic_call(*which);
  refuse_unknown(known_functions());
}

// ---- Arguments, and what is refused.

void ScalarFunction::refuse_unsupported() const {
  if (needs_device(name_)) {
    fail(ErrorClass::Type, expr_.span, "unsupported.device",
         fmt::format("T.{} needs a GPU, which is not supported", printable(name_)));
  }
  if (name_ == "vscale") {
    fail(ErrorClass::Type, expr_.span, "unsupported.device",
         "T.vscale is known to the machine alone, which is not supported; expected a number of lanes");
  }
  if (name_ == "reduce" || name_ == "comm_reducer") {
    type_error(expr_.span, "unsupported.reduction",
               fmt::format("T.{} is not supported; expected a block with T.init", name_));
  }
  if (name_ == "Call") {
    type_error(
        expr_.span, "scalar.function",
        "found T.Call; expected the call itself, such as T.exp(x) or T.call_extern(\"int32\", \"f\", x)");
  }
}

void ScalarFunction::gather_arguments() {
  for (const ast::Argument& argument : call_.arguments) {
    // Older texts give intrinsics their dtype, which follows from the operands.
    if (argument.name == "dtype" || argument.name == "span" || argument.name == "is_size_var") continue;
    if (!argument.name.empty() &&
        std::find(argument_names.begin(), argument_names.end(), argument.name) == argument_names.end()) {
      // Of a misspelt name no argument is known.
      const auto known = known_functions();
      if (nearest_name("T." + name_, known).value_or("T." + name_) != "T." + name_) refuse_unknown(known);
      type_error(argument.name_span, "scalar.arguments",
                 fmt::format("T.{} has no argument '{}'", printable(name_), printable(argument.name)));
    }
    if (argument.stars) type_error(argument.value->span, "scalar.arguments", "found a starred argument");
    arguments_.push_back(argument.value.get());
  }
}

void ScalarFunction::refuse_unknown(const std::vector<std::string>& known) const {
  // What is known and comes here is a statement.
  if (std::find(known.begin(), known.end(), "T." + name_) != known.end()) {
    type_error(
        call_.callee->span, "scalar.function",
        fmt::format("T.{} is a statement, which has no value{}", printable(name_),
                    name_ == "where" ? "; T.if_then_else(condition, a, b) chooses one of two values" : ""));
  }
  type_error(call_.callee->span, "scalar.function",
             fmt::format("T.{} is not a function that Relish knows{}", printable(name_),
                         did_you_mean("T." + name_, known)));
}

void ScalarFunction::expect(std::size_t count) const {
  if (arguments_.size() == count) return;
  std::vector<DiagnosticNote> notes;
  // The surplus goes, with the ',' before it.
  if (count > 0 && arguments_.size() > count) {
    notes.push_back(
        remove_this({expr_.span.file, arguments_[count - 1]->span.end, arguments_.back()->span.end}));
  }
  fail(ErrorClass::Type, expr_.span, "scalar.arguments",
       fmt::format("found {} of T.{}; expected {}", counted(arguments_.size(), "argument"), printable(name_),
                   count),
       std::move(notes));
}

std::pair<ScalarOperand, ScalarOperand> ScalarFunction::two_of_one_dtype(std::size_t first) {
  ScalarOperand a = reader_.operand(*arguments_[first]), b = reader_.operand(*arguments_[first + 1]);
  reader_.promote(a, b, expr_.span);
  return {std::move(a), std::move(b)};
}

// ---- Numbers of a dtype.

ScalarOperand ScalarFunction::literal_from_text(DType dtype, const ast::Expr& argument,
                                                std::string_view word) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (is_float(dtype)) {
    if (word == "inf" || word == "+inf" || word == "infinity")
      return {float_literal(dtype, infinity, expr_.span)};
    if (word == "-inf" || word == "-infinity") return {float_literal(dtype, -infinity, expr_.span)};
    if (word == "nan" || word == "-nan") {
      return {float_literal(dtype, std::numeric_limits<double>::quiet_NaN(), expr_.span)};
    }
  }
  type_error(
      argument.span, "scalar.literal",
      fmt::format("found the string \"{}\"; expected a number, or \"inf\", \"-inf\" or \"nan\" for a float",
                  printable(word)));
}

ScalarOperand ScalarFunction::typed_literal(DType dtype) {
  if (call_.arguments.size() != 1 || !call_.arguments[0].name.empty()) {
    type_error(expr_.span, "scalar.arguments",
               fmt::format("found {} of T.{}; expected one value",
                           counted(call_.arguments.size(), "argument"), name_of(dtype)));
  }
  const ast::Expr& argument = *call_.arguments[0].value;
  if (auto* text = argument.as<ast::StringValue>()) return literal_from_text(dtype, argument, text->value);
  // Beyond int64 only uint64 has values; the syntax tree leaves them in the text.
  if (dtype == DType::UInt64 && argument.as<ast::Unsupported>()) {
    Diagnostics ignored;
    auto number = read_number(reader_.text_of(argument.span), argument.span, ignored);
    if (number && number->integer) {
      return {int_literal(dtype, static_cast<std::int64_t>(number->magnitude), expr_.span)};
    }
  }
  if (auto* truth = argument.as<ast::BoolValue>()) {
    return reader_.convert(dtype, {int_literal(DType::Int32, truth->value, expr_.span), true}, expr_.span);
  }
  ScalarOperand value = reader_.operand(argument);
  if (value.bare && value.value.as<FloatLiteral>() && !is_float(dtype)) {
    type_error(argument.span, "scalar.literal",
               fmt::format("found {}; expected an integer for {}", ast::describe(argument), name_of(dtype)));
  }
  ScalarOperand result = reader_.convert(dtype, value, expr_.span);
  // The literal has the place of the whole call.
  if (auto* integer = result.value.as<IntLiteral>()) return {int_literal(dtype, integer->value, expr_.span)};
  if (auto* real = result.value.as<FloatLiteral>()) {
    return {float_literal(dtype, real->value, expr_.span)};
  }
  return {result.value};
}

ScalarOperand ScalarFunction::special_float() {
  expect(1);
  const DType dtype = reader_.dtype_argument(*arguments_[0]);
  if (!is_float(dtype))
    type_error(expr_.span, "scalar.dtype", fmt::format("T.{} needs a float dtype", name_));
  const double value =
      name_ == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  return {float_literal(dtype, value, expr_.span)};
}

ScalarOperand ScalarFunction::limit() {
  expect(1);
  const bool least = name_ == "min_value";
  const DType dtype = reader_.dtype_argument(*arguments_[0]);
  if (!is_float(dtype)) return {least ? min_value(dtype) : max_value(dtype)};
  return {float_literal(dtype, least ? -largest_of(dtype) : largest_of(dtype), expr_.span)};
}

// T.IntImm("int32", 2), and T.const(2, "int32"): of float32, int32 or bool where no dtype is given.
ScalarOperand ScalarFunction::immediate() {
  const bool constant = name_ == "const";
  for (const ast::Argument& argument : call_.arguments)
    if (constant && argument.name == "dtype") arguments_.push_back(argument.value.get());
  if (!constant || arguments_.size() != 1) expect(2);
  const ast::Expr& written = *arguments_[constant ? 0 : 1];
  const ScalarOperand number = reader_.operand(written);
  if (constant && !number.value.as<IntLiteral>() && !number.value.as<FloatLiteral>()) {
    type_error(written.span, "scalar.literal",
               fmt::format("found {} of T.const; expected a number", ast::describe(written)));
  }
  if (arguments_.size() == 1) return {reader_.settled(number).value};
  const DType dtype = reader_.dtype_argument(*arguments_[constant ? 1 : 0]);
  return {reader_.convert(dtype, number, expr_.span).value};
}

// The two orders of TVM: T.Cast("float32", e) and T.cast(e, "float32").
ScalarOperand ScalarFunction::conversion() {
  if (name_ == "cast" && arguments_.size() == 1 && call_.arguments.size() == 2) {
    for (const ast::Argument& argument : call_.arguments) {
      if (argument.name == "dtype") arguments_.push_back(argument.value.get());
    }
  }
  expect(2);
  const bool first = names_dtype(*arguments_[0]);
  auto [dtype, lanes] = dtype_and_lanes(first ? *arguments_[0] : *arguments_[1]);
  Scalar from = reader_.value(first ? *arguments_[1] : *arguments_[0]);
  int found = reader_.lanes_of(from, expr_.span);
  if (found > 1 && lanes != found) {
    type_error(expr_.span, "vector.lanes",
               fmt::format("found a vector of {} lanes cast to {} lanes; expected as many", found, lanes));
  }
  return {cast(dtype, from, expr_.span), false, lanes};
}

ScalarOperand ScalarFunction::reinterpretation() {
  for (const ast::Argument& argument : call_.arguments) {
    if (argument.name == "dtype") arguments_.insert(arguments_.begin(), argument.value.get());
  }
  expect(2);
  const bool first = names_dtype(*arguments_[0]);
  auto [dtype, lanes] = dtype_and_lanes(first ? *arguments_[0] : *arguments_[1]);
  return {reinterpret(dtype, reader_.value(first ? *arguments_[1] : *arguments_[0]), expr_.span), false,
          lanes};
}

// ---- Arithmetic and logic.

ScalarOperand ScalarFunction::arithmetic(BinaryOp op) {
  expect(2);
  const auto [a, b] = two_of_one_dtype();
  if (is_float(a.value.dtype()) &&
      std::find(integer_only.begin(), integer_only.end(), name_) != integer_only.end()) {
    type_error(expr_.span, "scalar.dtype",
               fmt::format("T.{} takes integers, found {}", name_, name_of(a.value.dtype())));
  }
  return {binary(op, a.value, b.value, expr_.span)};
}

ScalarOperand ScalarFunction::comparison(CompareOp op) {
  expect(2);
  const auto [a, b] = two_of_one_dtype();
  return {compare(op, a.value, b.value, expr_.span)};
}

ScalarOperand ScalarFunction::connective() {
  expect(2);
  Scalar a = reader_.value(*arguments_[0]);
  return {
      logical(name_ == "And" ? LogicalOp::And : LogicalOp::Or, a, reader_.value(*arguments_[1]), expr_.span)};
}

ScalarOperand ScalarFunction::negation() {
  expect(1);
  return {logical_not(reader_.value(*arguments_[0]), expr_.span)};
}

ScalarOperand ScalarFunction::choice() {
  expect(3);
  Scalar condition = reader_.value(*arguments_[0]);
  reader_.expect_bool(condition, arguments_[0]->span);
  const auto [a, b] = two_of_one_dtype(1);
  return {name_ == "Select" ? select(condition, a.value, b.value, expr_.span)
                            : if_then_else(condition, a.value, b.value, expr_.span)};
}

ScalarOperand ScalarFunction::float_remainder() {
  expect(2);
  const auto [a, b] = two_of_one_dtype();
  if (!is_float(a.value.dtype())) {
    type_error(expr_.span, "intrinsic.dtype",
               fmt::format("T.fmod takes floats, found {}", name_of(a.value.dtype())));
  }
  return {binary(BinaryOp::TruncMod, a.value, b.value, expr_.span)};
}

// -((-a) // b); of a positive literal b the shorter (a + b - 1) // b.
ScalarOperand ScalarFunction::ceiling_division() {
  expect(2);
  const ScalarOperand a = reader_.operand(*arguments_[0]), b = reader_.operand(*arguments_[1]);
  for (const ScalarOperand* side : {&a, &b}) {
    if (!is_int(side->value.dtype()))
      type_error(
          expr_.span, "scalar.dtype",
          fmt::format("T.ceildiv takes integers, found {}", name_of(reader_.settled(*side).value.dtype())));
  }
  const auto both = [&](ast::Operator op, const ScalarOperand& x, const ScalarOperand& y) {
    return reader_.combine(op, x, y, expr_.span);
  };
  if (b.value.as_int().value_or(0) > 0) {
    const ScalarOperand one = reader_.plain_number(1, expr_.span);
    return both(ast::Operator::FloorDiv, both(ast::Operator::Add, a, both(ast::Operator::Sub, b, one)), b);
  }
  const ScalarOperand nothing = reader_.plain_number(0, expr_.span);
  const ScalarOperand floored = both(ast::Operator::FloorDiv, both(ast::Operator::Sub, nothing, a), b);
  return both(ast::Operator::Sub, nothing, floored);
}

// T.q_multiply_shift(x, y, q, s): x * y * 2^(s - q) of fixed-point numbers with q fractional bits, rounded
// half up, in 64 bits.
ScalarOperand ScalarFunction::multiply_shift() {
  expect(4);
  const std::vector<Scalar> given = wide_integers("T.q_multiply_shift", 4);
  const Scalar zero = int_literal(DType::Int64, 0, expr_.span);
  const auto both = [&](BinaryOp op, const Scalar& a, const Scalar& b) {
    return binary(op, a, b, expr_.span);
  };
  const Scalar left = both(BinaryOp::Max, given[3], zero);
  const Scalar right = both(BinaryOp::Max, both(BinaryOp::Sub, zero, given[3]), zero);
  return fixed_point_product(given[0], given[1], left, both(BinaryOp::Add, right, given[2]), expr_.span);
}

// T.q_multiply_shift_per_axis(x, y, left, right, q, with_left, with_right): the shifts are given apart. That
// to the left is taken where `with_left` says so; `with_right` changes nothing, as in TVM's rule.
ScalarOperand ScalarFunction::multiply_shift_per_axis() {
  expect(7);
  const std::vector<Scalar> given = wide_integers("T.q_multiply_shift_per_axis", 5);
  const Scalar zero = int_literal(DType::Int64, 0, expr_.span);
  const Scalar wanted = cast(DType::Int64, reader_.value(*arguments_[5]), arguments_[5]->span);
  reader_.value(*arguments_[6]);
  const Scalar left = select(compare(CompareOp::Ne, wanted, zero, expr_.span), given[2], zero, expr_.span);
  return fixed_point_product(given[0], given[1], left, binary(BinaryOp::Add, given[3], given[4], expr_.span),
                             expr_.span);
}

// The first `count` arguments as int64.
std::vector<Scalar> ScalarFunction::wide_integers(std::string_view name, std::size_t count) {
  std::vector<Scalar> found;
  for (std::size_t i = 0; i < count; ++i) {
    Scalar value = reader_.value(*arguments_[i]);
    if (!is_int(value.dtype())) {
      type_error(arguments_[i]->span, "scalar.dtype",
                 fmt::format("{} takes integers, found {}", name, name_of(value.dtype())));
    }
    found.push_back(cast(DType::Int64, value, arguments_[i]->span));
  }
  return found;
}

// What a compiler may know: the value itself.
ScalarOperand ScalarFunction::hint() {
  expect(1);
  return reader_.operand(*arguments_[0]);
}

ScalarOperand ScalarFunction::complement() {
  expect(1);
  Scalar bits = reader_.value(*arguments_[0]);
  if (!is_int(bits.dtype())) type_error(expr_.span, "scalar.dtype", "T.bitwise_not needs an integer");
  return {complement_of(bits, expr_.span)};
}

ScalarOperand ScalarFunction::intrinsic_call(Intrinsic which) {
  const IntrinsicInfo& info = info_of(which);
  expect(static_cast<std::size_t>(info.arity));
  std::vector<ScalarOperand> operands;
  for (const ast::Expr* argument : arguments_) operands.push_back(reader_.operand(*argument));
  if (info.operands != IntrinsicOperands::FloatAndInt32) {
    for (std::size_t round = 1; round < operands.size(); ++round)
      for (std::size_t i = 1; i < operands.size(); ++i) reader_.promote(operands[0], operands[i], expr_.span);
  }
  std::vector<Scalar> values;
  for (ScalarOperand& value : operands) values.push_back(reader_.settled(value).value);
  return {intrinsic(which, std::move(values), expr_.span)};
}

}  // namespace relish
