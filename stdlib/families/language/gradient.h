// The notation of gradient rules. A GraphValue stands for a tensor of the graph under construction:
// arithmetic on it makes ordinary operator calls, so gradients print, type-check and differentiate like a
// user's code. A call stays unbound until it is used as an operand, so that the outermost call of a partial
// takes its name from the adjoint.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "stdlib/families/shapes/shapes.h"

namespace relish {

class GraphValue {
 public:
  GraphValue(Expr expr, FunctionBuilder& builder)
      : node_(std::make_shared<Node>(Node{std::move(expr), &builder})) {}

  // The expression, possibly an unbound call.
  const Expr& expr() const { return node_->expr; }
  // A leaf: an unbound call is bound to a fresh variable first, once.
  const Expr& leaf() const;
  FunctionBuilder& builder() const { return *node_->builder; }
  const TensorType& type() const;

  friend GraphValue operator+(const GraphValue& a, const GraphValue& b);
  friend GraphValue operator-(const GraphValue& a, const GraphValue& b);
  friend GraphValue operator*(const GraphValue& a, const GraphValue& b);
  friend GraphValue operator/(const GraphValue& a, const GraphValue& b);
  friend GraphValue operator-(const GraphValue& a);

 private:
  struct Node {
    Expr expr;
    FunctionBuilder* builder;
  };
  std::shared_ptr<Node> node_;
};

GraphValue call_op(std::string_view op, const std::vector<GraphValue>& args, Attributes attributes = {});
// A rank-0 constant of the dtype of `like`; TypeError when that is unknown.
GraphValue constant_like(const GraphValue& like, double value);
GraphValue shape_value(const Dims& dims, FunctionBuilder& builder);
// x under that shape. A 0 among the dims is a dimension without elements, also where R.reshape would read it
// as "the dimension of x".
GraphValue reshaped(const GraphValue& x, const Dims& dims);
// condition ? a : b, elementwise.
GraphValue where(const GraphValue& condition, const GraphValue& a, const GraphValue& b);

// A tuple literal of the values, each bound: the partial of a tuple of tensors.
Expr tuple_of(const std::vector<GraphValue>& values, FunctionBuilder& builder);

using Partials = std::vector<std::optional<Expr>>;

// One application of a gradient rule.
class GradientRule {
 public:
  explicit GradientRule(const VjpCall& vjp) : vjp_(vjp) {}

  const CallView& call() const { return vjp_.call; }
  GraphValue cotangent() const { return value(vjp_.cotangent); }
  GraphValue result() const { return value(vjp_.result); }
  // Of result `k` of an operator that gives a tuple: its cotangent (zeros where nothing arrived, also for
  // results that have no gradient), and the result itself.
  GraphValue cotangent(std::size_t k) const { return field(vjp_.cotangent, k); }
  bool arrived(std::size_t k) const { return vjp_.arrived.empty() || vjp_.arrived.at(k); }
  GraphValue result(std::size_t k) const { return field(vjp_.result, k); }
  // The fields of argument `i`, a tuple of tensors. Its partial is `tuple_of` one value for each.
  std::vector<GraphValue> fields(std::size_t i) const;
  GraphValue argument(std::size_t i) const { return value(vjp_.call.args[i]); }
  GraphValue value(const Expr& expr) const { return GraphValue(expr, vjp_.builder); }
  GraphValue field(const Expr& tuple, std::size_t k) const;

  // Whether argument `i` is a tensor that can have a gradient: floating, or of unknown dtype. A tuple of
  // tensors: whether all of its fields can.
  bool differentiable(std::size_t i) const;
  // The dims of argument `i`; rejects by "gradient" when they are unknown.
  Dims dims(std::size_t i) const;
  GraphValue shape(std::size_t i) const { return shape_value(dims(i), vjp_.builder); }
  // `partial` summed over what broadcasting stretched, so that it has the shape of argument `i`.
  GraphValue fit(const GraphValue& partial, std::size_t i) const;

 private:
  const VjpCall& vjp_;
};

}  // namespace relish
