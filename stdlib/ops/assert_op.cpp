// A check that ends the program when it fails.
#include <algorithm>

#include "ir/calls/entry.h"
#include "ir/calls/fault.h"
#include "ir/printer/printer.h"
#include "stdlib/families/language/message_format.h"

namespace relish::ops_assert_op {
namespace {

constexpr Param params[] = {
    {"condition", ParamKind::Any, "bool scalar or 0-d bool tensor", "", "what must hold"},
    {"format_args", ParamKind::AnyRest, "any values", "", "values for the message, one by one or as a list"},
    {"format", ParamKind::Attribute, "str", "\"\"",
     "the message, with {} or {0} where values stand; empty: the values with commas between them"}};

bool may_be_condition(const Type& type) {
  if (const auto* scalar = type.as<ScalarType>()) return is_bool(scalar->dtype);
  const TensorType* tensor = type.tensor();
  if (!tensor) return type.as<AnyType>() != nullptr;
  return tensor->rank <= 0 && (!tensor->dtype || is_bool(*tensor->dtype));
}

Type infer(const CallView& call) {
  if (!may_be_condition(call.args[0].type())) {
    call.reject("condition", call.span_of(0),
                fmt::format("condition has type {}; expected a bool scalar or a 0-d bool tensor",
                            print(call.args[0].type())));
  }
  check_format(call, call.string_attribute("format"), call.args.size() - 1);
  return void_type();
}

// A fault's message is one line.
std::string message_of(const EvalCall& c) {
  const std::string format = c.call.string_attribute("format");
  const std::span<const Value> values = c.args.subspan(1);
  std::string message;
  if (!format.empty()) {
    message = formatted(format, values);
  } else {
    for (const Value& value : values) message += (message.empty() ? "" : ", ") + shown(value);
  }
  std::replace(message.begin(), message.end(), '\n', ' ');
  return message;
}

Value evaluate(const EvalCall& c) {
  const Value& condition = c.args[0];
  if (!condition_of(condition, c.call.span))
    fail_fault({FaultKind::AssertFailed, message_of(c)}, c.call.span);
  return {};
}

constexpr Sample samples[] = {
    {"True", "()", false},
    {"R.const(True, \"bool\"), [1.0, 2.0], 3, format=\"x {} n {}\"", "()", false},
    {"R.const(True, \"bool\"), [1.0]", "()", false},
};
constexpr Reject rejects[] = {
    {"assert_op.condition", "R.const([True, False], \"bool\")",
     "expected a bool scalar or a 0-d bool tensor"},
    {"assert_op.condition", "R.const(1, \"int32\")", "expected a bool scalar or a 0-d bool tensor"},
    {"assert_op.condition", "1", "expected a bool scalar or a 0-d bool tensor"},
    {"assert_op.format", "True, format=\"{}\"", "format shows value 0; 0 values are given"},
};

}  // namespace

extern const Op op_assert_op{
    .name = "assert_op",
    .summary = "Ends the program with a RuntimeError unless a condition holds.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .no_gradient = "it has no result",
    .pure = false,
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "It has an effect, as R.print has. The values of the message are written one by one, or as one list: "
        "R.assert_op(c, [a, b], format=\"{} {}\"). They are shown as R.print shows them, in one line."};

}  // namespace relish::ops_assert_op
