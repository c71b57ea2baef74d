// Built-ins that make values of others and tell of them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "runtime/philox.h"
#include "shell/script/builtins.h"
#include "shell/script/characters.h"
#include "shell/script/convert.h"
#include "shell/script/dict_index.h"
#include "shell/script/format_spec.h"
#include "shell/script/methods.h"
#include "shell/script/methods_tensors.h"
#include "shell/script/numbers.h"
#include "shell/script/script.h"
#include "support/clock.h"
#include "support/interrupt.h"
#include "support/render.h"

namespace relish {
namespace {

std::vector<ScriptValue> values_in(const NamedValue& iterable) {
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

ScriptValue call_list(Script&, CallArguments& arguments) {
  const NamedValue* values = arguments.optional("values");
  arguments.done();
  return ScriptValue::list(values ? values_in(*values) : std::vector<ScriptValue>());
}

ScriptValue call_tuple(Script&, CallArguments& arguments) {
  const NamedValue* values = arguments.optional("values");
  arguments.done();
  return ScriptValue::tuple(values ? values_in(*values) : std::vector<ScriptValue>());
}

ScriptValue call_dict(Script&, CallArguments& arguments) {
  DictItems result;
  DictIndex index(arguments.span());
  for (auto& [key, value] : entries_of(arguments)) {
    if (const auto found = index.find(result, key)) {
      result[*found].second = std::move(value);
      continue;
    }
    index.add(key, result.size());
    result.emplace_back(std::move(key), std::move(value));
  }
  return ScriptValue::dict(std::move(result));
}

// all and any stop where the answer is known.
ScriptValue truth_of_items(Script& script, CallArguments& arguments, bool all) {
  const NamedValue& values = arguments.required("values");
  if (values.value.tensor()) return truth_over(script, values.value, arguments, all);
  arguments.done();
  bool result = all;
  for_each_item(values.value, values.span, [&](const ScriptValue& item) {
    result = truth(item, values.span, arguments.callee());
    return result == all;
  });
  return result;
}
ScriptValue call_all(Script& script, CallArguments& arguments) {
  return truth_of_items(script, arguments, true);
}
ScriptValue call_any(Script& script, CallArguments& arguments) {
  return truth_of_items(script, arguments, false);
}

ScriptValue call_reversed(Script&, CallArguments& arguments) {
  const NamedValue& values = arguments.required("values");
  arguments.done();
  std::vector<ScriptValue> items = values_in(values);
  std::reverse(items.begin(), items.end());
  return ScriptValue::list(std::move(items));
}

ScriptValue call_map(Script& script, CallArguments& arguments) {
  const NamedValue function = arguments.required("function");
  std::vector<std::vector<ScriptValue>> columns;
  std::vector<Span> places;
  for (const NamedValue& values : arguments.rest()) {
    columns.push_back(values_in(values));
    places.push_back(values.span);
  }
  arguments.done();
  if (columns.empty())
    fail(ErrorClass::Usage, arguments.span(), "call.arguments", "map: the values are missing");
  std::size_t count = SIZE_MAX;
  for (const auto& column : columns) count = std::min(count, column.size());
  std::vector<ScriptValue> result;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<NamedValue> row;
    for (std::size_t k = 0; k < columns.size(); ++k) row.push_back({"", std::move(columns[k][i]), places[k]});
    result.push_back(script.call(function.value, std::move(row), arguments.span()));
  }
  return ScriptValue::list(std::move(result));
}

ScriptValue call_filter(Script& script, CallArguments& arguments) {
  const NamedValue function = arguments.required("function");
  const NamedValue values = arguments.required("values");
  arguments.done();
  std::vector<ScriptValue> result;
  for (ScriptValue& item : values_in(values)) {
    const bool kept = function.value.is_none()
                          ? truth(item, values.span, "filter")
                          : truth(script.call(function.value, {{"", item, values.span}}, arguments.span()),
                                  function.span, "filter");
    if (kept) result.push_back(std::move(item));
  }
  return ScriptValue::list(std::move(result));
}

ScriptValue call_repr(Script&, CallArguments& arguments) {
  const NamedValue& x = arguments.required("x");
  arguments.done();
  return quoted_text_of(x.value);
}

ScriptValue call_ord(Script&, CallArguments& arguments) {
  const NamedValue& x = arguments.required("character");
  arguments.done();
  const std::string* text = x.value.string();
  if (!text || count_characters(*text) != 1) {
    fail(ErrorClass::Type, x.span, "call.argument",
         fmt::format("ord: found {}; expected a str of one character", brief_text(x.value)));
  }
  return static_cast<std::int64_t>(code_point(*text));
}

ScriptValue call_chr(Script&, CallArguments& arguments) {
  const NamedValue& x = arguments.required("number");
  arguments.done();
  const std::int64_t code = index_of(x.value, x.span, "the number of a character");
  if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
    fail(ErrorClass::Runtime, x.span, "script.character",
         fmt::format("chr: {} is no character's number", code));
  return character_text(static_cast<std::uint32_t>(code));
}

const NamedValue& number_argument(const NamedValue& argument, std::string_view callee) {
  if (argument.value.is_number() || argument.value.tensor()) return argument;
  fail(ErrorClass::Type, argument.span, "call.argument",
       fmt::format("{}: found {}; expected a number", callee, describe(argument.value)));
}

ScriptValue operation(Script& script, ast::Operator op, const ScriptValue& a, const ScriptValue& b,
                      Span span) {
  if (a.tensor() || b.tensor()) return script.operators().binary(op, a, b, span);
  return number_operation(op, a, b, span);
}

ScriptValue call_pow(Script& script, CallArguments& arguments) {
  const NamedValue& base = number_argument(arguments.required("base"), "pow");
  const NamedValue& exponent = number_argument(arguments.required("exp"), "pow");
  const NamedValue* modulus = arguments.optional("mod");
  arguments.done();
  if (!modulus || modulus->value.is_none())
    return operation(script, ast::Operator::Pow, base.value, exponent.value, arguments.span());
  const auto b = integer_of(base.value), e = integer_of(exponent.value), m = integer_of(modulus->value);
  if (!b || !e || !m || *e < 0) {
    fail(ErrorClass::Type, arguments.span(), "call.argument",
         "pow: with a modulus all three are ints, and the exponent is not negative");
  }
  if (*m == 0) fail(ErrorClass::Runtime, modulus->span, "script.division", "pow: the modulus is 0");
  __int128 result = 1, square = *b % *m;
  for (std::int64_t left = *e; left > 0; left >>= 1) {
    if (left & 1) result = result * square % *m;
    square = square * square % *m;
  }
  result %= *m;
  if (result != 0 && (result < 0) != (*m < 0)) result += *m;
  return static_cast<std::int64_t>(result);
}

ScriptValue call_divmod(Script& script, CallArguments& arguments) {
  const NamedValue& a = number_argument(arguments.required("a"), "divmod");
  const NamedValue& b = number_argument(arguments.required("b"), "divmod");
  arguments.done();
  return ScriptValue::tuple({operation(script, ast::Operator::FloorDiv, a.value, b.value, arguments.span()),
                             operation(script, ast::Operator::Mod, a.value, b.value, arguments.span())});
}

// Of a str as the same text gives everywhere; of other keys by what they are.
std::int64_t hash_value(const ScriptValue& value) {
  std::uint64_t hash = 14695981039346656037u;
  const auto mix = [&](std::uint64_t word) {
    for (int i = 0; i < 8; ++i) hash = (hash ^ ((word >> (8 * i)) & 0xFF)) * 1099511628211u;
  };
  if (const std::string* text = value.string()) {
    for (const char c : *text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  } else if (const ScriptList* tuple = value.sequence()) {
    for (const ScriptValue& item : tuple->items) mix(static_cast<std::uint64_t>(hash_value(item)));
  } else if (const auto* real = value.as<double>(); real && std::trunc(*real) != *real) {
    mix(std::bit_cast<std::uint64_t>(*real));
  } else if (real) {
    return *real >= -0x1p62 && *real < 0x1p62 ? static_cast<std::int64_t>(*real) : 0;
  } else if (const auto integer = integer_of(value)) {
    return *integer;
  }
  return static_cast<std::int64_t>(hash >> 2);
}

ScriptValue call_hash(Script&, CallArguments& arguments) {
  const NamedValue& x = arguments.required("x");
  arguments.done();
  check_key(x.value, x.span);
  return hash_value(x.value);
}

ScriptValue call_dir(Script&, CallArguments& arguments) {
  const NamedValue& x = arguments.required("x");
  arguments.done();
  std::vector<std::string> names = method_names(x.value);
  if (const auto* module = x.value.as<ModulePtr>()) names = (*module)->names();
  std::sort(names.begin(), names.end());
  return ScriptValue::list(std::vector<ScriptValue>(names.begin(), names.end()));
}

std::optional<ScriptValue> attribute_of(Script& script, const NamedValue& x, const NamedValue& name) {
  if (!name.value.string()) {
    fail(ErrorClass::Type, name.span, "call.argument",
         fmt::format("found {}; expected the name of an attribute", describe(name.value)));
  }
  return script.attribute(x.value, *name.value.string(), x.span);
}

ScriptValue call_getattr(Script& script, CallArguments& arguments) {
  const NamedValue& x = arguments.required("x");
  const NamedValue& name = arguments.required("name");
  const NamedValue* fallback = arguments.optional("default");
  arguments.done();
  if (auto value = attribute_of(script, x, name)) return std::move(*value);
  if (fallback) return fallback->value;
  no_attribute(x.value, *name.value.string(), name.span);
}

ScriptValue call_hasattr(Script& script, CallArguments& arguments) {
  const NamedValue& x = arguments.required("x");
  const NamedValue& name = arguments.required("name");
  arguments.done();
  const bool method = name.value.string() && find_method(x.value, *name.value.string());
  return method || attribute_of(script, x, name).has_value();
}

ScriptValue call_fail(Script&, CallArguments& arguments) {
  const NamedValue* separator = arguments.optional("sep", true);
  std::string text;
  const std::string between = separator && separator->value.string() ? *separator->value.string() : " ";
  bool first = true;
  for (const NamedValue& part : arguments.rest()) {
    text += (first ? "" : between) + written_text(part.value, true);
    first = false;
  }
  arguments.done();
  fail(ErrorClass::Runtime, arguments.span(), "script.fail", text.empty() ? "the script failed" : text);
}

ScriptValue call_clock(Script&, CallArguments& arguments) {
  arguments.done();
  return steady_seconds();
}

// --- Tensors.

ScriptValue call_key(Script&, CallArguments& arguments) {
  const NamedValue& seed = arguments.required("seed");
  arguments.done();
  const RandomKey key =
      key_from_seed(static_cast<std::uint64_t>(index_of(seed.value, seed.span, "the seed")));
  Tensor result = Tensor::empty(DType::UInt32, {2});
  for (std::int64_t i = 0; i < 2; ++i) result.set_int(i, key.words[i]);
  return result;
}

ScriptValue call_full(Script&, CallArguments& arguments) {
  const NamedValue& shape = arguments.required("shape");
  const NamedValue& value = arguments.required("value");
  const NamedValue* dtype = arguments.optional("dtype");
  arguments.done();
  const DType kind = dtype && !dtype->value.is_none() ? dtype_of_value(dtype->value, dtype->span)
                     : value.value.as<bool>()         ? DType::Bool
                     : value.value.as<double>()       ? DType::Float32
                                                      : DType::Int64;
  if (!value.value.is_number()) {
    fail(ErrorClass::Type, value.span, "call.argument",
         fmt::format("full: found {}; expected a number", describe(value.value)));
  }
  const Tensor element = number_beside(value.value, kind, value.span);
  Tensor result = Tensor::empty(kind, shape_of(shape.value, shape.span));
  const auto size = static_cast<std::size_t>(size_of(kind));
  auto* to = static_cast<char*>(result.mutable_data());
  in_polled_parts(result.size(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      std::memcpy(to + static_cast<std::size_t>(i) * size, element.data(), size);
  });
  return result;
}

ScriptValue call_arange(Script& script, CallArguments& arguments) {
  std::vector<NamedValue> given = arguments.rest();
  if (const NamedValue* dtype = arguments.optional("dtype", true))
    given.push_back({"dtype", dtype->value, dtype->span});
  arguments.done();
  return script.operators().call("arange", given, arguments.span());
}

constexpr Builtin value_table[] = {
    {"list", "list(values)", call_list},
    {"tuple", "tuple(values)", call_tuple},
    {"dict", "dict(entries, name=value…)", call_dict},
    {"all", "all(list) · all(tensor)", call_all},
    {"any", "any(list) · any(tensor)", call_any},
    {"reversed", "reversed(list)", call_reversed},
    {"map", "map(function, lists…)", call_map},
    {"filter", "filter(function, list)", call_filter},
    {"repr", "repr(x)", call_repr},
    {"ord", "ord(character)", call_ord},
    {"chr", "chr(number)", call_chr},
    {"pow", "pow(base, exp, mod=None)", call_pow},
    {"divmod", "divmod(a, b)", call_divmod},
    {"hash", "hash(x)", call_hash},
    {"dir", "dir(x)", call_dir},
    {"getattr", "getattr(x, name, default)", call_getattr},
    {"hasattr", "hasattr(x, name)", call_hasattr},
    {"fail", "fail(values…, sep=\" \")", call_fail},
    {"clock", "clock()", call_clock},
    {"key", "key(seed)", call_key},
    {"full", "full(shape, value, dtype=None)", call_full},
    {"arange", "arange(end) · arange(begin, end, step=1, dtype=None)", call_arange},
};

}  // namespace

std::span<const Builtin> value_builtins() { return value_table; }

}  // namespace relish
