// Syntax trees of literals to attribute values.
#include "frontend/types/attribute_reader.h"
#include "support/counted.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "frontend/types/scalar_reader.h"
#include "support/render.h"

namespace relish {
namespace {

[[noreturn]] void refuse(const ast::Expr& expr) {
  fail(ErrorClass::Type, expr.span, "attribute.literal",
       fmt::format("found {}; expected a literal that is known when the text is read", ast::describe(expr)));
}

AttributeList read_list(const ReadContext& context, const std::vector<ast::ExprPtr>& items) {
  AttributeList list;
  list.reserve(items.size());
  for (const ast::ExprPtr& item : items) {
    auto* starred = item->as<ast::Starred>();
    if (!starred) {
      list.push_back(read_attribute(context, *item));
      continue;
    }
    const Attribute inner = read_attribute(context, *starred->value);
    const auto* several = inner.as<AttributeList>();
    if (!several) refuse(*item);
    list.insert(list.end(), several->begin(), several->end());
  }
  return list;
}

// T.target("llvm", host="llvm"): says for which machine a compiler works, and is kept as it is written.
Attribute read_target(const ReadContext& context, const ast::Call& call) {
  auto target = std::make_shared<AttributeCall>();
  target->function = "T.target";
  for (const ast::Argument& argument : call.arguments) {
    if (argument.stars) refuse(*argument.value);
    if (argument.name.empty())
      target->arguments.push_back(read_attribute(context, *argument.value));
    else
      target->named =
          with_attribute(std::move(target->named), argument.name, read_attribute(context, *argument.value));
  }
  return std::shared_ptr<const AttributeCall>(std::move(target));
}

Attribute read_call(const ReadContext& context, const ast::Expr& expr, const ast::Call& call) {
  std::string name = context.namespaces.canonical(*call.callee);
  if (name == "T.target" || name == "T.Target" || name == "tvm.target.Target")
    return read_target(context, call);
  if (call.arguments.size() != 1 || !call.arguments[0].name.empty()) refuse(expr);
  Attribute value = read_attribute(context, *call.arguments[0].value);
  if (name == "R.dtype" && value.as<std::string>())
    return read_dtype(*value.as<std::string>(), call.arguments[0].value->span);
  if (name == "float" && value.as<std::string>()) {
    const std::string& word = *value.as<std::string>();
    if (word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "-inf") return -std::numeric_limits<double>::infinity();
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    refuse(expr);
  }
  if (name == "R.str" || name == "R.prim_value" || name == "R.PrimValue") return value;
  if (name.substr(0, 2) != "T.") refuse(expr);
  auto dtype = dtype_from_name(name.substr(2));
  if (!dtype) refuse(expr);
  if (is_float(*dtype) && value.as<std::int64_t>()) return static_cast<double>(*value.as<std::int64_t>());
  if (is_bool(*dtype) && value.as<std::int64_t>()) return *value.as<std::int64_t>() != 0;
  return value;
}

// Without the prefixes that TVM gave the attributes of prim_funcs.
std::string_view bare_name(std::string_view name) {
  for (std::string_view prefix : {"tirx.", "tir."})
    if (name.substr(0, prefix.size()) == prefix) return name.substr(prefix.size());
  return name;
}

double real_of(const LiteralNumber& number) {
  if (const auto* integer = std::get_if<std::int64_t>(&number)) return static_cast<double>(*integer);
  const auto* real = std::get_if<double>(&number);
  return real ? *real : std::get<bool>(number);
}

std::optional<LiteralNumber> integers_combined(ast::Operator op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case ast::Operator::Add:
      return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional<LiteralNumber>(result);
    case ast::Operator::Sub:
      return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional<LiteralNumber>(result);
    case ast::Operator::Mul:
      return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional<LiteralNumber>(result);
    case ast::Operator::FloorDiv:
    case ast::Operator::Mod: {
      if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return std::nullopt;
      const bool below = a % b != 0 && (a % b < 0) != (b < 0);
      return op == ast::Operator::Mod ? a % b + (below ? b : 0) : a / b - (below ? 1 : 0);
    }
    case ast::Operator::Pow: {
      if (b < 0) return std::nullopt;
      result = 1;
      for (std::int64_t i = 0; i < b && result != 0; ++i) {
        if (__builtin_mul_overflow(result, a, &result)) return std::nullopt;
        if (a == 1 || a == 0) break;
        if (a == -1 && i >= 1) return b % 2 == 0 ? std::int64_t{1} : std::int64_t{-1};
      }
      return result;
    }
    default:
      return std::nullopt;
  }
}

std::optional<LiteralNumber> combined(ast::Operator op, const LiteralNumber& left,
                                      const LiteralNumber& right) {
  const auto *a = std::get_if<std::int64_t>(&left), *b = std::get_if<std::int64_t>(&right);
  if (a && b && op != ast::Operator::Div) return integers_combined(op, *a, *b);
  const double x = real_of(left), y = real_of(right);
  switch (op) {
    case ast::Operator::Add:
      return x + y;
    case ast::Operator::Sub:
      return x - y;
    case ast::Operator::Mul:
      return x * y;
    case ast::Operator::Div:
      return y == 0 ? std::nullopt : std::optional<LiteralNumber>(x / y);
    case ast::Operator::Pow: {
      const double power = std::pow(x, y);
      return std::isfinite(power) ? std::optional<LiteralNumber>(power) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

Attribute attribute_of_number(const LiteralNumber& number) {
  return std::visit([](auto value) { return Attribute(value); }, number);
}

}  // namespace

std::optional<LiteralNumber> literal_arithmetic(const ast::Expr& expr) {
  return literal_arithmetic(expr, [](const ast::Expr&) { return nullptr; });
}

std::optional<LiteralNumber> literal_arithmetic(const ast::Expr& expr, const NumberOf& number) {
  if (auto* value = expr.as<ast::IntValue>()) return LiteralNumber(value->value);
  if (auto* value = expr.as<ast::FloatValue>()) return LiteralNumber(value->value);
  if (expr.as<ast::Name>() || expr.as<ast::Subscript>()) {
    const ast::Expr* named = number(expr);
    return named ? literal_arithmetic(*named) : std::nullopt;
  }
  if (auto* prefix = expr.as<ast::Prefix>()) {
    const auto operand = literal_arithmetic(*prefix->operand, number);
    if (!operand || prefix->op == ast::PrefixOperator::Plus) return operand;
    if (prefix->op != ast::PrefixOperator::Minus) return std::nullopt;
    return combined(ast::Operator::Mul, *operand, LiteralNumber(std::int64_t{-1}));
  }
  auto* chain = expr.as<ast::Chain>();
  std::optional<LiteralNumber> result = chain ? literal_arithmetic(*chain->first, number) : std::nullopt;
  for (std::size_t i = 0; result && i < chain->links.size(); ++i) {
    const auto operand = literal_arithmetic(*chain->links[i].operand, number);
    result = operand ? combined(chain->links[i].op, *result, *operand) : std::nullopt;
  }
  return result;
}

void refuse_reserved(NamePlace place, std::string_view name, const Attribute& value, Span span) {
  if (const std::optional<std::string> fault = reserved_fault(place, name, value))
    fail(ErrorClass::Type, span, "reserved.name", *fault);
}

void refuse_reserved_scope(std::string_view scope, Span span) {
  if (const std::optional<std::string> fault = reserved_scope_fault(scope))
    fail(ErrorClass::Type, span, "reserved.name", *fault);
}

namespace {

Attributes read_entries(const ReadContext& context, const ast::Expr& expr, NamePlace place,
                        const LeftOut& left_out) {
  const auto* dictionary = expr.as<ast::DictValue>();
  // Entries are few and looked up one by one wherever they are used.
  constexpr std::size_t most_entries = 10000;
  if (dictionary->items.size() > most_entries) {
    fail(ErrorClass::ResourceLimit, expr.span, "limit.attributes",
         fmt::format("found {} attributes; expected at most {}", dictionary->items.size(), most_entries));
  }
  Attributes entries;
  for (const auto& [key, value] : dictionary->items) {
    auto* name = key->as<ast::StringValue>();
    if (!name) {
      fail(ErrorClass::Type, key->span, "attribute.key",
           fmt::format("found {} as a key; expected a string", ast::describe(*key)));
    }
    if (find_attribute(entries, name->value)) {
      fail(ErrorClass::Type, key->span, "attribute.twice",
           fmt::format("found the key '{}' twice; expected it once", printable(name->value)));
    }
    if (left_out && left_out(*key, *value)) continue;
    Attribute read = read_attribute(context, *value);
    refuse_reserved(place, bare_name(name->value), read, key->span);
    entries = with_attribute(std::move(entries), name->value, std::move(read));
  }
  return entries;
}

}  // namespace

Attribute read_attribute(const ReadContext& context, const ast::Expr& expr, NamePlace place) {
  if (expr.as<ast::NoneValue>()) return {};
  if (auto* value = expr.as<ast::BoolValue>()) return value->value;
  if (auto* value = expr.as<ast::IntValue>()) return value->value;
  if (auto* value = expr.as<ast::FloatValue>()) return value->value;
  if (auto* value = expr.as<ast::StringValue>()) return value->value;
  if (auto* list = expr.as<ast::ListValue>()) return read_list(context, list->items);
  if (auto* tuple = expr.as<ast::TupleValue>()) return read_list(context, tuple->items);
  if (auto* numbers = expr.as<ast::NumberListValue>()) {
    AttributeList list;
    for (std::int64_t value : numbers->integers) list.emplace_back(value);
    for (double value : numbers->reals) list.emplace_back(value);
    return list;
  }
  if (expr.as<ast::DictValue>()) return read_entries(context, expr, place, nullptr);
  if (auto* call = expr.as<ast::Call>()) return read_call(context, expr, *call);
  if (auto number = literal_arithmetic(expr)) return attribute_of_number(*number);
  refuse(expr);
}

Attributes read_attribute_dictionary(const ReadContext& context, const ast::Expr& expr, NamePlace place,
                                     const LeftOut& left_out) {
  const auto& call = *expr.as<ast::Call>();
  if (call.arguments.size() != 1 || !call.arguments[0].value->as<ast::DictValue>()) {
    fail(ErrorClass::Type, expr.span, "attribute.dictionary",
         fmt::format("found {} of {}; expected one dictionary of attributes",
                     call.arguments.size() == 1 ? "an argument that is no dictionary"
                                                : counted(call.arguments.size(), "argument"),
                     ast::dotted_name(*call.callee)));
  }
  Attributes written = read_entries(context, *call.arguments[0].value, place, left_out);
  Attributes result;
  for (auto& [name, value] : written) {
    name = std::string(bare_name(name));
    // Older texts write 1 for True.
    if (name == "noalias" && value.as<std::int64_t>()) value = Attribute(*value.as<std::int64_t>() != 0);
    result = with_attribute(std::move(result), name, std::move(value));
  }
  return result;
}

}  // namespace relish
