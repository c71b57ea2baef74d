// The optimizer of a model: the text of the library is written for one parameter and inlined for each.
#include "transform/optimizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/operators/evaluator.h"
#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "ir/verify/verify.h"
#include "stdlib/catalog.h"
#include "support/suggest.h"
#include "transform/optimizer_writer.h"
#include "transform/own_optimizer.h"
#include "transform/parameter_groups.h"

namespace relish {
namespace {

const OptimizerEntry& optimizer_entry(const NamedSpec& spec) {
  const OptimizerEntry* entry = find_optimizer(spec.name);
  if (!entry) {
    fail(ErrorClass::Usage, {}, "optimizer.unknown",
         fmt::format("no optimizer '{}'; optimizers are {}{}", spec.name, fmt::join(optimizer_names(), ", "),
                     did_you_mean_choice(spec.name, optimizer_names())));
  }
  return *entry;
}

// Numbers that become another thing in the parameters' own type: a beta that is 1, an eps that is 0.
void check_constants(const OptimizerEntry& entry, const OptimizerChoice& choice, DType dtype) {
  for (const auto& [name, value] : choice.constants) {
    const double rounded = Tensor::scalar(dtype, value).get_double(0);
    const bool lost = (value != 0 && rounded == 0) || (value < 1 && rounded >= 1);
    if (!lost) continue;
    const std::string_view precision = dtype == DType::Float16 ? "fp16" : "bf16";
    fail(ErrorClass::Usage, {}, "optimizer.half",
         fmt::format("optimizer {}: {} {} is {} in {}, the type of the parameters and states; expected "
                     "parameters of float32, which train computes with in half precision by "
                     "precision=\"{}\"",
                     entry.name, name, value, rounded, name_of(dtype), precision));
  }
}

// Makes one function; every call of the optimizer's text is inlined into it.
class LibraryOptimizer : public OptimizerWriter {
 public:
  // `choices`: what each parameter's own options choose.
  LibraryOptimizer(Module& target, const OptimizerEntry& entry, OptimizerChoice choice,
                   std::vector<OptimizerChoice> choices, DType dtype, std::string prefix)
      : OptimizerWriter(target, dtype, std::move(prefix)),
        entry_(entry),
        choice_(std::move(choice)),
        choices_(std::move(choices)),
        numbers_(choice_.constants, dtype),
        text_(body_loader().load(choice_.text)) {}

  // optimizer_init(params) -> states. Returns the type of the states.
  Type write_init(const std::vector<Type>& types, const std::vector<std::string>& names) {
    begin("optimizer_init");
    const std::vector<Expr> params = parameter_tuple("params", types, names);
    std::vector<Expr> states = call_text(*text_, choice_.start, {}, numbers_);
    for (const std::string& start : choice_.starts) {
      for (const Expr& param : params) {
        states.push_back(start.empty() ? builder_.emit(op_call(*find_op("zeros_like"), {param}, {}))
                                       : call_text(*text_, start, {{"p", param}}, numbers_).at(0));
      }
    }
    const Expr result = tuple(states);
    finish(result, {"optimizer_init", {{Role::Parameters, names}}, {{Role::States}}, false});
    return result.type();
  }

  void write_update(const std::vector<Type>& types, const std::vector<std::string>& names,
                    const Type& states_type, const std::vector<double>& rate_factors) {
    begin("optimizer");
    const std::vector<Expr> params = parameter_tuple("params", types, names);
    std::vector<std::string> gradient_names;
    for (const std::string& name : names) gradient_names.push_back(name + "_grad");
    std::vector<Expr> gradients = parameter_tuple("gradients", types, gradient_names);
    const std::vector<Expr> states =
        parameter_tuple("states", states_type.tuple()->fields, state_names(names));
    const Expr lr = parameter("lr", tensor_type({}, dtype_));

    const std::size_t shared_count = entry_.shared_states.size();
    Known shared;
    for (std::size_t i = 0; i < shared_count; ++i) shared.emplace_back(entry_.shared_states[i], states[i]);
    std::vector<Expr> new_states = call_text(*text_, choice_.step, shared, numbers_);
    RELISH_CHECK(new_states.size() == shared_count);
    for (std::size_t i = 0; i < shared_count; ++i) shared[i].second = new_states[i];
    std::vector<GradientSteps> steps;
    for (const OptimizerChoice& own : choices_)
      steps.push_back({own.gradient_steps, NamedArguments(own.constants, dtype_)});
    change_gradients(params, gradients, steps);
    const std::vector<Expr> rates = rates_of(lr, rate_factors);

    std::vector<Expr> new_params;
    std::vector<std::vector<Expr>> own(choice_.parameter_states.size());
    for (std::size_t i = 0; i < params.size(); ++i) {
      Known known = shared;
      known.emplace_back("lr", rates[i]);
      known.emplace_back("p", params[i]);
      known.emplace_back("g", gradients[i]);
      for (std::size_t s = 0; s < own.size(); ++s)
        known.emplace_back(choice_.parameter_states[s], states[shared_count + s * params.size() + i]);
      const std::vector<Expr> updated = call_text(*text_, choices_[i].update, known, steps[i].numbers);
      RELISH_CHECK(updated.size() == 1 + own.size());
      new_params.push_back(updated[0]);
      rename(updated[0], names[i]);
      for (std::size_t s = 0; s < own.size(); ++s) own[s].push_back(without_subnormals(updated[1 + s]));
    }
    for (const std::vector<Expr>& kind : own) new_states.insert(new_states.end(), kind.begin(), kind.end());
    const std::vector<std::string> all_states = state_names(names);
    for (std::size_t i = 0; i < new_states.size(); ++i) rename(new_states[i], all_states[i]);
    finish(tuple({tuple(new_params), tuple(new_states)}), roles_of_optimizer(names));
  }

 private:
  // "num_steps", then "<parameter>_v" for every kind of parameter state.
  std::vector<std::string> state_names(const std::vector<std::string>& params) const {
    std::vector<std::string> names;
    names.assign(entry_.shared_states.begin(), entry_.shared_states.end());
    for (const std::string& state : choice_.parameter_states)
      for (const std::string& param : params) names.push_back(param + "_" + state);
    return names;
  }

  const OptimizerEntry& entry_;
  OptimizerChoice choice_;
  std::vector<OptimizerChoice> choices_;
  NamedArguments numbers_;
  ModulePtr text_;
};

}  // namespace

RoleSignature roles_of_optimizer(const std::vector<std::string>& names) {
  return {"optimizer",
          {{Role::Parameters, names}, {Role::Gradients, names}, {Role::States}, {Role::LearningRate}},
          {{Role::Parameters}, {Role::States}},
          true};
}

DType common_dtype(const std::vector<Type>& params, const std::vector<std::string>& names) {
  std::optional<DType> dtype;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const TensorType* tensor = params[i].tensor();
    if (!tensor || !tensor->dtype || !is_float(*tensor->dtype) || !tensor->shape) {
      fail(ErrorClass::Type, {}, "optimizer.parameter",
           fmt::format("parameter '{}' has type {}; an optimizer needs a floating tensor of known shape",
                       names[i], print(params[i])));
    }
    if (dtype && *dtype != *tensor->dtype) {
      fail(ErrorClass::Type, {}, "optimizer.dtype",
           fmt::format("parameters '{}' and '{}' have dtypes {} and {}; expected one dtype", names[0],
                       names[i], name_of(*dtype), name_of(*tensor->dtype)));
    }
    dtype = tensor->dtype;
  }
  RELISH_CHECK(dtype.has_value());
  return *dtype;
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const OptimizerEntry& entry : optimizer_entries()) names.emplace_back(entry.name);
  return names;
}

std::optional<double> learning_rate_of(const OptimizerOptions& options) {
  if (options.update) {
    const Attribute* given = find_attribute(options.spec.options, "lr");
    return given ? number_of(*given) : std::nullopt;
  }
  return choose_optimizer(optimizer_entry(options.spec), options.spec.options).lr;
}

Module add_optimizer(const Module& module, const OptimizerOptions& options, const std::vector<Type>& params,
                     const std::vector<std::string>& names) {
  Module result = module;
  const DType dtype = common_dtype(params, names);
  if (options.update) {
    write_own_optimizer(result, options, params, names, dtype);
    verify_after(result, "optimizer");
    return result;
  }
  const OptimizerEntry& entry = optimizer_entry(options.spec);
  OptimizerChoice choice = choose_optimizer(entry, options.spec.options);
  check_constants(entry, choice, dtype);
  std::vector<OptimizerChoice> choices;
  std::vector<double> rate_factors;
  for (const GroupedOptions& own :
       options_of_parameters(options.groups, options.spec.options, choice.lr, names)) {
    choices.push_back(choose_optimizer(entry, own.options));
    check_constants(entry, choices.back(), dtype);
    rate_factors.push_back(own.rate_factor);
  }
  LibraryOptimizer writer(result, entry, std::move(choice), std::move(choices), dtype, options.prefix);
  const Type states = writer.write_init(params, names);
  writer.write_update(params, names, states, rate_factors);
  verify_after(result, "optimizer");
  return result;
}

}  // namespace relish
