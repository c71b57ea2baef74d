// The copy is a function of the same parameters, with the body inlined.
#include "transform/import_function.h"

#include "transform/parameter_marks.h"
#include "transform/rebuild.h"

namespace relish {

std::string import_function(Module& target, const Module& from, const Function& function,
                            std::string_view wanted) {
  const FunctionPtr present = target.function(function.name);
  if (present && present.get() == from.function(function.name).get()) return function.name;
  Function copy;
  copy.name = target.fresh_name(wanted);
  copy.span = function.span;
  copy.result_span = function.result_span;
  copy.pure = function.pure;
  FunctionBuilder builder;
  const Function fresh = copy_with_fresh_vars(function);
  copy.params = fresh.params;
  for (const Var& param : copy.params) builder.reserve_name(param.name());
  builder.begin_block(true);
  const Expr result =
      inline_call(builder, target, from, function, std::vector<Expr>(copy.params.begin(), copy.params.end()));
  builder.end_block();
  close_function(copy, builder.take_bindings(), result);
  std::string name = copy.name;
  target.set(std::make_shared<const Function>(std::move(copy)));
  return name;
}

}  // namespace relish
