// Calls from compiled code into the program itself: operators that are not lowered (printing, sorts, shapes
// that depend on data). Compiled code passes slots, as at its entry; the table of one piece of code says what
// each call does with the values. (Native functions have calls of their own, jit/runtime/native_calls.h.)
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "ir/nodes/expr.h"
#include "jit/runtime/closure.h"
#include "jit/steps/value_tree.h"
#include "runtime/value.h"

namespace relish::jit {

struct HostCall {
  std::vector<ValueTree> params;
  ValueTree result;
  Span span;
  std::function<Value(std::vector<Value>)> call;           // may throw a Failure
  std::shared_ptr<const CallableCode> callable = nullptr;  // of a function value: what it calls
  Type type = {};  // of a call of a function value: what the text says
};

// The host calls of one piece of code, by their numbers. Of code from the store they are found when the first
// of them is made. May be asked from several threads at once.
class HostCalls {
 public:
  using Find = std::function<std::vector<HostCall>()>;

  void are(std::vector<HostCall> calls) { calls_ = std::move(calls); }
  void are_found_by(Find find) { find_ = std::move(find); }
  const HostCall& operator[](std::int32_t number) const;

 private:
  mutable std::once_flag once_;
  mutable std::vector<HostCall> calls_;
  Find find_;
};

// What a host call does for the condition of an if or a while, and to take a value as one of a type: a
// RuntimeError at `span` when it is none. Dims belong to compiled code; the message has them.
std::function<Value(std::vector<Value>)> truth_at(Span span);
// `whole`: the type of the tuple that the value is a field of, which is what is told.
void match_make(const Value& value, const Type& type, Span span, const std::string& what, const Type& whole);

// The call of an operator by its evaluation. It holds what it needs of the function.
HostCall operator_host_call(const OpCall& call, std::vector<ValueTree> params, ValueTree result, Span span);

}  // namespace relish::jit
