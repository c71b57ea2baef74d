// Finding private functions that are only called.
#include "transform/private_callees.h"

#include <array>
#include <unordered_set>

#include "ir/operators/user_gradient.h"
#include "ir/rewriting/rewrite.h"
#include "transform/parameter_marks.h"

namespace relish {
namespace {

bool speaks_of_parameters(const Function& function) {
  const std::array<std::string_view, 5> marks{trained_attribute, input_count_attribute, buffers_attribute,
                                              role_attribute, gradient_attribute};
  for (const std::string_view mark : marks)
    if (find_attribute(function.attributes, mark)) return true;
  return false;
}

}  // namespace

std::unordered_map<std::string, PrivateCallee> private_callees(const Module& module) {
  std::unordered_map<std::string, PrivateCallee> callees;
  std::unordered_map<std::string, std::int64_t> other_uses;
  for (const GlobalFunction& global : module.functions) {
    const auto* function = std::get_if<FunctionPtr>(&global);
    if (function && (*function)->is_private && !speaks_of_parameters(**function))
      callees.emplace((*function)->name, PrivateCallee{*function, {}});
  }
  for (const GlobalFunction& global : module.functions) {
    const auto* function = std::get_if<FunctionPtr>(&global);
    if (!function) continue;
    for_each_expr(**function, [&](const Expr& expr) {
      if (const auto* used = expr.as<GlobalRef>()) ++other_uses[used->name];
      if (const auto* prim = expr.as<CallTir>()) ++other_uses[prim->gradient_name];
      const auto* call = expr.as<FunctionCall>();
      const auto* callee = call ? call->callee.as<GlobalRef>() : nullptr;
      if (!callee) return;
      --other_uses[callee->name];
      if (const auto found = callees.find(callee->name); found != callees.end())
        found->second.calls.push_back(expr);
    });
  }
  for (const auto& [name, gradient] : user_gradients(module)) ++other_uses[name];
  std::erase_if(callees, [&](const auto& each) {
    const auto uses = other_uses.find(each.first);
    return uses != other_uses.end() && uses->second > 0;
  });
  return callees;
}

}  // namespace relish
