// Refusals of the compiled tier.
#include "jit/compilable.h"

#include <fmt/format.h>

#include "ir/op.h"
#include "ir/packed_result.h"
#include "ir/rewrite.h"
#include "support/failure.h"

namespace relish::jit {
namespace {

[[noreturn]] void refuse(Span span, std::string_view what) {
  fail(ErrorClass::Type, span, "jit.unsupported",
       fmt::format("{} is not compiled yet; the interpreter runs it (--tier interp)", what));
}

void check(const PrimFunc& function) {
  if (!function.body.defined()) return;
  for_each_stmt(function.body, [&](const Stmt& stmt) {
    if (const auto* loop = stmt.as<For>(); loop && loop->step.defined())
      refuse(stmt->span, "a loop with a step");
    if (stmt.as<ViewStmt>()) refuse(stmt->span, "a view of a buffer");
    if (const auto* block = stmt.as<BlockStmt>(); block && !block->views.empty())
      refuse(stmt->span, "a view of a region");
    if (stmt.as<Break>()) refuse(stmt->span, "break");
    if (stmt.as<Continue>()) refuse(stmt->span, "continue");
    if (stmt.as<Return>()) refuse(stmt->span, "a prim_func that returns a scalar");
    if (const auto* define = stmt.as<DefineScalar>(); define && !define->value.defined())
      refuse(stmt->span, "a scalar without a first value");
  });
  for_each_scalar(function.body, [&](const Scalar& scalar) {
    if (scalar.as<Let>()) refuse(scalar.span(), "T.Let");
    if (scalar.as<Reinterpret>()) refuse(scalar.span(), "T.reinterpret");
  });
}

void check(const Function& function) {
  for_each_expr(function, [&](const Expr& expr) {
    const Span span = expr.span().known() ? expr.span() : function.span;
    if (const auto* packed = expr.as<PackedCall>()) {
      const auto* external = packed->callee.as<ExternFunc>();
      if (packed->form == PackedForm::Builtin && external) refuse_machine_call(external->symbol, span);
      if (packed->form > PackedForm::Inplace) refuse(span, "a call of TVM's virtual machine");
    }
    const auto* call = expr.as<FunctionCall>();
    if (call && call->callee.type().as<AnyType>()) refuse(span, "a call of a value of type R.Any");
  });
}

}  // namespace

void require_compilable(const std::vector<GlobalFunction>& functions) {
  for (const GlobalFunction& function : functions) {
    if (const auto* graph = std::get_if<FunctionPtr>(&function)) check(**graph);
    if (const auto* prim = std::get_if<PrimFuncPtr>(&function)) check(**prim);
  }
}

}  // namespace relish::jit
