// Operators at top level: a call such as R.exp(x), or x + y on tensors, runs as a function of one binding in
// the current tier. Functions are kept by operator, attributes and argument types, so a loop compiles one
// once; a loop over changing sizes compiles one with symbolic sizes.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/text/ast.h"
#include "ir/operators/op.h"
#include "ir/operators/op_arguments.h"
#include "shell/script/script_value.h"
#include "shell/session.h"

namespace relish {

// An argument of a call as written: `name` is empty for positional ones.
struct NamedValue {
  std::string name;
  ScriptValue value;
  Span span;
  bool given = false;  // the caller gives up what it holds
};

class OperatorCalls {
 public:
  explicit OperatorCalls(Session& session) : session_(session) {}

  // Calls the operator. Numbers beside tensors take their dtype. Errors of type and run time, placed at
  // `span`.
  ScriptValue call(const Op& op, const std::vector<NamedValue>& arguments, Span span);
  // By name without "R."; TypeError with the nearest name when there is none.
  ScriptValue call(std::string_view op_name, const std::vector<NamedValue>& arguments, Span span);
  // `a op b` where one of them is a tensor.
  ScriptValue binary(ast::Operator op, const ScriptValue& a, const ScriptValue& b, Span span);
  ScriptValue prefix(ast::PrefixOperator op, const ScriptValue& a, Span span);

 private:
  // x ** exponent of integers, by squares.
  ScriptValue whole_power(const ScriptValue& x, std::uint64_t exponent, Span span);
  // A function of the shapes of one call, and, where calls of many shapes were seen, the one for all of them.
  struct Functions {
    ModulePtr exact;
    ModulePtr open;  // null: none, or it did not do
    Type result;     // of `exact`
  };
  // Calls that differ in their sizes alone.
  struct Family {
    std::size_t shapes = 0;
    ModulePtr open;
    bool refused = false;  // the operator must know the sizes
  };

  Functions& functions_for(const Op& op, std::vector<WrittenArgument> written, const std::vector<Var>& params,
                           const std::vector<Value>& values, const std::string& key, Span span);
  Value run(Functions& functions, std::vector<Value> values);
  void open_family(Family& family, const Op& op, const ArrangedArguments& arranged,
                   const std::vector<Var>& params, const std::vector<Value>& values);

  Session& session_;
  std::unordered_map<std::string, Functions> functions_;
  std::unordered_map<std::string, Family> families_;
};

}  // namespace relish
