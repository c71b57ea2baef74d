// Binding of parameters: each becomes a constant, and the symbolic dims that its value fixes become numbers
// everywhere.
#include "transform/bind_params.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/calls/entry.h"
#include "ir/operators/user_gradient.h"
#include "ir/verify/verify.h"
#include "support/choices.h"
#include "transform/parameter_marks.h"
#include "transform/rebuild.h"

namespace relish {

namespace {

// The function with the parameters at these positions as constants.
Function bound_function(const Function& function, const std::map<std::size_t, Tensor>& values) {
  // The sizes that the values fix. Bare dims bind first, so that n * 2 is checked whatever the order.
  SymbolValues symbols;
  for (const auto& [position, value] : values) {
    const TensorType* type = function.params[position].type().tensor();
    if (!type || !type->shape) continue;
    for (std::size_t d = 0; d < type->shape->size() && d < value.shape().size(); ++d)
      if (auto var = (*type->shape)[d].as_var()) symbols.emplace(var->id(), value.shape()[d]);
  }
  for (const auto& [position, value] : values) {
    const Var& param = function.params[position];
    match_value(value, param.type(), symbols, ErrorClass::Data, param.span(),
                fmt::format("{}: {}", function.name, param.name()));
  }
  ScalarMap sizes;
  for (const auto& [id, size] : symbols) sizes.emplace(id, Scalar(size));

  Function open = function;
  open.params.clear();
  VarMap vars;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const Var& param = function.params[i];
    const auto value = values.find(i);
    if (value == values.end())
      open.params.push_back(param);
    else
      vars.emplace(param.id(), constant(value->second, param.span()));
  }
  Function bound = *substitute(std::make_shared<const Function>(std::move(open)), vars, sizes);
  bound.attributes = attributes_of_derived(function, function.name, bound.params);
  return bound;
}

// The gradient that a user wrote for a function, once the function's parameters at these positions are
// constants: it takes them no more and gives no cotangents of them. With no input left it is a gradient no
// more.
Function bound_gradient(const Function& gradient, const std::map<std::size_t, Tensor>& values,
                        std::size_t parameters) {
  if (values.empty()) return gradient;
  if (values.size() == parameters) {
    Function plain = gradient;
    std::erase_if(plain.attributes,
                  [](const auto& attribute) { return attribute.first == gradient_attribute; });
    return plain;
  }
  Function bound = bound_function(gradient, values);
  std::vector<Binding> bindings = all_bindings(bound);
  const auto* fields = bound.result.as<TupleExpr>();
  std::vector<Expr> kept;
  for (std::size_t i = 0; i < parameters; ++i) {
    if (values.contains(i)) continue;
    if (fields) {
      kept.push_back(fields->fields[i]);
      continue;
    }
    const Expr field = tuple_get(bound.result, static_cast<int>(i), gradient.span);
    const Var var(fmt::format("d_{}", gradient.params[i].name()), field.type(), false, gradient.span);
    bindings.push_back(Binding{VarBinding{var, field}, gradient.span, nullptr, false});
    kept.push_back(Expr(var));
  }
  close_function(bound, std::move(bindings), kept.size() == 1 ? kept.front() : tuple(kept, gradient.span));
  return bound;
}

}  // namespace

Module bind_params(const Module& module, std::string_view name, const std::map<std::string, Tensor>& values) {
  const FunctionPtr function = relax_function(module, name);
  std::vector<std::string> parameter_names;
  for (const Var& param : function->params) parameter_names.push_back(param.name());
  std::map<std::size_t, Tensor> bound;  // by position
  for (const auto& [wanted, tensor] : values) {
    const auto found = std::find(parameter_names.begin(), parameter_names.end(), wanted);
    if (found == parameter_names.end()) {
      fail(ErrorClass::Usage, function->span, "parameter.unknown",
           fmt::format("{} has no parameter '{}'{}", name, wanted, among_choices(wanted, parameter_names)));
    }
    bound.emplace(found - parameter_names.begin(), tensor);
  }

  Module result = module;
  const auto replace = [&](Function&& made) {
    check_replaces(result, made);
    result.set(std::make_shared<const Function>(std::move(made)));
  };
  replace(bound_function(*function, bound));
  if (const FunctionPtr gradient = user_gradient(module, name))
    replace(bound_gradient(*gradient, bound, function->params.size()));
  verify_after(result, "bind_params");
  return result;
}

}  // namespace relish
