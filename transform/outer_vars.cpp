// Telling the variables around a value from those in it.
#include "transform/outer_vars.h"

#include <unordered_set>

#include "ir/rewriting/regions.h"
#include "ir/rewriting/rewrite.h"
#include "transform/rebuild.h"

namespace relish {

std::vector<Var> outer_vars(const Expr& value) {
  std::vector<Var> used = used_vars(value);
  if (!value.as<If>() && !value.as<Loop>() && !value.as<FunctionExpr>()) return used;
  std::unordered_set<std::uint64_t> inside;
  const auto enter = [&](const Expr& holder) {
    for_each_body(holder, [&](const Body& body) {
      for (const Var& param : body.params) inside.insert(param.id());
    });
  };
  enter(value);
  for_each_body(value, [&](const Body& body) {
    for (const Binding& outermost : all_bindings(body.blocks)) {
      for_each_binding(outermost, [&](const Binding& binding) {
        inside.insert(binding.var().id());
        enter(binding.value());
      });
    }
  });
  std::erase_if(used, [&](const Var& var) { return inside.contains(var.id()); });
  return used;
}

}  // namespace relish
