// Functions that a trainer makes keep the names of the values that they are made from; what has another name
// is of the loss. A value that the text gives no name is a part of the first one with a name that it goes
// into.
#include "train/value_in_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/calls/roles.h"
#include "ir/rewriting/regions.h"
#include "ir/rewriting/rewrite.h"

namespace relish {
namespace {

// lv, gv12: of a part of an expression.
bool is_given_by_reader(std::string_view name) {
  if (!name.starts_with("lv") && !name.starts_with("gv")) return false;
  return name.find_first_not_of("0123456789", 2) == std::string_view::npos;
}

bool uses(const Expr& value, const Var& var) {
  bool found = false;
  for_each_expr(value, [&](const Expr& expr) {
    const Var* used = expr.as_var();
    found = found || (used && used->id() == var.id());
  });
  return found;
}

// "'h' of main", "a part of 'h' of main", "what main returns"; empty where the function has no such value.
std::string part_of(const Function& function, const std::string& name) {
  const auto is_called = [&](const Var& var) { return var.name() == name; };
  const bool is_param = std::any_of(function.params.begin(), function.params.end(), is_called);
  const std::vector<Binding> bindings = all_bindings(function);
  auto at = std::find_if(bindings.begin(), bindings.end(),
                         [&](const Binding& binding) { return is_called(binding.var()); });
  if (is_param || (at != bindings.end() && !is_given_by_reader(name)))
    return fmt::format("'{}' of {}", name, function.name);
  if (at == bindings.end()) return "";
  const Var* result = function.result.as_var();
  if (result && result->id() == at->var().id()) return fmt::format("what {} returns", function.name);
  for (auto next = at + 1; next != bindings.end(); ++next) {
    if (!uses(next->value(), at->var())) continue;
    if (!is_given_by_reader(next->var().name()))
      return fmt::format("a part of '{}' of {}", next->var().name(), function.name);
    at = next;
  }
  return fmt::format("a part of what {} returns", function.name);
}

// The function of the user's that the trainer's is made of, or that it calls: main of d_main_loss_adjoint.
const Function* function_of_user(const Module& module, const std::string& made) {
  const Function* found = nullptr;
  std::pair<std::size_t, std::size_t> best;
  for (const GlobalFunction& global : module.functions) {
    const auto* function = std::get_if<FunctionPtr>(&global);
    if (!function || roles_of(**function)) continue;
    const std::size_t at = made.find((*function)->name);
    const std::pair<std::size_t, std::size_t> place(at, SIZE_MAX - (*function)->name.size());
    if (at == std::string::npos || (found && best < place)) continue;
    found = function->get();
    best = place;
  }
  return found;
}

// The name of what a gradient is of: w of w_adjoint, w_adjoint2, w_adjoint_out.
std::string differentiated_name(const std::string& name) {
  const std::size_t mark = name.rfind("_adjoint");
  if (mark == std::string::npos) return "";
  const std::string rest = name.substr(mark + std::string_view("_adjoint").size());
  const bool is_number = rest.find_first_not_of("0123456789") == std::string::npos;
  return is_number || rest == "_out" ? name.substr(0, mark) : "";
}

}  // namespace

std::string value_in_text(const Module& module, const NotFiniteOrigin& origin) {
  const FunctionPtr made = module.function(origin.function);
  const bool by_trainer = made && roles_of(*made);
  const std::string of_gradient = by_trainer ? differentiated_name(origin.name) : "";
  const std::string& name = of_gradient.empty() ? origin.name : of_gradient;
  const Function* function = function_of_user(module, origin.function);
  std::string part = function ? part_of(*function, name) : "";
  if (part.empty() && by_trainer) part = "a value of the loss";
  if (part.empty()) return fmt::format("'{}' of {}", origin.name, origin.function);
  return fmt::format("{}{}", of_gradient.empty() ? "" : "the gradient of ", part);
}

}  // namespace relish
