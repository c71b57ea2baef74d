#include "frontend/graph/compared_texts.h"

#include <fmt/format.h>

#include "frontend/context.h"

namespace relish {

std::optional<bool> compared_texts(ast::Operator op, Span op_span, const Expr& left, const Expr& right) {
  const auto is_text = [](const Expr& value) { return value.defined() && value.type().as<StringType>(); };
  if (op != ast::Operator::Eq && op != ast::Operator::Ne) return std::nullopt;
  if (!is_text(left) && !is_text(right)) return std::nullopt;
  const auto* a = left.defined() ? left.as<StringLiteral>() : nullptr;
  const auto* b = right.defined() ? right.as<StringLiteral>() : nullptr;
  if (a && b) return (a->value == b->value) == (op == ast::Operator::Eq);
  type_error(
      op_span, "operator.text",
      fmt::format("found '{}' of a text that is not known here; expected two texts that the function or a "
                  "constant of the script writes out, or a bool parameter",
                  ast::text_of(op)));
}

}  // namespace relish
