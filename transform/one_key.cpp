// Keys become bindings at the top of the body.
#include "transform/one_key.h"

#include <algorithm>

#include "ir/calls/own_keys.h"
#include "transform/parameter_marks.h"
#include "transform/rebuild.h"

namespace relish {

FunctionPtr with_one_key(const FunctionPtr& function, const std::vector<std::string>& others,
                         std::string& key) {
  const auto is_own = [&](const Var& param) {
    return is_random_key(param.type()) && param.name() != key &&
           std::find(others.begin(), others.end(), param.name()) == others.end();
  };
  if (std::none_of(function->params.begin(), function->params.end(), is_own)) return function;
  Function made = *function;
  made.params.clear();
  FunctionBuilder builder;
  reserve_names(*function, builder);
  builder.set_origin(function->span);
  VarMap vars;
  std::vector<Var> own;
  for (const Var& param : function->params) {
    if (is_own(param)) own.push_back(param);
    if (is_own(param) && !key.empty()) continue;
    made.params.emplace_back(param.name(), param.type(), false, param.span());
    vars.emplace(param.id(), Expr(made.params.back()));
    if (is_own(param)) key = param.name();
  }
  const auto whole = std::find_if(made.params.begin(), made.params.end(),
                                  [&](const Var& param) { return param.name() == key; });
  builder.begin_block(true);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const Expr site = constant(Tensor::scalar_int(DType::Int64, own_key_site(i)));
    vars.insert_or_assign(own[i].id(),
                          builder.call("random.fold_in", {Expr(*whole), site}, {}, own[i].name() + "_drawn"));
  }
  for (const Binding& binding : all_bindings(*function)) builder.append(copy_binding(binding, vars));
  builder.end_block();
  made.attributes = attributes_of_derived(*function, made.name, made.params);
  const Expr result = substitute(function->result, vars);
  close_function(made, builder.take_bindings(), result);
  return std::make_shared<const Function>(std::move(made));
}

}  // namespace relish
