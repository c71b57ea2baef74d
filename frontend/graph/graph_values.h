// Values of Relax functions: names, literals, tuples, operators and logic, what a tensor says of itself.
// Calls are the layer above.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/graph/graph_literals.h"
#include "ir/operators/op.h"

namespace relish {

// Whether the wanted type says more than that of the value, so that the value is looked at when it runs.
bool promises_more(const Type& value, const Type& wanted);

class GraphValues : public GraphLiterals, public ShapeScope {
 public:
  std::optional<ShapeType> shape_of(const ast::Expr& expr) override;
  std::optional<Type> type_of(const ast::Expr& expr) override;

 protected:
  GraphValues(ReadContext& context, Globals& globals, const ast::FunctionDefinition& definition,
              GraphValues* outer);

  virtual Expr call(const ast::Expr& expr, const ast::Call& call) = 0;

  // graph_expressions.cpp and, of signs, graph_operators.cpp
  Expr value(const ast::Expr& expr);
  Expr leaf(const ast::Expr& expr);
  // A value as a leaf: what computes it is bound before.
  Expr as_leaf(Expr value);
  Expr single_value(const ast::Expr& expr);
  Expr name_value(const ast::Expr& expr, const std::string& name);
  Expr tuple_of(const std::vector<ast::ExprPtr>& items, Span at);
  void add_items(const std::vector<ast::ExprPtr>& items, std::vector<Expr>& into);
  std::vector<Expr> fields_of(const Expr& tuple, Span span);
  std::optional<Scalar> known_scalar(const Expr& value);
  // Of a tuple of integers that are known, also by its name: the dimensions that it is where a shape stands.
  std::optional<std::vector<Scalar>> known_dims(const Expr& value);
  // An operand as written and its value, which is undefined for a number: that takes the dtype beside it.
  struct Operand {
    const ast::Expr* written;
    Expr value;
  };
  Operand operand(const ast::Expr& written);
  void take_numbers(Operand& operand, const Operand& other);
  Expr chain(const ast::Expr& expr, const ast::Expr& first, const std::vector<ast::Link>& links);
  Expr concatenation(const Expr& left, const Expr& right, Span span);
  Expr combined_with_hole(std::string_view name, const Operand& left, const Operand& right, Span span);
  Expr combine(ast::Operator op, Span op_span, Operand left, Operand right, Span span);
  Expr prefix(const ast::Expr& expr, const ast::Prefix& prefix);
  Expr subscript(const ast::Expr& expr, const ast::Subscript& subscript);
  Expr make_op_call(const Op& op, std::vector<Expr> args, Attributes attributes, Span span);
  // Undefined when inference failed, which is reported.
  Expr attempted(const std::function<Expr()>& make, Span span);
  Expr checked(const std::function<Expr()>& make, Span span, ExprKind kind);
  // The value as one of the type, which is looked at when it runs.
  Expr checked_type(Expr from, const Type& type, Span span);

  // graph_logic.cpp: and, or, not, chained comparisons, a if c else b.
  Expr comparison(const ast::Expr& expr, const ast::Comparison& comparison);
  Expr logic(const ast::Expr& expr, const ast::Logic& logic);
  Expr conjunction(ast::Operator op, const Expr& left, const Expr& right, Span span);
  void require_truth(const Expr& value, std::string_view op, Span at);
  Expr conditional(const ast::Expr& expr, const ast::Conditional& conditional);
  Expr chosen_scalar(const Expr& condition, const Expr& a, const Expr& b, Span span);
  Expr beside(const Operand& operand, const Operand& other);

  // graph_inspection.cpp: x.ndim, x.dtype.bits, x.shape, x.shape[0].
  std::optional<Expr> inspected_value(const ast::Expr& expr, const ast::Attribute& attribute);
  std::optional<Expr> inspected_axis(const ast::Expr& expr, const ast::Subscript& subscript);
  bool is_value(const ast::Expr& expr);

  // graph_constants.cpp: metadata["relax.expr.Constant"][0].
  std::optional<Expr> metadata_constant(const ast::Expr& expr, const ast::Subscript& subscript);

  ScalarReader scalars_;
  TypeReader types_;
  std::unordered_map<const ast::Expr*, Expr> receivers_;  // of the long chain that is being built
};

}  // namespace relish
