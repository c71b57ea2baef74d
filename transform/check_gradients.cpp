// Difference quotients against the adjoint.
#include "transform/check_gradients.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/calls/entry.h"
#include "ir/nodes/builder.h"
#include "ir/operators/op.h"
#include "ir/operators/user_gradient.h"
#include "support/failure.h"
#include "support/suggest.h"
#include "transform/gradient.h"
#include "transform/prim_caller.h"
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
  switch (dtype) {
    case DType::Float64:
      return {1e-3, 4e-6, 1e-5, 1e-7};
    case DType::Float32:
      return {1e-2, 2e-3, 1e-2, 1e-3};
    // Steps of many roundings, which a sum with an argument keeps.
    case DType::Float16:
      return {1.0 / 16, 1.0 / 32, 1e-2, 1e-3};
    default:
      return {1.0 / 8, 1.0 / 16, 1e-2, 1e-3};  // bfloat16
  }
}

// Half of the distance between 1 and the next number.
double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return 1.1e-16;
    case DType::Float32:
      return 6e-8;
    case DType::Float16:
      return 4.9e-4;
    default:
      return 3.9e-3;  // bfloat16
  }
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

// A tensor of an argument: the whole of it, or a leaf of a tuple.
struct Leaf {
  std::size_t input;
  std::vector<int> path;
  std::string name;  // "x", "t.0"
};

const Value& at_path(const Value& value, const std::vector<int>& path) {
  const Value* found = &value;
  for (const int index : path) found = &found->fields()[static_cast<std::size_t>(index)];
  return *found;
}

Value with_leaf(const Value& value, const std::vector<int>& path, const Tensor& leaf, std::size_t depth = 0) {
  if (depth == path.size()) return leaf;
  std::vector<Value> fields = value.fields();
  Value& field = fields[static_cast<std::size_t>(path[depth])];
  field = with_leaf(field, path, leaf, depth + 1);
  return Value::tuple(std::move(fields));
}

// Whether gradients are taken for values of the type: floating tensors, and tuples of nothing else.
bool is_floating(const Type& type) {
  if (const TupleType* tuple = type.tuple())
    return !tuple->fields.empty() && std::all_of(tuple->fields.begin(), tuple->fields.end(), is_floating);
  return type.tensor() && type.tensor()->dtype && is_float(*type.tensor()->dtype);
}

DType own_dtype(const std::vector<Value>& arguments) {
  std::vector<std::vector<int>> paths;
  std::vector<Tensor> tensors;
  for (const Value& argument : arguments) collect_floating(argument, paths, tensors);
  return tensors.empty() ? DType::Float32 : tensors.front().dtype();
}

// The sum of the floating results, each times its cotangent. Its adjoint is that of a function
// `checked(params…, ct…)` of the module; its values are summed here, so that they are rounded no more than
// the results are.
class Check {
 public:
  Check(const Module& module, std::string_view function, std::vector<Value> arguments, Evaluator& evaluator)
      : evaluator_(evaluator), called_(function), name_(function), module_(module) {
    if (const PrimFuncPtr prim = module.prim_func(function)) take_prim_func(*prim, arguments);
    // A gradient that the user wrote belongs to the function as it is.
    const std::optional<Module> wide =
        user_gradient(module_, called_) ? std::nullopt : widened(module_, called_);
    if (wide) module_ = *wide;
    dtype_ = wide ? DType::Float64 : own_dtype(arguments);
    for (Value& argument : arguments) inputs_.push_back(wide ? widened(argument) : std::move(argument));
    function_ = relax_function(module_, called_);
    plain_ = std::make_shared<const Module>(module_);
    weigh();
  }

  GradientCheck run(const GradientCheckOptions& options) {
    GradientCheck result;
    result.dtype = dtype_;
    const GradientOptions wanted{chosen(options.wrt)};
    const auto adjoint = std::make_shared<const Module>(gradient(*whole_, checked_, wanted));
    std::vector<Value> all = inputs_;
    all.insert(all.end(), weights_.begin(), weights_.end());
    const Value gradients = evaluator_.call(adjoint, checked_ + "_adjoint", std::move(all)).fields().at(1);
    for (std::size_t k = 0; k < wanted.wrt.size(); ++k) {
      for (std::size_t i = 0; i < function_->params.size(); ++i) {
        if (function_->params[i].name() != wanted.wrt[k]) continue;
        for (const Leaf& leaf : leaves_of(i))
          check(leaf, at_path(gradients.fields().at(k), leaf.path).tensor(), options, result);
      }
    }
    return result;
  }

 private:
  // The prim_func is checked as a function that calls it, with the tensors among its arguments.
  void take_prim_func(const PrimFunc& prim, std::vector<Value>& arguments) {
    const auto given = std::make_shared<const Module>(module_);
    const Value result = evaluator_.call(given, called_, arguments);
    std::vector<std::vector<int>> paths;
    std::vector<Tensor> results;
    collect_floating(result, paths, results);
    if (results.empty()) no_result(prim.span);
    PrimCaller caller = caller_of(module_, prim, arguments, result);
    module_ = std::move(caller.module);
    called_ = std::move(caller.function);
    arguments = std::move(caller.arguments);
  }

  [[noreturn]] void no_result(Span span) const {
    fail(ErrorClass::Type, span, "gradient.result",
         fmt::format("'{}' gives no floating tensor to differentiate", name_));
  }

  std::vector<std::string> chosen(const std::vector<std::string>& wanted) const {
    std::vector<std::string> names, floating;
    for (const Var& param : function_->params) {
      names.push_back(param.name());
      if (is_floating(param.type())) floating.push_back(param.name());
    }
    for (const std::string& name : wanted) {
      if (std::find(names.begin(), names.end(), name) == names.end())
        fail(ErrorClass::Usage, function_->span, "gradient.wrt",
             fmt::format("{} has no parameter '{}'{}", name_, name, did_you_mean(name, names)));
    }
    if (wanted.empty() && floating.empty())
      fail(ErrorClass::Type, function_->span, "gradient.wrt",
           fmt::format("'{}' has no floating parameter to differentiate by", name_));
    return wanted.empty() ? floating : wanted;
  }

  std::vector<Leaf> leaves_of(std::size_t input) const {
    std::vector<std::vector<int>> paths;
    std::vector<Tensor> tensors;
    collect_floating(inputs_[input], paths, tensors);
    std::vector<Leaf> leaves;
    for (std::vector<int>& path : paths) {
      std::string name = function_->params[input].name();
      for (const int index : path) name += fmt::format(".{}", index);
      leaves.push_back({input, std::move(path), std::move(name)});
    }
    return leaves;
  }

  void weigh() {
    std::vector<Tensor> results;
    collect_floating(evaluator_.call(plain_, called_, inputs_), paths_, results);
    if (results.empty()) no_result(function_->span);
    bool mixed = false;
    checked_ = module_.fresh_name("checked");
    Function checked;
    checked.name = checked_;
    checked.params = function_->params;
    checked.span = function_->span;
    FunctionBuilder builder;
    for (const Var& param : checked.params) builder.reserve_name(param.name());
    builder.set_origin(checked.span);
    const std::vector<Expr> args(checked.params.begin(), checked.params.end());
    for (const Tensor& result : results) {
      const Tensor weight = cotangent(result.dtype(), result.shape());
      for (std::int64_t i = 0; i < result.size(); ++i)
        rounding_ += roundoff(result.dtype()) * std::abs(result.get_double(i) * weight.get_double(i));
      mixed = mixed || result.dtype() != results.front().dtype();
      weights_.emplace_back(weight);
      checked.params.emplace_back(builder.fresh_name("ct"), type_of(weights_.back()));
    }
    builder.begin_block(true);
    const Expr whole =
        builder.emit(function_call(global_ref(GlobalFunction(function_), checked.span), args, checked.span));
    Expr total;
    for (std::size_t k = 0; k < results.size(); ++k) {
      Expr part = whole;
      for (int index : paths_[k]) part = builder.emit(tuple_get(part, index, checked.span));
      // Shapes that the types do not tell are those of this call.
      const Var& weight = checked.params[args.size() + k];
      if (!same_type(part.type(), weight.type())) {
        Binding cast;
        cast.kind = MatchCast{Var(builder.fresh_name("part"), weight.type(), true), part, weight.type()};
        builder.append(cast);
        part = Expr(cast.var());
      }
      part = builder.call("multiply", {part, Expr(weight)});
      part = builder.call("sum", {part});
      if (mixed) part = builder.call("astype", {part}, {{"dtype", Attribute(DType::Float64)}});
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

  // Of results that 16 bits were computed with: those rounded before.
  double roundoff(DType dtype) const {
    const bool narrow = size_of(dtype_) == 2;
    return narrow ? std::max(unit_roundoff(dtype), unit_roundoff(dtype_)) : unit_roundoff(dtype);
  }

  double loss(const Leaf& leaf, const std::vector<double>& direction, double step) {
    std::vector<Value> at = inputs_;
    Tensor moved = at_path(at[leaf.input], leaf.path).tensor().copy();
    for (std::int64_t i = 0; i < moved.size(); ++i) {
      const double by = direction[static_cast<std::size_t>(i)];
      if (by != 0) moved.set_double(i, moved.get_double(i) + step * by);
    }
    at[leaf.input] = with_leaf(at[leaf.input], leaf.path, moved);
    const Value result = evaluator_.call(plain_, called_, std::move(at));
    double sum = 0;
    for (std::size_t k = 0; k < weights_.size(); ++k) {
      const Tensor& part = at_path(result, paths_[k]).tensor();
      const Tensor& weight = weights_[k].tensor();
      if (part.shape() != weight.shape())
        fail(ErrorClass::Type, function_->span, "gradient.result",
             fmt::format("the result of '{}' has another shape for arguments close by", name_));
      for (std::int64_t i = 0; i < part.size(); ++i) sum += part.get_double(i) * weight.get_double(i);
    }
    return sum;
  }

  void check(const Leaf& leaf, const Tensor& partial, const GradientCheckOptions& options,
             GradientCheck& into) {
    const Tensor x = at_path(inputs_[leaf.input], leaf.path).tensor();
    CheckedParameter parameter{leaf.name, x.shape()};
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
      compare(parameter, leaf, direction, scale, analytic,
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

  void compare(CheckedParameter& parameter, const Leaf& leaf, const std::vector<double>& direction,
               double scale, double analytic, std::string place) {
    const Precision precision = precision_of(dtype_);
    const auto at = [&](double step) { return loss(leaf, direction, step); };
    const auto five_point = [&](double h) {
      return (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h);
    };
    // What a quotient over the step is wrong by when each result is rounded once, and, with arguments of 16
    // bits, what was stepped to.
    const double stepped = size_of(dtype_) == 2 ? unit_roundoff(dtype_) * std::abs(analytic) : 0;
    const auto rounding = [&](double step) { return 2 * (rounding_ + stepped * (scale + 2 * step)) / step; };
    const auto close = [&](double numeric, double step) {
      return std::abs(numeric - analytic) <=
             precision.rtol * std::abs(numeric) + precision.atol + rounding(step);
    };
    ++parameter.quotients;
    const double wide = precision.step * scale, narrow = precision.narrow * scale;
    double numeric = five_point(wide), left = numeric, right = numeric, over = wide;
    // A kink near the point spoils the wide quotient: the slopes close by, on the two sides. Where so many
    // lie near that they spoil those too, they are taken closer, as long as rounding hides no more than
    // agreement may.
    const double here = close(numeric, wide) ? 0 : at(0);
    double told = numeric;
    for (double step = narrow; !close(numeric, over); step /= 10) {
      if (over != wide &&
          (step < narrow / 200 || rounding(step) > precision.rtol * std::abs(numeric) + precision.atol)) {
        parameter.wrong.push_back({std::move(place), analytic, told});
        return;
      }
      left = (here - at(-step)) / step;
      right = (at(step) - here) / step;
      numeric = (left + right) / 2;
      if (over == wide) told = numeric;
      over = step;
      const double slack =
          precision.rtol * std::max(std::abs(left), std::abs(right)) + precision.atol + rounding(step);
      const bool between =
          analytic >= std::min(left, right) - slack && analytic <= std::max(left, right) + slack;
      // Slopes that differ only by curvature make no kink. The slack of the narrow dtypes is wide itself.
      const double apart = dtype_ == DType::Float64 ? 100 : 10;
      if (!close(numeric, over) && between && std::abs(right - left) > apart * slack) {
        ++parameter.at_kinks;
        return;
      }
    }
    parameter.largest_error = std::max(parameter.largest_error, std::abs(numeric - analytic));
  }

  Evaluator& evaluator_;
  std::string called_, name_;  // in the module, and as it is told
  Module module_;
  FunctionPtr function_;
  ModulePtr plain_, whole_;  // without and with `checked`
  std::string checked_;
  DType dtype_ = DType::Float64;
  double rounding_ = 0;  // of the sum, at most, when each result is rounded once
  std::vector<Value> inputs_, weights_;
  std::vector<std::vector<int>> paths_;  // of the floating results
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
