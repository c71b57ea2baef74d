// The training functions of a model. The step is a function that calls the adjoint and the optimizer, so it
// prints as a few short lines and compiles as one.
#include "transform/setup_trainer.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/printer/printer.h"
#include "ir/verify/verify.h"
#include "transform/epoch_writer.h"
#include "transform/gradient.h"
#include "transform/loss_scaling.h"
#include "transform/mixed_precision.h"
#include "transform/model_forms.h"
#include "transform/one_element.h"
#include "transform/one_key.h"
#include "transform/parameter_marks.h"
#include "transform/rebuild.h"
#include "transform/step_writer.h"

namespace relish {
namespace {

// The functions whose names are what they are.
struct MadeFunction {
  std::string_view name, kind;
};
constexpr MadeFunction made_by_trainers[] = {{"train_epoch", "train_epoch"},
                                             {"train_steps", "train_steps"},
                                             {"train_step", "train_step"},
                                             {"add_gradients", "add_gradients"},
                                             {"apply_gradients", "apply_gradients"},
                                             {"optimizer", "optimizer"},
                                             {"optimizer_init", "optimizer_init"},
                                             {"unscaled_optimizer", "optimizer"},
                                             {"unscaled_optimizer_init", "optimizer_init"},
                                             {"learning_rate", "learning_rate"},
                                             {"initial_params", "initial_params"}};

std::size_t count_results(const Function& function) {
  const TupleType* fields = function.result_type.tuple();
  return fields ? fields->fields.size() : 1;
}

// The name of the parameter that is the key of a training form.
std::string key_of(const Function& form) {
  const std::optional<RoleSignature> roles = roles_of(form);
  const auto at = roles ? roles->param(Role::Key) : std::nullopt;
  return at ? form.params[*at].name() : std::string();
}

// The role of a parameter of the loss of a form.
Role role_in_loss(const std::string& name, const Function& form, const std::string& key) {
  if (name == key) return Role::Key;
  const auto of_model = std::find_if(form.params.begin(), form.params.end(),
                                     [&](const Var& param) { return param.name() == name; });
  if (of_model == form.params.end()) return Role::Target;
  const std::optional<RoleSignature> roles = roles_of(form);
  return roles ? roles->params[static_cast<std::size_t>(of_model - form.params.begin())].role : Role::Input;
}

// The roles of the loss of a form, and of its adjoint. `key`: the name of its key; empty: none.
void set_loss_roles(Module& module, const std::string& name, const Function& form, const std::string& key,
                    bool metrics = false, bool scaled = false) {
  Function loss = *module.function(name);
  const std::optional<RoleSignature> of_form = roles_of(form);
  RoleSignature roles{"loss", {}, {}, loss.result_type.tuple() != nullptr};
  for (const Var& param : loss.params) roles.params.push_back({role_in_loss(param.name(), form, key)});
  if (scaled) roles.params.back().role = Role::LossScale;
  roles.results.assign(count_results(loss), {Role::Output});
  roles.results.front().role = Role::Loss;
  if (metrics) roles.results[scaled ? 2 : 1].role = Role::Metrics;
  if (of_form && of_form->result(Role::Buffers)) roles.results.back() = of_form->results.back();
  const FunctionPtr adjoint = module.function(name + "_adjoint");
  loss.attributes = with_attribute(std::move(loss.attributes), role_attribute, print(roles));
  module.set(std::make_shared<const Function>(std::move(loss)));
  if (!adjoint) return;
  roles = {"loss_adjoint", std::move(roles.params), {{Role::Output}, {Role::Gradients}}, true};
  Function changed = *adjoint;
  changed.attributes = with_attribute(std::move(changed.attributes), role_attribute, print(roles));
  module.set(std::make_shared<const Function>(std::move(changed)));
}

// The function with its first result by names.
FunctionPtr with_named_result(const Function& function) {
  Function named = function;
  RoleSignature roles = *roles_of(function);
  roles.results.front().by_name = true;
  named.attributes = with_attribute(std::move(named.attributes), role_attribute, print(roles));
  return std::make_shared<const Function>(std::move(named));
}

// A result behind the loss that the model returns, of the predictions behind that and the last of its data.
void tell_beside(Module& module, Function& loss, const std::vector<std::string>& data,
                 const BesideLoss& beside) {
  FunctionBuilder builder;
  for (const Var& param : loss.params) builder.reserve_name(param.name());
  const std::vector<Binding> bindings = all_bindings(loss);
  for (const Binding& binding : bindings) builder.reserve_name(binding.var().name());
  builder.begin_block(true);
  for (const Binding& binding : bindings) builder.append(binding);
  std::vector<Expr> fields;
  if (const auto* literal = loss.result.as<TupleExpr>()) {
    fields = literal->fields;
  } else if (const TupleType* type = loss.result.type().tuple()) {
    for (int i = 0; i < static_cast<int>(type->fields.size()); ++i)
      fields.push_back(builder.emit(tuple_get(loss.result, i)));
  }
  const auto target = std::find_if(loss.params.begin(), loss.params.end(), [&](const Var& param) {
    return !data.empty() && param.name() == data.back();
  });
  if (fields.size() < 2 || target == loss.params.end()) return;
  const Expr targets[] = {Expr(*target)};
  const Expr value = beside(builder, module, std::span(fields).subspan(1), targets);
  if (!value.defined()) return;
  fields.insert(fields.begin() + 1, value);
  builder.end_block();
  close_function(loss, builder.take_bindings(), tuple(std::move(fields)));
}

// A model whose first result is its loss, under the name of a loss.
Module with_loss_of_model(const Module& module, const std::string& form, const std::string& name,
                          const std::vector<std::string>& data, const BesideLoss& beside) {
  const FunctionPtr source = module.function(form);
  const TupleType* fields = source->result_type.tuple();
  const Type& first = fields && !fields->fields.empty() ? fields->fields.front() : source->result_type;
  const TensorType* tensor = first.tensor();
  if (!tensor || tensor->rank != 0 || !tensor->dtype || !is_float(*tensor->dtype)) {
    std::vector<DiagnosticNote> notes = {
        {source->result_span.known() ? source->result_span : source->span, "the result"}};
    for (DiagnosticNote& note : notes_of_one_element(first)) notes.push_back(std::move(note));
    fail(ErrorClass::Type, {}, "setup_trainer.loss",
         fmt::format(
             "the option loss is missing; write loss=\"mse\" or another (without it the first result of "
             "{} must be its loss, a floating tensor of rank 0; found {})",
             form, print(source->result_type)),
         notes);
  }
  Function loss = copy_with_fresh_vars(*source);
  loss.name = name;
  loss.attributes = attributes_of_derived(*source, name, loss.params);
  Module result = module;
  if (beside) tell_beside(result, loss, data, beside);
  check_replaces(result, loss);
  result.set(std::make_shared<const Function>(std::move(loss)));
  return result;
}

// What the functions of a loss are made from.
Module with_loss(const Module& module, const std::string& form, const SetupTrainerOptions& options,
                 const std::string& name, const BesideLoss& beside = nullptr) {
  if (options.model_returns_loss()) return with_loss_of_model(module, form, name, options.data, beside);
  AppendLossOptions loss = options.loss;
  loss.new_name = name;
  loss.beside = beside;
  Module made = append_loss(module, form, loss);
  const Type& result = made.function(name)->result_type;
  const TupleType* fields = result.tuple();
  const Type& first = fields && !fields->fields.empty() ? fields->fields.front() : result;
  const TensorType* tensor = first.tensor();
  if (tensor && tensor->rank > 0) {
    fail(ErrorClass::Type, {}, "setup_trainer.reduction",
         fmt::format("the loss gives {}; a trainer needs one number, its mean or its sum (reduction='mean')",
                     print(first)),
         notes_of_one_element(first));
  }
  return made;
}

void check_half(const std::vector<Type>& types, const std::vector<std::string>& names) {
  const DType dtype = common_dtype(types, names);
  if (dtype == DType::Float32) return;
  fail(ErrorClass::Usage, {}, "precision.dtype",
       fmt::format("precision: the parameters are {}; expected float32, which steps compute with in half "
                   "precision",
                   name_of(dtype)));
}

}  // namespace

std::string option_that_adds(const Module& module, std::string_view name) {
  struct Added {
    std::string_view name, option;
  };
  constexpr Added added[] = {{"initial_params", "init=\"xavier_uniform\""},
                             {"learning_rate", "schedule=\"cosine\""},
                             {"add_gradients", "accumulate=True"},
                             {"apply_gradients", "accumulate=True"}};
  for (const Added& each : added) {
    if (!name.ends_with(each.name)) continue;
    const std::string prefix(name.substr(0, name.size() - each.name.size()));
    if (module.function(prefix + "train_step"))
      return fmt::format("; setup_trainer(…, {}) adds it", each.option);
  }
  return "";
}

TrainerNames trainer_names(const Module& module, const Function& function,
                           const SetupTrainerOptions& options) {
  TrainerNames names;
  names.loss =
      options.loss.new_name.empty() ? options.prefix + function.name + "_loss" : options.loss.new_name;
  const bool forms = has_forms(module, function);
  names.inference = forms ? name_of_form(function.name, ModelMode::Inference) : function.name;
  const bool apart = forms || options.half.has_value();
  names.inference_loss = apart ? options.prefix + function.name + "_inference_loss" : names.loss;
  names.adjoint = names.loss + (options.half == DType::Float16 ? "_scaled_adjoint" : "_adjoint");
  return names;
}

namespace {

// What the functions of a step are made of, behind the loss.
struct StepSubject {
  const SetupTrainerOptions& options;
  const ModelParameters& model;
  const TrainerNames& names;
  const Function& form;    // of the model, that is trained
  const std::string& key;  // the name of what the loss draws from; empty: nothing
  const std::vector<Type>& types;
  std::string differentiated;  // the loss, perhaps scaled
  bool metrics = false;        // stand behind the loss
};

// The optimizer, and the step around the adjoint, which the module has.
Module with_steps(Module result, const StepSubject& of) {
  const SetupTrainerOptions& options = of.options;
  const bool scaled = options.half == DType::Float16;
  set_loss_roles(result, of.differentiated, of.form, of.key, of.metrics, scaled);
  OptimizerOptions optimizer = options.optimizer;
  optimizer.prefix = options.prefix;
  result = add_optimizer(result, optimizer, of.types, of.model.trained);
  const FunctionPtr adjoint = result.function(of.names.adjoint);
  StepOptions step;
  step.dtype = common_dtype(of.types, of.model.trained);
  if (scaled) {
    add_loss_scaling(result, step.dtype, options.prefix);
    step.loss_scale = adjoint->params.back().name();
  }
  step.prefix = options.prefix;
  step.average = options.average;
  step.gradient_norm = options.gradient_norm;
  step.metrics = of.metrics;
  StepWriter writer(result, adjoint, of.model, step);
  writer.write_step();
  if (options.accumulate) {
    writer.write_add_gradients();
    writer.write_apply_gradients();
  }
  return result;
}

// The module with the adjoint of the loss; within a budget, the one around which a step holds little enough.
Module differentiated_module(const Module& module, const StepSubject& of, const std::string& model) {
  GradientOptions wanted;
  wanted.wrt = of.model.trained;
  if (!of.options.budget) return gradient(module, of.differentiated, wanted);
  const MemoryBudget& budget = *of.options.budget;
  wanted.budget = budget;
  wanted.budget->subject = fmt::format("a training step of '{}'", model);
  wanted.budget->peak = [&](const ModulePtr& made, const std::string&) {
    const auto whole = std::make_shared<const Module>(with_steps(*made, of));
    std::int64_t peak = budget.peak(whole, of.options.prefix + "train_step");
    if (of.options.accumulate) peak = std::max(peak, budget.peak(whole, of.options.prefix + "add_gradients"));
    return peak;
  };
  wanted.report = of.options.budget_report;
  return gradient(module, of.differentiated, wanted);
}

}  // namespace

Module setup_trainer(const Module& module, std::string_view name, const SetupTrainerOptions& options) {
  const FunctionPtr function = relax_function(module, name);
  Module result = module;
  for (const MadeFunction& made : made_by_trainers)
    remove_made(result, options.prefix + std::string(made.name), made.kind);
  if (!result.function(name)) {
    fail(ErrorClass::Usage, function->span, "setup_trainer.made",
         fmt::format("'{}' is a function of a trainer, which setup_trainer makes anew; expected the function "
                     "of the model",
                     name));
  }
  const ModelParameters model = parameters_of_trainer(module, *function, options);
  const TrainerNames names = trainer_names(module, *function, options);

  std::string trained_form = function->name;
  if (names.inference != function->name) {
    result = decompose(result, name, ModelMode::Training);
    result = decompose(result, name, ModelMode::Inference);
    trained_form = name_of_form(name, ModelMode::Training);
  }
  if (names.inference_loss != names.loss) {
    result = with_loss(result, names.inference, options, names.inference_loss);
    set_loss_roles(result, names.inference_loss, *result.function(names.inference), "");
  }
  if (options.half) check_half(types_of_parameters(*function, model.trained), model.trained);
  if (options.half) trained_form = add_mixed_precision(result, trained_form, *options.half);
  const Function form = *result.function(trained_form);
  // The last result of a form with buffers is no output of the model.
  const std::size_t own_results = count_results(form) - 1;
  if (!model.buffers.empty() && static_cast<std::size_t>(std::max(options.loss.outputs, 1)) > own_results) {
    fail(ErrorClass::Usage, function->span, "append_loss.outputs",
         fmt::format("the loss shall consume {} outputs; {} returns {}", options.loss.outputs, name,
                     own_results));
  }
  bool metrics = false;
  const BesideLoss sums = [&](FunctionBuilder& builder, Module& target, std::span<const Expr> results,
                              std::span<const Expr> targets) {
    const Expr made = write_metric_sums(builder, target, options.metrics, results, targets);
    metrics = made.defined();
    return made;
  };
  result =
      with_loss(result, trained_form, options, names.loss, options.metrics.empty() ? BesideLoss() : sums);
  std::string key = key_of(form);
  result.set(with_one_key(result.function(names.loss), model.buffers, key));
  const std::vector<Type> types = types_of_parameters(*result.function(names.loss), model.trained);
  if (types.size() != model.trained.size()) {
    fail(ErrorClass::Usage, options.loss.loss_function->span, "setup_trainer.parameters",
         fmt::format("a trained parameter of the loss {} has a name that the model uses; expected another",
                     options.loss.loss_function->name));
  }
  std::string differentiated = names.loss;
  const bool scaled = options.half == DType::Float16;
  if (scaled) {
    set_loss_roles(result, names.loss, form, key, metrics);
    differentiated = add_scaled_loss(result, names.loss);
  }
  const StepSubject subject{options, model, names, form, key, types, differentiated, metrics};
  result = with_steps(differentiated_module(result, subject, function->name), subject);
  write_epoch(result, {"train_epoch", options.prefix});
  if (!options.schedule.name.empty())
    result = add_schedule(result, options.schedule, common_dtype(types, model.trained), options.prefix);
  if (options.initial.given()) {
    const ParameterHolder holder = holder_of_parameters(module, *function, options);
    Module with =
        add_initialiser(*holder.module, options.initial, *holder.function, model.trained, {}, options.prefix);
    const FunctionPtr made = with.function(options.prefix + "initial_params");
    result.set(options.named ? with_named_result(*made) : made);
  }
  verify_after(result, "setup_trainer");
  return result;
}

}  // namespace relish
