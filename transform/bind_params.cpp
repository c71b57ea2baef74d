// Binding of parameters: each becomes a constant, and the symbolic dims that its value fixes become numbers
// everywhere.
#include "transform/bind_params.h"

#include <fmt/format.h>

#include "ir/entry.h"
#include "ir/verify.h"
#include "support/suggest.h"
#include "transform/rebuild.h"

namespace relish {

Module bind_params(const Module& module, std::string_view name, const std::map<std::string, Tensor>& values) {
  const FunctionPtr function = relax_function(module, name);
  std::vector<std::string> parameter_names;
  for (const Var& param : function->params) parameter_names.push_back(param.name());
  for (const auto& [wanted, tensor] : values) {
    if (std::find(parameter_names.begin(), parameter_names.end(), wanted) == parameter_names.end()) {
      fail(ErrorClass::Usage, function->span, "parameter.unknown",
           fmt::format("{} has no parameter '{}'{}", name, wanted, did_you_mean(wanted, parameter_names)));
    }
  }

  // The sizes that the values fix. Bare dims bind first, so that n * 2 is checked whatever the order.
  SymbolValues symbols;
  for (const Var& param : function->params) {
    const auto value = values.find(param.name());
    const TensorType* type = param.type().tensor();
    if (value == values.end() || !type || !type->shape) continue;
    for (std::size_t d = 0; d < type->shape->size() && d < value->second.shape().size(); ++d)
      if (auto var = (*type->shape)[d].as_var()) symbols.emplace(var->id(), value->second.shape()[d]);
  }
  for (const Var& param : function->params) {
    const auto value = values.find(param.name());
    if (value == values.end()) continue;
    match_value(value->second, param.type(), symbols, ErrorClass::Data, param.span(),
                fmt::format("{}: {}", name, param.name()));
  }
  ScalarMap sizes;
  for (const auto& [id, size] : symbols) sizes.emplace(id, Scalar(size));

  Function bound = *function;
  bound.params.clear();
  VarMap vars;
  for (const Var& param : function->params) {
    const auto value = values.find(param.name());
    if (value != values.end()) {
      vars.emplace(param.id(), constant(value->second, param.span()));
      continue;
    }
    bound.params.emplace_back(param.name(), substitute(param.type(), sizes), false, param.span());
    vars.emplace(param.id(), Expr(bound.params.back()));
  }
  for (BindingBlock& block : bound.blocks)
    for (Binding& binding : block.bindings) binding = copy_binding(binding, vars, sizes);
  bound.result = substitute(function->result, vars, sizes);
  bound.result_type = substitute(function->result_type, sizes);

  Module result = module;
  check_replaces(result, bound);
  result.set(std::make_shared<const Function>(std::move(bound)));
  verify_after(result, "bind_params");
  return result;
}

}  // namespace relish
