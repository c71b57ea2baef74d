// Refusals of the compiled tier.
#include "jit/steps/compilable.h"

#include <fmt/format.h>

#include "ir/calls/foreign_calls.h"
#include "ir/calls/packed_result.h"
#include "ir/operators/op.h"
#include "ir/rewriting/rewrite.h"
#include "support/failure.h"

namespace relish::jit {
namespace {

[[noreturn]] void refuse(Span span, std::string_view what) {
  fail(ErrorClass::Type, span, "jit.unsupported",
       fmt::format("{} is not compiled yet; the interpreter runs it (--tier interp)", what));
}

// Tensors are row-major from their first element; a kernel takes no others.
void check(const PrimFunc& function) {
  require_runnable(function);
  for (const PrimParam& param : function.params) {
    const Buffer* buffer = param.buffer();
    if (!buffer) continue;
    Scalar wanted(1);
    for (std::size_t d = buffer->strides().size(); d-- > 0;) {
      const Scalar& stride = buffer->strides()[d];
      const auto written = stride.as_int(), expected = canonical(wanted).as_int();
      const bool same =
          written && expected ? written == expected : prove_equal(cast(DType::Int64, stride), wanted);
      if (!stride.as_var() && !same) refuse(function.span, "a parameter whose strides are not row-major");
      wanted = wanted * buffer->shape()[d];
    }
    const Scalar& offset = buffer->elem_offset();
    if (offset.defined() && !offset.as_var() && offset.as_int() != 0)
      refuse(function.span, "a parameter that does not begin at element 0");
  }
}

void check(const Function& function) {
  for_each_expr(function, [&](const Expr& expr) {
    const Span span = expr.span().known() ? expr.span() : function.span;
    if (const auto* packed = expr.as<PackedCall>()) {
      const auto* external = packed->callee.as<ExternFunc>();
      const bool built_in = external && is_machine_call(*packed, external->symbol);
      if (packed->form == PackedForm::Builtin && external && !built_in)
        refuse_machine_call(external->symbol, span);
    }
  });
}

}  // namespace

void require_compilable(const FunctionList& functions) {
  for (const GlobalFunction& function : functions) {
    if (const auto* graph = std::get_if<FunctionPtr>(&function)) check(**graph);
    if (const auto* prim = std::get_if<PrimFuncPtr>(&function)) check(**prim);
  }
}

}  // namespace relish::jit
