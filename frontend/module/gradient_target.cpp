// Inputs and outputs of functions whose gradients users write.
#include "frontend/module/gradient_target.h"

#include <fmt/format.h>

#include "ir/operators/op.h"
#include "ir/rewriting/rewrite.h"
#include "support/failure.h"
#include "support/render.h"

namespace relish {

void check_gradient_by_name(const Function& gradient, const Function& first, const std::string& target) {
  if (!gradient.pure)
    fail(ErrorClass::Type, gradient.span, "gradient.pure",
         fmt::format("the gradient '{}' has effects; expected a pure function", printable(gradient.name)));
  if (&first != &gradient)
    fail(ErrorClass::Type, gradient.span, "gradient.twice",
         fmt::format("'{}' is a second gradient of '{}'; expected one", printable(gradient.name),
                     printable(target)),
         {{first.span, fmt::format("the first is '{}'", printable(first.name))}});
}

bool types_clash(const Type& a, const Type& b) {
  const TensorType *x = a.tensor(), *y = b.tensor();
  if (!x || !y) return fits(a, b) == Fit::Never;
  if ((x->dtype && y->dtype && *x->dtype != *y->dtype) ||
      (x->rank >= 0 && y->rank >= 0 && x->rank != y->rank))
    return true;
  for (std::size_t d = 0; x->shape && y->shape && d < x->shape->size(); ++d) {
    auto m = (*x->shape)[d].as_int(), n = (*y->shape)[d].as_int();
    if (m && n && *m != *n) return true;
  }
  return false;
}

bool is_named_from_outside(const Module& module, std::string_view name) {
  if (name.starts_with("R.")) {
    const Op* op = find_op(name.substr(2));
    return op && op->name == name.substr(2);
  }
  bool called = false;
  for (const GlobalFunction& global : module.functions) {
    const auto* outside = std::get_if<ExternFunctionPtr>(&global);
    called = called || (outside && (*outside)->symbol == name);
    const auto* function = std::get_if<FunctionPtr>(&global);
    if (!function) continue;
    for_each_expr(**function, [&](const Expr& expr) {
      const auto* symbol = expr.as<ExternFunc>();
      called = called || (symbol && symbol->symbol == name);
    });
  }
  return called;
}

std::optional<Differentiated> differentiated(const Module& module, std::string_view name) {
  if (const FunctionPtr function = module.function(name)) {
    Differentiated result{function->name, function->span, {}, {function->result_type}};
    for (const Var& param : function->params) result.inputs.emplace_back(param.name(), param.type());
    if (const TupleType* fields = function->result_type.tuple()) result.outputs = fields->fields;
    return result;
  }
  const PrimFuncPtr prim = module.prim_func(name);
  if (!prim) return std::nullopt;
  Differentiated result{prim->name, prim->span, {}, {}};
  const std::vector<ParamAccess> accesses = param_accesses(*prim);
  for (std::size_t i = 0; i < prim->params.size(); ++i) {
    const PrimParam& param = prim->params[i];
    if (const ScalarVar* scalar = param.scalar()) {
      result.inputs.emplace_back(scalar->name(), ScalarType{scalar->dtype()});
      continue;
    }
    const Type type = tensor_type(param.buffer()->shape(), param.buffer()->dtype());
    if (accesses[i].written && !accesses[i].read)
      result.outputs.push_back(type);
    else
      result.inputs.emplace_back(param.name(), type);
  }
  return result;
}

}  // namespace relish
