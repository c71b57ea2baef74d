// The chain rule over scalar expressions. A cotangent goes down the tree; selects put their condition on the
// way, so what is not taken is never computed backwards (0 times infinity would be NaN).
#include "transform/gradient/scalar_partials.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <unordered_map>

#include "loops/extremes.h"

namespace relish {
namespace {

Scalar number(const Scalar& like, double value) { return float_literal(like.dtype(), value); }

Scalar call(Intrinsic which, const Scalar& a) { return intrinsic(which, {a}); }
Scalar call(Intrinsic which, const Scalar& a, const Scalar& b) { return intrinsic(which, {a, b}); }

Scalar square(const Scalar& a) { return a * a; }

// c * factor, where a cotangent of one stays out.
Scalar times(const Scalar& c, const Scalar& factor) {
  const auto* literal = c.as<FloatLiteral>();
  return literal && literal->value == 1 ? factor : c * factor;
}

Scalar negated(const Scalar& c) { return number(c, 0) - c; }

// One if a > 0, minus one if a < 0, else zero.
Scalar sign(const Scalar& a) {
  return select(a > number(a, 0), number(a, 1), select(a < number(a, 0), number(a, -1), number(a, 0)));
}

// What an intrinsic of one operand gives to it; undefined: nothing, it is constant almost everywhere.
// Nothing at all: it has no derivative.
std::optional<Scalar> unary_partial(Intrinsic which, const Scalar& x, const Scalar& c) {
  const Scalar one = number(x, 1);
  switch (which) {
    case Intrinsic::Exp:
      return times(c, call(Intrinsic::Exp, x));
    case Intrinsic::Exp2:
      return times(c, call(Intrinsic::Exp2, x) * number(x, std::numbers::ln2));
    case Intrinsic::Exp10:
      return times(c, call(Intrinsic::Exp10, x) * number(x, std::numbers::ln10));
    case Intrinsic::Expm1:
      return times(c, call(Intrinsic::Exp, x));
    case Intrinsic::Log:
      return c / x;
    case Intrinsic::Log2:
      return c / (x * number(x, std::numbers::ln2));
    case Intrinsic::Log10:
      return c / (x * number(x, std::numbers::ln10));
    case Intrinsic::Log1p:
      return c / (one + x);
    case Intrinsic::Sqrt:
      return c / (number(x, 2) * call(Intrinsic::Sqrt, x));
    case Intrinsic::Rsqrt:
      return times(c, number(x, -0.5) * call(Intrinsic::Rsqrt, x) / x);
    case Intrinsic::Tanh:
      return times(c, one - square(call(Intrinsic::Tanh, x)));
    case Intrinsic::Sigmoid:
      return times(c, call(Intrinsic::Sigmoid, x) * (one - call(Intrinsic::Sigmoid, x)));
    case Intrinsic::Erf:
      return times(
          c, number(x, 2 / std::sqrt(std::numbers::pi)) * call(Intrinsic::Exp, number(x, 0) - square(x)));
    case Intrinsic::Sin:
      return times(c, call(Intrinsic::Cos, x));
    case Intrinsic::Cos:
      return negated(times(c, call(Intrinsic::Sin, x)));
    case Intrinsic::Tan:
      return times(c, one + square(call(Intrinsic::Tan, x)));
    case Intrinsic::Asin:
      return c / call(Intrinsic::Sqrt, one - square(x));
    case Intrinsic::Acos:
      return negated(c / call(Intrinsic::Sqrt, one - square(x)));
    case Intrinsic::Atan:
      return c / (one + square(x));
    case Intrinsic::Sinh:
      return times(c, call(Intrinsic::Cosh, x));
    case Intrinsic::Cosh:
      return times(c, call(Intrinsic::Sinh, x));
    case Intrinsic::Asinh:
      return c / call(Intrinsic::Sqrt, square(x) + one);
    case Intrinsic::Acosh:
      return c / call(Intrinsic::Sqrt, square(x) - one);
    case Intrinsic::Atanh:
      return c / (one - square(x));
    case Intrinsic::Abs:
      return times(c, sign(x));
    case Intrinsic::Floor:
    case Intrinsic::Ceil:
    case Intrinsic::Round:
    case Intrinsic::Trunc:
      return Scalar();
    default:
      return std::nullopt;
  }
}

class PartialsWalk {
 public:
  PartialsWalk(const ActiveBuffers& active, ScalarPartials& into) : active_(active), into_(into) {}

  void walk(const Scalar& value, const Scalar& c) {
    if (!is_active(value)) return;
    if (value.as<Load>()) {
      into_.loads.push_back({value, conditions_, c});
    } else if (const auto* node = value.as<Binary>()) {
      binary_node(value, *node, c);
    } else if (const auto* node = value.as<Select>()) {
      if (const auto extreme = as_extreme(*node))
        return of_extreme(extreme->largest, extreme->a, extreme->b, c);
      under(node->condition, node->a, c);
      if (is_active(node->b)) under(logical_not(node->condition), node->b, c);
    } else if (const auto* node = value.as<Cast>()) {
      walk(node->a, cast(node->a.dtype(), c));
    } else if (const auto* node = value.as<Let>()) {
      walk(substitute(node->body, {{node->var.id(), node->value}}), c);
    } else if (const auto* node = value.as<IntrinsicCall>()) {
      intrinsic_node(value, *node, c);
    } else {
      into_.refused.push_back(value);
    }
  }

  bool is_active(const Scalar& value) {
    if (!is_float(value.dtype())) return false;
    const auto known = known_.find(&value.node());
    if (known != known_.end()) return known->second;
    bool active = false;
    if (const auto* load = value.as<Load>()) {
      active = active_.contains(load->buffer->id());
    } else if (const auto* node = value.as<Binary>()) {
      active = is_active(node->a) || is_active(node->b);
    } else if (const auto* node = value.as<Select>()) {
      active = is_active(node->a) || is_active(node->b);
    } else if (const auto* node = value.as<Cast>()) {
      active = is_active(node->a);
    } else if (const auto* node = value.as<Reinterpret>()) {
      active = is_active(node->a);
    } else if (const auto* node = value.as<Let>()) {
      active = is_active(node->body) || is_active(node->value);
    } else if (const auto* node = value.as<IntrinsicCall>()) {
      active = std::any_of(node->args.begin(), node->args.end(),
                           [&](const Scalar& arg) { return is_active(arg); });
    } else if (const auto* node = value.as<ForeignCall>()) {
      active = std::any_of(node->args.begin(), node->args.end(),
                           [&](const Scalar& arg) { return is_active(arg); });
    }
    known_.emplace(&value.node(), active);
    return active;
  }

 private:
  void under(const Scalar& condition, const Scalar& value, const Scalar& c) {
    conditions_.push_back(condition);
    walk(value, c);
    conditions_.pop_back();
  }

  void binary_node(const Scalar& value, const Binary& node, const Scalar& c) {
    const Scalar &a = node.a, &b = node.b;
    switch (node.op) {
      case BinaryOp::Add:
        walk(a, c);
        return walk(b, c);
      case BinaryOp::Sub:
        walk(a, c);
        if (is_active(b)) walk(b, negated(c));
        return;
      case BinaryOp::Mul:
        if (is_active(a)) walk(a, times(c, b));
        if (is_active(b)) walk(b, times(c, a));
        return;
      case BinaryOp::Div:
        if (is_active(a)) walk(a, c / b);
        if (is_active(b)) walk(b, negated(times(c, a)) / square(b));
        return;
      case BinaryOp::FloorMod:
      case BinaryOp::TruncMod:
        walk(a, c);
        if (is_active(b)) {
          const Scalar whole =
              call(node.op == BinaryOp::FloorMod ? Intrinsic::Floor : Intrinsic::Trunc, a / b);
          walk(b, negated(times(c, whole)));
        }
        return;
      case BinaryOp::FloorDiv:
        return;  // constant almost everywhere
      case BinaryOp::Max:
      case BinaryOp::Min:
        return of_extreme(node.op == BinaryOp::Max, a, b, c);
      default:
        into_.refused.push_back(value);
    }
  }

  // The larger (smaller) of two: ties are split evenly; beside a number nothing comes through at a tie, so
  // that T.max(x, 0) has the slope of relu.
  void of_extreme(bool largest, const Scalar& a, const Scalar& b, const Scalar& c) {
    const CompareOp better = largest ? CompareOp::Gt : CompareOp::Lt;
    const bool both = is_active(a) && is_active(b);
    const auto one = [&](const Scalar& side, const Scalar& other) {
      if (!is_active(side)) return;
      if (!both) return under(compare(better, side, other), side, c);
      const Scalar half = times(c, number(c, 0.5));
      under(logical_not(compare(better, other, side)), side,
            select(compare(CompareOp::Eq, side, other), half, c));
    };
    one(a, b);
    one(b, a);
  }

  void intrinsic_node(const Scalar& value, const IntrinsicCall& node, const Scalar& c) {
    const std::vector<Scalar>& args = node.args;
    switch (node.intrinsic) {
      case Intrinsic::Pow: {
        const Scalar &x = args[0], &y = args[1];
        if (is_active(x)) walk(x, times(c, y * call(Intrinsic::Pow, x, y - number(y, 1))));
        if (is_active(y)) walk(y, times(c, value * call(Intrinsic::Log, x)));
        return;
      }
      case Intrinsic::Atan2: {
        const Scalar &y = args[0], &x = args[1];
        const Scalar length = square(x) + square(y);
        if (is_active(y)) walk(y, times(c, x) / length);
        if (is_active(x)) walk(x, negated(times(c, y)) / length);
        return;
      }
      case Intrinsic::Hypot:
        for (const Scalar& arg : args)
          if (is_active(arg)) walk(arg, times(c, arg) / value);
        return;
      case Intrinsic::Copysign: {
        // |a| with the sign of b.
        const Scalar one = number(value, 1);
        if (is_active(args[0]))
          walk(args[0], times(c, call(Intrinsic::Copysign, one, args[1]) * sign(args[0])));
        return;
      }
      case Intrinsic::Fma:
        if (is_active(args[0])) walk(args[0], times(c, args[1]));
        if (is_active(args[1])) walk(args[1], times(c, args[0]));
        return walk(args[2], c);
      case Intrinsic::Ldexp:
        return walk(args[0], call(Intrinsic::Ldexp, c, args[1]));
      default:
        break;
    }
    const auto partial = args.size() == 1 ? unary_partial(node.intrinsic, args[0], c) : std::nullopt;
    if (!partial)
      into_.refused.push_back(value);
    else if (partial->defined())
      walk(args[0], *partial);
  }

  const ActiveBuffers& active_;
  ScalarPartials& into_;
  std::vector<Scalar> conditions_;
  std::unordered_map<const ScalarNode*, bool> known_;
};

}  // namespace

ScalarPartials scalar_partials(const Scalar& value, const Scalar& cotangent, const ActiveBuffers& active) {
  ScalarPartials partials;
  PartialsWalk(active, partials).walk(value, cotangent);
  return partials;
}

bool depends_on_active(const Scalar& value, const ActiveBuffers& active) {
  ScalarPartials none;
  return PartialsWalk(active, none).is_active(value);
}

}  // namespace relish
