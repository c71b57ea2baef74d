// The training functions of a model. The step is a function that calls the adjoint and the optimizer, so it
// prints as a few short lines and compiles as one.
#include "transform/setup_trainer.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/printer/printer.h"
#include "ir/verify/verify.h"
#include "support/glob.h"
#include "support/render.h"
#include "support/suggest.h"
#include "transform/gradient.h"
#include "transform/model_forms.h"
#include "transform/parameter_marks.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

// The functions whose names are what they are.
constexpr std::string_view made_by_trainers[] = {"train_step",    "add_gradients",  "apply_gradients",
                                                 "optimizer",     "optimizer_init", "learning_rate",
                                                 "initial_params"};

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<Type> types_of(const Function& function, const std::vector<std::string>& names) {
  std::vector<Type> types;
  for (const std::string& name : names)
    for (const Var& param : function.params)
      if (param.name() == name) types.push_back(param.type());
  return types;
}

std::size_t count_results(const Function& function) {
  const TupleType* fields = function.result_type.tuple();
  return fields ? fields->fields.size() : 1;
}

// Writes train_step, and what it is made of to accumulate, around the adjoint of the loss.
class StepWriter {
 public:
  StepWriter(Module& module, FunctionPtr adjoint, const ModelParameters& model, std::string key)
      : module_(module), held_(std::move(adjoint)), adjoint_(*held_), model_(model), key_(std::move(key)) {}

  // `targets`: so many parameters at the end belong to the loss.
  void write_step(const Type& states_type, DType dtype, std::size_t targets, std::optional<double> average) {
    begin("train_step");
    take_model();
    if (average) averages_ = parameter("averages", params_.type(), {Role::Averages, model_.trained});
    const Var states = parameter("states", states_type, {Role::States});
    const Var lr = parameter("lr", tensor_type({}, dtype), {Role::LearningRate});
    const Differentiated found = differentiate(targets);
    result(Role::Loss, found.loss);
    const Expr new_states = update(found.gradients, states, lr, average, dtype, found.new_buffers);
    result(Role::States, new_states);
    finish();
  }

  void write_add_gradients(DType dtype, std::size_t targets) {
    begin("add_gradients");
    take_model();
    const Var sums = parameter("gradients", params_.type(), {Role::Gradients, model_.trained});
    const Var weight = parameter("weight", tensor_type({}, dtype), {Role::Weight});
    const Differentiated found = differentiate(targets);
    result(Role::Loss, found.loss);
    result(Role::Gradients,
           each(found.gradients, "_grad", [&](int at, const std::string& name, const Expr& own) {
             const Expr weighted = builder_.call("multiply", {own, Expr(weight)});
             const Expr before = builder_.emit(tuple_get(Expr(sums), at), name + "_sum");
             return builder_.call("add", {before, weighted}, {}, name + "_sum_new");
           }));
    if (found.new_buffers.defined()) result(Role::Buffers, found.new_buffers);
    finish();
  }

  void write_apply_gradients(const Type& states_type, DType dtype, std::optional<double> average) {
    begin("apply_gradients");
    params_ =
        parameter("params", TupleType{types_of(fresh_, model_.trained)}, {Role::Parameters, model_.trained});
    if (average) averages_ = parameter("averages", params_.type(), {Role::Averages, model_.trained});
    const Var sums = parameter("gradients", params_.type(), {Role::Gradients, model_.trained});
    const Var states = parameter("states", states_type, {Role::States});
    const Var lr = parameter("lr", tensor_type({}, dtype), {Role::LearningRate});
    const Var weight = parameter("weight", tensor_type({}, dtype), {Role::Weight});
    const Expr means = each(Expr(sums), "_sum", [&](int, const std::string& name, const Expr& sum) {
      return builder_.call("divide", {sum, Expr(weight)}, {}, name + "_grad");
    });
    result(Role::States, update(means, states, lr, average, dtype, {}));
    finish();
  }

 private:
  struct Differentiated {
    Expr loss, gradients;
    Expr new_buffers;  // undefined when the model has none
  };

  // A function of its own: nothing of the one before it is left.
  void begin(std::string name) {
    fresh_ = copy_with_fresh_vars(adjoint_);
    step_ = Function{};
    roles_ = {name, {}, {}, true};
    step_.name = std::move(name);
    step_.span = adjoint_.span;
    builder_ = FunctionBuilder();
    for (const Var& param : fresh_.params) builder_.reserve_name(param.name());
    builder_.begin_block(true);
    buffers_.reset();
    averages_.reset();
    results_.clear();
  }

  void take_model() {
    params_ =
        parameter("params", TupleType{types_of(fresh_, model_.trained)}, {Role::Parameters, model_.trained});
    if (!model_.buffers.empty()) {
      buffers_ =
          parameter("buffers", TupleType{types_of(fresh_, model_.buffers)}, {Role::Buffers, model_.buffers});
    }
  }

  Differentiated differentiate(std::size_t targets) {
    const Expr both = builder_.emit(
        function_call(global_ref(GlobalFunction(module_.function(adjoint_.name))), arguments(targets)),
        "loss_and_gradients");
    const bool several = both.type().tuple()->fields[0].tuple() != nullptr;
    Differentiated found;
    found.loss = builder_.emit(tuple_get(both, 0), several ? "outputs" : "loss");
    if (several) {
      const Expr outputs = found.loss;
      found.loss = builder_.emit(tuple_get(outputs, 0), "loss");
      const int last = static_cast<int>(outputs.type().tuple()->fields.size()) - 1;
      if (buffers_) found.new_buffers = builder_.emit(tuple_get(outputs, last), "new_buffers");
    }
    found.gradients = builder_.emit(tuple_get(both, 1), "gradients");
    return found;
  }

  // The optimizer, and what goes with new parameters; they and what belongs to them become results. Returns
  // the new states.
  Expr update(const Expr& gradients, const Var& states, const Var& lr, std::optional<double> average,
              DType dtype, const Expr& new_buffers) {
    const Expr updated =
        builder_.emit(function_call(global_ref(GlobalFunction(module_.function("optimizer"))),
                                    {Expr(params_), gradients, Expr(states), Expr(lr)}),
                      "updated");
    const Expr new_params = builder_.emit(tuple_get(updated, 0), "new_params");
    result(Role::Parameters, new_params);
    if (new_buffers.defined()) result(Role::Buffers, new_buffers);
    if (averages_) result(Role::Averages, averaged(new_params, *average, dtype));
    return builder_.emit(tuple_get(updated, 1), "new_states");
  }

  void result(Role role, const Expr& value) {
    results_.push_back(value);
    roles_.results.push_back({role});
  }

  void finish() {
    builder_.end_block();
    std::vector<Binding> bindings = builder_.take_bindings();
    close_function(step_, std::move(bindings), tuple(std::move(results_)));
    set_role(module_, std::move(step_), roles_);
  }

  Var parameter(std::string_view name, Type type, RoleSlot role) {
    step_.params.emplace_back(builder_.fresh_name(name), std::move(type));
    roles_.params.push_back(std::move(role));
    return step_.params.back();
  }

  // A tuple of what `make` gives for each field of another.
  template <class Make>
  Expr each(const Expr& whole, std::string_view suffix, const Make& make) {
    std::vector<Expr> fields;
    for (std::size_t i = 0; i < model_.trained.size(); ++i) {
      const int at = static_cast<int>(i);
      const std::string& name = model_.trained[i];
      fields.push_back(make(at, name, builder_.emit(tuple_get(whole, at), name + std::string(suffix))));
    }
    return tuple(std::move(fields));
  }

  // decay * average + (1 - decay) * parameter, for each.
  Expr averaged(const Expr& params, double decay, DType dtype) {
    const auto number = [&](double value) { return constant(Tensor::scalar(dtype, value)); };
    return each(Expr(*averages_), "_average", [&](int at, const std::string& name, const Expr& average) {
      const Expr kept = builder_.call("multiply", {average, number(decay)});
      const Expr param = builder_.emit(tuple_get(params, at), name + "_new");
      const Expr joined = builder_.call("multiply", {param, number(1 - decay)});
      return builder_.call("add", {kept, joined}, {}, name + "_average_new");
    });
  }

  // A field of a tuple by the name of the model's parameter.
  std::optional<Expr> field(const Var& whole, const std::vector<std::string>& names,
                            const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return Expr(builder_.bind(tuple_get(Expr(whole), static_cast<int>(found - names.begin())), name + "_in"));
  }

  // What the adjoint takes. Its key stands before the inputs.
  std::vector<Expr> arguments(std::size_t targets) {
    std::optional<Var> key;
    for (const Var& param : fresh_.params) {
      if (param.name() != key_) continue;
      key = step_.params.emplace_back(param.name(), param.type(), false, param.span());
      roles_.params.push_back({Role::Key});
    }
    std::vector<Expr> args;
    for (std::size_t i = 0; i < fresh_.params.size(); ++i) {
      const Var& param = fresh_.params[i];
      std::optional<Expr> arg = field(params_, model_.trained, param.name());
      if (!arg && buffers_) arg = field(*buffers_, model_.buffers, param.name());
      if (!arg && key && param.name() == key_) arg = Expr(*key);
      if (!arg) {
        step_.params.emplace_back(param.name(), param.type(), false, param.span());
        roles_.params.push_back({i + targets >= fresh_.params.size() ? Role::Target : Role::Input});
        arg = Expr(step_.params.back());
      }
      args.push_back(std::move(*arg));
    }
    return args;
  }

  Module& module_;
  const FunctionPtr held_;  // the adjoint stays while functions are added
  const Function& adjoint_;
  const ModelParameters& model_;
  std::string key_;  // the adjoint's parameter that is the key; empty: none
  Function fresh_;   // sizes are the function's own: the batch size is as free as in the model
  FunctionBuilder builder_;
  Function step_;
  RoleSignature roles_;
  Var params_;
  std::optional<Var> buffers_, averages_;
  std::vector<Expr> results_;
};

// The name of the parameter that is the key of a training form.
std::string key_of(const Function& form) {
  const std::optional<RoleSignature> roles = roles_of(form);
  const auto at = roles ? roles->param(Role::Key) : std::nullopt;
  return at ? form.params[*at].name() : std::string();
}

// The roles of the loss of a form, and of its adjoint.
void set_loss_roles(Module& module, const std::string& name, const Function& form) {
  Function loss = *module.function(name);
  const std::optional<RoleSignature> of_form = roles_of(form);
  RoleSignature roles{"loss", {}, {}, loss.result_type.tuple() != nullptr};
  for (std::size_t i = 0; i < loss.params.size(); ++i) {
    const bool of_model = i < form.params.size();
    roles.params.push_back({!of_model ? Role::Target : of_form ? of_form->params[i].role : Role::Input});
  }
  roles.results.assign(count_results(loss), {Role::Output});
  roles.results.front().role = Role::Loss;
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

// A name that is no parameter, or one that training cannot change by a gradient.
void check_trained(const Function& function, const std::vector<std::string>& names,
                   const std::vector<std::string>& buffers) {
  std::vector<std::string> all;
  for (const Var& param : function.params) all.push_back(param.name());
  for (const std::string& name : names) {
    const auto found = std::find(all.begin(), all.end(), name);
    if (found == all.end()) {
      fail(ErrorClass::Usage, function.span, "parameter.unknown",
           fmt::format("{} has no parameter '{}'{}", function.name, name, did_you_mean(name, all)));
    }
    const Var& param = function.params[static_cast<std::size_t>(found - all.begin())];
    if (is_among(buffers, name)) {
      fail(ErrorClass::Type, param.span(), "setup_trainer.buffer",
           fmt::format("'{}' is a running statistic, which a step sets without a gradient; leave it out of "
                       "the trained parameters",
                       name));
    }
    if (may_be_trained(param.type())) continue;
    fail(ErrorClass::Type, param.span(), "setup_trainer.parameters",
         fmt::format("'{}' is {}; only floating tensors are trained, others are data or have a value in "
                     "params",
                     name, print(param.type())));
  }
}

}  // namespace

std::vector<std::string> trained_parameters(const Function& function, const std::vector<std::string>& wrt,
                                            const std::vector<std::string>& buffers) {
  if (!wrt.empty()) {
    check_trained(function, wrt, buffers);
    return wrt;
  }
  if (std::optional<std::vector<std::string>> marked = marked_parameters(function)) {
    // A count counts the buffers too.
    if (!find_attribute(function.attributes, trained_attribute))
      std::erase_if(*marked, [&](const std::string& name) { return is_among(buffers, name); });
    if (marked->empty()) {
      fail(ErrorClass::Type, function.span, "setup_trainer.parameters",
           fmt::format("{} says of none of its parameters that it is trained; name them by wrt",
                       function.name));
    }
    check_trained(function, *marked, buffers);
    return *marked;
  }
  std::vector<std::string> trained;
  for (std::size_t i = 1; i < function.params.size(); ++i) {
    const Var& param = function.params[i];
    if (may_be_trained(param.type()) && !is_among(buffers, param.name())) trained.push_back(param.name());
  }
  if (trained.empty()) {
    fail(ErrorClass::Type, function.span, "setup_trainer.parameters",
         fmt::format("{} has no {}parameter after its input; nothing could be trained", function.name,
                     function.params.size() < 2 ? "" : "floating "));
  }
  return trained;
}

ModelParameters parameters_of_model(const Module& module, const Function& function,
                                    const std::vector<std::string>& wrt,
                                    const std::vector<std::string>& frozen) {
  ModelParameters result;
  result.buffers = buffers_of_model(module, function);
  std::vector<std::string> wanted = wrt;
  if (const auto counts = backbone_counts(module, function); counts && wanted.empty()) {
    const std::size_t end = function.params.size() - counts->states;
    for (std::size_t i = end - counts->trained; i < end; ++i) wanted.push_back(function.params[i].name());
  }
  result.trained = trained_parameters(function, wanted, result.buffers);
  const std::vector<std::string> all = result.trained;
  for (const std::string& pattern : frozen) {
    bool any = false;
    for (const std::string& name : all) {
      if (!matches_glob(pattern, name)) continue;
      any = true;
      if (!is_among(result.frozen, name)) result.frozen.push_back(name);
    }
    if (any) continue;
    fail(ErrorClass::Usage, {}, "frozen.pattern",
         fmt::format("frozen: no trained parameter is called '{}'; they are {}{}", printable(pattern),
                     fmt::join(all, ", "), did_you_mean(pattern, all)));
  }
  std::erase_if(result.trained, [&](const std::string& name) { return is_among(result.frozen, name); });
  if (result.trained.empty()) {
    fail(ErrorClass::Usage, {}, "frozen.pattern",
         fmt::format("frozen: all parameters of {} are frozen; nothing could be trained", function.name));
  }
  return result;
}

TrainerNames trainer_names(const Module& module, const Function& function, const AppendLossOptions& loss) {
  TrainerNames names;
  names.loss = loss.new_name.empty() ? function.name + "_loss" : loss.new_name;
  const bool forms = has_forms(module, function);
  names.inference = forms ? name_of_form(function.name, ModelMode::Inference) : function.name;
  names.inference_loss = forms ? names.inference + "_loss" : names.loss;
  return names;
}

Module setup_trainer(const Module& module, std::string_view name, const SetupTrainerOptions& options) {
  const FunctionPtr function = relax_function(module, name);
  const ModelParameters model = parameters_of_model(module, *function, options.wrt, options.frozen);
  const std::vector<Type> types = types_of(*function, model.trained);
  const TrainerNames names = trainer_names(module, *function, options.loss);
  Module result = module;
  for (const std::string_view made : made_by_trainers) remove_made(result, made, made);

  std::string trained_form = function->name;
  AppendLossOptions loss = options.loss;
  if (names.inference != function->name) {
    result = decompose(result, name, ModelMode::Training);
    result = decompose(result, name, ModelMode::Inference);
    trained_form = name_of_form(name, ModelMode::Training);
    loss.new_name = names.inference_loss;
    result = append_loss(result, names.inference, loss);
    set_loss_roles(result, names.inference_loss, *result.function(names.inference));
  }
  const Function form = *result.function(trained_form);
  // The last result of a form with buffers is no output of the model.
  const std::size_t own_results = count_results(form) - 1;
  if (!model.buffers.empty() && static_cast<std::size_t>(std::max(loss.outputs, 1)) > own_results) {
    fail(ErrorClass::Usage, function->span, "append_loss.outputs",
         fmt::format("the loss shall consume {} outputs; {} returns {}", loss.outputs, name, own_results));
  }
  loss.new_name = names.loss;
  result = append_loss(result, trained_form, loss);
  GradientOptions gradient_options;
  gradient_options.wrt = model.trained;
  result = gradient(result, names.loss, gradient_options);
  set_loss_roles(result, names.loss, form);
  result = add_optimizer(result, options.optimizer, types, model.trained);
  const FunctionPtr adjoint = result.function(names.loss + "_adjoint");
  const Type states = result.function("optimizer_init")->result_type;
  const DType dtype = common_dtype(types, model.trained);
  const std::size_t targets = adjoint->params.size() - form.params.size();
  StepWriter writer(result, adjoint, model, key_of(form));
  writer.write_step(states, dtype, targets, options.average);
  if (options.accumulate) {
    writer.write_add_gradients(dtype, targets);
    writer.write_apply_gradients(states, dtype, options.average);
  }
  if (!options.schedule.name.empty()) result = add_schedule(result, options.schedule);
  if (options.initial.given()) result = add_initialiser(result, options.initial, *function, model.trained);
  verify_after(result, "setup_trainer");
  return result;
}

}  // namespace relish
