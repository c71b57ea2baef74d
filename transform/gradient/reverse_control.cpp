// The way back through ifs and loops. A branch is computed again where its gradient is taken. A loop keeps
// what it carries at the head of each round on a tape; the way back takes it from there, last round first,
// and computes the body again.
#include <fmt/format.h>

#include "ir/rewriting/regions.h"
#include "support/failure.h"
#include "transform/gradient/copies.h"
#include "transform/gradient/made_regions.h"
#include "transform/gradient/reverse.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

Type stack_of(const Type& element) { return StackType{std::make_shared<const Type>(element)}; }

// The index of a loop that runs over the same range the other way round.
Scalar mirrored(const Loop& loop, const ScalarVar& index) {
  const auto number = [](const Expr& bound) {
    if (const auto* value = bound.as<ScalarValueExpr>()) return value->value;
    // A parameter of the function: dimensions of its name stand for it.
    return use(ScalarVar(bound.as_var()->name(), DType::Int64));
  };
  const Scalar begin = number(loop.begin), end = number(loop.end), step = number(loop.step);
  const Scalar last = begin + floor_div(end - begin - Scalar(1), step) * step;
  return canonical(begin + last - use(index));
}

}  // namespace

// Variables around the regions that a gradient goes to, in order of first use.
std::vector<Var> Reverse::free_varied(const std::vector<const Region*>& regions) const {
  std::vector<Var> result;
  for (const Region* region : regions) {
    for (const Var& var : vars_of(*region).free) {
      if (!job_.varied.contains(var.id()) || !has_floats(var.type())) continue;
      if (std::find(result.begin(), result.end(), var) == result.end()) result.push_back(var);
    }
  }
  return result;
}

Region Reverse::branch_back(const Region& region, const std::vector<Var>& wanted,
                            const std::vector<Adjoint>& arriving) {
  builder_.begin_region();
  builder_.begin_block(false);
  VarMap vars;
  const std::vector<Binding> copy = fresh_bindings(region.blocks, builder_, vars);
  job_.vary(copy);
  std::vector<Expr> results;
  for (const Expr& result : region.results) results.push_back(substitute(result, vars));
  Reverse inner(job_, builder_);
  inner.forward(copy, results);
  for (std::size_t i = 0; i < results.size(); ++i) inner.seed(results[i], arriving[i]);
  inner.backward();
  std::vector<Expr> gradients;
  for (const Var& var : wanted)
    gradients.push_back(bound(inner.as_expr(inner.of(var), var.type(), Expr(var)), var.name() + "_adjoint"));
  return closed_region(builder_, std::move(gradients));
}

void Reverse::through_if(const If& branch, const Adjoint& adjoint) {
  const Span span = builder_.origin();
  const std::vector<Var> wanted = free_varied({branch.then_region.get(), branch.else_region.get()});
  if (wanted.empty()) return;
  const std::vector<Adjoint> arriving = by_result(adjoint, branch.then_region->results.size());
  Region then_region = branch_back(*branch.then_region, wanted, arriving);
  Region else_region = branch_back(*branch.else_region, wanted, arriving);
  builder_.begin_block(false);
  const Expr made =
      builder_.emit(if_expr(branch.condition, std::move(then_region), std::move(else_region), span), "lv");
  std::vector<std::string> names;
  for (const Var& var : wanted) names.push_back(var.name() + "_adjoint");
  const std::vector<Expr> fields = fields_of(builder_, made, names, span);
  for (std::size_t i = 0; i < wanted.size(); ++i) add(Expr(wanted[i]), as_adjoint(fields[i]));
}

Expr Reverse::zero_stack(const Expr& like) {
  const Span span = builder_.origin();
  const Type type = like.type();
  const Type& element = *type.as<StackType>()->element;
  const Expr none = builder_.emit(op_call("stack.new", {}, {}, span), "lv");
  Binding cast;
  cast.kind = MatchCast{Var(builder_.fresh_name("zeros"), type, false, span), none, type};
  cast.span = span;
  builder_.append(cast);
  Loop loop;
  loop.index = ScalarVar(builder_.fresh_name("round"), DType::Int64, span);
  loop.begin = scalar_value(Scalar(0), span);
  loop.end = builder_.emit(op_call("stack.length", {like}, {}, span), "lv");
  loop.step = scalar_value(Scalar(1), span);
  loop.initial = {like, Expr(cast.var())};
  const std::vector<Var> params{Var(builder_.fresh_name("tape"), type, false, span),
                                Var(builder_.fresh_name("zeros"), type, false, span)};
  builder_.begin_region(params);
  builder_.begin_block(false);
  const Expr popped = builder_.emit(op_call("stack.pop", {Expr(params[0])}, {}, span), "lv");
  const Expr rest = builder_.emit(tuple_get(popped, 0, span), "tape");
  const Expr top = builder_.emit(tuple_get(popped, 1, span), "lv");
  const Expr zeros = as_expr({}, element, top);
  const Expr longer = builder_.emit(op_call("stack.push", {Expr(params[1]), zeros}, {}, span), "zeros");
  loop.body = std::make_shared<const Region>(closed_region(builder_, {rest, longer}));
  builder_.begin_block(false);
  const Expr both = builder_.emit(loop_expr(std::move(loop), span), "lv");
  return fields_of(builder_, both, {"tape", "zeros"}, span)[1];
}

void Reverse::append_loop(const Binding& binding, const Loop& loop) {
  const Span span = builder_.origin();
  const Region& body = *loop.body;
  std::vector<Type> carried;
  for (const Var& param : body.params) carried.push_back(param.type());
  const Type element = TupleType{carried};
  const Expr none = builder_.emit(op_call("stack.new", {}, {}, span), "lv");
  Binding cast;
  cast.kind =
      MatchCast{Var(builder_.fresh_name("tape"), stack_of(element), false, span), none, stack_of(element)};
  cast.span = span;
  builder_.append(cast);

  Loop taped = loop;
  taped.initial.push_back(Expr(cast.var()));
  const auto copied = [&](const Region& region, bool keeps) {
    VarMap vars;
    std::vector<Var> params;
    std::vector<Expr> values;
    for (const Var& param : region.params) {
      params.emplace_back(builder_.fresh_name(param.name()), param.type(), false, param.span());
      values.emplace_back(params.back());
      vars.emplace(param.id(), Expr(params.back()));
    }
    params.emplace_back(builder_.fresh_name("tape"), stack_of(element), false, span);
    const Expr tape(params.back());
    builder_.begin_region(params);
    builder_.begin_block(false);
    Expr longer;
    if (keeps) longer = builder_.emit(op_call("stack.push", {tape, tuple(values, span)}, {}, span), "tape");
    ScalarMap scalars;
    if (keeps && loop.index.defined()) {
      taped.index = ScalarVar(builder_.fresh_name(loop.index.name()), loop.index.dtype(), loop.index.span());
      scalars.emplace(loop.index.id(), use(taped.index));
    }
    for (const Binding& each : fresh_bindings(region.blocks, builder_, vars, scalars)) builder_.append(each);
    std::vector<Expr> results;
    for (const Expr& result : region.results) results.push_back(substitute(result, vars, scalars));
    if (keeps) results.push_back(longer);
    return std::make_shared<const Region>(closed_region(builder_, std::move(results)));
  };
  if (loop.condition) taped.condition = copied(*loop.condition, false);
  taped.body = copied(body, true);
  builder_.begin_block(false);
  const Expr both = builder_.emit(loop_expr(std::move(taped), span), "lv");
  const std::size_t count = carried.size();
  std::vector<Expr> fields;
  for (std::size_t i = 0; i < count; ++i)
    fields.push_back(builder_.emit(tuple_get(both, static_cast<int>(i), span), body.params[i].name()));
  tapes_.emplace(binding.var().id(), builder_.emit(tuple_get(both, static_cast<int>(count), span), "tape"));
  Binding first = binding;
  first.kind = VarBinding{binding.var(), count == 1 ? fields[0] : tuple(fields, span)};
  builder_.append(first);
}

void Reverse::through_loop(const Loop& loop, const Var& output, const Adjoint& adjoint) {
  const Span span = builder_.origin();
  const Region& body = *loop.body;
  const std::size_t count = body.params.size();
  std::vector<std::size_t> moving;  // carried values that have a gradient
  for (std::size_t i = 0; i < count; ++i)
    if (job_.varied.contains(body.params[i].id()) && has_floats(body.params[i].type())) moving.push_back(i);
  const std::vector<Var> free = free_varied({&body});
  const std::vector<Adjoint> arriving = by_result(adjoint, count);

  // Carried: the tape, the cotangents of what the loop carried, the sums for what it took from around.
  Loop back;
  back.initial.push_back(tapes_.at(output.id()));
  std::vector<Var> params{Var(builder_.fresh_name("tape"), back.initial[0].type(), false, span)};
  for (const std::size_t i : moving) {
    const Expr like =
        count == 1 ? Expr(output) : builder_.emit(tuple_get(Expr(output), static_cast<int>(i), span), "lv");
    back.initial.push_back(bound(as_expr(arriving[i], body.params[i].type(), like), "lv"));
    params.emplace_back(builder_.fresh_name(body.params[i].name() + "_adjoint"), body.params[i].type(), false,
                        span);
  }
  for (const Var& var : free) {
    back.initial.push_back(bound(as_expr({}, var.type(), Expr(var)), "lv"));
    params.emplace_back(builder_.fresh_name(var.name() + "_adjoint"), var.type(), false, span);
  }
  ScalarMap scalars;
  if (loop.index.defined()) {
    back.index = ScalarVar(builder_.fresh_name(loop.index.name()), loop.index.dtype(), loop.index.span());
    back.begin = loop.begin;
    back.end = loop.end;
    back.step = loop.step;
    scalars.emplace(loop.index.id(), mirrored(loop, back.index));
  } else {
    back.index = ScalarVar(builder_.fresh_name("round"), DType::Int64, span);
    back.begin = scalar_value(Scalar(0), span);
    back.end = builder_.emit(op_call("stack.length", {back.initial[0]}, {}, span), "lv");
    back.step = scalar_value(Scalar(1), span);
  }

  builder_.begin_region(params);
  builder_.begin_block(false);
  const Expr popped = builder_.emit(op_call("stack.pop", {Expr(params[0])}, {}, span), "lv");
  const Expr rest = builder_.emit(tuple_get(popped, 0, span), "tape");
  const Expr values = builder_.emit(tuple_get(popped, 1, span), "lv");
  VarMap vars;
  for (std::size_t i = 0; i < count; ++i) {
    const Expr value = builder_.emit(tuple_get(values, static_cast<int>(i), span), body.params[i].name());
    vars.emplace(body.params[i].id(), value);
    if (job_.varied.contains(body.params[i].id())) job_.varied.insert(value.as_var()->id());
  }
  const std::vector<Binding> copy = fresh_bindings(body.blocks, builder_, vars, scalars);
  job_.vary(copy);
  std::vector<Expr> results;
  for (const Expr& result : body.results) results.push_back(substitute(result, vars, scalars));
  Reverse inner(job_, builder_);
  inner.forward(copy, results);
  for (std::size_t k = 0; k < moving.size(); ++k)
    inner.seed(results[moving[k]], inner.as_adjoint(Expr(params[1 + k])));
  inner.backward();
  std::vector<Expr> next{rest};
  for (const std::size_t i : moving) {
    const Expr& value = vars.at(body.params[i].id());
    next.push_back(bound(inner.as_expr(inner.of(*value.as_var()), body.params[i].type(), value), "lv"));
  }
  for (std::size_t k = 0; k < free.size(); ++k) {
    inner.add(Expr(free[k]), inner.as_adjoint(Expr(params[1 + moving.size() + k])));
    next.push_back(bound(inner.as_expr(inner.of(free[k]), free[k].type(), Expr(free[k])), "lv"));
  }
  back.body = std::make_shared<const Region>(closed_region(builder_, std::move(next)));
  builder_.begin_block(false);
  const Expr made = builder_.emit(loop_expr(std::move(back), span), "lv");
  std::vector<std::string> names;
  for (const Var& param : params) names.push_back(param.name());
  const std::vector<Expr> fields = fields_of(builder_, made, names, span);
  std::size_t place = 1;
  for (const std::size_t i : moving) add(loop.initial[i], as_adjoint(fields[place++]));
  for (const Var& var : free) add(Expr(var), as_adjoint(fields[place++]));
}

}  // namespace relish
