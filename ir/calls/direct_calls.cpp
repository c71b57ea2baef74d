// Direct calls of prim_funcs.
#include "ir/calls/direct_calls.h"

#include <string>
#include <unordered_set>

#include "ir/rewriting/rewrite.h"

namespace relish {
namespace {

bool calls_directly(const Module& module, const Function& function) {
  bool found = false;
  for_each_expr(function, [&](const Expr& expr) {
    const auto* packed = expr.as<PackedCall>();
    if (packed && packed->form == PackedForm::CallTirDyn) found = true;
    const auto* call = expr.as<FunctionCall>();
    const auto* callee = call ? call->callee.as<GlobalRef>() : nullptr;
    // What is called by value may be a prim_func too.
    if (call && (!callee || module.prim_func(callee->name))) found = true;
  });
  return found;
}

Value own_copy(const Value& value) {
  if (value.is_tensor()) return value.tensor().copy();
  if (!value.is_tuple() || value.fields().empty()) return value;
  return Value::tuple(own_copies(value.fields()));
}

}  // namespace

bool calls_directly(const Module& module, std::string_view name) {
  std::vector<std::string> pending{std::string(name)};
  std::unordered_set<std::string> seen{pending.front()};
  while (!pending.empty()) {
    const FunctionPtr function = module.function(pending.back());
    pending.pop_back();
    if (!function) continue;
    if (calls_directly(module, *function)) return true;
    for (std::string& callee : global_references(*function))
      if (seen.insert(callee).second) pending.push_back(std::move(callee));
  }
  return false;
}

std::vector<Value> own_copies(std::vector<Value> values) {
  for (Value& value : values) value = own_copy(value);
  return values;
}

}  // namespace relish
