// The table of built-ins and those of numbers and text.
#include "shell/script/builtins.h"

#include <charconv>
#include <cmath>
#include <limits>

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
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  return text;
}

template <class T>
T parse_number(const std::string& text, Span span, std::string_view callee) {
  std::string_view digits = trimmed(text);
  T value{};
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty()) {
    fail(ErrorClass::Runtime, span, "script.number",
         fmt::format("{}: '{}' is no {}", callee, printable(text), callee));
  }
  return value;
}

ScriptValue call_int(Script&, CallArguments& arguments) {
  const NamedValue& x = arguments.required("x");
  arguments.done();
  if (x.value.string()) return parse_number<std::int64_t>(*x.value.string(), x.span, "int");
  ScriptValue number = number_of(x, "int");
  if (auto integer = integer_of(number)) return *integer;
  return truncate_to_int(std::trunc(*number.as<double>()), x.span);
}

ScriptValue call_float(Script&, CallArguments& arguments) {
  const NamedValue& x = arguments.required("x");
  arguments.done();
  if (x.value.string()) return parse_number<double>(*x.value.string(), x.span, "float");
  return *real_of(number_of(x, "float"));
}

ScriptValue call_bool(Script&, CallArguments& arguments) {
  const NamedValue& x = arguments.required("x");
  arguments.done();
  return *real_of(number_of(x, "bool")) != 0;
}

ScriptValue call_str(Script&, CallArguments& arguments) {
  const NamedValue& x = arguments.required("x");
  arguments.done();
  return text_of(x.value);
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
  if (x.value.tensor()) return script.operators().call("round", {x}, arguments.span());
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
  bool all = full && full->value.as<bool>() && *full->value.as<bool>();
  std::string line;
  bool first = true;
  for (const NamedValue& item : arguments.rest()) {
    if (!first) line += separator;
    line += all ? text_of(item.value, true) : shown_text(item.value);
    first = false;
  }
  arguments.done();
  if (end == "\n") {
    script.session().print(line);
  } else {
    script.session().output().write(line + end);
  }
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
  arguments.done();
  if (!name.value.string()) {
    fail(ErrorClass::Type, name.span, "arg.place", "arg() takes its name as a string literal");
  }
  return script.argument(*name.value.string(), fallback ? fallback->value : ScriptValue(), arguments.span());
}

constexpr Builtin number_table[] = {
    {"int", "int(x)", call_int},
    {"float", "float(x)", call_float},
    {"bool", "bool(x)", call_bool},
    {"str", "str(x)", call_str},
    {"abs", "abs(x)", call_abs},
    {"round", "round(x, digits=None)", call_round},
    {"print", "print(values…, sep=\" \", end=\"\\n\", full=False)", call_print},
    {"exit", "exit(code=0)", call_exit},
    {"arg", "arg(name, default=None)", call_arg},
};

}  // namespace

std::span<const Builtin> number_builtins() { return number_table; }

std::span<const Builtin> all_builtins() {
  static const std::vector<Builtin> all = [] {
    std::vector<Builtin> result;
    for (auto part : {number_builtins(), sequence_builtins(), tensor_builtins()}) {
      result.insert(result.end(), part.begin(), part.end());
    }
    return result;
  }();
  return all;
}

const Builtin* find_builtin(std::string_view name) {
  for (const Builtin& builtin : all_builtins()) {
    if (builtin.name == name) return &builtin;
  }
  return nullptr;
}

}  // namespace relish
