// Taking stacks apart and making others.
#include "transform/gradient/stack_sums.h"

#include "transform/gradient/adjoint.h"
#include "transform/gradient/kept_stack.h"
#include "transform/gradient/made_regions.h"

namespace relish {

Expr restacked(const std::vector<Expr>& stacks, const std::string& hint,
               const std::function<Expr(const std::vector<Expr>&)>& made, FunctionBuilder& builder) {
  const Span span = builder.origin();
  const Type type = stacks.front().type();
  const Expr none = empty_stack(type, hint, builder);
  Loop loop;
  loop.index = ScalarVar(builder.fresh_name("round"), DType::Int64, span);
  loop.begin = scalar_value(Scalar(0), span);
  loop.end = builder.emit(op_call("stack.length", {stacks.front()}, {}, span), "lv");
  loop.step = scalar_value(Scalar(1), span);
  loop.initial = stacks;
  loop.initial.push_back(none);
  std::vector<Var> params;
  std::vector<std::string> names(stacks.size(), "tape");
  names.push_back(hint);
  for (std::size_t i = 0; i < names.size(); ++i)
    params.emplace_back(builder.fresh_name(names[i]), loop.initial[i].type(), false, span);
  builder.begin_region(params);
  builder.begin_block(false);
  std::vector<Expr> results, tops;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const Expr popped = builder.emit(op_call("stack.pop", {Expr(params[i])}, {}, span), "lv");
    results.push_back(builder.emit(tuple_get(popped, 0, span), "tape"));
    tops.push_back(builder.emit(tuple_get(popped, 1, span), "lv"));
  }
  results.push_back(builder.emit(op_call("stack.push", {Expr(params.back()), made(tops)}, {}, span), hint));
  loop.body = std::make_shared<const Region>(closed_region(builder, std::move(results)));
  builder.begin_block(false);
  const Expr all = builder.emit(loop_expr(std::move(loop), span), "lv");
  return fields_of(builder, all, names, span).back();
}

// Stacks are equally high, and give what they hold from the top: the sums are turned over.
Expr sum_of(const Expr& a, const Expr& b, FunctionBuilder& builder) {
  const Type type = a.type();
  if (type.as<StackType>()) {
    const Expr turned = restacked(
        {a, b}, "sums", [&](const std::vector<Expr>& tops) { return sum_of(tops[0], tops[1], builder); },
        builder);
    return restacked({turned}, "sums", [](const std::vector<Expr>& tops) { return tops[0]; }, builder);
  }
  if (const TupleType* fields = type.tuple()) {
    std::vector<Expr> sums;
    for (int i = 0; i < static_cast<int>(fields->fields.size()); ++i)
      sums.push_back(sum_of(builder.emit(tuple_get(a, i, builder.origin()), "lv"),
                            builder.emit(tuple_get(b, i, builder.origin()), "lv"), builder));
    return tuple(std::move(sums), builder.origin());
  }
  return is_float_tensor(type) ? builder.emit(op_call("add", {a, b}, {}, builder.origin()), "lv") : a;
}

}  // namespace relish
