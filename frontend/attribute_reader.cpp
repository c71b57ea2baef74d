// Syntax trees of literals to attribute values.
#include "frontend/attribute_reader.h"
#include "support/counted.h"

#include <limits>

#include <fmt/format.h>

#include "frontend/scalar_reader.h"

namespace relish {
namespace {

[[noreturn]] void refuse(const ast::Expr& expr) {
  fail(ErrorClass::Type, expr.span, "attribute.literal",
       fmt::format("found {}; expected a literal that is known when the text is read", ast::describe(expr)));
}

AttributeList read_list(const ReadContext& context, const std::vector<ast::ExprPtr>& items) {
  AttributeList list;
  list.reserve(items.size());
  for (const ast::ExprPtr& item : items) list.push_back(read_attribute(context, *item));
  return list;
}

Attribute read_call(const ReadContext& context, const ast::Expr& expr, const ast::Call& call) {
  std::string name = context.namespaces.canonical(*call.callee);
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

}  // namespace

Attribute read_attribute(const ReadContext& context, const ast::Expr& expr) {
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
  if (auto* dictionary = expr.as<ast::DictValue>()) {
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
      entries = with_attribute(std::move(entries), name->value, read_attribute(context, *value));
    }
    return entries;
  }
  if (auto* call = expr.as<ast::Call>()) return read_call(context, expr, *call);
  refuse(expr);
}

Attributes read_attribute_dictionary(const ReadContext& context, const ast::Expr& expr) {
  const auto& call = *expr.as<ast::Call>();
  if (call.arguments.size() != 1 || !call.arguments[0].value->as<ast::DictValue>()) {
    fail(ErrorClass::Type, expr.span, "attribute.dictionary",
         fmt::format("found {} of {}; expected one dictionary of attributes",
                     call.arguments.size() == 1 ? "an argument that is no dictionary"
                                                : counted(call.arguments.size(), "argument"),
                     ast::dotted_name(*call.callee)));
  }
  Attributes written = std::get<Attributes>(read_attribute(context, *call.arguments[0].value).kind);
  Attributes result;
  for (auto& [name, value] : written) {
    for (std::string_view prefix : {"tirx.", "tir."}) {
      if (name.substr(0, prefix.size()) == prefix) {
        name = name.substr(prefix.size());
        break;
      }
    }
    // Older texts write 1 for True.
    if (name == "noalias" && value.as<std::int64_t>()) value = Attribute(*value.as<std::int64_t>() != 0);
    result = with_attribute(std::move(result), name, std::move(value));
  }
  return result;
}

}  // namespace relish
