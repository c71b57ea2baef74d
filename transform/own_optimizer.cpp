// The user's functions, inlined for each parameter or once for all.
#include "transform/own_optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "support/failure.h"
#include "transform/optimizer_writer.h"
#include "transform/parameter_groups.h"

namespace relish {
namespace {

constexpr std::string_view counter_name = "num_steps";

[[noreturn]] void refuse_form(const Function& function, std::string message) {
  fail(ErrorClass::Type, function.span, "optimizer.own",
       fmt::format("optimizer: {}: {}", function.name, message));
}

// The parameter of that name behind the first two.
const Var* find_parameter(const Function& function, std::string_view name) {
  for (std::size_t i = 2; i < function.params.size(); ++i)
    if (function.params[i].name() == name) return &function.params[i];
  return nullptr;
}

class OwnOptimizer : public OptimizerWriter {
 public:
  OwnOptimizer(Module& target, const OptimizerOptions& options, const std::vector<Type>& types,
               const std::vector<std::string>& names, DType dtype)
      : OptimizerWriter(target, dtype, options.prefix), options_(options), types_(types), names_(names) {
    const Function& update = *options_.update;
    whole_ = !update.params.empty() && update.params.front().type().tuple() != nullptr;
    if (update.params.size() < 2)
      refuse_form(update, "expected a parameter and its gradient as the first parameters");
    if (whole_) {
      if (update.params.size() != 4)
        refuse_form(update, "expected (params, gradients, states, lr) of a function over all parameters");
      if (!options_.init) refuse_missing_init();
      return;
    }
    for (std::size_t i = 2; i < update.params.size(); ++i) {
      const std::string& name = update.params[i].name();
      if (name != "lr" && name != counter_name) states_.push_back(name);
    }
    counts_ = find_parameter(update, counter_name) != nullptr;
    if (!states_.empty() && !options_.init) refuse_missing_init();
    if (options_.init && options_.init->params.size() != 1)
      refuse_form(*options_.init, "expected one parameter, the one that is trained");
  }

  bool whole() const { return whole_; }
  bool takes_rate() const { return whole_ || find_parameter(*options_.update, "lr") != nullptr; }

  Type write_init() {
    begin("optimizer_init");
    const std::vector<Expr> params = parameter_tuple("params", types_, names_);
    Expr result;
    if (whole_) {
      result = call_own(*options_.init, {Expr(function_.params.front())});
      if (!result.type().tuple())
        refuse_form(*options_.init,
                    fmt::format("it returns {}; expected a tuple of states", print(result.type())));
    } else {
      std::vector<Expr> states;
      if (counts_) states.push_back(constant(Tensor::scalar_int(DType::Int64, 0)));
      std::vector<std::vector<Expr>> kinds(states_.size());
      for (std::size_t i = 0; i < params.size() && !states_.empty(); ++i) {
        const std::vector<Expr> own = fields_of(call_own(*options_.init, {params[i]}));
        if (own.size() != states_.size()) {
          refuse_form(*options_.init, fmt::format("it returns {} values; expected the states {}", own.size(),
                                                  fmt::join(states_, ", ")));
        }
        for (std::size_t s = 0; s < own.size(); ++s) kinds[s].push_back(own[s]);
      }
      for (const std::vector<Expr>& kind : kinds) states.insert(states.end(), kind.begin(), kind.end());
      result = tuple(std::move(states));
    }
    finish(result, {"optimizer_init", {{Role::Parameters, names_}}, {{Role::States}}, false});
    return result.type();
  }

  void write_update(const Type& states_type, const std::vector<GradientSteps>& steps,
                    const std::vector<double>& rate_factors) {
    begin("optimizer");
    const std::vector<Expr> params = parameter_tuple("params", types_, names_);
    std::vector<std::string> gradient_names;
    for (const std::string& name : names_) gradient_names.push_back(name + "_grad");
    std::vector<Expr> gradients = parameter_tuple("gradients", types_, gradient_names);
    const Expr whole_states = parameter("states", states_type);
    const Expr lr = parameter("lr", tensor_type({}, dtype_));
    change_gradients(params, gradients, steps);
    const Expr result = whole_ ? update_all(gradients, whole_states, lr)
                               : update_each(params, gradients, whole_states, rates_of(lr, rate_factors));
    finish(result, roles_of_optimizer(names_));
  }

 private:
  [[noreturn]] void refuse_missing_init() const {
    std::string expected = options_.update->name + "_init";
    if (options_.update->name.ends_with("update"))
      expected += " or " + options_.update->name.substr(0, options_.update->name.size() - 6) + "init";
    fail(ErrorClass::Usage, options_.update->span, "optimizer.init",
         fmt::format("optimizer: {} has states, and no function makes their first values; expected {}",
                     options_.update->name, expected));
  }

  Expr call_own(const Function& function, const std::vector<Expr>& args) {
    for (std::size_t i = 0; i < args.size(); ++i) {
      const Var& param = function.params[i];
      if (fits(args[i].type(), param.type()) != Fit::Never) continue;
      fail(ErrorClass::Type, param.span(), "optimizer.own",
           fmt::format("optimizer: {}: '{}' is {}; it would get {}", function.name, param.name(),
                       print(param.type()), print(args[i].type())));
    }
    return inline_call(builder_, target_, *options_.module, function, args);
  }

  void check_same(const Expr& after, const Type& before, const std::string& what) const {
    if (same_type(after.type(), before)) return;
    refuse_form(*options_.update, fmt::format("it makes {} of {}, which is {}; expected the same type",
                                              print(after.type()), what, print(before)));
  }

  Expr update_all(const std::vector<Expr>& gradients, const Expr& states, const Expr& lr) {
    const Expr params(function_.params.front());
    const std::vector<Expr> result =
        fields_of(call_own(*options_.update, {params, tuple(gradients), states, lr}));
    if (result.size() != 2)
      refuse_form(*options_.update,
                  fmt::format("it returns {} values; expected (params, states)", result.size()));
    check_same(result[0], params.type(), "the parameters");
    check_same(result[1], states.type(), "the states");
    return tuple(result);
  }

  Expr update_each(const std::vector<Expr>& params, const std::vector<Expr>& gradients,
                   const Expr& whole_states, const std::vector<Expr>& rates) {
    std::vector<Expr> states = fields_of(whole_states);
    std::vector<Expr> new_states;
    Expr counter;
    if (counts_) {
      const Expr one = constant(Tensor::scalar_int(DType::Int64, 1));
      counter = builder_.emit(op_call(*find_op("add"), {states.front(), one}, {}), counter_name);
      new_states.push_back(counter);
      states.erase(states.begin());
    }
    std::vector<Expr> new_params;
    std::vector<std::vector<Expr>> kinds(states_.size());
    for (std::size_t i = 0; i < params.size(); ++i) {
      std::vector<Expr> args = {params[i], gradients[i]};
      std::size_t kind = 0;
      for (std::size_t p = 2; p < options_.update->params.size(); ++p) {
        const std::string& name = options_.update->params[p].name();
        args.push_back(name == "lr"           ? rates[i]
                       : name == counter_name ? counter
                                              : states[kind++ * params.size() + i]);
      }
      const std::vector<Expr> updated = fields_of(call_own(*options_.update, args));
      if (updated.size() != 1 + states_.size()) {
        refuse_form(*options_.update,
                    fmt::format("it returns {} values; expected the parameter{}{}", updated.size(),
                                states_.empty() ? "" : " and the states ", fmt::join(states_, ", ")));
      }
      check_same(updated[0], params[i].type(), fmt::format("parameter '{}'", names_[i]));
      new_params.push_back(updated[0]);
      rename(updated[0], names_[i]);
      for (std::size_t s = 0; s < kinds.size(); ++s) {
        const Expr& before = states[s * params.size() + i];
        check_same(updated[1 + s], before.type(), fmt::format("state '{}' of '{}'", states_[s], names_[i]));
        kinds[s].push_back(updated[1 + s]);
        rename(updated[1 + s], names_[i] + "_" + states_[s]);
      }
    }
    for (const std::vector<Expr>& kind : kinds) new_states.insert(new_states.end(), kind.begin(), kind.end());
    return tuple({tuple(std::move(new_params)), tuple(std::move(new_states))});
  }

  const OptimizerOptions& options_;
  const std::vector<Type>& types_;
  const std::vector<std::string>& names_;
  bool whole_ = false;
  bool counts_ = false;
  std::vector<std::string> states_;  // kinds of them, of one parameter
};

// lr, clip_norm, clip_value.
GradientSteps steps_of_own(const OptimizerOptions& options, DType dtype) {
  std::vector<std::string> names;
  std::vector<std::pair<std::string, double>> numbers;
  for (const std::string_view name : {"clip_value", "clip_norm"})
    if (find_attribute(options.spec.options, name)) names.emplace_back(name);
  for (const auto& [name, value] : options.spec.options) {
    const std::optional<double> number = number_of(value);
    const bool clips = name == "clip_norm" || name == "clip_value";
    if (!clips && name != "lr") {
      fail(ErrorClass::Usage, {}, "optimizer.own_option",
           fmt::format("optimizer {}: it has no option '{}'; an optimizer of yours has lr, clip_norm and "
                       "clip_value",
                       options.update->name, name));
    }
    if (!number || !std::isfinite(*number) || *number < 0 || (clips && *number == 0)) {
      fail(ErrorClass::Usage, {}, "optimizer.own_option",
           fmt::format("optimizer {}: {}: expected a {}", options.update->name, name,
                       clips ? "positive number" : "number of at least 0"));
    }
    numbers.emplace_back(name, *number);
  }
  return {std::move(names), NamedArguments(std::move(numbers), dtype)};
}

}  // namespace

FunctionPtr find_optimizer_init(const Module& module, const std::string& update) {
  constexpr std::string_view ending = "update";
  if (FunctionPtr found = module.function(update + "_init")) return found;
  if (!update.ends_with(ending)) return nullptr;
  return module.function(update.substr(0, update.size() - ending.size()) + "init");
}

void write_own_optimizer(Module& module, const OptimizerOptions& options, const std::vector<Type>& params,
                         const std::vector<std::string>& names, DType dtype) {
  const GradientSteps steps = steps_of_own(options, dtype);
  std::vector<double> factors;
  for (const GroupedOptions& own :
       options_of_parameters(options.groups, {}, learning_rate_of(options), names)) {
    factors.push_back(own.rate_factor);
    if (find_attribute(own.options, "weight_decay")) {
      fail(ErrorClass::Usage, {}, "groups.option",
           fmt::format("groups: {} has no weight_decay; expected lr alone", options.update->name));
    }
  }
  OwnOptimizer writer(module, options, params, names, dtype);
  const bool grouped = std::any_of(factors.begin(), factors.end(), [](double each) { return each != 1; });
  if (grouped && (writer.whole() || !writer.takes_rate())) {
    fail(ErrorClass::Usage, {}, "groups.option",
         fmt::format("groups: {} takes no learning rate of one parameter; expected an optimizer that does",
                     options.update->name));
  }
  const Type states = writer.write_init();
  writer.write_update(states, std::vector<GradientSteps>(params.size(), steps), factors);
}

}  // namespace relish
