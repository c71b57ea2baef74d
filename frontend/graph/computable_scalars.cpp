// A function computes sizes and what is said of them: integers in 64 bits, and floats by conversion and the
// four operations. Roots, powers and comparisons of floats are for tensors (and for scalars of prim_funcs): a
// function that held one as a scalar would be accepted and fail when it is called.
#include "frontend/graph/computable_scalars.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "ir/nodes/intrinsic.h"
#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "ir/scalars/scalar_order.h"
#include "support/render.h"

namespace relish {
namespace {

// What integers have as well, without a change of their kind.
bool is_integer_function(Intrinsic which) {
  return which == Intrinsic::Abs || which == Intrinsic::Floor || which == Intrinsic::Ceil ||
         which == Intrinsic::Round || which == Intrinsic::Trunc;
}

// By its own form; its operands are looked at by themselves.
bool both_tiers_have(const Scalar& scalar) {
  const bool real = is_float(scalar.dtype());
  if (scalar.as<IntLiteral>() || scalar.as<FloatLiteral>() || scalar.as<VarUse>()) return true;
  if (const auto* node = scalar.as<Binary>()) {
    return !real || node->op == BinaryOp::Add || node->op == BinaryOp::Sub || node->op == BinaryOp::Mul ||
           node->op == BinaryOp::Div;
  }
  if (const auto* node = scalar.as<Compare>()) return !is_float(node->a.dtype());
  if (const auto* node = scalar.as<Logical>())
    return !is_float(node->a.dtype()) && !is_float(node->b.dtype());
  if (const auto* node = scalar.as<Not>()) return !is_float(node->a.dtype());
  if (const auto* node = scalar.as<Select>()) return !real && !is_float(node->condition.dtype());
  if (const auto* node = scalar.as<Cast>()) return real || !is_float(node->a.dtype());
  const auto* call = scalar.as<IntrinsicCall>();
  return call && !real && call->args.size() == 1 && is_integer_function(call->intrinsic);
}

// The outermost part that has no value; null where all have.
const Scalar* without_value(const Scalar& scalar) {
  std::vector<const Scalar*> left{&scalar};
  while (!left.empty()) {
    const Scalar& each = *left.back();
    left.pop_back();
    if (!both_tiers_have(each)) return &each;
    for_each_operand(each, [&](const Scalar& operand) { left.push_back(&operand); });
  }
  return nullptr;
}

// The operator of tensors that computes it; empty where none is known.
std::string operator_of(const Scalar& scalar) {
  if (const auto* call = scalar.as<IntrinsicCall>()) {
    const Op* op = find_op(info_of(call->intrinsic).name);
    return op ? std::string(op->name) : "";
  }
  if (const auto* node = scalar.as<Binary>()) {
    if (node->op == BinaryOp::Min) return "minimum";
    if (node->op == BinaryOp::Max) return "maximum";
    if (node->op == BinaryOp::FloorDiv) return "floor_divide";
    if (node->op == BinaryOp::FloorMod) return "floor_mod";
    return node->op == BinaryOp::TruncMod ? "mod" : "";
  }
  if (const auto* node = scalar.as<Compare>()) {
    switch (node->op) {
      case CompareOp::Eq:
        return "equal";
      case CompareOp::Ne:
        return "not_equal";
      case CompareOp::Lt:
        return "less";
      case CompareOp::Le:
        return "less_equal";
      case CompareOp::Gt:
        return "greater";
      case CompareOp::Ge:
        return "greater_equal";
    }
  }
  if (scalar.as<Select>()) return "where";
  return scalar.as<Cast>() ? "astype" : "";
}

// As it stands in the text, where that is short.
std::string written(const Scalar& scalar) {
  constexpr std::size_t longest = 80;
  const Span span = scalar.span();
  const SourceFile* file = Sources::instance().find(span.file);
  const std::string_view text =
      file ? std::string_view(file->text()).substr(span.begin, span.end - span.begin) : std::string_view();
  const bool shown = !text.empty() && text.size() <= longest && text.find('\n') == text.npos;
  return shown ? std::string(text) : print(scalar, {.for_messages = true});
}

}  // namespace

void check_scalars(ReadContext& context, const Function& function) {
  const auto check = [&](const Scalar& scalar, Span around) {
    const Scalar* part = without_value(scalar);
    if (!part) return;
    const std::string name = operator_of(*part);
    context.diagnostics.error(
        ErrorClass::Type, part->span().known() ? part->span() : around, "scalar.form",
        fmt::format(
            "found {}, which functions do not compute of scalars; write {} of tensors, where a size is "
            "R.full((), T.float32(n), \"float32\")",
            printable(written(*part)), name.empty() ? "operators" : fmt::format("R.{}", name)));
    context.unresolved = true;
  };
  for_each_expr(function, [&](const Expr& expr) {
    if (const auto* value = expr.as<ScalarValueExpr>()) check(value->value, expr.span());
    if (const auto* shape = expr.as<ShapeLiteral>())
      for (const Scalar& dim : shape->dims) check(dim, expr.span());
  });
}

}  // namespace relish
