// Gradients of every operator at numbers whose exponentials, powers and squares leave float32: what is finite
// in float64 is so in float32, in both tiers, with nearly the same value; and a gradient is NaN only where
// the function itself is no number. So the slopes of slopes.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "ir/calls/entry.h"
#include "tests/ops/second_case.h"

namespace relish::testing {
namespace {

constexpr float extreme_numbers[] = {1e4F, -1e4F, 88, -88, 1e-30F, -1e-30F, 0};
constexpr std::size_t count_of_extremes = std::size(extreme_numbers);
constexpr float factors[] = {1e4F, 88, 1e-30F, 0};  // of a whole sample
constexpr std::int64_t most_elements = 64;
// Second derivatives are products of two slopes, one of which may leave float32 where they do not yet.
constexpr double largest_second = 1e24;

// Where what float64 says is no measure, and why; `partial`: of one operand alone.
struct Exception {
  std::string_view op, reason;
  std::optional<std::size_t> partial = std::nullopt;
};
constexpr std::string_view no_epsilon = "its samples have no epsilon, which keeps squares of float32 from 0";
constexpr Exception exceptions[] = {
    {"nn.batch_norm", no_epsilon},    {"nn.group_norm", no_epsilon},
    {"nn.instance_norm", no_epsilon}, {"nn.layer_norm", no_epsilon},
    {"nn.rms_norm", no_epsilon},      {"power", "of a negative base there is no slope for the exponent", 1},
};
bool is_exception(std::string_view op, std::optional<std::size_t> partial = std::nullopt) {
  return std::any_of(std::begin(exceptions), std::end(exceptions),
                     [&](const Exception& each) { return each.op == op && each.partial == partial; });
}

// The same inputs in both dtypes; all values are those of float32.
struct Round {
  std::string name;
  std::vector<Value> narrow, wide;
};

Tensor of_dtype(const Tensor& x, DType dtype) {
  Tensor result = Tensor::empty(dtype, x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i) result.set_double(i, x.get_double(i));
  return result;
}

// Inputs number `wrt` of `base`, changed by value(position among them, element, old value).
template <class F>
Round changed(std::string name, const std::vector<Value>& base, const std::vector<std::size_t>& wrt,
              F&& value) {
  Round round{std::move(name), base, base};
  for (std::size_t k = 0; k < wrt.size(); ++k) {
    Tensor tensor = base[wrt[k]].tensor().copy();
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      tensor.set_double(i, static_cast<float>(value(k, static_cast<std::size_t>(i), tensor.get_double(i))));
    round.narrow[wrt[k]] = tensor;
  }
  for (std::size_t i = 0; i < base.size(); ++i) {
    if (!base[i].is_tensor() || !is_float(base[i].tensor().dtype())) continue;
    round.wide[i] = of_dtype(round.narrow[i].tensor(), DType::Float64);
  }
  return round;
}

// Every element at every extreme; of two operands, every pair of extremes; and the sample as it is, small and
// large.
std::vector<Round> rounds_of(const std::vector<Value>& base, const std::vector<std::size_t>& wrt) {
  std::vector<Round> rounds;
  const std::size_t pairs = wrt.size() == 2 ? count_of_extremes : 1;
  for (std::size_t r = 0; r < count_of_extremes * pairs; ++r) {
    const auto turn = [&](std::size_t k) {
      if (k == 0) return r % count_of_extremes;
      return pairs > 1 ? r % count_of_extremes + r / count_of_extremes : r + 3 * k;
    };
    rounds.push_back(
        changed(fmt::format("extremes {}", r), base, wrt, [&](std::size_t k, std::size_t i, double) {
          return extreme_numbers[(i + turn(k)) % count_of_extremes];
        }));
  }
  for (const float factor : factors)
    rounds.push_back(changed(fmt::format("times {}", factor), base, wrt,
                             [&](std::size_t, std::size_t, double old) { return old * factor; }));
  return rounds;
}

double largest_of(const Tensor& x) {
  double largest = 0;
  for (std::int64_t i = 0; i < x.size(); ++i)
    if (std::isfinite(x.get_double(i))) largest = std::max(largest, std::abs(x.get_double(i)));
  return largest;
}

// Whether a number of float32 is what float64 says, up to the rounding of terms that cancel.
// Numbers beyond `limit` need not be finite.
bool is_near(double narrow, double wide, double largest, double limit) {
  if (std::abs(wide) > limit && std::isinf(narrow)) return true;
  if (std::abs(wide) > 3e38) return !std::isfinite(narrow) || std::abs(narrow) > 1e38;
  return std::abs(narrow - wide) <= 1e-3 * std::abs(wide) + 1e-5 * std::max(1.0, largest);
}

// The floating tensors of a value, in order.
std::vector<Tensor> tensors_of(const Value& value) {
  std::vector<Tensor> result;
  const auto add = [&](const Value& each) {
    if (each.is_tensor() && is_float(each.tensor().dtype())) result.push_back(each.tensor());
  };
  if (value.is_tensor())
    add(value);
  else
    for (const Value& field : value.fields()) add(field);
  return result;
}

// The first element that is wrong, in words; empty when none is. `regular` tells where the function is a
// number.
template <class Regular>
std::string fault_of(std::string_view op, double limit, const std::vector<Tensor>& interpreted,
                     const std::vector<Tensor>& compiled, const std::vector<Tensor>& wide,
                     Regular&& regular) {
  for (std::size_t k = 0; k < wide.size(); ++k) {
    if (is_exception(op, k)) continue;
    const double largest = largest_of(wide[k]);
    for (std::int64_t i = 0; i < wide[k].size(); ++i) {
      if (!regular(i)) continue;
      const double exact = wide[k].get_double(i), one = interpreted[k].get_double(i),
                   other = compiled[k].get_double(i);
      if (!std::isnan(exact) && is_near(one, exact, largest, limit) && is_near(other, exact, largest, limit))
        continue;
      return fmt::format("partial {} element {}: float64 {}, float32 interpreted {}, compiled {}", k, i,
                         exact, one, other);
    }
  }
  return "";
}

std::vector<Tensor> partials_of(Evaluator& engine, const ModulePtr& module, const std::string& function,
                                const std::vector<Value>& inputs) {
  std::vector<Tensor> tensors;
  const Value result = engine.call(module, function, inputs);
  for (const Value& field : result.fields().at(1).fields()) tensors.push_back(field.tensor());
  return tensors;
}

bool is_number(double value) { return std::abs(value) < 3e38; }

bool all_numbers(const Tensor& x) {
  for (std::int64_t i = 0; i < x.size(); ++i)
    if (!is_number(x.get_double(i))) return false;
  return true;
}

// The gradients of one call, in both dtypes.
struct Slopes {
  const Op* op;
  BuiltCall call;  // in float64
  GradientCase narrow, wide;
  std::optional<SecondCase> second_narrow, second_wide;
};

Slopes slopes_of(const OperatorCase& wide_case) {
  Slopes result{wide_case.op,
                build_call(wide_case),
                gradient_case(*with_dtype(wide_case, DType::Float32)),
                gradient_case(wide_case),
                std::nullopt,
                std::nullopt};
  if (result.wide.wrt.size() <= 2 && result.call.values.size() <= 2) {
    result.second_narrow = second_case(result.narrow);
    result.second_wide = second_case(result.wide);
  }
  return result;
}

// What goes wrong in one round.
std::string fault_in(const Slopes& slopes, const Round& round) {
  const GradientCase &narrow = slopes.narrow, &wide = slopes.wide;
  const std::vector<Value> arguments(
      round.wide.begin(), round.wide.begin() + static_cast<std::ptrdiff_t>(slopes.call.params.size()));
  const std::vector<Tensor> values = tensors_of(interpreter().call(slopes.call.module, "main", arguments));
  const bool all = std::all_of(values.begin(), values.end(), all_numbers);
  const bool elementwise =
      values.size() == 1 && std::all_of(wide.wrt.begin(), wide.wrt.end(), [&](std::size_t i) {
        return round.wide[i].tensor().shape() == values[0].shape();
      });
  const auto regular = [&](std::int64_t i) { return elementwise ? is_number(values[0].get_double(i)) : all; };
  const std::vector<Tensor> first = partials_of(interpreter(), wide.module, "main_adjoint", round.wide);
  const std::string fault =
      fault_of(slopes.op->name, 3e38, partials_of(interpreter(), narrow.module, "main_adjoint", round.narrow),
               partials_of(jit(1), narrow.module, "main_adjoint", round.narrow), first, regular);
  if (!fault.empty() || !slopes.second_wide) return fault;

  // A slope is a function too: its own slope is a number where it is one.
  const SecondCase &second_narrow = *slopes.second_narrow, &second_wide = *slopes.second_wide;
  std::vector<Value> narrow_inputs = round.narrow, wide_inputs = round.wide;
  for (std::size_t i = round.narrow.size(); i < second_narrow.inputs.size(); ++i) {
    narrow_inputs.push_back(second_narrow.inputs[i]);
    wide_inputs.emplace_back(of_dtype(second_narrow.inputs[i].tensor(), DType::Float64));
  }
  const bool finite = std::all_of(first.begin(), first.end(), all_numbers);
  const auto smooth = [&](std::int64_t i) {
    return regular(i) &&
           (elementwise ? std::all_of(first.begin(), first.end(),
                                      [&](const Tensor& slope) { return is_number(slope.get_double(i)); })
                        : finite);
  };
  // Compiling takes most of the time: what goes element by element, where the two tiers have one formula.
  Evaluator& other = elementwise ? jit(1) : interpreter();
  const std::string answer =
      fault_of(slopes.op->name, largest_second,
               partials_of(interpreter(), second_narrow.module, "slope_adjoint", narrow_inputs),
               partials_of(other, second_narrow.module, "slope_adjoint", narrow_inputs),
               partials_of(interpreter(), second_wide.module, "slope_adjoint", wide_inputs), smooth);
  return answer.empty() ? "" : "second derivative, " + answer;
}

// The first small sample with elements, in float64.
std::optional<OperatorCase> small_case(const Op& op) {
  for (const Sample& sample : op.samples) {
    if (!sample.check_gradient) continue;
    std::optional<OperatorCase> wide = float64_case(op, sample, fmt::format("{}: {}", op.name, sample.args));
    if (!wide) continue;
    const std::vector<const Tensor*> tensors = std::as_const(*wide).tensors();
    if (std::all_of(tensors.begin(), tensors.end(),
                    [](const Tensor* x) { return x->size() > 0 && x->size() <= most_elements; }))
      return wide;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("gradients at large, tiny and no input are those of float64", "[ops][extreme_inputs]") {
  for (const Op* op : operators_under_test()) {
    if (!op->vjp || is_exception(op->name)) continue;
    const std::optional<OperatorCase> wide_case = small_case(*op);
    if (!wide_case) continue;
    INFO(wide_case->label);
    try {
      const Slopes slopes = slopes_of(*wide_case);
      for (const Round& round : rounds_of(slopes.narrow.inputs, slopes.narrow.wrt)) {
        INFO(round.name);
        CHECK(fault_in(slopes, round) == "");
      }
    } catch (const Failure& failure) {
      const Diagnostic& diagnostic = failure.diagnostics().front();
      FAIL_CHECK(diagnostic.message << " [" << diagnostic.id << "]");
    }
  }
}

}  // namespace relish::testing
