// Dimensions in the order of the bindings.
#include "frontend/names/symbol_order.h"

#include <fmt/format.h>

#include "ir/rewriting/rewrite.h"
#include "ir/scalars/symbols.h"
#include "support/failure.h"
#include "support/render.h"

namespace relish {
namespace {

class SymbolOrder {
 public:
  void function(const Function& function) {
    scalars_.emplace_back(function);
    for (const Var& param : function.params) known_.add_determined(param.type());
    for (const Var& param : function.params) type(param.type(), param.span());
    blocks(function.blocks);
    expr(function.result, function.result_span);
    scalars_.pop_back();
  }

 private:
  // What is determined inside is unknown behind it.
  template <class F>
  void nested(F&& body) {
    SymbolList outside = known_;
    body();
    known_ = std::move(outside);
  }

  void blocks(const std::vector<BindingBlock>& all) {
    for (const BindingBlock& block : all) {
      for (const Binding& binding : block.bindings) {
        expr(binding.value(), binding.span);
        if (const auto* cast = std::get_if<MatchCast>(&binding.kind)) {
          known_.add_determined(cast->type);
          type(cast->type, binding.span);
        }
        type(binding.var().type(), binding.span);
      }
    }
  }

  void region(const Region& region, Span at) {
    blocks(region.blocks);
    for (const Expr& result : region.results) expr(result, at);
  }

  void expr(const Expr& expr, Span outer) {
    const Span at = expr.span().known() ? expr.span() : outer;
    if (const auto* branch = expr.as<If>()) {
      leaf(branch->condition, at);
      nested([&] { region(*branch->then_region, at); });
      nested([&] { region(*branch->else_region, at); });
    } else if (const auto* loop = expr.as<Loop>()) {
      for (const Expr& initial : loop->initial) leaf(initial, at);
      for (const Expr* bound : {&loop->begin, &loop->end, &loop->step}) {
        if (bound->defined()) leaf(*bound, at);
      }
      if (loop->condition) nested([&] { region(*loop->condition, at); });
      nested([&] {
        if (loop->index.defined()) known_.add(loop->index);
        region(*loop->body, at);
      });
    } else if (const auto* inner = expr.as<FunctionExpr>()) {
      nested([&] { function(*inner->function); });
    } else {
      leaf(expr, at);
    }
  }

  void leaf(const Expr& whole, Span at) {
    for_each_expr(whole, [&](const Expr& expr) {
      if (const auto* shape = expr.as<ShapeLiteral>()) {
        for (const Scalar& dim : shape->dims) scalar(dim, at);
      } else if (const auto* value = expr.as<ScalarValueExpr>()) {
        scalar(value->value, at);
      } else if (const auto* call = expr.as<CallTir>()) {
        for (const Type& out : call->out_types) type(out, at);
      } else if (const auto* packed = expr.as<PackedCall>()) {
        for (const Type& out : packed->out_types) type(out, at);
      }
    });
  }

  void scalar(const Scalar& scalar, Span at) {
    std::vector<ScalarVar> vars;
    collect_vars(scalar, vars);
    for (const ScalarVar& var : vars) check(var, at);
  }

  void type(const Type& type, Span at) {
    if (type.function()) return;  // it has dimensions of its own
    if (const TupleType* tuple = type.tuple()) {
      for (const Type& field : tuple->fields) this->type(field, at);
      return;
    }
    std::vector<ScalarVar> vars;
    collect_vars(type, vars);
    for (const ScalarVar& var : vars) check(var, at);
  }

  void check(const ScalarVar& var, Span at) {
    if (known_.contains(var)) return;
    for (const ScalarParameters& scalars : scalars_) {
      if (scalars.of(var)) return;
    }
    fail(ErrorClass::Type, at, "symbol.order",
         fmt::format("found the dimension '{}', which nothing before it determines", printable(var.name())));
  }

  SymbolList known_;
  std::vector<ScalarParameters> scalars_;  // of the functions around, innermost last
};

}  // namespace

void check_symbol_order(const Function& function) { SymbolOrder().function(function); }

}  // namespace relish
