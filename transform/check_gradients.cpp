// Difference quotients against the adjoint.
#include "transform/check_gradients.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/calls/entry.h"
#include "ir/nodes/builder.h"
#include "ir/operators/op.h"
#include "support/failure.h"
#include "transform/gradient.h"
#include "transform/rebuild.h"
#include "transform/widen.h"

namespace relish {
namespace {

// Agreement and the steps of differences, by the dtype of the check. A slope over the narrow step is wrong by
// about the step times the curvature, and by the rounding of the result divided by the step.
struct Precision {
  double step, narrow, rtol, atol;
};
Precision precision_of(DType dtype) {
  return dtype == DType::Float64 ? Precision{1e-3, 4e-6, 1e-5, 1e-7} : Precision{1e-2, 2e-3, 1e-2, 1e-3};
}

Value converted(const Value& value, DType dtype) {
  if (!value.is_tensor()) {
    if (!value.is_tuple()) return value;
    std::vector<Value> fields;
    for (const Value& field : value.fields()) fields.push_back(converted(field, dtype));
    return Value::tuple(std::move(fields));
  }
  const Tensor& tensor = value.tensor();
  if (!is_float(tensor.dtype()) || tensor.dtype() == dtype) return value;
  Tensor result = Tensor::empty(dtype, tensor.shape());
  for (std::int64_t i = 0; i < tensor.size(); ++i) result.set_double(i, tensor.get_double(i));
  return result;
}

// Fixed numbers in [-1, 1], none of them near 0.
Tensor cotangent(DType dtype, const Shape& shape) {
  Tensor result = Tensor::empty(dtype, shape);
  for (std::int64_t i = 0; i < result.size(); ++i) {
    const double spread = static_cast<double>((i * 37 + 11) % 101) / 101.0;  // 37 and 101 are coprime
    result.set_double(i, (i % 2 == 0 ? 1 : -1) * (0.1 + 0.9 * spread));
  }
  return result;
}

void collect_floating(const Value& value, std::vector<std::vector<int>>& paths, std::vector<Tensor>& tensors,
                      std::vector<int> path = {}) {
  if (value.is_tensor() && is_float(value.tensor().dtype())) {
    paths.push_back(path);
    tensors.push_back(value.tensor());
  } else if (value.is_tuple()) {
    for (std::size_t i = 0; i < value.fields().size(); ++i) {
      path.push_back(static_cast<int>(i));
      collect_floating(value.fields()[i], paths, tensors, path);
      path.pop_back();
    }
  }
}

// `checked(params…, ct…)` = the sum of the floating results, each times its cotangent.
class Check {
 public:
  Check(const Module& module, std::string_view function, std::vector<Value> arguments, Evaluator& evaluator)
      : evaluator_(evaluator), name_(function) {
    const std::optional<Module> wide = widened(module, function);
    module_ = wide ? *wide : module;
    dtype_ = wide ? DType::Float64 : own_dtype(arguments);
    for (Value& argument : arguments)
      inputs_.push_back(wide ? converted(argument, dtype_) : std::move(argument));
    params_ = relax_function(module_, function)->params;
    weigh();
  }

  GradientCheck run(const GradientCheckOptions& options) {
    GradientCheck result;
    result.dtype = dtype_;
    GradientOptions wanted{options.wrt};
    if (wanted.wrt.empty()) {
      for (const Var& param : params_)
        if (is_floating(param.type())) wanted.wrt.push_back(param.name());
    }
    if (wanted.wrt.empty())
      fail(ErrorClass::Type, relax_function(module_, name_)->span, "gradient.wrt",
           fmt::format("'{}' has no floating parameter to differentiate by", name_));
    const auto adjoint = std::make_shared<const Module>(gradient(*whole_, checked_name, wanted));
    const Value gradients =
        evaluator_.call(adjoint, std::string(checked_name) + "_adjoint", inputs_).fields().at(1);
    for (std::size_t k = 0; k < wanted.wrt.size(); ++k) {
      for (std::size_t i = 0; i < params_.size(); ++i) {
        if (params_[i].name() == wanted.wrt[k]) check(i, gradients.fields().at(k), options, result);
      }
    }
    return result;
  }

 private:
  static constexpr std::string_view checked_name = "checked";

  static bool is_floating(const Type& type) {
    return type.tensor() && type.tensor()->dtype && is_float(*type.tensor()->dtype);
  }

  static DType own_dtype(const std::vector<Value>& arguments) {
    for (const Value& argument : arguments)
      if (argument.is_tensor() && is_float(argument.tensor().dtype())) return argument.tensor().dtype();
    return DType::Float32;
  }

  void weigh() {
    const FunctionPtr function = relax_function(module_, name_);
    const auto plain = std::make_shared<const Module>(module_);
    std::vector<std::vector<int>> paths;
    std::vector<Tensor> results;
    collect_floating(evaluator_.call(plain, name_, inputs_), paths, results);
    if (results.empty())
      fail(ErrorClass::Type, function->span, "gradient.result",
           fmt::format("'{}' gives no floating tensor to differentiate", name_));

    Function checked;
    checked.name = std::string(checked_name);
    checked.params = params_;
    checked.span = function->span;
    FunctionBuilder builder;
    for (const Var& param : params_) builder.reserve_name(param.name());
    builder.set_origin(function->span);
    for (const Tensor& result : results) {
      const Tensor weights = cotangent(result.dtype(), result.shape());
      checked.params.emplace_back(builder.fresh_name("ct"), type_of(Value(weights)));
      inputs_.emplace_back(weights);
    }
    builder.begin_block(true);
    const std::vector<Expr> args(params_.begin(), params_.end());
    const Expr whole = builder.emit(
        function_call(global_ref(GlobalFunction(function), function->span), args, function->span));
    Expr total;
    for (std::size_t k = 0; k < results.size(); ++k) {
      Expr part = whole;
      for (int index : paths[k]) part = builder.emit(tuple_get(part, index, function->span));
      // Shapes that the types do not tell are those of this call.
      const Type& type = checked.params[params_.size() + k].type();
      if (!same_type(part.type(), type)) {
        Binding cast;
        cast.kind = MatchCast{Var(builder.fresh_name("part"), type, true), part, type};
        builder.append(cast);
        part = Expr(cast.var());
      }
      part = builder.call("multiply", {part, Expr(checked.params[params_.size() + k])});
      part = builder.call("sum", {part});
      total = total.defined() ? builder.call("add", {total, part}) : part;
    }
    builder.end_block();
    std::vector<Binding> bindings = builder.take_bindings();
    checked.result_type = total.type();
    close_function(checked, std::move(bindings), total);
    Module with_check = module_;
    with_check.set(std::make_shared<const Function>(std::move(checked)));
    whole_ = std::make_shared<const Module>(std::move(with_check));
  }

  double loss(std::size_t input, const std::vector<double>& direction, double step) {
    std::vector<Value> at = inputs_;
    Tensor moved = at[input].tensor().copy();
    for (std::int64_t i = 0; i < moved.size(); ++i) {
      const double by = direction[static_cast<std::size_t>(i)];
      if (by != 0) moved.set_double(i, moved.get_double(i) + step * by);
    }
    at[input] = moved;
    return evaluator_.call(whole_, checked_name, at).tensor().get_double(0);
  }

  void check(std::size_t input, const Value& gradients, const GradientCheckOptions& options,
             GradientCheck& into) {
    const Tensor& x = inputs_[input].tensor();
    const Tensor& partial = gradients.tensor();
    CheckedParameter parameter{params_[input].name(), x.shape()};
    const auto size = static_cast<std::size_t>(x.size());
    parameter.jacobian = x.size() <= options.most_elements_for_jacobian;
    const std::size_t quotients = size == 0            ? 0
                                  : parameter.jacobian ? size
                                                       : static_cast<std::size_t>(options.directions);
    for (std::size_t q = 0; q < quotients; ++q) {
      std::vector<double> direction(size, 0.0);
      double analytic = 0, scale = 1;
      if (parameter.jacobian) {
        direction[q] = 1;
        scale = std::max(1.0, std::abs(x.get_double(static_cast<std::int64_t>(q))));
        analytic = partial.get_double(static_cast<std::int64_t>(q));
      } else {
        for (std::size_t i = 0; i < size; ++i) {
          direction[i] = static_cast<double>((i * 29 + q * 53 + 7) % 97) / 48.0 - 1.0;
          analytic += direction[i] * partial.get_double(static_cast<std::int64_t>(i));
        }
      }
      compare(parameter, input, direction, scale, analytic,
              parameter.jacobian ? place_of(x.shape(), q) : fmt::format("direction {}", q));
    }
    into.parameters.push_back(std::move(parameter));
  }

  static std::string place_of(const Shape& shape, std::size_t flat) {
    std::vector<std::int64_t> index(shape.size());
    auto left = static_cast<std::int64_t>(flat);
    for (std::size_t i = shape.size(); i-- > 0;) {
      index[i] = left % shape[i];
      left /= shape[i];
    }
    return fmt::format("[{}]", fmt::join(index, ", "));
  }

  void compare(CheckedParameter& parameter, std::size_t input, const std::vector<double>& direction,
               double scale, double analytic, std::string place) {
    const Precision precision = precision_of(dtype_);
    const auto at = [&](double step) { return loss(input, direction, step); };
    const auto five_point = [&](double h) {
      return (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h);
    };
    const auto close = [&](double numeric) {
      return std::abs(numeric - analytic) <= precision.rtol * std::abs(numeric) + precision.atol;
    };
    ++parameter.quotients;
    double numeric = five_point(precision.step * scale);
    double left = numeric, right = numeric;
    if (!close(numeric)) {
      // A kink near the point spoils the wide quotient: the slopes close by, on the two sides.
      const double here = at(0), narrow = precision.narrow * scale;
      left = (here - at(-narrow)) / narrow;
      right = (at(narrow) - here) / narrow;
      numeric = (left + right) / 2;
    }
    if (close(numeric)) {
      parameter.largest_error = std::max(parameter.largest_error, std::abs(numeric - analytic));
      return;
    }
    const double slack = precision.rtol * std::max(std::abs(left), std::abs(right)) + precision.atol;
    const bool between =
        analytic >= std::min(left, right) - slack && analytic <= std::max(left, right) + slack;
    if (between && std::abs(right - left) > 100 * slack) {
      ++parameter.at_kinks;
      return;
    }
    parameter.wrong.push_back({std::move(place), analytic, numeric});
  }

  Evaluator& evaluator_;
  std::string name_;
  Module module_;
  ModulePtr whole_;  // with `checked`
  DType dtype_ = DType::Float64;
  std::vector<Var> params_;
  std::vector<Value> inputs_;
};

}  // namespace

bool GradientCheck::good() const {
  return std::all_of(parameters.begin(), parameters.end(),
                     [](const CheckedParameter& parameter) { return parameter.wrong.empty(); });
}

GradientCheck check_gradients(const Module& module, std::string_view function, std::vector<Value> arguments,
                              const GradientCheckOptions& options, Evaluator& evaluator) {
  return Check(module, function, std::move(arguments), evaluator).run(options);
}

}  // namespace relish
