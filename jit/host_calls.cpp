// Calls from compiled code into the program.
#include "jit/host_calls.h"

#include "ir/entry.h"
#include "ir/op_evaluation.h"
#include "support/failure.h"

namespace relish::jit {

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
