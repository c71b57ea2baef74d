// Calls from compiled code into the program.
#include "jit/runtime/host_calls.h"

#include "ir/calls/entry.h"
#include "ir/operators/op_evaluation.h"
#include "jit/runtime/closure.h"
#include "support/failure.h"

namespace relish::jit {

const HostCall& HostCalls::operator[](std::int32_t number) const {
  std::call_once(once_, [this] {
    if (find_) calls_ = find_();
  });
  return calls_.at(static_cast<std::size_t>(number));
}

std::function<Value(std::vector<Value>)> truth_at(Span span) {
  return [span](const std::vector<Value>& args) {
    return Value(ScalarValue::of_bool(condition_of(args.at(0), span)));
  };
}

void match_make(const Value& value, const Type& type, Span span, const std::string& what, const Type& whole) {
  SymbolValues symbols, none;
  try {
    match_value(value, without_dims(type), none, ErrorClass::Runtime, span, what);
  } catch (const Failure&) {
    if (const TupleType* tuple = type.same_as(whole) ? nullptr : whole.tuple()) {
      // What is told of a tuple is how many fields it has.
      const std::vector<Value> fields(tuple->fields.size(), value);
      match_value(Value::tuple(fields), whole, symbols, ErrorClass::Runtime, span, what);
    }
    match_value(value, type, symbols, ErrorClass::Runtime, span, what);
    throw;
  }
}

HostCall operator_host_call(const OpCall& call, std::vector<ValueTree> params, ValueTree result, Span span) {
  // Only literals are read of the arguments' expressions; variables would keep nothing alive but names.
  return {std::move(params), std::move(result), span, [call, span](std::vector<Value> args) {
            for (std::size_t i = 0; i < args.size(); ++i) {
              if (const auto* text = call.args[i].as<StringLiteral>()) args[i] = text->value;
              if (const auto* dtype = call.args[i].as<DTypeLiteral>())
                args[i] = std::string(name_of(dtype->value));
            }
            return evaluate_operator(call, args, span);
          }};
}

}  // namespace relish::jit
