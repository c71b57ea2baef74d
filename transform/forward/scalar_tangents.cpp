// Going up an expression with tangents.
#include "transform/forward/scalar_tangents.h"

#include <optional>

#include "ir/rewriting/rewrite.h"
#include "loops/extremes.h"

namespace relish {
namespace {

// The sum, where undefined is zero.
Scalar plus(const Scalar& a, const Scalar& b) { return !a.defined() ? b : !b.defined() ? a : a + b; }

// The loads that stand for operands, replaced by these.
Scalar with_operands(const Scalar& value, const std::vector<Buffer>& places,
                     const std::vector<Scalar>& operands) {
  return rewrite(value, [&](const Scalar& each) -> std::optional<Scalar> {
    const auto* load = each.as<Load>();
    for (std::size_t i = 0; load && i < places.size(); ++i)
      if (*load->buffer == places[i]) return operands[i];
    return std::nullopt;
  });
}

}  // namespace

const Buffer* ScalarTangents::of_buffer(const Buffer& buffer) const {
  const auto found = buffers_.find(buffer.id());
  return found == buffers_.end() ? nullptr : &found->second;
}

const ScalarVar* ScalarTangents::of_local(const ScalarVar& var) const {
  const auto found = scalars_.find(var.id());
  return found == scalars_.end() ? nullptr : &found->second;
}

Scalar ScalarTangents::of(const Scalar& value) {
  if (!is_float(value.dtype())) return {};
  if (const auto known = known_.find(&value.node()); known != known_.end()) return known->second;
  Scalar made;
  if (const auto* access = value.as<Load>()) {
    if (const Buffer* tangent = of_buffer(*access->buffer))
      made = load(*tangent, access->indices, value.span());
  } else if (const auto* name = value.as<VarUse>()) {
    if (const ScalarVar* tangent = of_local(name->var)) made = use(*tangent, value.span());
  } else if (const auto* node = value.as<Binary>()) {
    made = through(value, {node->a, node->b});
  } else if (const auto* node = value.as<IntrinsicCall>()) {
    made = through(value, node->args);
  } else if (const auto* node = value.as<Cast>()) {
    if (const Scalar inner = of(node->a); inner.defined()) made = cast(value.dtype(), inner, value.span());
  } else if (const auto* node = value.as<Select>()) {
    made = of_select(value, *node);
  } else if (const auto* node = value.as<Let>()) {
    made = of_let(*node);
  } else if (const auto* node = value.as<Reinterpret>()) {
    if (of(node->a).defined()) refused.push_back(value);
  } else if (const auto* node = value.as<ForeignCall>()) {
    for (const Scalar& arg : node->args)
      if (of(arg).defined()) refused.push_back(value);
  }
  known_.emplace(&value.node(), made);
  held_.push_back(value);
  return made;
}

// The node over loads that stand for its operands has partials; each is taken for the operand's tangent.
Scalar ScalarTangents::of_node(const Scalar& value, const std::vector<Scalar>& operands,
                               const Scalar& over_operands, const std::vector<Buffer>& places) {
  ActiveBuffers active;
  std::vector<Scalar> tangents;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    tangents.push_back(of(operands[i]));
    if (tangents.back().defined()) active.insert(places[i].id());
  }
  Scalar sum;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!tangents[i].defined()) continue;
    const ScalarPartials partials = scalar_partials(over_operands, tangents[i], active);
    if (!partials.refused.empty()) {
      refused.push_back(value);
      return {};
    }
    for (const LoadPartial& partial : partials.loads) {
      if (!(*partial.load.as<Load>()->buffer == places[i])) continue;
      Scalar term = with_operands(partial.value, places, operands);
      for (auto it = partial.conditions.rbegin(); it != partial.conditions.rend(); ++it)
        term = select(with_operands(*it, places, operands), term, zero(term.dtype()), value.span());
      sum = plus(sum, term);
    }
  }
  return sum;
}

Scalar ScalarTangents::through(const Scalar& value, const std::vector<Scalar>& operands) {
  std::vector<Buffer> places;
  std::vector<Scalar> loads;
  for (const Scalar& operand : operands) {
    places.emplace_back("operand", operand.dtype(), std::vector<Scalar>{Scalar(1)});
    loads.push_back(load(places.back(), {Scalar(0)}));
  }
  if (const auto* node = value.as<Binary>())
    return of_node(value, operands, binary(node->op, loads[0], loads[1], value.span()), places);
  if (const auto* node = value.as<IntrinsicCall>())
    return of_node(value, operands, intrinsic(node->intrinsic, loads, value.span()), places);
  const auto extreme = as_extreme(*value.as<Select>());
  return of_node(value, operands, extreme->largest ? max(loads[0], loads[1]) : min(loads[0], loads[1]),
                 places);
}

Scalar ScalarTangents::of_select(const Scalar& value, const Select& node) {
  if (const auto extreme = as_extreme(node)) return through(value, {extreme->a, extreme->b});
  const Scalar a = of(node.a), b = of(node.b);
  if (!a.defined() && !b.defined()) return {};
  const Scalar none = zero(value.dtype());
  const Scalar &first = a.defined() ? a : none, &second = b.defined() ? b : none;
  return node.lazy ? if_then_else(node.condition, first, second, value.span())
                   : select(node.condition, first, second, value.span());
}

Scalar ScalarTangents::of_let(const Let& node) {
  const Scalar inner = of(node.value);
  ScalarVar dot;
  if (inner.defined()) {
    dot = ScalarVar(node.var.name() + "_dot", node.var.dtype(), node.var.span());
    set(node.var, dot);
  }
  Scalar body = of(node.body);
  if (!body.defined()) return body;
  if (inner.defined()) body = let(dot, inner, body);
  return let(node.var, node.value, body);
}

}  // namespace relish
