// The way back through loops: the last round first. What a round needs is kept by the way there: where the
// number of rounds is known before the loop, in one tensor for each value, a row a round; else, and for
// values whose sizes change, on a stack. What a round begins with is what the one before it ended with: the
// two are one tensor of a row more. What costs less than a load is computed again.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "ir/rewriting/regions.h"
#include "loops/range_prover.h"
#include "support/failure.h"
#include "transform/gradient/kept_stack.h"
#include "transform/gradient/made_regions.h"
#include "transform/gradient/path_account.h"
#include "transform/gradient/reverse.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

// A bound as a scalar: a number or a size, or a parameter of the function, whose name dimensions have that
// stand for it. Nothing for one that is computed.
std::optional<Scalar> known_bound(const Expr& bound, const GradientJob& job) {
  if (const auto* value = bound.as<ScalarValueExpr>()) return value->value;
  const Var* var = bound.as_var();
  const auto found = var ? job.scalar_params.find(var->id()) : job.scalar_params.end();
  if (found == job.scalar_params.end()) return std::nullopt;
  return use(found->second);
}

// Symbols that have another value in each round.
std::vector<ScalarVar> changing_symbols(const Loop& loop, const std::vector<Binding>& ahead) {
  std::vector<ScalarVar> symbols;
  if (loop.index.defined()) symbols.push_back(loop.index);
  for (const Binding& binding : ahead)
    if (const auto* cast = std::get_if<MatchCast>(&binding.kind)) collect_vars(cast->type, symbols);
  return symbols;
}

// Whether the value is a tensor, or a tuple of tensors, of the same sizes in each round.
bool fits_rows(const Type& type, const std::vector<ScalarVar>& changing) {
  if (const TupleType* tuple = type.tuple())
    return !tuple->fields.empty() &&
           std::all_of(tuple->fields.begin(), tuple->fields.end(),
                       [&](const Type& field) { return fits_rows(field, changing); });
  const TensorType* tensor = type.tensor();
  if (!tensor || !tensor->shape || !tensor->dtype) return false;
  std::vector<ScalarVar> mentioned;
  collect_vars(type, mentioned);
  return std::none_of(mentioned.begin(), mentioned.end(), [&](const ScalarVar& var) {
    return std::find(changing.begin(), changing.end(), var) != changing.end();
  });
}

}  // namespace

// The range of a loop whose bounds are known where it stands.
struct LoopRange {
  Scalar begin, end, step;

  static std::optional<LoopRange> of(const Loop& loop, const GradientJob& job) {
    if (!loop.index.defined()) return std::nullopt;
    const auto begin = known_bound(loop.begin, job), end = known_bound(loop.end, job),
               step = known_bound(loop.step, job);
    if (!begin || !end || !step || step->as_int().value_or(0) == 0) return std::nullopt;
    return LoopRange{*begin, *end, *step};
  }

  // The index that stands at the same place from the other end.
  Scalar mirrored(const ScalarVar& index) const {
    const Scalar last = begin + floor_div(end - begin - towards(), step) * step;
    return canonical(begin + last - use(index));
  }
  // 1, or -1 where the index falls.
  Scalar towards() const { return Scalar(step.as_int().value() > 0 ? 1 : -1); }
  // How many rounds came before the one with this index.
  Scalar place(const Scalar& index) const { return canonical(floor_div(index - begin, step)); }

  Scalar rounds(const GradientJob& job) const {
    const Scalar count = canonical(floor_div(end - begin + step - towards(), step));
    RangeProver prover;
    std::vector<ScalarVar> sizes;
    collect_vars(count, sizes);
    for (const ScalarVar& size : sizes)
      if (!job.is_scalar_param(size)) prover.assume_dimension(size);
    return prover.nonnegative(count) ? count : canonical(max(count, Scalar(0)));
  }
};

// A value that is kept in rows. With `begins` it is what the next round begins with, as that parameter of the
// body: a row before the first holds what the loop begins with, and the parameter has no rows of its own.
struct RowsOf {
  Var value;
  std::optional<std::size_t> begins;
};

// A value of a round that the next one begins with, as (a leaf of) that parameter of the body. The parameter
// is kept, or a field of it that a round takes: the way back has the value from the round that it went to,
// and first from behind the loop.
struct HandedBack {
  Var value;
  std::size_t param;
  std::vector<int> path;  // in what the loop gives
  Var kept;
  std::vector<int> rest;  // in that
};

// What the rounds of a loop keep.
struct KeptRounds {
  Cut cut;
  std::optional<LoopRange> range;
  std::vector<RowsOf> in_rows;
  std::vector<Var> on_stack;
  std::vector<HandedBack> handed;
  bool stack = false;        // there is one
  std::vector<Expr> tables;  // behind the way there: by leaf of in_rows, in order
  Expr tape;                 // the stack behind it
};

struct LoopBack {
  std::vector<Var> params;    // cotangents of what is carried, sums for what is around, tapes of recursion
  std::vector<Expr> initial;  // of them
  Region body;                // over the values of the way there
};

namespace {

// The parameters of the body, by place, whose values the rows of results tell: both are kept, of one type,
// and the result is made in the round. `changing` is nothing where no value is kept in rows.
std::vector<std::size_t> told_by_results(const Loop& loop, const Cut& cut,
                                         const std::vector<ScalarVar>* changing) {
  std::vector<std::size_t> told;
  if (!changing) return told;
  std::unordered_set<std::uint64_t> kept, params, taken;
  for (const Var& var : cut.kept) kept.insert(var.id());
  for (const Var& param : loop.body->params) params.insert(param.id());
  for (std::size_t i = 0; i < loop.body->params.size(); ++i) {
    const Var& param = loop.body->params[i];
    const Var* result = loop.body->results[i].as_var();
    if (!result || !kept.contains(param.id()) || !kept.contains(result->id())) continue;
    if (params.contains(result->id()) || !fits_rows(param.type(), *changing)) continue;
    if (!same_type(param.type(), result->type()) || !same_type(param.type(), loop.initial[i].type()))
      continue;
    if (taken.insert(result->id()).second) told.push_back(i);
  }
  return told;
}

const Type& leaf_type_at(const Type& type, const std::vector<int>& path) {
  const Type* at = &type;
  for (const int index : path) at = &at->tuple()->fields[static_cast<std::size_t>(index)];
  return *at;
}

// Values among `kept` that a round hands on in a parameter that is kept too. `made_by`: tuples of the round.
class HandedOn {
 public:
  HandedOn(const Loop& loop, const std::vector<Binding>& ahead, const std::vector<Var>& kept) : loop_(loop) {
    for (const Binding& binding : ahead) {
      if (binding.value().as<TupleExpr>()) made_by_.emplace(binding.var().id(), binding.value());
      made_.insert(binding.var().id());
    }
    for (const Var& var : kept) kept_.insert(var.id());
    for (std::size_t i = 0; i < loop.body->params.size(); ++i)
      places_.emplace(loop.body->params[i].id(), std::pair(i, std::vector<int>{}));
    for (const Binding& binding : ahead) {
      const auto* field = binding.value().as<TupleGet>();
      const Var* whole = field ? field->tuple.as_var() : nullptr;
      const auto place = whole ? places_.find(whole->id()) : places_.end();
      if (place == places_.end()) continue;
      auto [param, path] = place->second;
      path.push_back(field->index);
      if (kept_.contains(binding.var().id())) fields_.emplace(std::pair(param, path), binding.var());
      places_.emplace(binding.var().id(), std::pair(param, std::move(path)));
    }
  }

  std::vector<HandedBack> run() {
    for (std::size_t i = 0; i < loop_.body->params.size(); ++i) look_at(loop_.body->results[i], i, {});
    return std::move(found_);
  }

 private:
  void look_at(const Expr& leaf, std::size_t param, std::vector<int> path) {
    const Var* var = leaf.as_var();
    if (var && made_.contains(var->id()) && kept_.contains(var->id()) && fits(*var, param, path)) {
      std::vector<int> rest;
      const std::optional<Var> from = kept_at(param, path, rest);
      // A field that is handed on from elsewhere is no value of its own.
      if (from && !places_.contains(var->id()) && taken_.insert(var->id()).second)
        found_.push_back({*var, param, path, *from, rest});
      return;
    }
    const auto made = var ? made_by_.find(var->id()) : made_by_.end();
    const Expr whole = made == made_by_.end() ? leaf : made->second;
    const auto* fields = whole.as<TupleExpr>();
    if (!fields) return;
    for (std::size_t i = 0; i < fields->fields.size(); ++i) {
      path.push_back(static_cast<int>(i));
      look_at(fields->fields[i], param, path);
      path.pop_back();
    }
  }

  // What is kept of the parameter there: itself, or the field at the path or around it.
  std::optional<Var> kept_at(std::size_t param, std::vector<int> path, std::vector<int>& rest) const {
    for (;;) {
      const Var& whole = loop_.body->params[param];
      if (path.empty()) return kept_.contains(whole.id()) ? std::optional(whole) : std::nullopt;
      if (const auto field = fields_.find(std::pair(param, path)); field != fields_.end())
        return field->second;
      rest.insert(rest.begin(), path.back());
      path.pop_back();
    }
  }

  // Of one type in the round, at its begin, before the loop and behind it.
  bool fits(const Var& var, std::size_t param, const std::vector<int>& path) const {
    return same_type(leaf_type_at(loop_.body->params[param].type(), path), var.type()) &&
           same_type(leaf_type_at(loop_.initial[param].type(), path), var.type());
  }

  const Loop& loop_;
  std::unordered_map<std::uint64_t, Expr> made_by_;
  std::unordered_map<std::uint64_t, std::pair<std::size_t, std::vector<int>>> places_;  // of fields taken
  std::map<std::pair<std::size_t, std::vector<int>>, Var> fields_;                      // kept ones
  std::unordered_set<std::uint64_t> made_, kept_, taken_;
  std::vector<HandedBack> found_;
};

KeptRounds kept_rounds(const Loop& loop, const Cut& cut, const std::vector<Binding>& ahead,
                       const GradientJob& job) {
  KeptRounds kept;
  kept.cut = cut;
  kept.range = LoopRange::of(loop, job);
  const std::vector<ScalarVar> changing = changing_symbols(loop, ahead);
  const std::vector<std::size_t> told = told_by_results(loop, cut, kept.range ? &changing : nullptr);
  kept.handed = HandedOn(loop, ahead, cut.kept).run();
  std::erase_if(kept.handed, [&](const HandedBack& each) {
    return std::find(told.begin(), told.end(), each.param) != told.end();
  });
  const auto is_handed = [&](const Var& var) {
    return std::any_of(kept.handed.begin(), kept.handed.end(),
                       [&](const HandedBack& each) { return each.value == var; });
  };
  for (const Var& var : cut.kept) {
    if (is_handed(var)) continue;
    if (!kept.range || !fits_rows(var.type(), changing)) {
      kept.on_stack.push_back(var);
      continue;
    }
    const auto is = [&](const std::size_t i) { return loop.body->params[i].id() == var.id(); };
    if (std::any_of(told.begin(), told.end(), is)) continue;
    const auto begins = [&](const std::size_t i) { return loop.body->results[i].as_var()->id() == var.id(); };
    const auto found = std::find_if(told.begin(), told.end(), begins);
    kept.in_rows.push_back({var, found == told.end() ? std::nullopt : std::optional(*found)});
  }
  // The height of the stack tells the rounds that nobody has counted.
  kept.stack = !kept.range || !kept.on_stack.empty();
  if (kept.stack && kept.on_stack.empty()) kept.on_stack.push_back(loop.body->params.front());
  return kept;
}

// How many rows its table has, and which one a round writes.
Scalar rows_of(const RowsOf& rows, const KeptRounds& kept, const GradientJob& job) {
  const Scalar rounds = kept.range->rounds(job);
  return rows.begins ? canonical(rounds + Scalar(1)) : rounds;
}
Scalar row_at(const RowsOf& rows, const Scalar& index, const KeptRounds& kept) {
  const Scalar place = kept.range->place(index);
  return rows.begins ? canonical(place + Scalar(1)) : place;
}

void tell(const KeptRounds& kept, const Loop& loop, const GradientJob& job) {
  for (const RowsOf& rows : kept.in_rows) {
    const auto bytes = bytes_of(rows.value.type());
    const auto count = rows_of(rows, kept, job).as_int();
    job.account->keep(rows.value, "a row a round",
                      bytes && count ? std::optional(*bytes * *count) : std::nullopt);
    if (rows.begins) job.account->keep(loop.body->params[*rows.begins], "the row of the round before", 0);
  }
  for (const Var& var : kept.on_stack) job.account->keep(var, "on a stack, each round", std::nullopt);
  for (const HandedBack& each : kept.handed)
    job.account->keep(each.value, "what the next round begins with", 0);
  for (const Binding& binding : kept.cut.again) job.account->keep(binding.var(), "computed again", 0);
}

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

// The value as what is carried has it: sums with what comes off a stack may know less of their shape.
Expr as_carried(const Expr& value, const Var& param, FunctionBuilder& builder) {
  if (same_type(join(value.type(), param.type()), param.type())) return value;
  Binding cast;
  cast.kind = MatchCast{Var(builder.fresh_name(param.name()), param.type(), false, builder.origin()), value,
                        param.type()};
  cast.span = builder.origin();
  builder.append(cast);
  return Expr(cast.var());
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
    way.initial.push_back(first);
    way.params.emplace_back(builder_.fresh_name(name), type, false, span);
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
    next.push_back(as_carried(behind, way.params[next.size()], builder_));
  }
  for (std::size_t k = 0; k < free.size(); ++k) {
    if (!by_rows[k]) inner.add(Expr(free[k]), inner.as_adjoint(Expr(way.params[moving.size() + k])));
    const Expr behind = bound(inner.as_expr(inner.of(free[k]), free[k].type(), Expr(free[k])), "lv");
    next.push_back(as_carried(behind, way.params[next.size()], builder_));
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
