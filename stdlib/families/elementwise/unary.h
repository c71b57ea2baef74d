// The family of elementwise operators of one tensor: a whole operator is one formula, generic over floats and
// loop scalars (families/scalar_math.h), and one slope. Interpreter and lowering share the formula, so
// numbers from outside (tests/numbers) are compulsory for every member.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "stdlib/families/elementwise/domain.h"
#include "stdlib/families/elementwise/integer_math.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"
#include "support/interrupt.h"

namespace relish {

inline constexpr Param unary_params[] = {{"x", ParamKind::Tensor, "tensor", "", "input"}};

namespace unary_family {

using elementwise::Domain;
using elementwise::Result;

// The settings of an operator without attributes that change the formula.
struct NoSettings {};

// Settings are made of a call by the constructor from CallView, once.
template <class Settings>
Settings settings_of(const CallView& call) {
  if constexpr (std::same_as<Settings, NoSettings>)
    return {};
  else
    return Settings(call);
}

// formula(x) or formula(x, settings).
template <class Formula, class Settings, class... Operands>
auto apply(const Settings& settings, const Operands&... operands) {
  if constexpr (std::same_as<Settings, NoSettings>)
    return Formula{}(operands...);
  else
    return Formula{}(operands..., settings);
}

template <Domain domain, Result result, class Settings>
Type infer(const CallView& call) {
  elementwise::require_domain<domain>(call, 0);
  TensorType type = call.tensor(0);
  static_cast<void>(settings_of<Settings>(call));  // which refuses what makes no sense
  if constexpr (result == Result::Bool) type.dtype = DType::Bool;
  return type;
}

template <Domain domain, Result kind, class Settings, class Formula>
Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const Settings settings = settings_of<Settings>(c.call);
  Tensor result = Tensor::empty(kind == Result::Bool ? DType::Bool : x.dtype(), x.shape());
  elementwise::visit<domain>(x.dtype(), [&](auto element) {
    using T = decltype(element);
    using Out = std::conditional_t<kind == Result::Bool, bool, T>;
    const T* source = x.view<T>().data();
    Out* target = result.mutable_view<Out>().data();
    in_polled_parts(x.size(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto value = apply<Formula>(settings, to_compute(source[i]));
        if constexpr (kind == Result::Bool)
          target[i] = value;
        else
          target[i] = from_compute<T>(value);
      }
    });
  });
  return result;
}

template <class Settings, class Formula>
PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Settings settings = settings_of<Settings>(c.call);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  const DType compute = compute_dtype(x.dtype());
  lowering.map("elementwise", result, [&](const Dims& i) -> Scalar {
    return apply<Formula>(settings, lowering.load_as(compute, x, i));
  });
  return lowering.finish();
}

template <class Settings, class Slope>
Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const Settings settings = settings_of<Settings>(c.call);
  return {apply<Slope>(settings, rule.cotangent(), rule.argument(0), rule.result()).expr()};
}

template <Domain domain, Result result, class Settings, class Formula>
constexpr Op without_slope(Op op) {
  if (op.params.empty()) op.params = unary_params;
  op.infer = infer<domain, result, Settings>;
  op.eval = evaluate<domain, result, Settings, Formula>;
  op.lower = lower<Settings, Formula>;
  return op;
}

}  // namespace unary_family

// `op` with its four hooks made of `formula(x)` and of `slope(g, x, y)`, the partial for the cotangent g, the
// input x and the result y. Both are lambdas without captures. With Settings, a structure made of the call's
// attributes, they take it as their last parameter.
template <elementwise::Domain domain = elementwise::Domain::Floats, class Settings = unary_family::NoSettings,
          class Formula, class Slope>
constexpr Op elementwise_unary(Op op, Formula, Slope) {
  op = unary_family::without_slope<domain, elementwise::Result::Same, Settings, Formula>(op);
  op.vjp = unary_family::vjp<Settings, Slope>;
  return op;
}

// An operator whose derivative is zero almost everywhere, for the reason in op.no_gradient; the result has
// the dtype of x or is bool.
template <elementwise::Domain domain, elementwise::Result result = elementwise::Result::Same, class Formula>
constexpr Op flat_unary(Op op, Formula) {
  op = unary_family::without_slope<domain, result, unary_family::NoSettings, Formula>(op);
  op.zero_gradient = true;
  return op;
}

// Declarations that the members on floating tensors share, with texts joined when the program is compiled.
template <std::size_t size>
struct FixedText {
  char characters[size]{};
  consteval FixedText(const char (&text)[size]) { std::copy_n(text, size, characters); }
};
template <FixedText left, FixedText right>
struct JoinedText {
  static constexpr auto characters = [] {
    std::array<char, sizeof left.characters + sizeof right.characters - 2> result{};
    const auto middle = std::copy_n(left.characters, sizeof left.characters - 1, result.begin());
    std::copy_n(right.characters, sizeof right.characters - 1, middle);
    return result;
  }();
  static constexpr std::string_view view{characters.data(), characters.size()};
};

// The refusals of the operator with this short name.
template <FixedText name>
inline constexpr Reject float_rejects[] = {
    {JoinedText<name, ".dtype">::view, "R.const([1, 2], \"int32\")", "expected a floating dtype"},
    {JoinedText<name, ".tensor">::view, "R.shape([2])", "expected a tensor"}};

// `first`, then random numbers in both dtypes and shapes of every kind, moved by `range`: " * 4.0 - 2.0".
template <FixedText range>
constexpr std::array<Sample, 6> float_samples(Sample first) {
  return {first,
          {JoinedText<"rand((2, 3, 4), \"float64\")", range>::view},
          {JoinedText<"rand((0, 3), \"float32\")", range>::view},
          {JoinedText<"rand((), \"float32\")", range>::view},
          {JoinedText<"rand((1, 1), \"float64\")", range>::view},
          {JoinedText<"rand((17,), \"float32\")", range>::view}};
}

}  // namespace relish
