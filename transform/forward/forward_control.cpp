// Tangents through ifs and loops.
#include <algorithm>

#include "ir/rewriting/regions.h"
#include "transform/forward/forward.h"
#include "transform/gradient/made_regions.h"
#include "transform/rebuild.h"

namespace relish {

Region Forward::branch_with_tangents(const Region& region, const std::vector<std::size_t>& moving,
                                     const std::vector<Type>& types) {
  builder_.begin_region();
  builder_.begin_block(false);
  run(all_bindings(region.blocks), region.results);
  std::vector<Expr> results = region.results;
  for (const std::size_t i : moving) results.push_back(bound(tangent_of(region.results[i], types[i]), "lv"));
  return closed_region(builder_, std::move(results));
}

void Forward::take_apart(const Binding& binding, const Expr& both, std::size_t count,
                         const std::vector<std::string>& names, const std::vector<std::size_t>& moving) {
  const Span span = builder_.origin();
  std::vector<Expr> fields;
  Binding value = binding;
  if (count == 1) {
    value.kind = VarBinding{binding.var(), tuple_get(both, 0, span)};
    builder_.append(value);
    fields.emplace_back(binding.var());
  }
  for (std::size_t i = fields.size(); i < names.size(); ++i)
    fields.push_back(builder_.emit(tuple_get(both, static_cast<int>(i), span), names[i]));
  if (count > 1) {
    const std::vector<Expr> values(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(count));
    value.kind = VarBinding{binding.var(), tuple(values, span)};
    builder_.append(value);
  }
  Adjoint tangent;
  tangent.fields.resize(count);
  for (std::size_t k = 0; k < moving.size(); ++k) tangent.fields[moving[k]] = parts_of(fields[count + k]);
  set(binding.var(), count == 1 ? tangent.fields[0] : tangent);
}

void Forward::through_if(const If& branch, const Binding& binding) {
  const std::vector<Expr>& first = branch.then_region->results;
  const std::vector<Expr>& second = branch.else_region->results;
  const Type& whole = binding.var().type();
  std::vector<Type> types;
  std::vector<std::string> names;
  std::vector<std::size_t> moving;
  for (std::size_t i = 0; i < first.size(); ++i) {
    types.push_back(first.size() == 1 ? whole : whole.tuple()->fields[i]);
    const Var* var = first[i].as_var();
    names.push_back(var ? var->name() : "lv");
    if (has_floats(types[i]) && (job_.reaches(first[i]) || job_.reaches(second[i]))) moving.push_back(i);
  }
  if (moving.empty()) return builder_.append(binding);
  const Span span = builder_.origin();
  Region then_region = branch_with_tangents(*branch.then_region, moving, types);
  Region else_region = branch_with_tangents(*branch.else_region, moving, types);
  builder_.begin_block(false);
  builder_.set_origin(span);
  const Expr made =
      builder_.emit(if_expr(branch.condition, std::move(then_region), std::move(else_region), span), "lv");
  for (const std::size_t i : moving) names.push_back(names[i] + "_dot");
  take_apart(binding, made, first.size(), names, moving);
}

void Forward::through_loop(const Loop& loop, const Binding& binding) {
  const Region& body = *loop.body;
  const Span span = builder_.origin();
  Loop made = loop;
  std::vector<Var> params = body.params, dots;
  std::vector<std::size_t> moving;
  std::vector<std::string> names;
  for (const Var& param : body.params) names.push_back(param.name());
  for (std::size_t i = 0; i < body.params.size(); ++i) {
    const Var& param = body.params[i];
    if (!job_.varied.contains(param.id()) || !has_floats(param.type())) continue;
    moving.push_back(i);
    // A tuple stands there as it is: a name for it right before the loop is one that reading leaves out.
    made.initial.push_back(
        as_carried(tangent_of(loop.initial[i], param.type()), param.type(), param.name() + "_dot", builder_));
    dots.emplace_back(builder_.fresh_name(param.name() + "_dot"),
                      carried_type(made.initial.back(), param.type()), false, span);
    names.push_back(dots.back().name());
  }
  if (moving.empty()) return builder_.append(binding);
  if (loop.condition) {
    Region condition = *loop.condition;
    for (const Var& dot : dots)
      condition.params.emplace_back(builder_.fresh_name(dot.name()), dot.type(), false, span);
    made.condition = std::make_shared<const Region>(std::move(condition));
  }
  params.insert(params.end(), dots.begin(), dots.end());
  builder_.begin_region(params);
  builder_.begin_block(false);
  for (std::size_t k = 0; k < moving.size(); ++k) seed(body.params[moving[k]], Expr(dots[k]));
  run(all_bindings(body.blocks), body.results);
  std::vector<Expr> results = body.results;
  for (const std::size_t i : moving) {
    const Var& param = body.params[i];
    const Expr dot = tangent_of(body.results[i], param.type());
    const Expr behind = as_carried(dot, param.type(), param.name() + "_dot", builder_);
    results.push_back(bound(behind, "lv"));
  }
  made.body = std::make_shared<const Region>(closed_region(builder_, std::move(results)));
  builder_.begin_block(false);
  builder_.set_origin(span);
  const Expr both = builder_.emit(loop_expr(std::move(made), span), "lv");
  take_apart(binding, both, body.params.size(), names, moving);
}

}  // namespace relish
