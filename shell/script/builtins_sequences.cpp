// Built-ins over sequences: range, len, min, max, sum, zip, enumerate, sorted.
#include <algorithm>
#include <numeric>

#include "shell/script/builtins.h"
#include "shell/script/change_values.h"
#include "shell/script/convert.h"
#include "shell/script/methods_tensors.h"
#include "shell/script/numbers.h"
#include "shell/script/script.h"
#include "shell/script/value_order.h"
#include "support/interrupt.h"
#include "support/limits.h"

namespace relish {
namespace {

std::vector<ScriptValue> items_of(const NamedValue& iterable) {
  const Tensor* tensor = iterable.value.tensor();
  if (tensor && tensor->rank() > 0) check_item_count(tensor->shape()[0], iterable.span);
  std::vector<ScriptValue> items;
  if (const auto* range = iterable.value.as<ScriptRange>()) {
    check_item_count(range->size(), iterable.span);
    // Growing would move all of them at once, and hear no interrupt meanwhile.
    items.reserve(static_cast<std::size_t>(range->size()));
  }
  for_each_item(iterable.value, iterable.span, [&](const ScriptValue& item) {
    items.push_back(item);
    return true;
  });
  return items;
}

ScriptValue call_range(Script&, CallArguments& arguments) {
  const NamedValue& first = arguments.required("begin");
  const NamedValue* second = arguments.optional("end");
  const NamedValue* third = arguments.optional("step");
  arguments.done();
  ScriptRange range;
  if (second) {
    range.begin = index_of(first.value, first.span, "a bound");
    range.end = index_of(second->value, second->span, "a bound");
  } else {
    range.end = index_of(first.value, first.span, "a bound");
  }
  if (third) range.step = index_of(third->value, third->span, "a step");
  if (range.step == 0) fail(ErrorClass::Runtime, arguments.span(), "script.range", "range: the step is 0");
  return range;
}

ScriptValue call_len(Script&, CallArguments& arguments) {
  const NamedValue& x = arguments.required("x");
  arguments.done();
  if (const ScriptList* list = x.value.sequence()) return static_cast<std::int64_t>(list->items.size());
  if (const ScriptDict* dict = x.value.dictionary()) return static_cast<std::int64_t>(dict->items.size());
  if (const auto* range = x.value.as<ScriptRange>()) {
    if (range->count() <= static_cast<std::uint64_t>(INT64_MAX)) return range->size();
    fail(ErrorClass::Runtime, x.span, "script.overflow",
         fmt::format("len: the range has {} items, which does not fit a 64-bit int", range->count()));
  }
  if (const auto* shape = x.value.as<ShapeValue>()) return static_cast<std::int64_t>(shape->dims.size());
  if (const std::string* text = x.value.string()) {
    return static_cast<std::int64_t>(std::count_if(
        text->begin(), text->end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  }
  if (const Tensor* tensor = x.value.tensor(); tensor && tensor->rank() > 0) return tensor->shape()[0];
  fail(ErrorClass::Type, x.span, "call.argument", fmt::format("len: {} has no length", describe(x.value)));
}

bool less(const ScriptValue& a, const ScriptValue& b, Span span, std::string_view callee) {
  return order_of(a, b, span, [&](const ScriptValue& left, const ScriptValue& right) {
           fail(ErrorClass::Type, span, "call.argument",
                fmt::format("{}: cannot compare {} and {}", callee, describe(left), describe(right)));
         }) == Order::Less;
}

bool is_number_tensor(const ScriptValue& value) {
  const Tensor* tensor = value.tensor();
  return tensor && tensor->rank() == 0;
}

// A tensor of rank 0 is ordered as its number, also as an item of what is ordered by its items, such as the
// tuples of (loss, name): these items alone are looked at, for what lies deeper may be shared without end.
ScriptValue as_ordered(const ScriptValue& value) {
  if (is_number_tensor(value)) return element_of(*value.tensor(), 0);
  const ScriptList* list = value.sequence();
  if (!list || std::none_of(list->items.begin(), list->items.end(), is_number_tensor)) return value;
  std::vector<ScriptValue> items;
  items.reserve(list->items.size());
  for (const ScriptValue& item : list->items)
    items.push_back(is_number_tensor(item) ? element_of(*item.tensor(), 0) : item);
  return list->tuple ? ScriptValue::tuple(std::move(items)) : ScriptValue::list(std::move(items));
}

// What items are ordered by: themselves, or what the function `key` makes of each.
std::vector<ScriptValue> keys_of(Script& script, const std::vector<ScriptValue>& items, const NamedValue* key,
                                 Span span) {
  std::vector<ScriptValue> keys;
  keys.reserve(items.size());
  const bool called = key && !key->value.is_none();
  for (const ScriptValue& item : items)
    keys.push_back(as_ordered(called ? script.call(key->value, {{"", item, key->span}}, span) : item));
  return keys;
}

// min and max of scalars; on tensors the operators R.min and R.max, or minimum and maximum of two.
ScriptValue extreme(Script& script, CallArguments& arguments, bool want_max) {
  std::string_view name = want_max ? "max" : "min";
  const NamedValue* key = arguments.optional("key", true);
  const NamedValue* fallback = arguments.optional("default", true);
  std::vector<NamedValue> values = arguments.rest();
  bool tensors = std::any_of(values.begin(), values.end(),
                             [](const NamedValue& v) { return v.value.tensor() != nullptr; });
  arguments.done();
  if (tensors) {
    if (values.size() == 1) return script.operators().call(name, values, arguments.span());
    std::string_view op = want_max ? "maximum" : "minimum";
    ScriptValue result = values[0].value;
    for (std::size_t i = 1; i < values.size(); ++i) {
      result = script.operators().call(op, {{"", result, values[0].span}, values[i]}, arguments.span());
    }
    return result;
  }
  std::vector<ScriptValue> items;
  if (const auto* range = values.size() == 1 && !key ? values[0].value.as<ScriptRange>() : nullptr;
      range && range->count() > 0) {
    const std::int64_t first = range->at(0), last = range->last();
    return want_max ? std::max(first, last) : std::min(first, last);
  }
  if (values.size() == 1) {
    items = items_of(values[0]);
  } else {
    for (NamedValue& value : values) items.push_back(std::move(value.value));
  }
  if (items.empty() && fallback) return fallback->value;
  if (items.empty())
    fail(ErrorClass::Runtime, arguments.span(), "script.empty", fmt::format("{} of nothing", name));
  const std::vector<ScriptValue> keys = keys_of(script, items, key, arguments.span());
  std::size_t best = 0;
  for (std::size_t i = 1; i < items.size(); ++i) {
    const bool better = want_max ? less(keys[best], keys[i], arguments.span(), name)
                                 : less(keys[i], keys[best], arguments.span(), name);
    if (better) best = i;
  }
  return items[best];
}

ScriptValue call_min(Script& script, CallArguments& arguments) { return extreme(script, arguments, false); }
ScriptValue call_max(Script& script, CallArguments& arguments) { return extreme(script, arguments, true); }

ScriptValue call_sum(Script& script, CallArguments& arguments) {
  const NamedValue& x = arguments.required("x");
  const NamedValue* start = arguments.optional("start");
  arguments.done();
  if (x.value.tensor() && !start)
    return script.operators().call("sum", {{x.name, as_counted(script, x.value, x.span), x.span}},
                                   arguments.span());
  ScriptValue total = start ? start->value : ScriptValue(0);
  if (total.string())
    fail(ErrorClass::Type, start->span, "call.argument", "sum: found a str; join them with \"\".join(parts)");
  for (const ScriptValue& item : items_of(x)) {
    poll_interrupt(arguments.span());
    if (item.tensor()) {
      // A tensor is not added to the int that the sum starts from.
      bool nothing_yet = total.as<std::int64_t>() && *total.as<std::int64_t>() == 0;
      total =
          nothing_yet ? item : script.operators().binary(ast::Operator::Add, total, item, arguments.span());
    } else if (item.is_number() && total.is_number()) {
      total = number_operation(ast::Operator::Add, total, item, arguments.span());
    } else if (total.tensor()) {
      total = script.operators().binary(ast::Operator::Add, total, item, arguments.span());
    } else if (item.string() || !total.sequence()) {
      fail(ErrorClass::Type, x.span, "call.argument",
           fmt::format("sum: found {}; expected numbers", describe(item)));
    } else if (!grow_in_place(total, item, arguments.span())) {
      total = plain_operation(ast::Operator::Add, total, item, arguments.span());
    }
  }
  return total;
}

ScriptValue call_zip(Script&, CallArguments& arguments) {
  std::vector<std::vector<ScriptValue>> columns;
  const NamedValue* strict = arguments.optional("strict", true);
  for (const NamedValue& iterable : arguments.rest()) columns.push_back(items_of(iterable));
  arguments.done();
  if (strict && !integer_of(strict->value)) {
    fail(ErrorClass::Type, strict->span, "call.argument",
         fmt::format("zip: found {} for strict; expected True or False", describe(strict->value)));
  }
  std::size_t length = columns.empty() ? 0 : columns[0].size();
  for (const auto& column : columns) {
    if (strict && *integer_of(strict->value) != 0 && column.size() != columns[0].size()) {
      fail(ErrorClass::Runtime, strict->span, "script.zip",
           fmt::format("zip: found lists of {} and {} items; strict=True takes those of one length",
                       columns[0].size(), column.size()));
    }
    length = std::min(length, column.size());
  }
  std::vector<ScriptValue> rows;
  for (std::size_t i = 0; i < length; ++i) {
    poll_interrupt(arguments.span());
    std::vector<ScriptValue> row;
    for (const auto& column : columns) row.push_back(column[i]);
    rows.push_back(ScriptValue::tuple(std::move(row)));
  }
  return ScriptValue::list(std::move(rows));
}

ScriptValue call_enumerate(Script&, CallArguments& arguments) {
  const NamedValue& iterable = arguments.required("iterable");
  const NamedValue* start = arguments.optional("start");
  arguments.done();
  std::int64_t number = start ? index_of(start->value, start->span, "the start") : 0;
  std::vector<ScriptValue> rows;
  for (ScriptValue& item : items_of(iterable)) {
    poll_interrupt(arguments.span());
    rows.push_back(ScriptValue::tuple({ScriptValue(number), std::move(item)}));
    number = checked_add(number, 1, arguments.span());
  }
  return ScriptValue::list(std::move(rows));
}

ScriptValue call_sorted(Script& script, CallArguments& arguments) {
  const NamedValue& iterable = arguments.required("iterable");
  const NamedValue* key = arguments.optional("key", true);
  const NamedValue* reverse = arguments.optional("reverse", true);
  arguments.done();
  std::vector<ScriptValue> items = items_of(iterable);
  const std::vector<ScriptValue> keys = keys_of(script, items, key, arguments.span());
  for (std::size_t i = 1; i < keys.size(); ++i) less(keys[0], keys[i], iterable.span, "sorted");
  if (reverse && !integer_of(reverse->value)) {
    fail(ErrorClass::Type, reverse->span, "call.argument",
         fmt::format("sorted: found {} for reverse; expected True or False", describe(reverse->value)));
  }
  const bool down = reverse && *integer_of(reverse->value) != 0;
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return down ? less(keys[b], keys[a], iterable.span, "sorted")
                : less(keys[a], keys[b], iterable.span, "sorted");
  });
  std::vector<ScriptValue> result;
  result.reserve(items.size());
  for (const std::size_t at : order) result.push_back(std::move(items[at]));
  return ScriptValue::list(std::move(result));
}

constexpr Builtin sequence_table[] = {
    {"range", "range(end) · range(begin, end, step=1)", call_range},
    {"len", "len(x)", call_len},
    {"min", "min(values…) · min(list, key=None) · min(tensor)", call_min},
    {"max", "max(values…) · max(list, key=None) · max(tensor)", call_max},
    {"sum", "sum(list, start=0) · sum(tensor)", call_sum},
    {"zip", "zip(lists or tensors…, strict=False)", call_zip},
    {"enumerate", "enumerate(list, start=0)", call_enumerate},
    {"sorted", "sorted(list, key=None, reverse=False)", call_sorted},
};

}  // namespace

std::span<const Builtin> sequence_builtins() { return sequence_table; }

}  // namespace relish
