// The way back through loops: the last round first, over what the way there kept of each (kept_rounds.h).
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/rewriting/regions.h"
#include "support/failure.h"
#include "transform/gradient/kept_rounds.h"
#include "transform/gradient/kept_stack.h"
#include "transform/gradient/made_regions.h"
#include "transform/gradient/reverse.h"
#include "transform/rebuild.h"

namespace relish {

struct LoopBack {
  std::vector<Var> params;    // cotangents of what is carried, sums for what is around, tapes of recursion
  std::vector<Expr> initial;  // of them
  Region body;                // over the values of the way there
};

namespace {

// The leaves of a value that is kept in rows, bound.
void append_leaves(const Expr& value, FunctionBuilder& builder, std::vector<Expr>& into) {
  const TupleType* tuple = value.type().tuple();
  if (!tuple) return into.push_back(value);
  for (int i = 0; i < static_cast<int>(tuple->fields.size()); ++i)
    append_leaves(builder.emit(tuple_get(value, i, builder.origin()), "lv"), builder, into);
}

void append_leaf_types(const Type& type, std::vector<Type>& into) {
  const TupleType* tuple = type.tuple();
  if (!tuple) return into.push_back(type);
  for (const Type& field : tuple->fields) append_leaf_types(field, into);
}

// A value of the type out of the rows of its tables.
Expr of_rows(const Type& type, const std::string& name, const Scalar& row,
             std::vector<Expr>::const_iterator& table, FunctionBuilder& builder) {
  const TupleType* fields = type.tuple();
  if (!fields) return RowTables::row(*table++, row, name, builder);
  std::vector<Expr> values;
  for (const Type& field : fields->fields) values.push_back(of_rows(field, "lv", row, table, builder));
  return builder.emit(tuple(std::move(values), builder.origin()), name);
}

// The part of a tuple, bound.
Expr leaf_at(const Expr& value, const std::vector<int>& path, FunctionBuilder& builder) {
  Expr at = value;
  for (const int index : path) at = builder.emit(tuple_get(at, index, builder.origin()), "lv");
  return at;
}

}  // namespace

// The way there, with what it keeps.
void Reverse::complete_loop(const Binding& binding, const Loop& loop, const Opened& opened,
                            KeptRounds& kept) {
  const Span span = binding.value().span();
  const Region& body = *loop.body;
  builder_.begin_region();
  builder_.begin_block(false);
  Loop taped = loop;
  std::vector<Var> params = body.params, added;
  const auto carry = [&](const Expr& first, const std::string& name) {
    taped.initial.push_back(first);
    params.emplace_back(builder_.fresh_name(name), first.type(), false, span);
    added.emplace_back(params.back().name(), first.type(), false, span);
    return params.back();
  };
  std::vector<Var> tables;
  for (const RowsOf& rows : kept.in_rows) {
    std::vector<Type> leaves;
    append_leaf_types(rows.value.type(), leaves);
    std::vector<Expr> first;
    if (rows.begins) append_leaves(loop.initial[*rows.begins], builder_, first);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      Expr table = RowTables::empty(rows_of(rows, kept, job_), *leaves[i].tensor(), builder_);
      if (rows.begins) table = job_.rows.with_row(table, first[i], Scalar(0), builder_);
      tables.push_back(carry(table, rows.value.name() + "_rows"));
    }
  }
  Var stack;
  if (kept.stack) stack = carry(empty_stack(kept_stack_type(kept.on_stack), "tape", builder_), "tape");
  for (const Var& var : added) kept.tables.emplace_back(var);
  if (kept.stack) {
    kept.tape = kept.tables.back();
    kept.tables.pop_back();
  }
  if (threaded_.contains(binding.var().id())) {
    const std::vector<Var>& behind = opened.tapes_after;
    params.insert(params.end(), opened.tapes.begin(), opened.tapes.end());
    added.insert(added.end(), behind.begin(), behind.end());
    for (const Expr& tape : opened.around) taped.initial.push_back(tape);
  }
  if (loop.condition) {
    Region condition = *loop.condition;
    for (std::size_t i = body.params.size(); i < params.size(); ++i)
      condition.params.emplace_back(params[i].name(), params[i].type(), false, span);
    taped.condition = std::make_shared<const Region>(std::move(condition));
  }
  builder_.begin_region(params);
  builder_.begin_block(false);
  for (const Binding& each : opened.ahead) builder_.append(each);
  builder_.set_origin(span);
  std::vector<Expr> results = body.results;
  std::size_t next = 0;
  for (const RowsOf& rows : kept.in_rows) {
    std::vector<Expr> leaves;
    append_leaves(Expr(rows.value), builder_, leaves);
    for (const Expr& leaf : leaves)
      results.push_back(
          job_.rows.with_row(Expr(tables[next++]), leaf, row_at(rows, use(loop.index), kept), builder_));
  }
  if (kept.stack) results.push_back(pushed(Expr(stack), kept.on_stack, "tape", builder_));
  if (!opened.tapes.empty())
    results.insert(results.end(), opened.tapes_behind.begin(), opened.tapes_behind.end());
  taped.body = std::make_shared<const Region>(closed_region(builder_, std::move(results)));
  builder_.begin_block(false);
  std::vector<std::string> names;
  for (const Var& param : body.params) names.push_back(param.name());
  append_completed(binding, loop_expr(std::move(taped), span), names, added, builder_);
  builder_.end_block();
  completed_[binding.var().id()] = all_bindings(builder_.end_region({}).blocks);
  builder_.begin_block(false);
}

namespace {

// What a loop of the bindings gives in that place: the variable that stands for it behind the loop.
Expr given_behind(const std::vector<Binding>& bindings, const Binding& binding, const Loop& loop,
                  std::size_t place, FunctionBuilder& builder) {
  if (loop.body->params.size() == 1) return Expr(binding.var());
  const Binding* const end = bindings.data() + bindings.size();
  for (const Binding* next = &binding + 1; next < end; ++next) {
    const auto* field = next->value().as<TupleGet>();
    const Var* whole = field ? field->tuple.as_var() : nullptr;
    if (!whole || !(*whole == binding.var())) break;
    if (field->index == static_cast<int>(place)) return Expr(next->var());
  }
  return builder.emit(tuple_get(Expr(binding.var()), static_cast<int>(place), builder.origin()), "lv");
}

}  // namespace

// The loop backwards. It gives what `way` carries, then the stack.
Expr Reverse::loop_back(const Binding& binding, const Loop& loop, LoopBack& way, const KeptRounds& kept) {
  const Span span = builder_.origin();
  Loop back;
  back.initial = way.initial;
  std::vector<Var> params = way.params;
  std::vector<Expr> handed;
  for (const HandedBack& each : kept.handed) {
    const Expr behind = given_behind(forward_, binding, loop, each.param, builder_);
    back.initial.push_back(leaf_at(behind, each.path, builder_));
    params.emplace_back(builder_.fresh_name(each.value.name()), each.value.type(), false, span);
    handed.emplace_back(params.back());
  }
  if (kept.stack) {
    back.initial.push_back(kept.tape);
    params.emplace_back(builder_.fresh_name("tape"), kept.tape.type(), false, span);
  }
  ScalarMap scalars;
  if (kept.range) {
    back.index = ScalarVar(builder_.fresh_name(loop.index.name()), loop.index.dtype(), loop.index.span());
    back.begin = loop.begin;
    back.end = loop.end;
    back.step = loop.step;
    scalars.emplace(loop.index.id(), kept.range->mirrored(back.index));
  } else {
    back.index = ScalarVar(builder_.fresh_name("round"), DType::Int64, span);
    back.begin = scalar_value(Scalar(0), span);
    back.end = builder_.emit(op_call("stack.length", {kept.tape}, {}, span), "lv");
    back.step = scalar_value(Scalar(1), span);
  }
  builder_.begin_region(params);
  builder_.begin_block(false);
  VarMap vars;
  Expr rest;
  if (kept.stack) rest = popped(Expr(params.back()), kept.on_stack, "tape", vars, builder_, scalars);
  auto table = kept.tables.begin();
  const Scalar index = kept.range ? kept.range->mirrored(back.index) : Scalar();
  for (const RowsOf& rows : kept.in_rows) {
    const auto read = [&](const Var& var, const Scalar& row, auto from) {
      vars.insert_or_assign(var.id(), of_rows(var.type(), var.name(), row, from, builder_));
      return from;
    };
    if (rows.begins) read(loop.body->params[*rows.begins], kept.range->place(index), table);
    table = read(rows.value, row_at(rows, index, kept), table);
  }
  for (std::size_t k = 0; k < handed.size(); ++k) vars.insert_or_assign(kept.handed[k].value.id(), handed[k]);
  std::vector<Expr> next = replayed(kept.cut, way.body, vars, scalars, builder_);
  for (const HandedBack& each : kept.handed)
    next.push_back(leaf_at(vars.at(each.kept.id()), each.rest, builder_));
  if (kept.stack) next.push_back(rest);
  back.body = std::make_shared<const Region>(closed_region(builder_, std::move(next)));
  builder_.begin_block(false);
  way.params = std::move(params);
  return builder_.emit(loop_expr(std::move(back), span), "lv");
}

void Reverse::through_loop(const Binding& binding, const Loop& loop, const Adjoint& adjoint) {
  const Span span = builder_.origin();
  const Region& body = *loop.body;
  const Var& output = binding.var();
  Opened& opened = opened_.at(output.id()).front();
  Reverse& inner = *opened.inner;
  const std::size_t count = body.params.size();
  std::vector<std::size_t> moving;  // carried values that have a gradient
  for (std::size_t i = 0; i < count; ++i)
    if (job_.varied.contains(body.params[i].id()) && has_floats(body.params[i].type())) moving.push_back(i);
  const std::vector<Var> free = free_varied({&body});
  const std::vector<Adjoint> arriving = by_result(adjoint, count);

  LoopBack way;
  // A name of a name or of a tuple, right before a loop that begins with it, is one that reading leaves out.
  const auto carry = [&](Expr first, const Type& type, const std::string& name) {
    if (!is_leaf(first)) first = builder_.emit(first, "lv");
    for (const Var* var = first.as_var(); var && job_.aliases.contains(var->id()); var = first.as_var())
      first = job_.aliases.at(var->id());
    way.initial.push_back(as_carried(first, type, name, builder_));
    way.params.emplace_back(builder_.fresh_name(name), carried_type(way.initial.back(), type), false, span);
  };
  for (const std::size_t i : moving) {
    const Var& param = body.params[i];
    const Expr like =
        count == 1 ? Expr(output) : builder_.emit(tuple_get(Expr(output), static_cast<int>(i), span), "lv");
    carry(as_expr(arriving[i], param.type(), like), param.type(), param.name() + "_adjoint");
  }
  // Of a table of which rounds read rows the sum goes on from round to round, and from loop to loop inside.
  if (counts_from_zero(loop)) job_.counts.insert(loop.index.id());
  std::unordered_set<std::uint64_t> otherwise;
  collect_other_uses(inner.forward_, job_.counts, otherwise);
  std::vector<Var> given;
  for (const Expr& result : body.results) collect_leaf_vars(result, given);
  for (const Var& var : given) otherwise.insert(var.id());
  std::vector<bool> by_rows;
  for (const Var& var : free) {
    by_rows.push_back(has_rows(var.type()) && !otherwise.contains(var.id()));
    const bool goes_on = by_rows.back() && of(var).by_rows;
    carry(goes_on ? of(var).value : as_expr({}, var.type(), Expr(var)), var.type(), var.name() + "_adjoint");
  }
  const std::size_t own = way.params.size();
  if (!opened.tapes.empty())
    for (const Expr& tape : tapes) carry(tape, tape.type(), "tape");

  const auto as_carried_by = [&](const Var& param, const Expr& value) {
    return as_carried(value, param.type(), param.name(), builder_);
  };
  builder_.begin_region(way.params);
  builder_.begin_block(false);
  inner.tapes.assign(way.params.begin() + static_cast<std::ptrdiff_t>(own), way.params.end());
  for (std::size_t k = 0; k < moving.size(); ++k)
    inner.begin_with(body.results[moving[k]], inner.as_adjoint(Expr(way.params[k])));
  for (std::size_t k = 0; k < free.size(); ++k)
    if (by_rows[k])
      inner.of(free[k]) = Adjoint{.value = Expr(way.params[moving.size() + k]), .by_rows = true};
  inner.backward();
  std::vector<Expr> next;
  for (const std::size_t i : moving) {
    const Var& param = body.params[i];
    const Expr behind = bound(inner.as_expr(inner.of(param), param.type(), Expr(param)), "lv");
    next.push_back(as_carried_by(way.params[next.size()], behind));
  }
  for (std::size_t k = 0; k < free.size(); ++k) {
    if (!by_rows[k]) inner.add(Expr(free[k]), inner.as_adjoint(Expr(way.params[moving.size() + k])));
    const Expr behind = bound(inner.as_expr(inner.of(free[k]), free[k].type(), Expr(free[k])), "lv");
    next.push_back(as_carried_by(way.params[next.size()], behind));
  }
  next.insert(next.end(), inner.tapes.begin(), inner.tapes.end());
  builder_.end_block();
  way.body = builder_.end_region(std::move(next));
  builder_.begin_block(false);
  inner.complete(opened.ahead);
  KeptRounds kept =
      kept_rounds(loop, cut_between(body.params, opened.ahead, way.body, job_.keeping), opened.ahead, job_);
  if (job_.account) tell(kept, loop, job_);
  complete_loop(binding, loop, opened, kept);
  builder_.set_origin(span);

  const Expr made = loop_back(binding, loop, way, kept);
  std::vector<std::string> names;
  for (const Var& param : way.params) names.push_back(param.name());
  const std::vector<Expr> fields = fields_of(builder_, made, names, span);
  std::size_t place = 0;
  for (const std::size_t i : moving) add(loop.initial[i], as_adjoint(fields[place++]));
  for (std::size_t k = 0; k < free.size(); ++k, ++place) {
    if (by_rows[k] && of(free[k]).by_rows)
      of(free[k]).value = fields[place];
    else
      add(Expr(free[k]), as_adjoint(fields[place]));
  }
  if (!opened.tapes.empty())
    for (Expr& tape : tapes) tape = fields[place++];
}

}  // namespace relish
