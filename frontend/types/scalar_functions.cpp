// Calls in scalar expressions: typed literals, casts, and the functions of T, by tables.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "frontend/text/literals.h"
#include "frontend/types/scalar_reader.h"
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
constexpr std::array<std::string_view, 40> other_names = {"reads",
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
                                                          "q_multiply_shift"};

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

}  // namespace

DType ScalarReader::dtype_argument(const ast::Expr& expr) const {
  if (auto* attribute = expr.as<ast::Attribute>(); attribute && attribute->name == "dtype") {
    if (auto buffer = buffer_named(*attribute->object)) return buffer->dtype();
    if (const std::string* name = ast::name_of(*attribute->object)) {
      const ScalarMeaning meaning = scope_.find(*name, expr.span);
      if (auto* scalar = std::get_if<Scalar>(&meaning); scalar && scalar->defined() && !is_pointer(*scalar))
        return scalar->dtype();
    }
  }
  auto* name = expr.as<ast::StringValue>();
  if (!name)
    type_error(expr.span, "dtype.string",
               fmt::format("found {}; expected a dtype such as \"float32\"", ast::describe(expr)));
  return read_dtype(name->value, expr.span);
}

ScalarOperand ScalarReader::call(const ast::Expr& expr, const ast::Call& call) {
  // e.astype("float32")
  if (auto* attribute = call.callee->as<ast::Attribute>(); attribute && attribute->name == "astype") {
    if (call.arguments.size() != 1) type_error(expr.span, "scalar.arguments", "astype takes one dtype");
    DType dtype = dtype_argument(*call.arguments[0].value);
    return {cast(dtype, value(*attribute->object), expr.span)};
  }
  if (auto* attribute = call.callee->as<ast::Attribute>(); attribute && attribute->name == "vload")
    if (auto buffer = buffer_named(*attribute->object)) return vector_load(expr, *buffer, call);
  if (is_foreign(expr)) return foreign(expr, call);
  std::string name = context_.namespaces.canonical(*call.callee);
  if (name == "min" || name == "max" || name == "abs") name = "T." + name;
  if (name == "float" && call.arguments.size() == 1 && call.arguments[0].value->as<ast::StringValue>()) {
    ScalarOperand value = typed_literal(DType::Float32, expr, call);
    return {value.value, true};
  }
  if (name.substr(0, 2) != "T.") {
    type_error(call.callee->span, "scalar.call",
               fmt::format("found {}; expected a function of T in a scalar expression", ast::describe(expr)));
  }
  if (name == "T.BufferLoad" || name == "T.buffer_load") {
    const auto buffer = call.arguments.empty() ? std::nullopt : buffer_named(*call.arguments[0].value);
    if (!buffer)
      type_error(expr.span, "scalar.arguments", fmt::format("{} takes a buffer and indices", name));
    return vector_load(expr, *buffer, call, 1);
  }
  return function(name.substr(2), expr, call);
}

ScalarOperand ScalarReader::typed_literal(DType dtype, const ast::Expr& expr, const ast::Call& call) {
  if (call.arguments.size() != 1 || !call.arguments[0].name.empty()) {
    type_error(expr.span, "scalar.arguments",
               fmt::format("found {} of T.{}; expected one value", counted(call.arguments.size(), "argument"),
                           name_of(dtype)));
  }
  const ast::Expr& argument = *call.arguments[0].value;
  if (auto* text = argument.as<ast::StringValue>()) {
    double infinity = std::numeric_limits<double>::infinity();
    std::string_view word = text->value;
    if (is_float(dtype)) {
      if (word == "inf" || word == "+inf" || word == "infinity")
        return {float_literal(dtype, infinity, expr.span)};
      if (word == "-inf" || word == "-infinity") return {float_literal(dtype, -infinity, expr.span)};
      if (word == "nan" || word == "-nan") {
        return {float_literal(dtype, std::numeric_limits<double>::quiet_NaN(), expr.span)};
      }
    }
    type_error(
        argument.span, "scalar.literal",
        fmt::format("found the string \"{}\"; expected a number, or \"inf\", \"-inf\" or \"nan\" for a float",
                    printable(word)));
  }
  // Beyond int64 only uint64 has values; the syntax tree leaves them in the text.
  if (dtype == DType::UInt64 && argument.as<ast::Unsupported>()) {
    Diagnostics ignored;
    auto number = read_number(context_.text_of(argument.span), argument.span, ignored);
    if (number && number->integer) {
      return {int_literal(dtype, static_cast<std::int64_t>(number->magnitude), expr.span)};
    }
  }
  if (auto* truth = argument.as<ast::BoolValue>()) {
    return convert(dtype, {int_literal(DType::Int32, truth->value, expr.span), true}, expr.span);
  }
  ScalarOperand value = operand(argument);
  if (value.bare && value.value.as<FloatLiteral>() && !is_float(dtype)) {
    type_error(argument.span, "scalar.literal",
               fmt::format("found {}; expected an integer for {}", ast::describe(argument), name_of(dtype)));
  }
  ScalarOperand result = convert(dtype, value, expr.span);
  // The literal has the place of the whole call.
  if (auto* integer = result.value.as<IntLiteral>()) return {int_literal(dtype, integer->value, expr.span)};
  if (auto* real = result.value.as<FloatLiteral>()) {
    return {float_literal(dtype, real->value, expr.span)};
  }
  return {result.value};
}

// T.Let(body, where={v: e}).
ScalarOperand ScalarReader::let_expression(const ast::Expr& expr, const ast::Call& call) {
  const ast::DictValue* where = nullptr;
  const ast::Expr* body = nullptr;
  for (const ast::Argument& argument : call.arguments) {
    if (argument.name == "where")
      where = argument.value->as<ast::DictValue>();
    else if (argument.name.empty() || argument.name == "body" || argument.name == "expr")
      body = argument.value.get();
  }
  if (!body || !where || where->items.empty() || call.arguments.size() != 2)
    type_error(expr.span, "scalar.let", "T.Let takes an expression and where={variable: value}");
  std::size_t outer = lets_.size();
  std::vector<Scalar> values;
  for (const auto& [key, given] : where->items) {
    const std::string* variable = ast::name_of(*key);
    if (!variable) {
      type_error(key->span, "scalar.let",
                 fmt::format("found {} as a variable of T.Let; expected a name", ast::describe(*key)));
    }
    Scalar bound = value(*given);
    values.push_back(bound);
    lets_.emplace_back(*variable, use(ScalarVar(*variable, bound.dtype(), key->span)));
  }
  Scalar result = value(*body);
  for (std::size_t i = values.size(); i-- > 0;)
    result = let(*lets_[outer + i].second.as_var(), values[i], result, expr.span);
  lets_.resize(outer);
  return {result};
}

// T.q_multiply_shift(x, y, q, s): x * y * 2^(s - q) of fixed-point numbers with q fractional bits, rounded
// half up, in 64 bits.
ScalarOperand ScalarReader::multiply_shift(const ast::Expr& expr,
                                           const std::vector<const ast::Expr*>& arguments) {
  std::array<Scalar, 4> given;
  for (std::size_t i = 0; i < 4; ++i) {
    given[i] = value(*arguments[i]);
    if (!is_int(given[i].dtype())) {
      type_error(arguments[i]->span, "scalar.dtype",
                 fmt::format("T.q_multiply_shift takes integers, found {}", name_of(given[i].dtype())));
    }
    given[i] = cast(DType::Int64, given[i], arguments[i]->span);
  }
  const auto number = [&](std::int64_t v) { return int_literal(DType::Int64, v, expr.span); };
  const auto both = [&](BinaryOp op, const Scalar& a, const Scalar& b) {
    return binary(op, a, b, expr.span);
  };
  const auto& [x, y, q, s] = given;
  Scalar left = both(BinaryOp::Max, s, number(0));
  Scalar right = both(BinaryOp::Add, both(BinaryOp::Max, both(BinaryOp::Sub, number(0), s), number(0)), q);
  Scalar product = both(BinaryOp::Mul, both(BinaryOp::ShiftLeft, x, left), y);
  Scalar half = both(BinaryOp::ShiftLeft, number(1), both(BinaryOp::Sub, right, number(1)));
  Scalar shifted = both(BinaryOp::ShiftRight, both(BinaryOp::Add, product, half), right);
  return {cast(DType::Int32, shifted, expr.span)};
}

// -((-a) // b); of a positive literal b the shorter (a + b - 1) // b.
ScalarOperand ScalarReader::ceiling_division(const ast::Expr& expr, ScalarOperand a, ScalarOperand b) {
  for (const ScalarOperand* side : {&a, &b}) {
    if (!is_int(side->value.dtype()))
      type_error(expr.span, "scalar.dtype",
                 fmt::format("T.ceildiv takes integers, found {}", name_of(settled(*side).value.dtype())));
  }
  if (b.value.as_int().value_or(0) > 0) {
    ScalarOperand one{int_literal(plain_integer_, 1, expr.span), true};
    ScalarOperand padded =
        combine(ast::Operator::Add, a, combine(ast::Operator::Sub, b, one, expr.span), expr.span);
    return combine(ast::Operator::FloorDiv, padded, b, expr.span);
  }
  ScalarOperand nothing{int_literal(plain_integer_, 0, expr.span), true};
  ScalarOperand floored =
      combine(ast::Operator::FloorDiv, combine(ast::Operator::Sub, nothing, a, expr.span), b, expr.span);
  return combine(ast::Operator::Sub, nothing, floored, expr.span);
}

ScalarOperand ScalarReader::function(const std::string& name, const ast::Expr& expr, const ast::Call& call) {
  if (needs_device(name)) {
    fail(ErrorClass::Type, expr.span, "unsupported.device",
         fmt::format("T.{} needs a GPU, which is not supported", printable(name)));
  }
  if (name == "vscale") {
    fail(ErrorClass::Type, expr.span, "unsupported.device",
         "T.vscale is known to the machine alone, which is not supported; expected a number of lanes");
  }
  if (name == "undef") {
    // Any value will do.
    for (const ast::Argument& argument : call.arguments)
      if (argument.name.empty() || argument.name == "dtype") return {zero(dtype_argument(*argument.value))};
  }
  if (name == "reduce" || name == "comm_reducer") {
    type_error(expr.span, "unsupported.reduction",
               fmt::format("T.{} is not supported; expected a block with T.init", name));
  }
  if (name == "Call") {
    type_error(
        expr.span, "scalar.function",
        "found T.Call; expected the call itself, such as T.exp(x) or T.call_extern(\"int32\", \"f\", x)");
  }
  if (name == "Let") return let_expression(expr, call);
  const auto names = [] {
    std::vector<std::string> known;
    for (const BinaryName& entry : binary_names) known.push_back("T." + std::string(entry.name));
    for (const CompareName& entry : compare_names) known.push_back("T." + std::string(entry.name));
    for (std::string_view entry : other_names) known.push_back("T." + std::string(entry));
    for (const IntrinsicInfo& entry : intrinsics()) known.push_back("T." + std::string(entry.name));
    return known;
  };
  const auto unknown = [&](const std::vector<std::string>& known) {
    return fmt::format("T.{} is not a function that Relish knows{}", printable(name),
                       did_you_mean("T." + name, known));
  };
  std::vector<const ast::Expr*> arguments;
  for (const ast::Argument& argument : call.arguments) {
    // Older texts give intrinsics their dtype, which follows from the operands.
    if (argument.name == "dtype" || argument.name == "span" || argument.name == "is_size_var") continue;
    if (!argument.name.empty() &&
        std::find(argument_names.begin(), argument_names.end(), argument.name) == argument_names.end()) {
      // Of a misspelt name no argument is known.
      if (const auto known = names(); nearest_name("T." + name, known).value_or("T." + name) != "T." + name)
        type_error(call.callee->span, "scalar.function", unknown(known));
      type_error(argument.name_span, "scalar.arguments",
                 fmt::format("T.{} has no argument '{}'", printable(name), printable(argument.name)));
    }
    if (argument.stars) type_error(argument.value->span, "scalar.arguments", "found a starred argument");
    arguments.push_back(argument.value.get());
  }
  auto expect = [&](std::size_t count) {
    if (arguments.size() == count) return;
    std::vector<DiagnosticNote> notes;
    // The surplus goes, with the ',' before it.
    if (count > 0 && arguments.size() > count) {
      notes.push_back(
          remove_this({expr.span.file, arguments[count - 1]->span.end, arguments.back()->span.end}));
    }
    fail(ErrorClass::Type, expr.span, "scalar.arguments",
         fmt::format("found {} of T.{}; expected {}", counted(arguments.size(), "argument"), printable(name),
                     count),
         std::move(notes));
  };
  if (auto dtype = dtype_from_name(name)) return typed_literal(*dtype, expr, call);
  for (const BinaryName& entry : binary_names) {
    if (entry.name != name) continue;
    expect(2);
    ScalarOperand a = operand(*arguments[0]), b = operand(*arguments[1]);
    promote(a, b, expr.span);
    if (is_float(a.value.dtype()) &&
        std::find(integer_only.begin(), integer_only.end(), name) != integer_only.end()) {
      type_error(expr.span, "scalar.dtype",
                 fmt::format("T.{} takes integers, found {}", name, name_of(a.value.dtype())));
    }
    return {binary(entry.op, a.value, b.value, expr.span)};
  }
  for (const CompareName& entry : compare_names) {
    if (entry.name != name) continue;
    expect(2);
    ScalarOperand a = operand(*arguments[0]), b = operand(*arguments[1]);
    promote(a, b, expr.span);
    return {compare(entry.op, a.value, b.value, expr.span)};
  }
  if (name == "And" || name == "Or") {
    expect(2);
    Scalar a = value(*arguments[0]);
    return {logical(name == "And" ? LogicalOp::And : LogicalOp::Or, a, value(*arguments[1]), expr.span)};
  }
  if (name == "Not") {
    expect(1);
    return {logical_not(value(*arguments[0]), expr.span)};
  }
  if (name == "Select" || name == "if_then_else") {
    expect(3);
    Scalar condition = value(*arguments[0]);
    expect_bool(condition, arguments[0]->span);
    ScalarOperand a = operand(*arguments[1]), b = operand(*arguments[2]);
    promote(a, b, expr.span);
    return {name == "Select" ? select(condition, a.value, b.value, expr.span)
                             : if_then_else(condition, a.value, b.value, expr.span)};
  }
  // The two orders of TVM: T.Cast("float32", e) and T.cast(e, "float32").
  if (name == "Cast" || name == "cast") {
    if (name == "cast" && arguments.size() == 1 && call.arguments.size() == 2) {
      for (const ast::Argument& argument : call.arguments) {
        if (argument.name == "dtype") arguments.push_back(argument.value.get());
      }
    }
    expect(2);
    const bool first = names_dtype(*arguments[0]);
    auto [dtype, lanes] = dtype_and_lanes(first ? *arguments[0] : *arguments[1]);
    Scalar from = value(first ? *arguments[1] : *arguments[0]);
    int found = lanes_of(from, expr.span);
    if (found > 1 && lanes != found) {
      type_error(expr.span, "vector.lanes",
                 fmt::format("found a vector of {} lanes cast to {} lanes; expected as many", found, lanes));
    }
    return {cast(dtype, from, expr.span), false, lanes};
  }
  if (name == "reinterpret") {
    for (const ast::Argument& argument : call.arguments) {
      if (argument.name == "dtype") arguments.insert(arguments.begin(), argument.value.get());
    }
    expect(2);
    const bool first = names_dtype(*arguments[0]);
    auto [dtype, lanes] = dtype_and_lanes(first ? *arguments[0] : *arguments[1]);
    return {reinterpret(dtype, value(first ? *arguments[1] : *arguments[0]), expr.span), false, lanes};
  }
  if (name == "get_active_lane_mask") {
    expect(3);
    return lane_mask(expr, arguments);
  }
  if (name == "Ramp" || name == "ramp") {
    expect(3);
    std::int64_t lanes = lanes_argument(*arguments[2]);
    ScalarOperand base = operand(*arguments[0]), stride = operand(*arguments[1]);
    return {ramp(base, stride, lanes, expr.span)};
  }
  if (name == "Broadcast" || name == "broadcast") {
    expect(2);
    std::int64_t lanes = lanes_argument(*arguments[1]);
    ScalarOperand all = operand(*arguments[0]);
    refuse_vector(all.value, arguments[0]->span);
    return {settled(all).value, false, static_cast<int>(lanes)};
  }
  if (name == "Shuffle") {
    expect(2);
    return shuffle(expr, *arguments[0], *arguments[1]);
  }
  if (name == "q_multiply_shift") {
    expect(4);
    return multiply_shift(expr, arguments);
  }
  if (name == "fmod") {
    expect(2);
    ScalarOperand a = operand(*arguments[0]), b = operand(*arguments[1]);
    promote(a, b, expr.span);
    if (!is_float(a.value.dtype())) {
      type_error(expr.span, "intrinsic.dtype",
                 fmt::format("T.fmod takes floats, found {}", name_of(a.value.dtype())));
    }
    return {binary(BinaryOp::TruncMod, a.value, b.value, expr.span)};
  }
  if (name == "ceildiv") {
    expect(2);
    ScalarOperand a = operand(*arguments[0]), b = operand(*arguments[1]);
    return ceiling_division(expr, a, b);
  }
  if (name == "min_value" || name == "max_value" || name == "infinity" || name == "nan") {
    expect(1);
    DType dtype = dtype_argument(*arguments[0]);
    if (name == "infinity" || name == "nan") {
      double value =
          name == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
      if (!is_float(dtype))
        type_error(expr.span, "scalar.dtype", fmt::format("T.{} needs a float dtype", name));
      return {float_literal(dtype, value, expr.span)};
    }
    if (is_float(dtype)) {
      double largest = dtype == DType::Float16    ? 65504.0
                       : dtype == DType::BFloat16 ? 3.3895313892515355e38
                       : dtype == DType::Float32  ? static_cast<double>(std::numeric_limits<float>::max())
                                                  : std::numeric_limits<double>::max();
      return {float_literal(dtype, name == "min_value" ? -largest : largest, expr.span)};
    }
    return {name == "min_value" ? min_value(dtype) : max_value(dtype)};
  }
  if (name == "FloatImm" || name == "IntImm") {
    expect(2);
    DType dtype = dtype_argument(*arguments[0]);
    return {convert(dtype, operand(*arguments[1]), expr.span).value};
  }
  if (name == "likely" || name == "ignore_loop_partition") {
    expect(1);
    return operand(*arguments[0]);
  }
  if (name == "bitwise_not") {
    expect(1);
    Scalar bits = value(*arguments[0]);
    if (!is_int(bits.dtype())) type_error(expr.span, "scalar.dtype", "T.bitwise_not needs an integer");
    return {binary(BinaryOp::BitXor, bits, int_literal(bits.dtype(), -1, expr.span), expr.span)};
  }
  if (auto which = intrinsic_from_name(name)) {
    const IntrinsicInfo& info = info_of(*which);
    expect(static_cast<std::size_t>(info.arity));
    std::vector<ScalarOperand> operands;
    for (const ast::Expr* argument : arguments) operands.push_back(operand(*argument));
    if (info.operands != IntrinsicOperands::FloatAndInt32) {
      for (std::size_t round = 1; round < operands.size(); ++round)
        for (std::size_t i = 1; i < operands.size(); ++i) promote(operands[0], operands[i], expr.span);
    }
    std::vector<Scalar> values;
    for (ScalarOperand& value : operands) values.push_back(settled(value).value);
    return {intrinsic(*which, std::move(values), expr.span)};
  }
  type_error(call.callee->span, "scalar.function", unknown(names()));
}

}  // namespace relish
