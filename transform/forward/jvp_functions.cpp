// Making the tangents of functions.
#include "transform/forward/jvp_functions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/failure.h"
#include "transform/forward/forward.h"
#include "transform/gradient/body_copy.h"
#include "transform/rebuild.h"

namespace relish {

const JvpFunction& JvpFunctions::of(const FunctionCall& call) {
  const auto* global = call.callee.as<GlobalRef>();
  RELISH_CHECK(global != nullptr, "a call of no function of the module was not refused");
  const FunctionPtr function = job_.module.function(global->name);
  std::vector<std::size_t> wrt;
  for (std::size_t i = 0; i < call.args.size(); ++i)
    if (has_floats(function->params[i].type()) && job_.reaches(call.args[i])) wrt.push_back(i);
  const std::string key = fmt::format("{} {}", global->name, fmt::join(wrt, ","));
  const auto [place, fresh] = made_.try_emplace(key);
  JvpFunction& made = place->second;
  if (!fresh) return made;
  made.wrt = std::move(wrt);
  made.name = job_.module.fresh_name(function->name + "_jvp");
  // Its type is known before its body, which may call it.
  for (const Var& param : function->params) made.type.params.push_back(param.type());
  for (const std::size_t i : made.wrt) made.type.params.push_back(function->params[i].type());
  made.type.result = Type(TupleType{{function->result_type, function->result_type}});
  made.type.pure = function->pure;
  make(*function, made);
  return made;
}

void JvpFunctions::make(const Function& function, const JvpFunction& made) {
  Function whole;
  whole.name = made.name;
  whole.is_private = true;
  whole.span = function.span;
  whole.result_span = function.result_span;
  whole.pure = function.pure;
  job_.module.set(std::make_shared<const Function>(whole));  // the name is taken
  FunctionBuilder builder;
  BodyCopy body = copy_body(job_, function, builder);
  for (const std::size_t i : made.wrt) job_.varied.insert(body.params[i].id());
  job_.vary(body.bindings);
  whole.params = body.params;
  builder.set_origin(function.span);
  builder.begin_block(false);
  Forward forward(job_, *this, builder);
  for (const std::size_t i : made.wrt) {
    const Var& param = body.params[i];
    whole.params.emplace_back(builder.fresh_name(param.name() + "_dot"), param.type(), false, param.span());
    forward.seed(param, Expr(whole.params.back()));
  }
  forward.run(body.bindings, {body.result});
  builder.set_origin(function.result_span.known() ? function.result_span : function.span);
  const Expr tangent = forward.tangent_of(body.result, function.result_type);
  builder.end_block();
  close_function(whole, builder.take_bindings(), tuple({body.result, tangent}, function.span));
  whole.result_type = made.type.result;
  job_.module.set(std::make_shared<const Function>(std::move(whole)));
}

}  // namespace relish
