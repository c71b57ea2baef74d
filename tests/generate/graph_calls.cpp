// Calls of the program's other functions: Relax functions, and prim_funcs through call_tir.
#include "tests/generate/graph_forms.h"
#include "tests/generate/values.h"

namespace relish::generate {

bool make_function_call(GraphGenerator& g) {
  std::vector<const Callee*> candidates;
  for (const Callee& callee : g.state().callees) {
    const bool fits_here = callee.pure || (!g.is_pure() && !g.in_dataflow());
    if (!callee.prim_func && fits_here) candidates.push_back(&callee);
  }
  if (candidates.empty()) return false;
  const Callee& callee = *g.random().pick(candidates);
  const FunctionPtr function = g.state().module.function(callee.name);
  std::vector<Expr> args;
  for (std::size_t i = 0; i < callee.samples.size(); ++i)
    args.push_back(g.provide_value(type_of(callee.samples[i]), callee.samples[i]));
  g.cover("call of a function");
  return g.bind(function_call(global_ref(GlobalFunction(function)), std::move(args))).has_value();
}

bool make_call_tir(GraphGenerator& g) {
  std::vector<const Callee*> candidates;
  for (const Callee& callee : g.state().callees) {
    if (callee.prim_func) candidates.push_back(&callee);
  }
  if (candidates.empty()) return false;
  const Callee& callee = *g.random().pick(candidates);
  const PrimFunc& function = *callee.loop.function;
  Random& random = g.random();

  // What each symbolic extent is in this call: a number, or a dim of this function.
  ScalarMap extents;
  for (const PrimParam& param : function.params) {
    if (!param.buffer()) continue;
    std::vector<ScalarVar> vars;
    for (const Scalar& dim : param.buffer()->shape()) collect_vars(dim, vars);
    for (const ScalarVar& var : vars) {
      if (extents.contains(var.id())) continue;
      const bool symbolic = !g.dims().parameter_symbols().empty() && random.chance(0.4);
      extents.emplace(var.id(), symbolic ? Scalar(random.pick(g.dims().parameter_symbols()))
                                         : Scalar(random.between(1, 4)));
    }
  }
  const auto type_of_buffer = [&](const Buffer& buffer) {
    std::vector<Scalar> dims;
    for (const Scalar& dim : buffer.shape()) {
      const Scalar here = canonical(substitute(dim, extents));
      const auto number = here.as_int();
      dims.push_back(number ? Scalar(*number) : here);
    }
    return tensor_type(std::move(dims), buffer.dtype());
  };
  std::vector<Expr> args;
  std::vector<Type> results;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const PrimParam& param = function.params[i];
    if (const ScalarVar* scalar = param.scalar()) {
      const bool dim = scalar->dtype() == DType::Int64 && random.chance(0.5);
      g.cover("scalar argument of call_tir");
      if (dim)
        args.push_back(scalar_value(g.dims().dimension()));
      else if (is_float(scalar->dtype()))
        args.push_back(scalar_value(float_literal(scalar->dtype(), 0.5)));
      else
        args.push_back(scalar_value(int_literal(scalar->dtype(), random.between(1, 4))));
    } else if (i < callee.loop.inputs) {
      const Type type = type_of_buffer(*param.buffer());
      args.push_back(g.provide_value(type, value_of(random, g.dims().concrete(type))));
    } else {
      results.push_back(type_of_buffer(*param.buffer()));
    }
  }
  const bool several = results.size() > 1;
  g.cover(several ? "call_tir with several results" : "call_tir");
  if (!g.bind(call_tir(global_ref(GlobalFunction(callee.loop.function)), std::move(args), std::move(results),
                       several))
           .has_value()) {
    return false;
  }
  g.loosen(callee.loop.agreement);
  return true;
}

}  // namespace relish::generate
