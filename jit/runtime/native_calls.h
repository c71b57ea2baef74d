// Calls of native functions from compiled code: one runtime function, and what it must know of each call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/nodes/type.h"
#include "jit/runtime/context.h"
#include "jit/steps/value_tree.h"

namespace relish::jit {

// One call in the text. Compiled code holds its address.
struct NativeCall {
  std::string name;
  Span span;
  std::vector<ValueTree> args;  // destinations among them; a text leaf has its text
  Type result_type;             // as the call gives it
  Type checked_type;            // the same without dims, which compiled code checks
  ValueTree result;             // of what the function returns; an empty tuple when nobody looks at it
};

// Calls the function with the values in the slots of `in`, and writes what it returns to those of `out`. The
// name is looked up at every call, so that a function is refused when it is called, as in the interpreter.
extern "C" std::int32_t rt_native_call(RtContext* context, const NativeCall* call, const std::int64_t* in,
                                       std::int64_t* out);

}  // namespace relish::jit
