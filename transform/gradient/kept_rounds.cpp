// Choosing what rounds keep, and where.
#include "transform/gradient/kept_rounds.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "ir/rewriting/regions.h"
#include "transform/gradient/path_account.h"

namespace relish {
namespace {

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

}  // namespace

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

}  // namespace relish
