// Operators on values that are no tensors: numbers, texts, containers; and comparisons.
#include <algorithm>
#include <limits>

#include "runtime/format.h"
#include "shell/script/convert.h"
#include "shell/script/dict_index.h"
#include "shell/script/numbers.h"
#include "shell/script/script_values.h"
#include "shell/script/text_formats.h"
#include "shell/script/value_order.h"
#include "support/interrupt.h"
#include "support/render.h"

namespace relish {

using ast::Operator;

namespace {

ScriptValue repeat(const ScriptValue& value, std::int64_t times, Span span) {
  times = std::max<std::int64_t>(times, 0);
  auto check_size = [&](std::size_t size) {
    std::int64_t total = 0;
    bool overflow = __builtin_mul_overflow(static_cast<std::int64_t>(size), times, &total);
    check_item_count(overflow ? std::numeric_limits<std::int64_t>::max() : total, span);
  };
  if (const std::string* text = value.string()) {
    check_size(text->size());
    std::string result;
    in_polled_parts(
        times,
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) result += *text;
        },
        span);
    return result;
  }
  const ScriptList& list = *value.sequence();
  check_size(list.items.size());
  // Whether there is room is asked before the room is taken.
  {
    const HeldMemory asked(static_cast<std::uint64_t>(times) * list.items.size() * sizeof(ScriptValue),
                           "a list", span);
  }
  std::vector<ScriptValue> items;
  items.reserve(list.items.size() * static_cast<std::size_t>(times));
  for (std::int64_t i = 0; i < times; ++i) {
    poll_interrupt(span);
    items.insert(items.end(), list.items.begin(), list.items.end());
  }
  return list.tuple ? ScriptValue::tuple(std::move(items)) : ScriptValue::list(std::move(items));
}

// `a op b` of strings and sequences; nothing when the operator is not theirs.
std::optional<ScriptValue> container_operation(Operator op, const ScriptValue& a, const ScriptValue& b,
                                               Span span) {
  if (op == Operator::Add) {
    if (a.string() && b.string()) {
      check_item_count(static_cast<std::int64_t>(a.string()->size() + b.string()->size()), span);
      return ScriptValue(*a.string() + *b.string());
    }
    const ScriptList* left = a.sequence();
    const ScriptList* right = b.sequence();
    if (left && right && left->tuple == right->tuple) {
      check_item_count(static_cast<std::int64_t>(left->items.size() + right->items.size()), span);
      std::vector<ScriptValue> items = left->items;
      items.insert(items.end(), right->items.begin(), right->items.end());
      return left->tuple ? ScriptValue::tuple(std::move(items)) : ScriptValue::list(std::move(items));
    }
  }
  if (const ScriptDict *left = a.dictionary(), *right = b.dictionary();
      op == Operator::BitOr && left && right) {
    ScriptValue joined = ScriptValue::dict(left->items);
    ScriptDict& dict = *joined.dict_to_change();
    for (const auto& [key, value] : right->items) {
      poll_interrupt(span);
      if (const auto at = position_in(dict, key)) {
        dict.items[*at].second = value;
      } else {
        add_entry(dict, key, value);
      }
    }
    return ScriptValue::dict(std::move(dict.items));
  }
  if (op == Operator::Mul) {
    auto repeats = [](const ScriptValue& value) { return value.string() || value.sequence(); };
    if (repeats(a) && integer_of(b)) return repeat(a, *integer_of(b), span);
    if (repeats(b) && integer_of(a)) return repeat(b, *integer_of(a), span);
  }
  return std::nullopt;
}

// A float that is a whole number is among the ints.
bool contains(const ScriptRange& range, const ScriptValue& item) {
  std::optional<std::int64_t> number = integer_of(item);
  if (const auto* real = item.as<double>(); real && *real >= -0x1p63 && *real < 0x1p63) {
    const auto whole = static_cast<std::int64_t>(*real);
    if (static_cast<double>(whole) == *real) number = whole;
  }
  return number && range.contains(*number);
}

bool contains(const ScriptValue& container, const ScriptValue& item, Span span) {
  if (const std::string* text = container.string()) {
    if (!item.string()) no_operator(Operator::In, item, container, span);
    return text->find(*item.string()) != std::string::npos;
  }
  if (container.tensor()) {
    fail(ErrorClass::Type, span, "script.operator",
         fmt::format("'in' is not defined for {} and {}; write (x == value).any()", describe(item),
                     describe(container)));
  }
  if (const auto* range = container.as<ScriptRange>(); range && !item.tensor()) return contains(*range, item);
  if (const ScriptDict* dict = container.dictionary(); dict && !item.tensor()) return find_in(*dict, item);
  bool found = false;
  for_each_item(container, span, [&](const ScriptValue& candidate) {
    found = equal_values(candidate, item, span);
    return !found;
  });
  return found;
}

}  // namespace

ScriptValue ScriptValues::binary(Operator op, const ScriptValue& a, const ScriptValue& b, Span span) {
  const bool formats = op == Operator::Mod && a.string();
  if ((a.tensor() || b.tensor()) && !formats) return operators_.binary(op, a, b, span);
  return plain_operation(op, a, b, span);
}

ScriptValue plain_operation(Operator op, const ScriptValue& a, const ScriptValue& b, Span span) {
  if (a.is_number() && b.is_number()) return number_operation(op, a, b, span);
  if (op == Operator::Mod && a.string()) return format_by_percent(*a.string(), shape_as_tuple(b), span);
  const bool shapes = a.as<ShapeValue>() || b.as<ShapeValue>();
  if (auto result = shapes ? container_operation(op, shape_as_tuple(a), shape_as_tuple(b), span)
                           : container_operation(op, a, b, span))
    return *result;
  no_operator(op, a, b, span);
}

ScriptValue ScriptValues::compare(Operator op, const ScriptValue& a, const ScriptValue& b, Span span) {
  switch (op) {
    case Operator::In:
      return contains(b, a, span);
    case Operator::NotIn:
      return !contains(b, a, span);
    case Operator::Is:
    case Operator::IsNot:
      if (a.is_none() || b.is_none()) return (a.is_none() && b.is_none()) == (op == Operator::Is);
      fail(ErrorClass::Type, span, "script.operator",
           fmt::format("'{}' compares with None only; use '{}'", ast::text_of(op),
                       op == Operator::Is ? "==" : "!="));
    default:
      break;
  }
  if (a.tensor() || b.tensor()) return operators_.binary(op, a, b, span);
  if (op == Operator::Eq) return equal_values(a, b, span);
  if (op == Operator::Ne) return !equal_values(a, b, span);
  const Order result = order_of(a, b, span, [&](const ScriptValue& left, const ScriptValue& right) {
    no_operator(op, left, right, span);
  });
  if (result == Order::None) return false;
  switch (op) {
    case Operator::Lt:
      return result == Order::Less;
    case Operator::Le:
      return result != Order::Greater;
    case Operator::Gt:
      return result == Order::Greater;
    case Operator::Ge:
      return result != Order::Less;
    default:
      no_operator(op, a, b, span);
  }
}

}  // namespace relish
