// Rewriting copies over the domain of what they read.
#include "schedule/stages/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/rewriting/rewrite.h"
#include "loops/digits.h"
#include "loops/nest.h"
#include "schedule/plain_indices.h"

namespace relish {
namespace {

using Indices = std::vector<Scalar>;

// Of shorter runs of memory a reshape is better one copy, which goes on where a dimension ends.
constexpr std::int64_t least_copied_run = 16;

// The place of an element in a compact buffer of literal sizes.
std::optional<Scalar> place_of(const Buffer& buffer, const Indices& indices) {
  std::int64_t stride = 1;
  Scalar place;
  for (std::size_t d = indices.size(); d-- > 0;) {
    const auto extent = buffer.shape()[d].as_int();
    if (!extent || indices[d].dtype() != DType::Int64) return std::nullopt;
    const Scalar part = indices[d] * Scalar(stride);
    place = place.defined() ? place + part : part;
    if (__builtin_mul_overflow(stride, *extent, &stride)) return std::nullopt;
  }
  return place;
}

// Whether the stage does nothing but copy elements, each to a place of its own: an axis by itself is each
// index of its target, or that and a number, as in the parts of a concatenation.
bool copies_apart(const Stage& stage) {
  if (stage.copies_elements()) return true;
  if (stage.reduces() || stage.init.defined() || stage.values.size() != 1) return false;
  const StageValue& value = stage.values.front();
  if (!value.target.defined() || !value.value.as<Load>()) return false;
  std::size_t axes = 0;
  for (const Scalar& index : value.indices) {
    if (index.as_int()) continue;
    const auto var = strided_var(index);
    const auto moves = [&](const Scalar& other) { return var && uses_var(other, *var); };
    if (std::count_if(value.indices.begin(), value.indices.end(), moves) != 1) return false;
    axes += std::any_of(stage.axes.begin(), stage.axes.end(),
                        [&](const StageAxis& axis) { return axis.var == *var; });
  }
  return axes == stage.axes.size();
}

// The only stage that stores to the buffer, when that stands before the position.
const Stage* only_writer(const std::vector<Stage>& stages, std::size_t position, const Buffer& buffer) {
  const Stage* writer = nullptr;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (!stores_to(stages[i], buffer)) continue;
    if (writer || i >= position) return nullptr;
    writer = &stages[i];
  }
  return writer;
}

// A stage over all elements of the buffer that copies each to where `indices_of` says.
template <class IndicesOf>
std::optional<Stage> copy_over(const Buffer& from, const Stage& copy, const IndicesOf& indices_of) {
  Stage result = copy;
  result.axes.clear();
  Indices at;
  for (std::size_t d = 0; d < from.shape().size(); ++d) {
    if (from.shape()[d].as_int() == 1) {
      at.push_back(Scalar(0));
      continue;
    }
    result.axes.push_back({ScalarVar(fmt::format("v_i{}", d), DType::Int64), from.shape()[d]});
    at.push_back(use(result.axes.back().var));
  }
  StageValue& value = result.values.front();
  RangeProver prover;
  enter(result, prover);
  auto indices = indices_of(at, prover);
  leave(result, prover);
  if (!indices || !std::all_of(indices->begin(), indices->end(), is_affine)) return std::nullopt;
  value.indices = std::move(*indices);
  value.value = load(from, std::move(at), value.span);
  return result;
}

// A reshape, over the elements of what it reads. None where it does not just join dimensions.
std::optional<Stage> over_joined(const Stage& copy) {
  const StageValue& value = copy.values.front();
  const auto& loaded = *value.value.as<Load>();
  if (loaded.indices.empty() || loaded.buffer->shape().back().as_int().value_or(0) < least_copied_run)
    return std::nullopt;
  const auto from = counted_place(*loaded.buffer, loaded.indices);
  const auto to = place_of(value.target, value.indices);
  if (!from || !to || !prove_equal(*from, *to) ||
      !prove_equal(product(loaded.buffer->shape()), product(value.target.shape())))
    return std::nullopt;
  return copy_over(*loaded.buffer, copy, [&](const Indices& at, RangeProver& prover) {
    std::optional<Indices> indices(value.indices.size());
    std::int64_t stride = 1;
    const auto place = place_of(*loaded.buffer, at);
    if (!place) return std::optional<Indices>();
    for (std::size_t d = indices->size(); d-- > 0;) {
      const std::int64_t extent = *value.target.shape()[d].as_int();
      const Scalar above = without_quotients(floor_div(*place, Scalar(stride)), prover);
      (*indices)[d] = without_quotients(floor_mod(above, Scalar(extent)), prover);
      stride *= extent;
    }
    return indices;
  });
}

// Whether the stage stores to its target by other indices than axes, as a reshape over what it joins.
bool joins_dimensions(const Stage& stage) {
  return stage.copies_elements() &&
         std::any_of(stage.values.front().indices.begin(), stage.values.front().indices.end(),
                     [](const Scalar& index) { return !index.as_var() && !index.as_int(); });
}

// The copy of all that the stage before stores, done by that stage. None where it does not read it by axes of
// its own.
std::optional<Stage> done_by(const Stage& before, const Stage& copy) {
  const auto& loaded = *copy.values.front().value.as<Load>();
  const Indices& stored = before.values.front().indices;
  ScalarMap axes;
  for (std::size_t d = 0; d < stored.size(); ++d) {
    if (loaded.indices[d].as_int() == 0 && stored[d].as_int() == 0) continue;
    const auto var = loaded.indices[d].as_var();
    if (!var || !axes.emplace(var->id(), stored[d]).second) return std::nullopt;
  }
  for (const StageAxis& axis : copy.axes) {
    const auto found = std::find_if(loaded.indices.begin(), loaded.indices.end(), [&](const Scalar& index) {
      return index.as_var() == std::optional(axis.var);
    });
    if (found == loaded.indices.end() || axis.var.dtype() != DType::Int64 ||
        !prove_equal(axis.extent,
                     loaded.buffer->shape()[static_cast<std::size_t>(found - loaded.indices.begin())]))
      return std::nullopt;
  }
  Stage result = fresh_stage(before, {}, {});
  ScalarMap places;
  for (std::size_t i = 0; i < before.axes.size(); ++i)
    places.emplace(before.axes[i].var.id(), use(result.axes[i].var));
  StageValue& value = result.values.front();
  value.target = copy.values.front().target;
  value.indices.clear();
  for (const Scalar& index : copy.values.front().indices)
    value.indices.push_back(substitute(substitute(index, axes), places));
  value.span = copy.values.front().span;
  value.comments = copy.values.front().comments;
  result.name = copy.name;
  result.span = copy.span;
  return result;
}

void drop_unread_copies(std::vector<Stage>& stages, const BufferIds& temporaries) {
  BufferIds read;
  for (const Stage& stage : stages)
    for_each_access(stage, [&](const Buffer& buffer, const std::vector<Scalar>&, bool store) {
      if (!store) read.insert(buffer.id());
    });
  std::erase_if(stages, [&](const Stage& stage) {
    const Buffer& target = stage.values.front().target;
    return joins_dimensions(stage) && temporaries.contains(target.id()) && !read.contains(target.id());
  });
}

}  // namespace

void copy_in_own_places(std::vector<Stage>& stages, const BufferIds& temporaries) {
  bool changed = false;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (!copies_apart(stages[i])) continue;
    const Buffer from = *stages[i].values.front().value.as<Load>()->buffer;
    const Stage* before = temporaries.contains(from.id()) ? only_writer(stages, i, from) : nullptr;
    // What sums, or takes windows, has an order of its own for what it stores.
    if (!before || !(before->maps() || is_contraction(*before))) continue;
    const auto copy = joins_dimensions(*before) ? done_by(*before, stages[i]) : over_joined(stages[i]);
    if (!copy) continue;
    stages[i] = *copy;
    changed = true;
  }
  if (changed) drop_unread_copies(stages, temporaries);
}

}  // namespace relish
