// The table of built-ins and those of numbers and text.
#include "shell/script/builtins.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "shell/script/characters.h"
#include "shell/script/numbers.h"
#include "shell/script/script.h"
#include "shell/script/script_exit.h"
#include "support/render.h"

namespace relish {
namespace {

// The number of a scalar or 0-d tensor.
ScriptValue number_of(const NamedValue& argument, std::string_view callee) {
  if (argument.value.is_number()) return argument.value;
  if (const Tensor* tensor = argument.value.tensor(); tensor && tensor->rank() == 0) {
    if (is_float(tensor->dtype())) return tensor->get_double(0);
    if (is_bool(tensor->dtype())) return tensor->get_int(0) != 0;
    if (tensor->dtype() == DType::UInt64 && tensor->get_int(0) < 0) {
      fail(ErrorClass::Runtime, argument.span, "script.overflow",
           fmt::format("{}: the value does not fit a 64-bit int", callee));
    }
    return tensor->get_int(0);
  }
  fail(ErrorClass::Type, argument.span, "call.argument",
       fmt::format("{}: found {}; expected a number or a 0-d tensor", callee, describe(argument.value)));
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) {
    return is_space(static_cast<unsigned char>(c)) && !continues_character(c);
  };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// Digits of a base from 2 to 36, or with a prefix of its own for 0; as Python reads them, with '_' between.
std::int64_t parse_integer(const NamedValue& text, std::int64_t base, Span span) {
  const auto refuse = [&] {
    fail(ErrorClass::Runtime, text.span, "script.number",
         base == 10 ? fmt::format("int: '{}' is no int", printable(*text.value.string()))
                    : fmt::format("int: '{}' is no int of base {}", printable(*text.value.string()), base));
  };
  if (base != 0 && (base < 2 || base > 36))
    fail(ErrorClass::Runtime, span, "script.number",
         fmt::format("int: found the base {}; expected 2 to 36", base));
  std::string digits(trimmed(*text.value.string()));
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.erase(0, 1);
  const auto prefixed = [&](char letter, int of) {
    if ((base != of && base != 0) || digits.size() < 3 || digits[0] != '0' || (digits[1] | 0x20) != letter)
      return;
    digits.erase(0, digits[2] == '_' ? 3 : 2);
    base = of;
  };
  prefixed('x', 16), prefixed('o', 8), prefixed('b', 2);
  if (base == 0) base = 10;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] != '_') continue;
    if (i == 0 || i + 1 == digits.size() || digits[i + 1] == '_') refuse();
    digits.erase(i--, 1);
  }
  std::uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, static_cast<int>(base));
  if (end != digits.data() + digits.size() || digits.empty()) refuse();
  if (error == std::errc::result_out_of_range || magnitude > (std::uint64_t{1} << 63) - (negative ? 0 : 1)) {
    fail(ErrorClass::Runtime, text.span, "script.overflow",
         fmt::format("int: '{}' does not fit a 64-bit int", printable(*text.value.string(), 40)));
  }
  return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
}

ScriptValue call_int(Script&, CallArguments& arguments) {
  const NamedValue* given = arguments.optional("x");
  const NamedValue* base = arguments.optional("base");
  arguments.done();
  if (!given) return 0;
  const NamedValue& x = *given;
  if (x.value.string()) {
    const auto wanted = base ? integer_of(base->value) : std::optional<std::int64_t>(10);
    if (!wanted) fail(ErrorClass::Type, base->span, "call.argument", "int: expected an int as base");
    return parse_integer(x, *wanted, arguments.span());
  }
  if (base) fail(ErrorClass::Type, base->span, "call.argument", "int: a base belongs to a str");
  ScriptValue number = number_of(x, "int");
  if (auto integer = integer_of(number)) return *integer;
  return truncate_to_int(std::trunc(*number.as<double>()), x.span);
}

// As Python reads them: "inf", "nan" and "infinity" in any case, '_' between digits.
double parse_real(const NamedValue& text) {
  std::string digits(trimmed(*text.value.string()));
  if (digits.starts_with('+')) digits.erase(0, 1);
  bool good = !digits.empty() && !digits.starts_with("+");
  for (std::size_t i = 0; good && i < digits.size(); ++i) {
    if (digits[i] != '_') continue;
    const auto is_digit = [&](std::size_t at) {
      return at < digits.size() && digits[at] >= '0' && digits[at] <= '9';
    };
    good = i > 0 && is_digit(i - 1) && is_digit(i + 1);
    if (good) digits.erase(i--, 1);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) value = std::strtod(digits.c_str(), nullptr);
  const bool words = digits.find_first_of("(xX") != std::string::npos;
  if (!good || words || error == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    fail(ErrorClass::Runtime, text.span, "script.number",
         fmt::format("float: '{}' is no float", printable(*text.value.string())));
  }
  return value;
}

ScriptValue call_float(Script&, CallArguments& arguments) {
  const NamedValue* x = arguments.optional("x");
  arguments.done();
  if (!x) return 0.0;
  if (x->value.string()) return parse_real(*x);
  return *real_of(number_of(*x, "float"));
}

ScriptValue call_bool(Script&, CallArguments& arguments) {
  const NamedValue* x = arguments.optional("x");
  arguments.done();
  if (!x) return false;
  const Tensor* tensor = x->value.tensor();
  if (tensor && tensor->rank() == 0) return *real_of(number_of(*x, "bool")) != 0;
  return truth(x->value, x->span, "bool");
}

ScriptValue call_str(Script&, CallArguments& arguments) {
  const NamedValue* x = arguments.optional("x");
  arguments.done();
  return x ? written_text(x->value) : std::string();
}

ScriptValue call_abs(Script& script, CallArguments& arguments) {
  const NamedValue& x = arguments.required("x");
  arguments.done();
  if (x.value.tensor()) return script.operators().call("abs", {x}, arguments.span());
  if (!x.value.is_number()) number_of(x, "abs");
  bool negative = compare_numbers(x.value, 0) < 0;
  if (x.value.as<double>()) return std::fabs(*x.value.as<double>());
  if (*integer_of(x.value) == std::numeric_limits<std::int64_t>::min()) {
    fail(ErrorClass::Runtime, arguments.span(), "script.overflow",
         "the result of 'abs' does not fit a 64-bit int; use floats");
  }
  return number_prefix(negative ? ast::PrefixOperator::Minus : ast::PrefixOperator::Plus, x.value, x.span);
}

// To a multiple of 10^-places, ties to the even one.
ScriptValue round_integer(std::int64_t value, std::int64_t places, Span span) {
  if (places >= 0) return value;
  if (places < -19) return 0;  // half of 10^20 is beyond every int
  __int128 unit = 1;
  for (std::int64_t i = places; i < 0; ++i) unit *= 10;
  __int128 quotient = value / unit;
  const __int128 twice = 2 * (value % unit), magnitude = twice < 0 ? -twice : twice;
  if (magnitude > unit || (magnitude == unit && quotient % 2 != 0)) quotient += value < 0 ? -1 : 1;
  const __int128 result = quotient * unit;
  if (result > INT64_MAX || result < INT64_MIN) {
    fail(ErrorClass::Runtime, span, "script.overflow",
         "the result of 'round' does not fit a 64-bit int; use floats");
  }
  return static_cast<std::int64_t>(result);
}

ScriptValue call_round(Script& script, CallArguments& arguments) {
  const NamedValue& x = arguments.required("x");
  const NamedValue* digits = arguments.optional("digits");
  arguments.done();
  if (x.value.tensor()) {
    if (digits && !digits->value.is_none()) {
      fail(ErrorClass::Type, digits->span, "call.argument",
           "round: a tensor is rounded to integers, without digits; round x.item(), or write f\"{x:.3f}\"");
    }
    return script.operators().call("round", {x}, arguments.span());
  }
  ScriptValue number = number_of(x, "round");
  if (!digits || digits->value.is_none()) {
    if (auto integer = integer_of(number)) return *integer;
    return truncate_to_int(round_half_even(*number.as<double>()), x.span);
  }
  auto places = integer_of(digits->value);
  if (!places) {
    fail(ErrorClass::Type, digits->span, "call.argument",
         fmt::format("round: found {}; expected an int", describe(digits->value)));
  }
  if (const auto integer = integer_of(number)) return round_integer(*integer, *places, arguments.span());
  double value = *number.as<double>();
  if (!std::isfinite(value) || *places > 300) return value;
  if (*places >= 0) {
    // The decimal text rounds the exact value, which scaling by a power of ten does not.
    char buffer[800];
    auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed,
                             static_cast<int>(*places))
                   .ptr;
    double result = 0;
    std::from_chars(buffer, end, result);
    return result;
  }
  double scale = std::pow(10.0, static_cast<double>(-*places));
  return std::isinf(scale) ? ScriptValue(0.0) : ScriptValue(round_half_even(value / scale) * scale);
}

// A str option of print; None means the default, as in Python.
std::string text_option(const NamedValue* argument, std::string_view fallback) {
  if (!argument || argument->value.is_none()) return std::string(fallback);
  if (argument->value.string()) return *argument->value.string();
  fail(ErrorClass::Type, argument->span, "call.argument",
       fmt::format("print: found {}; expected a str", describe(argument->value)));
}

ScriptValue call_print(Script& script, CallArguments& arguments) {
  const NamedValue* full = arguments.optional("full", true);
  const std::string separator = text_option(arguments.optional("sep", true), " ");
  const std::string end = text_option(arguments.optional("end", true), "\n");
  const NamedValue* flush = arguments.optional("flush", true);
  if (flush && !flush->value.as<bool>()) {
    fail(ErrorClass::Type, flush->span, "call.argument",
         fmt::format("print: found {}; expected True or False", describe(flush->value)));
  }
  bool all = full && full->value.as<bool>() && *full->value.as<bool>();
  std::string line;
  bool first = true;
  for (const NamedValue& item : arguments.rest()) {
    if (!first) line += separator;
    line += written_text(item.value, !all, all);
    first = false;
  }
  arguments.done();
  if (end == "\n") {
    script.session().print(line);
  } else {
    script.session().output().write(line + end);
  }
  if (flush && *flush->value.as<bool>()) script.session().output().flush();
  return {};
}

ScriptValue call_exit(Script&, CallArguments& arguments) {
  const NamedValue* code = arguments.optional("code");
  arguments.done();
  if (!code || code->value.is_none()) throw ScriptExit{0};
  const auto* number = code->value.as<std::int64_t>();
  if (!number || *number < 0 || *number > 255) {
    fail(ErrorClass::Type, code->span, "call.argument",
         fmt::format("exit: found {}; expected an int from 0 to 255",
                     number ? fmt::to_string(*number) : describe(code->value)));
  }
  throw ScriptExit{static_cast<int>(*number)};
}

ScriptValue call_arg(Script& script, CallArguments& arguments) {
  const NamedValue& name = arguments.required("name");
  const NamedValue* fallback = arguments.optional("default");
  const NamedValue* type = arguments.optional("type", true);
  arguments.done();
  if (!name.value.string()) {
    fail(ErrorClass::Type, name.span, "arg.place", "arg() takes its name as a string literal");
  }
  return script.argument(*name.value.string(), fallback ? &fallback->value : nullptr,
                         type ? type->value.string() : nullptr, arguments.span());
}

constexpr Builtin number_table[] = {
    {"int", "int(x) · int(text, base=10)", call_int},
    {"float", "float(x)", call_float},
    {"bool", "bool(x)", call_bool},
    {"str", "str(x)", call_str},
    {"abs", "abs(x)", call_abs},
    {"round", "round(x, digits=None)", call_round},
    {"print", "print(values…, sep=\" \", end=\"\\n\", full=False, flush=False)", call_print},
    {"exit", "exit(code=0)", call_exit},
    {"arg", "arg(name, default) · arg(name, type=\"str\") · arg(name)", call_arg},
};

}  // namespace

std::span<const Builtin> number_builtins() { return number_table; }

std::span<const Builtin> all_builtins() {
  static const std::vector<Builtin> all = [] {
    std::vector<Builtin> result;
    for (auto part : {number_builtins(), sequence_builtins(), value_builtins(), tensor_builtins()}) {
      result.insert(result.end(), part.begin(), part.end());
    }
    return result;
  }();
  return all;
}

const Builtin* find_builtin(std::string_view name) {
  static const std::unordered_map<std::string_view, const Builtin*> by_name = [] {
    std::unordered_map<std::string_view, const Builtin*> result;
    for (const Builtin& builtin : all_builtins()) result.emplace(builtin.name, &builtin);
    return result;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace relish
