// The rules, one function each, and the table that says of which operators they speak.
#include "transform/simplify.h"

#include <array>
#include <functional>
#include <optional>
#include <string_view>

#include "ir/operators/op.h"
#include "ir/verify/verify.h"
#include "transform/binding_replacer.h"
#include "transform/dead_code.h"

namespace relish {
namespace {

using ValueOf = std::function<Expr(const Expr&)>;

// One call, and what its operands are bound to.
struct Seen {
  const OpCall& call;
  const Expr& written;
  const ValueOf& value_of;

  const Expr& arg(std::size_t i) const { return call.args[i]; }
  // The call that an operand is bound to, when it is one of `op`; else null. Valid as long as `held`.
  const OpCall* bound_call(const Expr& leaf, std::string_view op, Expr& held) const {
    held = value_of(leaf);
    const auto* inner = held.as<OpCall>();
    return inner && (op.empty() || inner->op->name == op) ? inner : nullptr;
  }
};

// A rule gives a leaf, another call, or nothing.
using Rule = Expr (*)(const Seen&);

std::optional<int> zero_or_one(double number) {
  if (number == 0) return 0;
  if (number == 1) return 1;
  return std::nullopt;
}

// The number that all elements of the leaf are, 0 or 1 (which are the same in every dtype, so that casts need
// no thought), where that is seen without looking at many elements.
std::optional<int> number_of(const Seen& seen, const Expr& leaf) {
  Expr held = leaf;
  constexpr int deepest = 8;
  for (int depth = 0; depth < deepest; ++depth) {
    if (const auto* number = held.as<Constant>())
      return number->value.size() == 1 ? zero_or_one(number->value.get_double(0)) : std::nullopt;
    if (const auto* scalar = held.as<ScalarValueExpr>()) {
      if (const auto integer = scalar->value.as_int()) return zero_or_one(static_cast<double>(*integer));
      const auto* real = scalar->value.as<FloatLiteral>();
      return real ? zero_or_one(real->value) : std::nullopt;
    }
    const auto* call = held.as<OpCall>();
    if (call) {
      const std::string_view op = call->op->name;
      if (op == "zeros" || op == "zeros_like") return 0;
      if (op == "ones" || op == "ones_like") return 1;
      if (op == "broadcast_to" || op == "astype")
        held = call->args[0];
      else if (op == "full" || op == "full_like")
        held = call->args[1];
      else
        return std::nullopt;
      continue;
    }
    held = seen.value_of(held);
    if (!held.defined()) return std::nullopt;
  }
  return std::nullopt;
}

bool is_number(const Seen& seen, const Expr& leaf, int number) { return number_of(seen, leaf) == number; }

Expr without_zero(const Seen& seen) {
  if (is_number(seen, seen.arg(1), 0)) return seen.arg(0);
  return is_number(seen, seen.arg(0), 0) ? seen.arg(1) : Expr();
}
Expr without_zero_behind(const Seen& seen) { return is_number(seen, seen.arg(1), 0) ? seen.arg(0) : Expr(); }
Expr without_one(const Seen& seen) {
  if (is_number(seen, seen.arg(1), 1)) return seen.arg(0);
  return is_number(seen, seen.arg(0), 1) ? seen.arg(1) : Expr();
}
Expr without_one_behind(const Seen& seen) { return is_number(seen, seen.arg(1), 1) ? seen.arg(0) : Expr(); }

// The same operator twice undoes itself.
Expr taken_back(const Seen& seen) {
  Expr held;
  const OpCall* inner = seen.bound_call(seen.arg(0), seen.call.op->name, held);
  return inner ? inner->args[0] : Expr();
}

// Of truth values alone: the logical_not of any other number is a truth value in its dtype.
Expr taken_back_of_bools(const Seen& seen) {
  const TensorType* type = seen.written.type().tensor();
  return type && type->dtype && is_bool(*type->dtype) ? taken_back(seen) : Expr();
}

// From the dimensions of the result to those of the operand.
std::optional<std::vector<std::int64_t>> order_of(const OpCall& transpose) {
  const TensorType* type = transpose.args[0].type().tensor();
  if (!type || type->rank < 0) return std::nullopt;
  const Attribute* axes = find_attribute(transpose.attributes, "axes");
  std::vector<std::int64_t> order;
  if (axes && !axes->is_none()) {
    order = int_list(*axes);
    for (std::int64_t& axis : order)
      if (axis < 0) axis += type->rank;
  } else {
    for (int i = type->rank; i-- > 0;) order.push_back(i);
  }
  return order;
}

Expr one_transpose(const Seen& seen) {
  const auto outer = order_of(seen.call);
  if (!outer) return {};
  std::vector<std::int64_t> order = *outer;
  Expr from = seen.arg(0), held;
  const OpCall* inner = seen.bound_call(from, "permute_dims", held);
  if (const auto before = inner ? order_of(*inner) : std::nullopt) {
    for (std::int64_t& axis : order) axis = (*before)[static_cast<std::size_t>(axis)];
    from = inner->args[0];
  }
  bool stays = true;
  AttributeList axes;
  for (std::size_t i = 0; i < order.size(); ++i) {
    stays = stays && order[i] == static_cast<std::int64_t>(i);
    axes.emplace_back(order[i]);
  }
  if (stays) return from;
  if (!inner) return {};
  return op_call("permute_dims", {from}, {{"axes", Attribute(std::move(axes))}}, seen.written.span());
}

bool keeps_order(std::string_view op) {
  return op == "reshape" || op == "flatten" || op == "expand_dims" || op == "squeeze";
}

// The elements stay in their order: only the last shape counts.
Expr one_reshape(const Seen& seen) {
  if (same_type(seen.arg(0).type(), seen.written.type())) return seen.arg(0);
  Expr held;
  const OpCall* inner = seen.bound_call(seen.arg(0), "", held);
  const TensorType* type = seen.written.type().tensor();
  if (!inner || !keeps_order(inner->op->name) || !type || !type->shape) return {};
  const Expr& from = inner->args[0];
  if (same_type(from.type(), seen.written.type())) return from;
  return op_call("reshape", {from, shape_literal(*type->shape, seen.written.span())}, {},
                 seen.written.span());
}

Expr same_shape(const Seen& seen) {
  return same_type(seen.arg(0).type(), seen.written.type()) ? seen.arg(0) : Expr();
}

// Whether every value of `from` is one of `to`.
bool holds_all(DType from, DType to) {
  if (from == to) return true;
  if (is_float(from) && is_float(to)) {
    const bool from_half = size_of(from) == 2, to_wide = size_of(to) > 2;
    return from_half ? to_wide : from == DType::Float32 && to == DType::Float64;
  }
  if (from == DType::Bool) return is_float(to) || is_int(to);
  if (!is_int(from) || !is_int(to)) return false;
  if (is_unsigned_int(from) == is_unsigned_int(to)) return size_of(from) <= size_of(to);
  return is_unsigned_int(from) && size_of(from) < size_of(to);
}

Expr one_cast(const Seen& seen) {
  if (same_type(seen.arg(0).type(), seen.written.type())) return seen.arg(0);
  Expr held;
  const OpCall* inner = seen.bound_call(seen.arg(0), "astype", held);
  if (!inner) return {};
  const Expr& from = inner->args[0];
  const TensorType* first = from.type().tensor();
  const TensorType* between = seen.arg(0).type().tensor();
  if (!first || !between || !first->dtype || !between->dtype || !holds_all(*first->dtype, *between->dtype))
    return {};
  if (same_type(from.type(), seen.written.type())) return from;
  return op_call(*seen.call.op, {from}, seen.call.attributes, seen.written.span());
}

bool same_leaf(const Expr& a, const Expr& b) {
  const Var *x = a.as_var(), *y = b.as_var();
  return x && y && *x == *y;
}

Expr one_choice(const Seen& seen) {
  if (same_leaf(seen.arg(1), seen.arg(2))) return seen.arg(1);
  const std::optional<int> condition = number_of(seen, seen.arg(0));
  if (!condition) return {};
  return *condition != 0 ? seen.arg(1) : seen.arg(2);
}

struct RuleOf {
  std::string_view op;
  Rule rule;
};
constexpr std::array rules = {
    RuleOf{"add", without_zero},
    RuleOf{"subtract", without_zero_behind},
    RuleOf{"multiply", without_one},
    RuleOf{"divide", without_one_behind},
    RuleOf{"power", without_one_behind},
    RuleOf{"negative", taken_back},
    RuleOf{"logical_not", taken_back_of_bools},
    RuleOf{"bitwise_not", taken_back},
    RuleOf{"permute_dims", one_transpose},
    RuleOf{"reshape", one_reshape},
    RuleOf{"flatten", one_reshape},
    RuleOf{"expand_dims", one_reshape},
    RuleOf{"squeeze", one_reshape},
    RuleOf{"broadcast_to", same_shape},
    RuleOf{"astype", one_cast},
    RuleOf{"where", one_choice},
};

class Simplifier : public BindingReplacer {
 protected:
  void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into) override {
    Binding mapped = map(binding);
    // What was a name of a name before stays one.
    if (binding.value().as_var())
      keep(std::move(mapped), into);
    else
      put(std::move(mapped), dataflow, into);
  }

  Expr leave(const Expr& mapped) override {
    Expr now = mapped;
    while (const auto* call = now.as<OpCall>()) {
      const Expr next = by_rule(*call, now);
      if (!next.defined() || !same_type(next.type(), now.type())) break;
      now = next;
    }
    return now;
  }

 private:
  Expr by_rule(const OpCall& call, const Expr& written) const {
    for (const RuleOf& each : rules)
      if (each.op == call.op->name) return each.rule(Seen{call, written, value_of_});
    return {};
  }

  ValueOf value_of_ = [this](const Expr& leaf) { return value_of(leaf); };
};

}  // namespace

Module simplify(const Module& module) {
  Module result = module;
  for (std::size_t i = 0; i < result.functions.size(); ++i) {
    const auto* function = std::get_if<FunctionPtr>(&result.functions[i]);
    if (!function) continue;
    const FunctionPtr mapped = Simplifier().map(*function);
    if (mapped != *function) result.functions.replace(i, eliminate_dead_bindings(mapped));
  }
  verify_after(result, "simplify");
  return result;
}

}  // namespace relish
