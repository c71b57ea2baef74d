// Function values of compiled code: the code of a function of the module and the values that it captured.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jit/runtime/context.h"
#include "jit/runtime/running_code.h"
#include "jit/steps/value_tree.h"
#include "runtime/value.h"

namespace relish::jit {

using GraphCode = std::int32_t (*)(RtContext*, const std::int64_t* in, std::int64_t* out);

// What calls of a compiled function need to know of it. Its results belong to the caller.
struct CallableCode {
  std::string name;
  std::vector<Var> variables;  // its parameters
  std::vector<ValueTree> params;
  ValueTree result;
  Span span;
};

struct CompiledFunction final : ObjectValue {
  std::shared_ptr<const CallableCode> callable;
  GraphCode code = nullptr;
  RunningCode program;          // the compilation that it belongs to, which it keeps
  std::vector<Value> fixed;     // arguments behind those of a call (R.make_closure), the latest first
  std::vector<Value> captured;  // behind both

  std::string describe() const override { return "function " + callable->name; }
};

// The function `values[0]` with the further values as its last arguments; RuntimeError at `span` when it is
// no function.
Value with_fixed(std::vector<Value> values, Span span);

// The type as far as the runtime checks it: ranks and dtypes, no dims.
Type without_dims(const Type& type);

// Helpers of compiled code. A function value of `code`: host call `index` tells what is captured.
extern "C" std::int32_t rt_function_value(RtContext* context, std::int32_t index, GraphCode code,
                                          const std::int64_t* in, std::int64_t* out);
// Calls the first value of host call `index` with the others.
extern "C" std::int32_t rt_call_value(RtContext* context, std::int32_t index, const std::int64_t* in,
                                      std::int64_t* out);

}  // namespace relish::jit
