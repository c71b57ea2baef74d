// Syntax trees to scalar expressions, with TVM's implicit conversions.
#include "frontend/types/scalar_reader.h"

#include <cmath>
#include <set>

#include "frontend/text/ast_walk.h"

#include <optional>

#include <fmt/format.h>

#include "support/counted.h"
#include "support/fix.h"
#include "support/limits.h"
#include "support/render.h"
#include "support/suggest.h"

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

// Whether the integer is a value of the dtype. uint64 literals above int64 are not written in texts.
bool holds(DType dtype, std::int64_t value) {
  int bits = size_of(dtype) * 8;
  if (is_bool(dtype)) return value == 0 || value == 1;
  if (is_unsigned_int(dtype)) return value >= 0 && (bits >= 63 || value < (std::int64_t{1} << bits));
  return bits >= 64 || (value >= -(std::int64_t{1} << (bits - 1)) && value < (std::int64_t{1} << (bits - 1)));
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

}  // namespace

DType read_dtype(std::string_view name, Span at) {
  if (auto dtype = dtype_from_name(name)) return *dtype;
  // Without a width they are of 32 bits.
  if (name == "float") return DType::Float32;
  if (name == "int") return DType::Int32;
  if (name == "uint") return DType::UInt32;
  if (const std::size_t x = name.find('x'); x != name.npos && dtype_from_name(name.substr(0, x))) {
    type_error(
        at, "dtype.unsupported",
        fmt::format("the dtype {} is not supported; expected {}, of a buffer with a last dimension of {}",
                    printable(name), name.substr(0, x), printable(name.substr(x + 1))));
  }
  if (name.substr(0, 6) == "float8" || name.substr(0, 6) == "float4" || name == "handle" || name == "void") {
    type_error(at, "dtype.unsupported", fmt::format("the dtype {} is not supported", printable(name)));
  }
  std::vector<std::string> candidates;
  for (int i = 0; i < dtype_count; ++i) candidates.emplace_back(name_of(static_cast<DType>(i)));
  type_error(at, "dtype.unknown",
             fmt::format("found the dtype '{}', which is unknown{}", printable(name),
                         did_you_mean(name, candidates)));
}

void fail_unknown_name(const std::string& name, Span at, std::vector<std::string> candidates) {
  fail(ErrorClass::Type, at, "name.unknown",
       fmt::format("found the name '{}', which is not defined here{}", printable(name),
                   did_you_mean(name, candidates)));
}

void ScalarReader::check_depth(std::size_t levels, Span at) {
  depth_ += levels;
  if (depth_ > limits().max_scalar_nesting) {
    fail(ErrorClass::ResourceLimit, at, "limit.scalar",
         fmt::format("found a scalar expression nested deeper than {}; expected a local scalar for a part of "
                     "it, or raise "
                     "--max-scalar-nesting",
                     limits().max_scalar_nesting));
  }
}

namespace {

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

}  // namespace

ScalarOperand ScalarReader::convert(DType dtype, const ScalarOperand& operand, Span at) const {
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

void ScalarReader::promote(ScalarOperand& a, ScalarOperand& b, Span at) const {
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

ScalarOperand ScalarReader::combine(ast::Operator op, ScalarOperand a, ScalarOperand b, Span at) {
  if (op == ast::Operator::Pow) {
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

ScalarOperand ScalarReader::operand(const ast::Expr& expr) {
  std::size_t depth = depth_;
  const bool pointers_allowed = std::exchange(pointers_allowed_, false);
  check_depth(1, expr.span);
  auto scalar = [&]() -> ScalarOperand {
    if (auto* v = expr.as<ast::IntValue>()) {
      // What does not fit int32 is int64, as everywhere in TVM.
      DType dtype = holds(plain_integer_, v->value) ? plain_integer_ : DType::Int64;
      return {int_literal(dtype, v->value, expr.span), true};
    }
    if (auto* v = expr.as<ast::FloatValue>()) {
      return {float_literal(DType::Float64, v->value, expr.span),
              true};  // all its digits, until it is settled
    }
    if (auto* v = expr.as<ast::BoolValue>()) return {bool_literal(v->value, expr.span)};
    if (auto* v = expr.as<ast::Name>()) return name(expr, v->id);
    if (auto* v = expr.as<ast::Call>()) return call(expr, *v);
    if (auto* v = expr.as<ast::Subscript>()) return subscript(expr, *v);
    if (auto* v = expr.as<ast::Prefix>()) return prefix(expr, *v);
    if (auto* v = expr.as<ast::Attribute>())
      if (auto read = attribute(expr, *v)) return *read;
    if (auto* v = expr.as<ast::Chain>()) {
      check_depth(v->links.size(), expr.span);
      ScalarOperand result = operand(*v->first);
      for (const ast::Link& link : v->links) {
        ScalarOperand right = operand(*link.operand);
        result =
            combine(link.op, std::move(result), std::move(right), cover(v->first->span, link.operand->span));
      }
      return result;
    }
    if (auto* v = expr.as<ast::Comparison>()) {
      return comparison(expr, *v);
    }
    if (auto* v = expr.as<ast::Logic>()) {
      check_depth(v->operands.size(), expr.span);
      ScalarOperand result = operand(*v->operands[0]);
      for (std::size_t i = 1; i < v->operands.size(); ++i) {
        Span span = cover(v->operands[0]->span, v->operands[i]->span);
        result = combine(v->op, std::move(result), operand(*v->operands[i]), span);
      }
      return result;
    }
    if (auto* v = expr.as<ast::Conditional>()) {
      Scalar condition = value(*v->condition);
      expect_bool(condition, v->condition->span);
      ScalarOperand then_value = operand(*v->then_value), else_value = operand(*v->else_value);
      promote(then_value, else_value, expr.span);
      return {if_then_else(condition, then_value.value, else_value.value, expr.span)};
    }
    type_error(expr.span, "scalar.expression",
               fmt::format("found {}; expected a scalar", ast::describe(expr)));
  }();
  depth_ = depth;
  if (!pointers_allowed && is_pointer(scalar.value)) {
    type_error(expr.span, "scalar.pointer",
               fmt::format("found {}, which points to memory, as a value; expected it in data= or as an "
                           "argument of a native function",
                           ast::describe(expr)));
  }
  return scalar;
}

// As Python has it: a < b < c is a < b and b < c.
ScalarOperand ScalarReader::comparison(const ast::Expr& expr, const ast::Comparison& comparison) {
  check_depth(comparison.links.size(), expr.span);
  ScalarOperand left = operand(*comparison.first), result;
  Span from = comparison.first->span;
  for (std::size_t i = 0; i < comparison.links.size(); ++i) {
    const ast::Link& link = comparison.links[i];
    ScalarOperand right = operand(*link.operand);
    ScalarOperand pair = combine(link.op, left, right, cover(from, link.operand->span));
    result =
        i == 0 ? pair
               : combine(ast::Operator::And, result, pair, cover(comparison.first->span, link.operand->span));
    left = std::move(right);
    from = link.operand->span;
  }
  return result;
}

Scalar ScalarReader::read(const ast::Expr& expr) {
  Scalar result = value(expr);
  refuse_vector(result, expr.span);
  return result;
}

ScalarOperand ScalarReader::settled(const ScalarOperand& operand) const {
  auto* real = operand.bare ? operand.value.as<FloatLiteral>() : nullptr;
  if (!real) return operand;
  return {real_literal(plain_integer_ == DType::Int32 ? DType::Float32 : DType::Float64, real->value,
                       operand.value.span())};
}

Scalar ScalarReader::read_as(DType dtype, const ast::Expr& expr) {
  return convert(dtype, operand(expr), expr.span).value;
}

Scalar ScalarReader::read_condition(const ast::Expr& expr) {
  Scalar condition = read(expr);
  expect_bool(condition, expr.span);
  return condition;
}

Scalar ScalarReader::read_truth(const ast::Expr& expr) {
  Scalar condition = read(expr);
  if (is_int(condition.dtype()) && !is_bool(condition.dtype()))
    return compare(CompareOp::Ne, condition, int_literal(condition.dtype(), 0, expr.span), expr.span);
  expect_bool(condition, expr.span);
  return condition;
}

Scalar ScalarReader::read_index(const ast::Expr& expr) {
  Scalar index = read(expr);
  expect_index(index, expr.span);
  return index;
}

void ScalarReader::expect_bool(const Scalar& condition, Span at) const {
  if (is_bool(condition.dtype())) return;
  fail(ErrorClass::Type, at, "scalar.condition",
       fmt::format("found a condition of dtype {}; expected a comparison or a bool",
                   name_of(condition.dtype())),
       {insert_here(at, " != 0")});
}

void ScalarReader::expect_index(const Scalar& index, Span at) const {
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

std::vector<DiagnosticNote> ScalarReader::missing_indices(const ast::Subscript& subscript,
                                                          std::size_t missing) const {
  const std::vector<std::string> axes = scope_.index_names();
  // The axes that each index mentions, as positions in their order.
  std::vector<std::size_t> last_of_item(subscript.items.size(), 0);
  std::set<std::size_t> mentioned;
  for (std::size_t i = 0; i < subscript.items.size(); ++i) {
    ast::for_each_expr(*subscript.items[i], [&](const ast::Expr& inner) {
      const std::string* name = ast::name_of(inner);
      for (std::size_t a = 0; name && a < axes.size(); ++a) {
        if (axes[a] != *name) continue;
        mentioned.insert(a);
        last_of_item[i] = std::max(last_of_item[i], a + 1);
      }
    });
  }
  if (axes.size() != mentioned.size() + missing || mentioned.empty()) return {};
  // Each stands before the first index of a later axis.
  std::vector<DiagnosticNote> notes;
  std::string behind;
  for (std::size_t i = 0, a = 0; i <= subscript.items.size(); ++i) {
    std::string before;
    const bool end = i == subscript.items.size();
    for (; a < (end ? axes.size() : last_of_item[i]); ++a) {
      if (mentioned.contains(a)) continue;
      (end ? behind : before) += end ? ", " + axes[a] : axes[a] + ", ";
    }
    if (!before.empty()) {
      const Span item = subscript.items[i]->span;
      notes.push_back(insert_here({item.file, item.begin, item.begin}, before));
    }
  }
  if (!behind.empty()) notes.push_back(insert_here(subscript.items.back()->span, behind));
  return notes;
}

std::vector<Scalar> ScalarReader::read_indices(const Buffer& buffer, const ast::Subscript& subscript,
                                               Span at) {
  std::vector<Scalar> indices;
  const std::vector<const ast::Expr*> items = items_of(subscript);
  auto* empty = items.size() == 1 ? items[0]->as<ast::TupleValue>() : nullptr;
  if (!(empty && empty->items.empty())) {
    for (const ast::Expr* each : items) {
      const ast::Expr& item = *each;
      if (auto all = several(item)) {
        indices.insert(indices.end(), all->begin(), all->end());
        continue;
      }
      auto* slice = item.as<ast::Slice>();
      const std::size_t i = indices.size();
      if (slice && i >= buffer.shape().size()) {
        type_error(item.span, "buffer.slice",
                   fmt::format("found a slice behind the last dimension of {}", printable(buffer.name())));
      }
      Scalar index = slice ? slice_index(*slice, buffer.shape()[i], item.span) : value(item);
      expect_index(index, item.span);
      if (!lanes_.empty() && lanes_of(index, item.span) > 1) {
        for (const Scalar& earlier : indices) {
          if (lanes_of(earlier, item.span) > 1)
            type_error(item.span, "buffer.slice", "found a second vector among the indices; expected one");
        }
      }
      indices.push_back(std::move(index));
    }
  }
  if (static_cast<int>(indices.size()) != buffer.rank()) {
    std::vector<DiagnosticNote> notes{
        {buffer.span(), fmt::format("{} has rank {}", printable(buffer.name()), buffer.rank())}};
    const auto rank = static_cast<std::size_t>(buffer.rank());
    if (rank > 0 && indices.size() > rank && subscript.items.size() == indices.size())
      notes.push_back(
          remove_this({at.file, subscript.items[rank - 1]->span.end, subscript.items.back()->span.end}));
    if (indices.size() < rank && subscript.items.size() == indices.size())
      for (DiagnosticNote& note : missing_indices(subscript, rank - indices.size()))
        notes.push_back(std::move(note));
    fail(ErrorClass::Type, at, "buffer.rank",
         fmt::format("found {} for {}; expected {}", counted(indices.size(), "index", "indices"),
                     printable(buffer.name()), buffer.rank()),
         std::move(notes));
  }
  return indices;
}

std::vector<Scalar> ScalarReader::read_list(const ast::Expr& expr) {
  std::vector<Scalar> result;
  auto read_all = [&](const std::vector<ast::ExprPtr>& items) {
    for (const ast::ExprPtr& item : items) {
      if (auto all = item->as<ast::Starred>() ? several(*item) : std::nullopt)
        result.insert(result.end(), all->begin(), all->end());
      else
        result.push_back(read(*item));
    }
  };
  if (auto* tuple = expr.as<ast::TupleValue>()) {
    read_all(tuple->items);
  } else if (auto* list = expr.as<ast::ListValue>()) {
    read_all(list->items);
  } else if (auto* numbers = expr.as<ast::NumberListValue>(); numbers && numbers->reals.empty()) {
    for (std::int64_t value : numbers->integers)
      result.push_back(int_literal(plain_integer_, value, expr.span));
  } else if (auto all = several(expr)) {
    result = *all;
  } else {
    result.push_back(read(expr));
  }
  if (result.size() > limits().max_rank) {
    fail(ErrorClass::ResourceLimit, expr.span, "limit.rank",
         fmt::format("found {} dimensions; expected at most {}, raise --max-rank", result.size(),
                     limits().max_rank));
  }
  return result;
}

ScalarOperand ScalarReader::name(const ast::Expr& expr, const std::string& id) {
  for (auto let = lets_.rbegin(); let != lets_.rend(); ++let)
    if (let->first == id) return {use(*let->second.as_var(), expr.span)};
  ScalarMeaning meaning = scope_.find(id, expr.span);
  if (auto* scalar = std::get_if<Scalar>(&meaning)) {
    if (!scalar->defined()) throw ReadContext::Silent{};
    if (auto var = scalar->as_var()) return {use(*var, expr.span)};
    return {*scalar};
  }
  if (auto* buffer = std::get_if<Buffer>(&meaning)) {
    fail(ErrorClass::Type, expr.span, "buffer.value",
         fmt::format("found the buffer '{}' as a value; expected an element of it", printable(id)),
         {{buffer->span(), "it is declared here"}});
  }
  if (auto* reason = std::get_if<std::string>(&meaning)) type_error(expr.span, "name.use", *reason);
  if (std::get_if<std::vector<Scalar>>(&meaning)) {
    type_error(
        expr.span, "name.several",
        fmt::format("found '{0}', which stands for several loop variables, as a value; expected one of "
                    "them, such as {0}[0]",
                    printable(id)));
  }
  fail_unknown_name(id, expr.span, scope_.names());
}

ScalarOperand ScalarReader::subscript(const ast::Expr& expr, const ast::Subscript& subscript) {
  if (auto item = item_of_several(subscript)) return *item;
  const ast::Expr* object = subscript.object.get();
  while (auto* inner = object->as<ast::Subscript>()) object = inner->object.get();
  const std::string* id = ast::name_of(*object);
  if (!id) {
    type_error(expr.span, "scalar.subscript",
               fmt::format("found a subscript of {}; expected one of a buffer", ast::describe(*object)));
  }
  ScalarMeaning meaning = scope_.find(*id, object->span);
  if (auto* buffer = std::get_if<Buffer>(&meaning)) {
    return {load(*buffer, read_indices(*buffer, subscript, expr.span), expr.span)};
  }
  if (std::holds_alternative<std::monostate>(meaning)) fail_unknown_name(*id, object->span, scope_.names());
  if (auto* scalar = std::get_if<Scalar>(&meaning); scalar && !scalar->defined()) throw ReadContext::Silent{};
  type_error(object->span, "scalar.subscript",
             fmt::format("found a subscript of '{}', which is no buffer", printable(*id)));
}

ScalarOperand ScalarReader::prefix(const ast::Expr& expr, const ast::Prefix& prefix) {
  ScalarOperand value = operand(*prefix.operand);
  switch (prefix.op) {
    case ast::PrefixOperator::Plus:
      return value;
    case ast::PrefixOperator::Not:
      return {logical_not(value.value, expr.span)};
    case ast::PrefixOperator::Minus: {
      // As TVM has it: a product keeps the sign of a zero.
      ScalarOperand minus_one{int_literal(plain_integer_, -1, expr.span), true};
      return combine(ast::Operator::Mul, value, minus_one, expr.span);
    }
    case ast::PrefixOperator::Invert: {
      if (is_bool(value.value.dtype())) return {logical_not(value.value, expr.span)};
      if (!is_int(value.value.dtype())) {
        type_error(expr.span, "scalar.operator",
                   fmt::format("found '~' on {}; expected an integer", name_of(value.value.dtype())));
      }
      ScalarOperand ones{int_literal(value.value.dtype(), -1, expr.span)};
      return {binary(BinaryOp::BitXor, value.value, ones.value, expr.span)};
    }
  }
  return value;
}

}  // namespace relish
