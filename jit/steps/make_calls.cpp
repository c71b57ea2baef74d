// Steps of calls: kernels with their results and copies, Relax functions, function values.
#include <fmt/format.h>

#include <algorithm>

#include "ir/operators/op.h"
#include "ir/rewriting/rewrite.h"
#include "jit/steps/step_maker.h"
#include "loops/faults.h"
#include "loops/range_prover.h"
#include "support/failure.h"

namespace relish::jit {

ValueTree StepMaker::call_tir(const CallTir& call, const Expr& expr) {
  const auto* global = call.callee.as<GlobalRef>();
  const PrimFuncPtr callee = global ? program_.module().prim_func(global->name) : nullptr;
  RELISH_CHECK(callee != nullptr, "callee of call_tir is not a prim_func of the module");
  return call_kernel(callee, call, expr, /*copies_written=*/true);
}

// A call of a kernel while its operands are gathered.
struct StepMaker::KernelCall {
  const PrimFunc& callee;
  const CallTir& call;
  const Expr& expr;
  Span span;
  const KernelFacts& facts;
  std::vector<ParamSource> layout;
  bool copies_written = false;  // values are immutable: a kernel that writes to an argument gets a copy
  std::vector<ValueTree> args = {};
  std::vector<std::size_t> result_of = {};  // by argument: the result that takes its storage, or none
  std::vector<PlaceId> results = {};
};

namespace {

constexpr std::size_t no_result = static_cast<std::size_t>(-1);

// Whether a size that is computed of others may be none: negative, or divided by zero.
bool may_be_no_size(const std::vector<Scalar>& dims) {
  RangeProver prover;
  for (const Scalar& dim : dims) {
    std::vector<ScalarVar> vars;
    collect_vars(dim, vars);
    for (const ScalarVar& var : vars) prover.assume_dimension(var);
  }
  return !std::all_of(dims.begin(), dims.end(),
                      [&](const Scalar& dim) { return prover.nonnegative(dim) && !may_divide_by_zero(dim); });
}

Type type_of_param(const PrimParam& param) {
  if (const Buffer* buffer = param.buffer()) return tensor_type(buffer->shape(), buffer->dtype());
  return ScalarType{param.scalar()->dtype()};
}

}  // namespace

ValueTree StepMaker::call_kernel(const PrimFuncPtr& callee, const CallTir& call, const Expr& expr,
                                 bool copies_written) {
  KernelCall made{.callee = *callee,
                  .call = call,
                  .expr = expr,
                  .span = expr.span(),
                  .facts = program_.kernel(*callee),
                  .layout = call_layout(*callee, call, expr.span()),
                  .copies_written = copies_written};
  take_arguments(made);
  const ValueTree results = take_results(made);
  step::CallKernel kernel{callee, {}, {}, fault_of(expr), &expr.node()};
  for (std::size_t i = 0; i < made.layout.size(); ++i) kernel.args.push_back(operand(made, i));
  ValueTree returned;
  if (callee->result_dtype) {
    returned = tree(ScalarType{*callee->result_dtype}, Place::Computed);
    kernel.result = returned.place;
  }
  emit(std::move(kernel));
  // The tensors of a direct call are its arguments.
  if (callee->result_dtype && !copies_written) return returned;
  return call.tuple_result ? results : results.fields.at(0);
}

void StepMaker::take_arguments(KernelCall& made) {
  std::vector<const PrimParam*> taken_by(made.call.args.size(), nullptr);
  for (std::size_t i = 0; i < made.layout.size(); ++i)
    if (made.layout[i].kind == ParamSource::Argument)
      taken_by.at(made.layout[i].index) = &made.callee.params[i];
  for (std::size_t i = 0; i < made.call.args.size(); ++i) {
    const PrimParam* param = taken_by[i];
    ValueTree arg = value(made.call.args[i]);
    if (param) {
      arg = convert(arg, type_of_param(*param), made.span,
                    [&] { return fmt::format("{}: {}", made.callee.name, param->name()); });
    }
    made.args.push_back(std::move(arg));
  }
  made.result_of.assign(made.call.args.size(), no_result);
  for (std::size_t i = made.call.inplace_indices.size(); i-- > 0;)
    if (const std::int64_t index = made.call.inplace_indices[i]; index >= 0)
      made.result_of.at(static_cast<std::size_t>(index)) = i;
}

// The temporaries of the results. They get their memory where a parameter takes them.
ValueTree StepMaker::take_results(KernelCall& made) {
  ValueTree results;
  for (std::size_t i = 0; i < made.call.out_types.size(); ++i) {
    const std::vector<std::int64_t>& indices = made.call.inplace_indices;
    const bool inplace = i < indices.size() && indices[i] >= 0;
    const Type& type =
        inplace ? made.call.args[static_cast<std::size_t>(indices[i])].type() : made.call.out_types[i];
    const TensorType* known = type.tensor();
    if (!known || !known->shape || !known->dtype) {
      not_compiled(made.span, inplace ? "an argument of unknown shape that is written is not compiled"
                                      : "a call_tir result of unknown shape is not compiled");
    }
    if (inplace && made.copies_written && is_lent(made.call.args[static_cast<std::size_t>(indices[i])]))
      made.results.push_back(add(made.args[static_cast<std::size_t>(indices[i])], Place::Returned));
    else
      made.results.push_back(temporary(*known->dtype, *known->shape));
    results.fields.push_back(tensor(*known->dtype, known->shape->size(), made.results.back()));
  }
  return results;
}

// What parameter number `param` of a kernel takes.
PlaceId StepMaker::operand(KernelCall& made, std::size_t param) {
  const ParamSource& source = made.layout[param];
  const Buffer* buffer = made.callee.params[param].buffer();
  if (source.kind == ParamSource::Result) {
    const TensorType& type = *made.call.out_types[source.index].tensor();
    emit(step::Allocate{made.results[source.index], made.facts.clear[param],
                        may_be_no_size(*type.shape) ? fault_of(made.expr) : nullptr});
    return made.results[source.index];
  }
  const ValueTree& arg = made.args[source.index];
  RELISH_CHECK(arg.kind == (buffer ? ValueTree::TensorLeaf : ValueTree::ScalarLeaf), made.callee.name);
  const std::size_t result = made.result_of[source.index];
  if (!buffer || !made.copies_written || (!made.facts.accesses[param].written && result == no_result))
    return arg.place;
  if (result == no_result) return copy_of(arg.place, buffer->dtype(), made.call.args[source.index].type());
  if (!is_lent(made.call.args[source.index])) return copied(arg.place, made.results[result]);
  emit(step::Share{arg.place, made.results[result], /*to_write=*/true});
  return made.results[result];
}

// Whether a loop lends the value to this function, its body, which mentions it just here: nobody looks at it
// behind that.
bool StepMaker::is_lent(const Expr& arg) {
  const std::size_t carried = lifted_function(program_.functions(), function_.name).carried;
  const Var* var = arg.as_var();
  if (carried == 0 || !var) return false;
  if (lent_uses_.empty()) {
    for (std::size_t i = 0; i < carried; ++i) lent_uses_[function_.params[i].id()] = 0;
    for_each_expr(function_, [&](const Expr& expr) {
      const Var* used = expr.as_var();
      const auto lent = used ? lent_uses_.find(used->id()) : lent_uses_.end();
      if (lent != lent_uses_.end()) ++lent->second;
    });
  }
  const auto lent = lent_uses_.find(var->id());
  return lent != lent_uses_.end() && lent->second == 1;
}

// A copy of an argument of the type, which is written to.
PlaceId StepMaker::copy_of(PlaceId from, DType dtype, const Type& type) {
  const TensorType* known = type.tensor();
  if (!known || !known->shape)
    not_compiled(span_, "an argument of unknown shape that is written is not compiled");
  return copied(from, temporary(dtype, *known->shape));
}

std::shared_ptr<const step::OperatorFault> StepMaker::fault_of(const Expr& expr) {
  const Expr call = program_.operator_of(expr);
  if (!call.defined()) return nullptr;
  step::OperatorFault fault{call, {}, {}, program_.is_fused(expr)};
  fault.steps = apart([&] {
    fault.args = values(call.as<OpCall>()->args);
    for (const ValueTree& arg : fault.args) give(arg);
  });
  return std::make_shared<const step::OperatorFault>(std::move(fault));
}

ValueTree StepMaker::function_call(const FunctionCall& call, const Expr& expr) {
  const auto* global = call.callee.as<GlobalRef>();
  if (const PrimFuncPtr prim = global ? program_.module().prim_func(global->name) : nullptr)
    return prim_call(prim, call, expr);
  const FunctionPtr callee = global ? program_.module().function(global->name) : nullptr;
  if (!callee) return call_value(call.callee, call.args, expr);
  std::vector<ValueTree> args;
  for (std::size_t i = 0; i < call.args.size(); ++i) args.push_back(argument(call.args[i], *callee, i));
  const bool owned = lifted_function(program_.functions(), callee->name).owns_results;
  ValueTree made = owned ? tree(expr.type(), Place::Returned) : result_of(*callee, args);
  emit(step::CallFunction{callee, std::move(args), made, {}, &expr.node()});
  return made;
}

// The result of a function that callers see inside: what it hands through is what was given to it.
ValueTree StepMaker::result_of(const Function& callee, const std::vector<ValueTree>& args) {
  const FunctionSteps& inner = program_.of(callee);
  std::vector<PlaceId> given;  // places of the stored leaves of the arguments
  for (const ValueTree& arg : args)
    for_each_leaf(arg, [&](const ValueTree& leaf) {
      if (leaf.has_storage()) given.push_back(leaf.place);
    });
  std::unordered_map<PlaceId, PlaceId> here;  // the callee's place -> ours
  const std::function<ValueTree(const ValueTree&)> import = [&](const ValueTree& from) {
    ValueTree made = from;
    for (ValueTree& field : made.fields) field = import(field);
    if (!from.is_leaf() || from.kind == ValueTree::TextLeaf) return made;
    const Place& place = inner.places[from.place];
    const auto [known, fresh] = here.try_emplace(from.place, 0);
    if (fresh) {
      if (place.origin == Place::Constant)
        known->second = constant(place.constant).place;
      else if (place.origin == Place::Param && place.has_storage())
        known->second = given.at(place.leaf);
      else
        known->second = add(from, Place::Returned);
    }
    made.place = known->second;
    return made;
  };
  return import(inner.result);
}

// The direct call of lowered modules, as a call_tir without results on the tensors themselves: destinations
// are arguments like the others.
ValueTree StepMaker::prim_call(const PrimFuncPtr& callee, const FunctionCall& call, const Expr& expr) {
  const CallTir direct{call.callee, call.args, {}, true};
  return call_kernel(callee, direct, expr, /*copies_written=*/false);
}

ValueTree StepMaker::call_value(const Expr& callee, const std::vector<Expr>& args, const Expr& expr) {
  step::CallValue call{{value(callee)}, {}, expr.type()};
  for (const Expr& arg : args) call.args.push_back(value(arg));
  ValueTree made = call.result = tree(expr.type(), Place::Returned);
  emit(std::move(call));
  match(made, expr.type(), expr.span(), "the result of the call");
  return made;
}

}  // namespace relish::jit
