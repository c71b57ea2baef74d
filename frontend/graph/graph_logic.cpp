// Choices in expressions of Relax functions, with Python's meaning: and, or and not of bool scalars and 0-d
// bool tensors, chained comparisons, a if c else b. What can fail runs only where Python runs it, so it is
// read as an if; TVMScript has operators for the rest.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/graph/graph_values.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/join.h"
#include "support/render.h"

namespace relish {
namespace {

// Operators that give a value for all values that their types allow: evaluating them needlessly shows
// nothing.
bool cannot_fail(const Expr& value) {
  static constexpr std::array<std::string_view, 16> total = {
      "equal",       "not_equal",  "less",        "less_equal", "greater",  "greater_equal",
      "logical_and", "logical_or", "logical_not", "add",        "subtract", "multiply",
      "negative",    "abs",        "maximum",     "minimum"};
  if (is_leaf(value) || value.as<TupleGet>()) return true;
  const auto* call = value.as<OpCall>();
  return call && std::find(total.begin(), total.end(), call->op->name) != total.end();
}

bool cannot_fail(const Region& region) {
  return std::all_of(region.blocks.begin(), region.blocks.end(), [](const BindingBlock& block) {
    return std::all_of(block.bindings.begin(), block.bindings.end(), [](const Binding& binding) {
      const auto* bound = std::get_if<VarBinding>(&binding.kind);
      return bound && cannot_fail(bound->value);
    });
  });
}

}  // namespace

void GraphValues::require_truth(const Expr& value, std::string_view op, Span at) {
  if (holes_.any()) holes_.want(value, tensor_type({}, DType::Bool), fmt::format("'{}'", op), at);
  if (value.type().is_error()) throw ReadContext::Silent{};
  const TensorType* tensor = value.type().tensor();
  const auto* scalar = value.type().as<ScalarType>();
  if (tensor && tensor->rank == 0 && tensor->dtype == DType::Bool) return;
  if (scalar && is_bool(scalar->dtype)) return;
  const bool truths = tensor && (!tensor->dtype || is_bool(*tensor->dtype));
  const std::string elementwise = op == "if" ? "R.where" : fmt::format("R.logical_{}", op);
  type_error(at, "operator.truth",
             fmt::format("found '{}' on {}; expected bool scalars or 0-d bool tensors{}", op,
                         print(value.type()), truths ? ", use " + elementwise : ""));
}

// Both of the same kind: two scalars or two tensors.
Expr GraphValues::conjunction(ast::Operator op, const Expr& left, const Expr& right, Span span) {
  const bool both = op == ast::Operator::And;
  const std::string_view word = ast::text_of(op);
  require_truth(left, word, span);
  require_truth(right, word, span);
  const auto a = known_scalar(left), b = known_scalar(right);
  if (a && b) return scalar_value(logical(both ? LogicalOp::And : LogicalOp::Or, *a, *b, span), span);
  if (!left.type().tensor() || !right.type().tensor()) {
    type_error(span, "operator.truth",
               fmt::format("found '{}' between {} and {}; expected two bool scalars or two 0-d bool tensors",
                           word, print(left.type()), print(right.type())));
  }
  return make_op_call(*find_op(both ? "logical_and" : "logical_or"), {left, right}, {}, span);
}

Expr GraphValues::comparison(const ast::Expr& expr, const ast::Comparison& comparison) {
  if (comparison.links.size() == 1) return chain(expr, *comparison.first, comparison.links);
  Operand left = operand(*comparison.first);
  Expr result;
  for (const ast::Link& link : comparison.links) {
    const Operand right = operand(*link.operand);
    const Span span = cover(left.written->span, right.written->span);
    const Expr one = as_leaf(combine(link.op, link.op_span, left, right, span));
    const TensorType* tensor = one.type().tensor();
    if (tensor && tensor->rank != 0) {
      type_error(
          link.op_span, "comparison.chain",
          fmt::format("found a chained comparison of {}; expected scalars or 0-d tensors, or one comparison "
                      "at a time and R.logical_and",
                      print(one.type())));
    }
    result = result.defined() ? conjunction(ast::Operator::And, as_leaf(result), one, expr.span) : one;
    left = right;
  }
  return result;
}

Expr GraphValues::logic(const ast::Expr& expr, const ast::Logic& logic) {
  const bool both = logic.op == ast::Operator::And;
  Expr result = leaf(*logic.operands[0]);
  for (std::size_t i = 1; i < logic.operands.size(); ++i) {
    const Span span = cover(expr.span, logic.operands[i]->span);
    result = as_leaf(std::move(result));
    require_truth(result, ast::text_of(logic.op), logic.operands[i - 1]->span);
    if (in_dataflow_) {
      result = conjunction(logic.op, result, leaf(*logic.operands[i]), span);
      continue;
    }
    OpenRegion outer = open_region();
    Expr right;
    const bool good = context_.attempt([&] { right = leaf(*logic.operands[i]); });
    Arm arm = close_region(std::move(outer));
    if (!good) throw ReadContext::Silent{};
    require_truth(right, ast::text_of(logic.op), logic.operands[i]->span);
    if (cannot_fail(arm.region)) {
      for (BindingBlock& block : arm.region.blocks) {
        open_plain_block();
        for (Binding& binding : block.bindings) builder_.append(std::move(binding));
      }
      result = conjunction(logic.op, result, right, span);
      continue;
    }
    if (!result.type().tensor() || !right.type().tensor()) conjunction(logic.op, result, right, span);
    // The left alone decides, or the right.
    Region left_region;
    left_region.results = {result};
    arm.region.results = {right};
    Region then_region = both ? std::move(arm.region) : left_region;
    Region else_region = both ? left_region : std::move(arm.region);
    result = if_expr(result, std::move(then_region), std::move(else_region), span);
  }
  return result;
}

// A number takes the dtype of the tensor that is the other choice.
Expr GraphValues::beside(const Operand& operand, const Operand& other) {
  Operand taken = operand;
  take_numbers(taken, other);
  if (taken.value.defined()) return taken.value;
  const TensorType* tensor = other.value.defined() ? other.value.type().tensor() : nullptr;
  if (tensor && tensor->dtype) return literal_beside(*operand.written, *tensor->dtype);
  return scalar_value(scalars_.read(*operand.written), operand.written->span);
}

Expr GraphValues::conditional(const ast::Expr& expr, const ast::Conditional& conditional) {
  const Expr condition = leaf(*conditional.condition);
  require_truth(condition, "if", conditional.condition->span);
  const auto refuse = [&](const Expr& a, const Expr& b) {
    type_error(
        expr.span, "operator.conditional",
        fmt::format("found a choice between {} and {} inside a dataflow block; expected it outside, or "
                    "tensors of one type",
                    print(a.type()), print(b.type())));
  };
  if (in_dataflow_) {
    const Operand a = operand(*conditional.then_value), b = operand(*conditional.else_value);
    const Expr first = beside(a, b), second = beside(b, a);
    if (const Expr scalar = chosen_scalar(condition, first, second, expr.span); scalar.defined())
      return scalar;
    if (!condition.type().tensor() || !first.type().tensor() || !same_type(first.type(), second.type()))
      refuse(first, second);
    return make_op_call(*find_op("where"), {condition, first, second}, {}, expr.span);
  }
  std::array<Operand, 2> values;
  std::array<Region, 2> regions;
  for (std::size_t i = 0; i < 2; ++i) {
    OpenRegion outer = open_region();
    const bool good = context_.attempt(
        [&] { values[i] = operand(i == 0 ? *conditional.then_value : *conditional.else_value); });
    regions[i] = std::move(close_region(std::move(outer)).region);
    if (!good) throw ReadContext::Silent{};
  }
  const Expr a = beside(values[0], values[1]), b = beside(values[1], values[0]);
  if (a.type().is_error() || b.type().is_error()) throw ReadContext::Silent{};
  const bool plain = regions[0].blocks.empty() && regions[1].blocks.empty();
  if (plain) {
    if (const Expr scalar = chosen_scalar(condition, a, b, expr.span); scalar.defined()) return scalar;
  }
  common_type(a, b, "the value of the conditional expression", expr.span);
  regions[0].results = {a};
  regions[1].results = {b};
  return if_expr(condition, std::move(regions[0]), std::move(regions[1]), expr.span);
}

// The choice as a scalar expression; undefined when the three are not all scalars that the text can name.
Expr GraphValues::chosen_scalar(const Expr& condition, const Expr& a, const Expr& b, Span span) {
  const auto c = known_scalar(condition), x = known_scalar(a), y = known_scalar(b);
  if (!c || !x || !y || x->dtype() != y->dtype()) return {};
  return scalar_value(if_then_else(*c, *x, *y, span), span);
}

}  // namespace relish
