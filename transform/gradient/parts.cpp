// Gathering and scattering.
#include "transform/gradient/parts.h"

#include <algorithm>
#include <optional>

#include "ir/rewriting/rewrite.h"
#include "loops/accesses.h"
#include "loops/digits.h"
#include "loops/faults.h"
#include "loops/range_prover.h"

namespace relish {
namespace {

// Indices and comparisons of integers in canonical form.
Scalar tidy(const Scalar& scalar) {
  return rewrite(scalar, [](const Scalar& each) -> std::optional<Scalar> {
    if (const auto* access = each.as<Load>()) {
      std::vector<Scalar> indices;
      for (const Scalar& index : access->indices) indices.push_back(rejoined(index));
      return load(*access->buffer, std::move(indices), each.span());
    }
    const auto* sides = each.as<Compare>();
    if (!sides || !is_int(sides->a.dtype()) || !is_int(sides->b.dtype())) return std::nullopt;
    return compare(sides->op, rejoined(sides->a), rejoined(sides->b), each.span());
  });
}

// Whether the condition, or each part of it, is known to hold.
bool holds(const Scalar& condition, RangeProver& prover) {
  if (const auto value = condition.as_int()) return *value != 0;
  if (const auto* both = condition.as<Logical>())
    return both->op == LogicalOp::And && holds(both->a, prover) && holds(both->b, prover);
  const auto* sides = condition.as<Compare>();
  if (!sides || !is_int(sides->a.dtype()) || !is_int(sides->b.dtype())) return false;
  const Scalar difference = canonical(sides->a - sides->b);
  const Scalar none = int_literal(difference.dtype(), 0), one = int_literal(difference.dtype(), 1);
  const auto shown = [&](const Scalar& value) { return prover.nonnegative(canonical(value)); };
  switch (sides->op) {
    case CompareOp::Ge:
      return shown(difference);
    case CompareOp::Gt:
      return shown(difference - one);
    case CompareOp::Le:
      return shown(none - difference);
    case CompareOp::Lt:
      return shown(none - difference - one);
    case CompareOp::Eq:
      return shown(difference) && shown(none - difference);
    case CompareOp::Ne:
      return false;
  }
  return false;
}

Part gathered(const Targets& targets, const Inversion& inversion, const std::vector<Scalar>& conditions,
              const Scalar& value) {
  RangeProver prover;
  for (const DomainAxis& axis : targets.axes) {
    std::vector<ScalarVar> dims;
    collect_vars(axis.extent, dims);
    for (const ScalarVar& dim : dims) prover.assume_dimension(dim);
  }
  for (const DomainAxis& axis : targets.axes) prover.enter_loop(axis.var, axis.begin, axis.extent);
  for (const DomainAxis& axis : inversion.free) prover.enter_loop(axis.var, axis.begin, axis.extent);
  Part part;
  part.reduce = inversion.free;
  part.value = tidy(substitute(value, inversion.at));
  Scalar all;
  const auto require = [&](const Scalar& condition) {
    if (holds(condition, prover)) return;
    all = all.defined() ? logical(LogicalOp::And, all, condition) : condition;
  };
  for (const Scalar& condition : inversion.conditions) require(condition);
  for (const Scalar& condition : conditions) require(tidy(substitute(condition, inversion.at)));
  if (all.defined()) part.value = if_then_else(all, part.value, zero(part.value.dtype()));
  return part;
}

// Gathering runs over all elements times the free axes, at once and past those that are none, as between
// the steps of a stride; scattering over the iterations, one by one. Sizes that only the run knows count as
// one number, which tells the two apart where they differ by what is known.
bool worth_gathering(const Buffer& buffer, const Assignment& reader, const Inversion& inversion) {
  constexpr double unknown_size = 64, most_rounds_of_one = 16;
  bool known = true;
  const auto size = [&](const Scalar& extent) {
    const auto number = canonical(extent).as_int();
    known = known && number;
    return number ? static_cast<double>(*number) : unknown_size;
  };
  double elements = 1, iterations = 1;
  for (const Scalar& dim : buffer.shape()) elements *= size(dim);
  double rounds = elements;
  for (const DomainAxis& axis : inversion.free) rounds *= size(axis.extent);
  for (const DomainAxis& axis : reader.loops) iterations *= size(axis.extent);
  if (rounds > most_rounds_of_one * (elements + iterations)) return false;
  return known || !inversion.sparse || inversion.free.empty();
}

// Whether a bound of a free axis may fail for elements that no iteration reads: the loops of a gathered part
// run over all of them, and what tells them apart stands inside.
bool has_unsafe_bounds(const Targets& targets, const Inversion& inversion) {
  if (inversion.conditions.empty()) return false;
  RangeProver prover;
  for (const DomainAxis& axis : targets.axes) prover.enter_loop(axis.var, axis.begin, axis.extent);
  for (const DomainAxis& axis : inversion.free) {
    if (may_fault(axis.begin, prover) || may_fault(axis.extent, prover)) return true;
    prover.enter_loop(axis.var, axis.begin, axis.extent);
  }
  return false;
}

}  // namespace

Targets targets_over(const Buffer& buffer) {
  Targets targets;
  for (std::size_t i = 0; i < buffer.shape().size(); ++i) {
    const Scalar& size = buffer.shape()[i];
    targets.vars.emplace_back("i" + std::to_string(i), size.dtype());
    targets.axes.push_back({targets.vars.back(), int_literal(size.dtype(), 0), size});
  }
  return targets;
}

Part part_of(const Assignment& reader, const LoadPartial& partial, const Targets& targets) {
  const auto* read = partial.load.as<Load>();
  const Buffer& buffer = *read->buffer;
  std::vector<Scalar> conditions;
  for (const Guard& guard : reader.guards) conditions.push_back(guard.condition);
  conditions.insert(conditions.end(), partial.conditions.begin(), partial.conditions.end());
  const auto inversion = invert(read->indices, targets.vars, buffer.shape(), reader.loops);
  if (!inversion || !worth_gathering(buffer, reader, *inversion) || has_unsafe_bounds(targets, *inversion))
    return {{}, partial.value, &reader, read->indices, std::move(conditions)};
  // The element that was read has the targets as its indices.
  const auto known = [&](const Scalar& each) -> std::optional<Scalar> {
    const auto* load = each.as<Load>();
    if (!load || !(*load->buffer == buffer) || !same_indices(load->indices, read->indices))
      return std::nullopt;
    return relish::load(buffer, std::vector<Scalar>(targets.vars.begin(), targets.vars.end()), each.span());
  };
  for (Scalar& condition : conditions) condition = rewrite(condition, known);
  return gathered(targets, *inversion, conditions, rewrite(partial.value, known));
}

NestStore scattered(const Part& part, const Buffer& into) {
  NestStore nest;
  nest.name = into.name();
  nest.reduce = part.scattered->loops;
  nest.conditions = part.conditions;
  nest.buffer = into;
  nest.indices = part.indices;
  nest.value = load(into, part.indices) + part.value;
  nest.span = part.scattered->span;
  return nest;
}

NestStore filled(const Buffer& buffer, const Scalar& value, Span span) {
  NestStore nest;
  nest.name = buffer.name();
  nest.spatial = targets_over(buffer).axes;
  for (const DomainAxis& axis : nest.spatial) nest.indices.push_back(use(axis.var));
  nest.buffer = buffer;
  nest.value = value;
  nest.span = span;
  return nest;
}

std::vector<LoadPartial> joined(std::vector<LoadPartial> partials) {
  std::vector<LoadPartial> result;
  for (LoadPartial& each : partials) {
    const auto& indices = each.load.as<Load>()->indices;
    const auto known = std::find_if(result.begin(), result.end(), [&](const LoadPartial& other) {
      return *other.load.as<Load>()->buffer == *each.load.as<Load>()->buffer &&
             same_indices(other.load.as<Load>()->indices, indices) &&
             same_indices(other.conditions, each.conditions);
    });
    if (known == result.end())
      result.push_back(std::move(each));
    else
      known->value = known->value + each.value;
  }
  return result;
}

}  // namespace relish
