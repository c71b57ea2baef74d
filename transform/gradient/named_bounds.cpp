// Symbols for bounds.
#include "transform/gradient/named_bounds.h"

#include <unordered_map>
#include <unordered_set>

#include "ir/nodes/builder.h"
#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/regions.h"
#include "ir/scalars/symbols.h"
#include "transform/gradient/cut.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

bool uses_index(const Loop& loop) {
  SymbolList mentioned;
  add_mentioned_in(all_bindings(loop.body->blocks), mentioned);
  for (const Expr& result : loop.body->results) mentioned.add_mentioned(result.type());
  return mentioned.contains(loop.index);
}

class BoundsNamed final : public ExprMapper {
 public:
  explicit BoundsNamed(const Function& function) {
    reserve_names(function, builder_);
    for (const Var& param : function.params) params_.insert(param.id());
  }

 private:
  void map_binding(const Binding& binding, bool, std::vector<Binding>& into) override {
    Binding mapped = map(binding);
    const Expr& value = mapped.value();
    if (value.as<ScalarValueExpr>()) scalars_.insert_or_assign(mapped.var().id(), value);
    const auto* loop = value.as<Loop>();
    if (loop && loop->index.defined() && uses_index(*loop))
      mapped.kind = VarBinding{mapped.var(), with_bounds_named(*loop, value.span(), into)};
    into.push_back(std::move(mapped));
  }

  Expr with_bounds_named(const Loop& loop, Span span, std::vector<Binding>& into) {
    Loop named = loop;
    builder_.set_origin(span);
    builder_.begin_block(false);
    named.begin = known(loop.begin);
    named.step = known(loop.step);
    named.end = known(loop.end);
    // Of what counts up from 0 or more, an end below that means no round as 0 does.
    const auto literal = [](const Expr& bound) {
      const auto* scalar = bound.as<ScalarValueExpr>();
      return scalar ? scalar->value.as_int().value_or(-1) : -1;
    };
    const bool from_zero = literal(named.begin) >= 0 && literal(named.step) > 0;
    for (Expr* bound : {&named.begin, &named.end, &named.step})
      if (is_computed(*bound)) *bound = symbol_for(*bound, from_zero);
    builder_.end_block();
    for (Binding& each : builder_.take_bindings()) into.push_back(std::move(each));
    return loop_expr(std::move(named), span);
  }

  // What a bound is a name of.
  Expr known(const Expr& bound) const {
    const Var* var = bound.as_var();
    const auto found = var ? scalars_.find(var->id()) : scalars_.end();
    return found == scalars_.end() ? bound : found->second;
  }
  bool is_computed(const Expr& bound) const {
    return bound.as_var() != nullptr && !params_.contains(bound.as_var()->id());
  }

  // Only sizes can be named, which are not negative: any other number is the difference of two.
  Expr symbol_for(const Expr& bound, bool not_negative) {
    const Span span = builder_.origin();
    const auto op = [&](const char* name, std::vector<Expr> args, Attributes attributes = {}) {
      return builder_.emit(op_call(name, std::move(args), std::move(attributes), span), "lv");
    };
    const Attribute int64(std::string(name_of(DType::Int64)));
    const Expr number = op("full", {shape_literal({Scalar(1)}), bound}, {{"dtype", int64}});
    const Expr none = constant_of(DType::Int64, 0);
    Expr sizes = op("maximum", {number, none});
    if (!not_negative) {
      const Expr below = op("maximum", {op("negative", {number}), none});
      sizes = op("concat", {tuple({sizes, below}, span)}, {{"axis", Attribute(std::int64_t{0})}});
    }
    const Expr shape = op("tensor_to_shape", {sizes});
    ShapeType type;
    type.dims.emplace();
    type.rank = not_negative ? 1 : 2;
    std::vector<Scalar> named;
    for (int i = 0; i < type.rank; ++i) {
      named.push_back(use(ScalarVar(builder_.fresh_name("bound"), DType::Int64, span)));
      type.dims->push_back(named.back());
    }
    Binding cast;
    cast.kind = MatchCast{Var(builder_.fresh_name("bounds"), Type(type), false, span), shape, Type(type)};
    cast.span = span;
    builder_.append(cast);
    return scalar_value(not_negative ? named[0] : canonical(named[0] - named[1]), span);
  }

  FunctionBuilder builder_;  // for names, and for the casts of one loop
  std::unordered_set<std::uint64_t> params_;
  std::unordered_map<std::uint64_t, Expr> scalars_;  // by variable: the scalar that it is a name of
};

}  // namespace

FunctionPtr with_named_bounds(const FunctionPtr& function) {
  bool any = false;
  for_each_binding(*function, [&](const Binding& binding) {
    const auto* loop = binding.value().as<Loop>();
    any = any || (loop && loop->index.defined() &&
                  (loop->begin.as_var() || loop->end.as_var() || loop->step.as_var()));
  });
  return any ? BoundsNamed(*function).map(function) : function;
}

}  // namespace relish
