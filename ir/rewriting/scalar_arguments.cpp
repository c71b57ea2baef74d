// Naming parameters where symbols stand for them.
#include "ir/rewriting/scalar_arguments.h"

namespace relish {

Expr with_scalar_parameters(const Expr& value, const ScalarParameters& scalars) {
  const auto* call = value.as<CallTir>();
  if (!call) return value;
  CallTir named = *call;
  bool changed = false;
  for (Expr& arg : named.args) {
    const auto* scalar = arg.as<ScalarValueExpr>();
    const auto symbol = scalar ? scalar->value.as_var() : std::nullopt;
    const auto param = symbol ? scalars.of(*symbol) : std::nullopt;
    if (!param) continue;
    arg = var_ref(*param, arg.span());
    changed = true;
  }
  return changed ? call_tir(std::move(named), value.span()) : value;
}

}  // namespace relish
