// Value numbers of sums: a text of what is summed, in which every tensor has a name of its own.
#include "schedule/fusion/equal_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/calls/call_layout.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "loops/reduction.h"
#include "schedule/fusion/fuse_stages.h"
#include "schedule/fusion/given_sums.h"

namespace relish {
namespace {

// Terms of longer text are not compared: each step that is put into the next one may double it.
constexpr int most_nodes = 64;
// Of so few terms a sum is as quickly taken again as its result is read.
constexpr std::int64_t least_shared_terms = 16;

int nodes_in(const Scalar& value) {
  int count = 0;
  for_each_scalar(value, [&](const Scalar&) { ++count; });
  return count;
}

const StageAxis* axis_of(const Stage& stage, const Scalar& index) {
  const auto var = index.as_var();
  if (!var) return nullptr;
  const auto found = std::find_if(stage.axes.begin(), stage.axes.end(),
                                  [&](const StageAxis& axis) { return axis.var == *var; });
  return found == stage.axes.end() ? nullptr : &*found;
}

// Whether the stage stores to every element of its target once, or sums to it: one axis for each dimension of
// more than one place, in any order.
bool covers_target(const Stage& stage) {
  const StageValue& value = stage.values.front();
  std::size_t stored = 0;
  for (std::size_t d = 0; d < value.indices.size(); ++d) {
    const Scalar& dim = value.target.shape()[d];
    if (value.indices[d].as_int() == 0 && dim.as_int() == 1) continue;
    const StageAxis* axis = axis_of(stage, value.indices[d]);
    if (!axis || axis->reduces || !prove_equal(axis->extent, dim)) return false;
    ++stored;
  }
  const auto spatial = std::count_if(stage.axes.begin(), stage.axes.end(),
                                     [](const StageAxis& axis) { return !axis.reduces; });
  return stage.distinct && static_cast<std::size_t>(spatial) == stored;
}

bool has_many_terms(const Stage& stage) {
  std::int64_t terms = 1;
  for (const StageAxis& axis : stage.axes) {
    if (!axis.reduces) continue;
    const auto extent = axis.extent.as_int();
    if (!extent || __builtin_mul_overflow(terms, *extent, &terms)) return true;
  }
  return terms >= least_shared_terms;
}

}  // namespace

Buffer EqualSumFinder::buffer_of(const Expr& arg, const Buffer& parameter) {
  const Var* var = arg.as_var();
  const TensorType* type = arg.type().tensor();
  // Constants, and what no shape is known of, are each something of its own.
  const bool shaped = type && type->shape;
  if (!var || !shaped)
    return {parameter.name(), parameter.dtype(), shaped ? *type->shape : parameter.shape()};
  const auto [known, fresh] = tensors_.try_emplace(var->id());
  if (fresh) known->second = Buffer(var->name(), parameter.dtype(), *type->shape);
  return known->second;
}

void EqualSumFinder::note(const Var& result, const CallTir& call, const PrimFunc& callee,
                          const std::vector<Stage>& stages, Span span) {
  const std::size_t number = calls_++;
  ScalarMap scalars;
  BufferMap buffers;
  const std::vector<ParamSource> layout = call_layout(callee, call, span);
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const Buffer* parameter = callee.params[i].buffer();
    if (!parameter) return;
    Buffer given;
    if (layout[i].kind == ParamSource::Argument) {
      given = buffer_of(call.args[layout[i].index], *parameter);
    } else {
      const TensorType* type = call.out_types[layout[i].index].tensor();
      if (!type || !type->shape) return;
      given = Buffer(parameter->name(), parameter->dtype(), *type->shape);
      fields_.emplace(std::pair(result.id(), layout[i].index), given);
      if (!call.tuple_result) tensors_.insert_or_assign(result.id(), given);
    }
    if (given.rank() != parameter->rank() || given.dtype() != parameter->dtype()) return;
    for (std::size_t d = 0; d < given.shape().size(); ++d)
      if (const auto symbol = parameter->shape()[d].as_var()) scalars.emplace(symbol->id(), given.shape()[d]);
    buffers.emplace(parameter->id(), given);
  }
  for (const Buffer& own : callee.allocations) {
    std::vector<Scalar> shape;
    for (const Scalar& dim : own.shape()) shape.push_back(substitute(dim, scalars));
    buffers.emplace(own.id(), Buffer(own.name(), own.dtype(), std::move(shape)));
  }
  std::unordered_map<std::uint64_t, std::size_t> stores;  // by buffer of the callee
  for (const Stage& stage : stages)
    for (const StageValue& value : stage.values)
      if (value.target.defined()) ++stores[value.target.id()];
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].values.size() != 1 || stages[i].values.front().name.defined()) continue;
    read(fresh_stage(stages[i], scalars, buffers), stores[stages[i].values.front().target.id()], {number, i});
  }
}

void EqualSumFinder::take(const Var& field, const Var& results, std::size_t index) {
  const auto found = fields_.find({results.id(), index});
  if (found != fields_.end()) tensors_.insert_or_assign(field.id(), found->second);
}

void EqualSumFinder::forget() {
  known_.clear();
  tensors_.clear();
  definitions_.clear();
}

// `stores`: how many stages of its call store to its target.
void EqualSumFinder::read(Stage stage, std::size_t stores, SumPlace place) {
  StageValue& value = stage.values.front();
  if (stores != 1 || !covers_target(stage)) return;
  value.value = in_known_terms(value.value);
  if (nodes_in(value.value) > most_nodes) return;
  if (stage.maps()) return define(stage);
  if (!stage.reduces() || !stage.init.defined() || is_contraction(stage)) return;
  place.moves = places_of(value.target);
  const auto [known, fresh] = known_.emplace(key_of(stage), sums_.size());
  if (fresh) {
    const bool worth = is_small(value.target) && has_many_terms(stage);
    sums_.push_back({worth ? std::vector{place} : std::vector<SumPlace>{}, value.target});
    return;
  }
  // Behind this its elements are those of the first.
  EqualSums& first = sums_[known->second];
  if (first.places.empty()) return;
  if (first.places.back().call != place.call) first.places.push_back(place);
  Stage same = stage;
  std::erase_if(same.axes, [](const StageAxis& axis) { return axis.reduces; });
  same.init = Scalar();
  std::vector<Scalar> at;
  std::size_t next = 0;
  std::vector<Scalar> moving;
  for (std::size_t d = 0; d < value.indices.size(); ++d)
    if (value.target.shape()[d].as_int() != 1) moving.push_back(value.indices[d]);
  for (const Scalar& dim : first.target.shape()) at.push_back(dim.as_int() == 1 ? Scalar(0) : moving[next++]);
  same.values.front().value = load(first.target, at);
  define(same);
}

// The value in terms of tensors that nothing is known of and of sums.
Scalar EqualSumFinder::in_known_terms(const Scalar& value) const {
  return rewrite(value, [&](const Scalar& part) -> std::optional<Scalar> {
    const auto* loaded = part.as<Load>();
    const auto found = loaded ? definitions_.find(loaded->buffer->id()) : definitions_.end();
    if (found == definitions_.end()) return std::nullopt;
    ScalarMap places;
    for (std::size_t d = 0; d < loaded->indices.size(); ++d) {
      const ScalarVar& axis = found->second.axes[d];
      if (axis.defined()) places.emplace(axis.id(), cast(axis.dtype(), loaded->indices[d]));
    }
    return substitute(found->second.value, places);
  });
}

void EqualSumFinder::define(const Stage& stage) {
  const StageValue& value = stage.values.front();
  Definition definition{{}, value.value};
  for (const Scalar& index : value.indices) {
    const auto var = index.as_var();
    definition.axes.push_back(var ? *var : ScalarVar());
  }
  definitions_.insert_or_assign(value.target.id(), std::move(definition));
}

// Axes by their numbers, those of the target in its order; tensors and symbols by their identities.
std::string EqualSumFinder::key_of(const Stage& stage) const {
  const StageValue& value = stage.values.front();
  ScalarMap names;
  std::string key;
  const auto numbered = [&](const StageAxis& axis, char kind) {
    const ScalarVar name(fmt::format("{}{}", kind, names.size()), axis.var.dtype());
    names.emplace(axis.var.id(), use(name));
  };
  std::vector<const StageAxis*> axes;
  for (const Scalar& index : value.indices)
    if (const StageAxis* axis = axis_of(stage, index)) axes.push_back(axis);
  for (const StageAxis& axis : stage.axes)
    if (axis.reduces) axes.push_back(&axis);
  for (const StageAxis* axis : axes) numbered(*axis, axis->reduces ? 'k' : 'i');
  BufferMap buffers;
  for_each_access(stage, [&](const Buffer& buffer, const std::vector<Scalar>&, bool) {
    buffers.try_emplace(buffer.id(), Buffer(fmt::format("b{}", buffer.id()), buffer.dtype(), buffer.shape()));
  });
  const auto add = [&](const Scalar& part) {
    std::vector<ScalarVar> vars;
    collect_vars(part, vars);
    for (const ScalarVar& var : vars)
      names.try_emplace(var.id(), use(ScalarVar(fmt::format("n{}", var.id()), var.dtype())));
    key += print(substitute(part, names, buffers)) + ';';
  };
  for (const StageAxis* axis : axes) add(axis->extent);
  key += fmt::format("{};", static_cast<int>(value.target.dtype()));
  add(stage.init);
  // Dimensions of one place do not tell targets apart.
  std::vector<Scalar> shape = value.target.shape();
  std::erase_if(shape, [](const Scalar& dim) { return dim.as_int() == 1; });
  const Buffer target("target", value.target.dtype(), std::move(shape));
  add(rewrite(value.value, [&](const Scalar& part) -> std::optional<Scalar> {
    const auto* loaded = part.as<Load>();
    if (!loaded || !(*loaded->buffer == value.target)) return std::nullopt;
    std::vector<Scalar> at;
    for (std::size_t d = 0; d < loaded->indices.size(); ++d)
      if (value.target.shape()[d].as_int() != 1) at.push_back(loaded->indices[d]);
    return load(target, at);
  }));
  return key;
}

std::vector<EqualSums> EqualSumFinder::found() const {
  std::vector<EqualSums> result;
  std::copy_if(sums_.begin(), sums_.end(), std::back_inserter(result),
               [](const EqualSums& sums) { return sums.places.size() > 1; });
  return result;
}

}  // namespace relish
