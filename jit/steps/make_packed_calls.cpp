// Steps of packed calls: native functions, functions of TVM's virtual machine, closures.
#include <fmt/format.h>

#include "ir/calls/packed_result.h"
#include "jit/steps/step_maker.h"
#include "support/failure.h"
#include "support/render.h"

namespace relish::jit {

ValueTree StepMaker::packed_call(const PackedCall& call, const Expr& expr) {
  if (call.form == PackedForm::MakeClosure) return make_closure(call, expr);
  std::optional<std::string> symbol = packed_symbol(program_.module(), call.callee);
  if (!symbol) return call_value(call.callee, call.args, expr);
  if (!is_machine_call(call, *symbol)) return native_call(call, std::move(*symbol), expr);
  // Functions of TVM's virtual machine take values as they are.
  step::CallMachine made{std::move(*symbol), values(call.args), {}, expr.type()};
  const std::string what = fmt::format("native function '{}'", printable(made.name));
  ValueTree result = made.result = tree(expr.type(), Place::Returned);
  emit(std::move(made));
  match(result, expr.type(), expr.span(), what);
  return result;
}

ValueTree StepMaker::native_call(const PackedCall& call, std::string name, const Expr& expr) {
  const std::string what = fmt::format("native function '{}'", printable(name));
  step::CallNative made{std::move(name), {}, {}, void_type()};
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    ValueTree arg = value(call.args[i]);
    if (is_changed_in_place(call, i) && arg.has_storage()) {
      const TensorType* type = call.args[i].type().tensor();
      if (!type || !type->shape || arg.kind == ValueTree::BoxLeaf)
        not_compiled(expr.span(), "an argument of unknown shape that is changed is not compiled");
      arg.place = copy_of(arg.place, arg.dtype, call.args[i].type());
    }
    made.args.push_back(std::move(arg));
  }
  ValueTree results;
  const bool fills = call.form == PackedForm::Dps;
  if (fills) {
    for (const Type& type : call.out_types) {
      const TensorType& destination = destination_type(type, expr.span());
      const PlaceId place = temporary(*destination.dtype, *destination.shape);
      emit(step::Allocate{place, true});
      made.args.push_back(tensor(*destination.dtype, destination.shape->size(), place));
      results.fields.push_back(made.args.back());
    }
  } else if (results_in_place(call, expr.span())) {
    for (const std::int64_t index : call.inplace_indices)
      results.fields.push_back(made.args.at(static_cast<std::size_t>(index)));
  }
  const bool returns = !fills && results.fields.empty();
  if (returns) {
    made.type = expr.type();
    results = made.result = tree(expr.type(), Place::Returned);
  } else if (fills ? !call.tuple_result : results.fields.size() == 1) {
    const ValueTree only = results.fields.at(0);
    results = only;
  }
  emit(std::move(made));
  if (!fills) match(results, expr.type(), expr.span(), what);
  return results;
}

ValueTree StepMaker::make_closure(const PackedCall& call, const Expr& expr) {
  if (const auto* global = call.callee.as<GlobalRef>()) {
    if (const FunctionPtr callee = program_.module().function(global->name))
      return function_value(callee, values(call.args), expr.type());
  }
  step::FixArguments made{{value(call.callee)}, {}};
  for (const Expr& arg : call.args) made.args.push_back(value(arg));
  ValueTree result = made.result = tree(expr.type(), Place::Returned);
  emit(std::move(made));
  return result;
}

ValueTree StepMaker::function_value(const FunctionPtr& callee, std::vector<ValueTree> captured,
                                    const Type& type) {
  RELISH_CHECK(lifted_function(program_.functions(), callee->name).owns_results, callee->name);
  ValueTree made = tree(type, Place::Returned);
  emit(step::MakeFunction{callee, std::move(captured), made});
  return made;
}

}  // namespace relish::jit
