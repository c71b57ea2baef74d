// Parameters come in tuples; the adjoint takes each by itself.
#include "transform/step_writer.h"

#include <algorithm>

#include "transform/gradient_norm.h"
#include "transform/loss_scaling.h"
#include "transform/rebuild.h"
#include "transform/setup_trainer.h"

namespace relish {

std::vector<Type> types_of_parameters(const Function& function, const std::vector<std::string>& names) {
  std::vector<Type> types;
  for (const std::string& name : names)
    for (const Var& param : function.params)
      if (param.name() == name) types.push_back(param.type());
  return types;
}

StepWriter::StepWriter(Module& module, FunctionPtr adjoint, const ModelParameters& model, StepOptions options)
    : module_(module),
      held_(std::move(adjoint)),
      adjoint_(*held_),
      roles_of_adjoint_(roles_of(adjoint_).value()),
      model_(model),
      options_(std::move(options)) {}

void StepWriter::write_step() {
  begin("train_step");
  take_model();
  if (options_.average) averages_ = parameter("averages", params_.type(), {Role::Averages, model_.trained});
  const Var states = parameter("states", type_of_states(), {Role::States});
  const Var lr = parameter("lr", tensor_type({}, options_.dtype), {Role::LearningRate});
  std::optional<Expr> scale;
  if (!options_.loss_scale.empty()) scale = loss_scale_of(builder_, Expr(states));
  const Differentiated found = differentiate(scale);
  result(Role::Loss, found.loss);
  if (found.metrics.defined()) result(Role::Metrics, found.metrics);
  const Expr new_states = update(found.gradients, states, lr, found.new_buffers);
  result(Role::States, new_states);
  finish();
}

void StepWriter::write_add_gradients() {
  begin("add_gradients");
  take_model();
  const Var sums = parameter("gradients", params_.type(), {Role::Gradients, model_.trained});
  const Var weight = parameter("weight", tensor_type({}, options_.dtype), {Role::Weight});
  std::optional<Expr> scale;
  if (!options_.loss_scale.empty())
    scale = Expr(parameter("loss_scale", tensor_type({}, options_.dtype), {Role::LossScale}));
  const Differentiated found = differentiate(scale);
  result(Role::Loss, found.loss);
  if (found.metrics.defined()) result(Role::Metrics, found.metrics);
  result(Role::Gradients, each(model_.trained, found.gradients, "_grad",
                               [&](int at, const std::string& name, const Expr& own) {
                                 const Expr weighted = builder_.call("multiply", {own, Expr(weight)});
                                 const Expr before = builder_.emit(tuple_get(Expr(sums), at), name + "_sum");
                                 return builder_.call("add", {before, weighted}, {}, name + "_sum_new");
                               }));
  if (found.new_buffers.defined()) result(Role::Buffers, found.new_buffers);
  finish();
}

void StepWriter::write_apply_gradients() {
  begin("apply_gradients");
  params_ = parameter("params", TupleType{types_of_parameters(fresh_, model_.trained)},
                      {Role::Parameters, model_.trained});
  if (options_.average) averages_ = parameter("averages", params_.type(), {Role::Averages, model_.trained});
  const Var sums = parameter("gradients", params_.type(), {Role::Gradients, model_.trained});
  const Var states = parameter("states", type_of_states(), {Role::States});
  const Var lr = parameter("lr", tensor_type({}, options_.dtype), {Role::LearningRate});
  const Var weight = parameter("weight", tensor_type({}, options_.dtype), {Role::Weight});
  const Expr means =
      each(model_.trained, Expr(sums), "_sum", [&](int, const std::string& name, const Expr& sum) {
        return builder_.call("divide", {sum, Expr(weight)}, {}, name + "_grad");
      });
  result(Role::States, update(means, states, lr, {}));
  finish();
}

// A function of its own: nothing of the one before it is left.
void StepWriter::begin(const std::string& kind) {
  fresh_ = copy_with_fresh_vars(adjoint_);
  step_ = Function{};
  roles_ = {kind, {}, {}, true};
  step_.name = options_.prefix + kind;
  step_.span = adjoint_.span;
  builder_ = FunctionBuilder();
  builder_.set_origin(step_.span);
  for (const Var& param : fresh_.params) builder_.reserve_name(param.name());
  builder_.begin_block(true);
  buffers_.reset();
  averages_.reset();
  results_.clear();
}

void StepWriter::finish() {
  builder_.end_block();
  std::vector<Binding> bindings = builder_.take_bindings();
  close_function(step_, std::move(bindings), tuple(std::move(results_)));
  set_role(module_, std::move(step_), roles_);
}

void StepWriter::take_model() {
  params_ = parameter("params", TupleType{types_of_parameters(fresh_, model_.trained)},
                      {Role::Parameters, model_.trained});
  if (!model_.buffers.empty()) {
    buffers_ = parameter("buffers", TupleType{types_of_parameters(fresh_, model_.buffers)},
                         {Role::Buffers, model_.buffers});
  }
}

// What the optimizer begins with for these parameters: their sizes are symbols of this function, not of its
// own.
Type StepWriter::type_of_states() const {
  const FunctionPtr init = module_.function(options_.prefix + "optimizer_init");
  return function_call(global_ref(GlobalFunction(init)), {Expr(params_)}).type();
}

StepWriter::Differentiated StepWriter::differentiate(const std::optional<Expr>& scale) {
  const Expr both = builder_.emit(
      function_call(global_ref(GlobalFunction(module_.function(adjoint_.name))), arguments(scale)),
      "loss_and_gradients");
  const bool several = both.type().tuple()->fields[0].tuple() != nullptr;
  Differentiated found;
  found.loss = builder_.emit(tuple_get(both, 0), several ? "outputs" : "loss");
  if (several) {
    const Expr outputs = found.loss;
    found.loss = builder_.emit(tuple_get(outputs, scale ? 1 : 0), "loss");
    if (options_.metrics) found.metrics = builder_.emit(tuple_get(outputs, scale ? 2 : 1), "metrics");
    const int last = static_cast<int>(outputs.type().tuple()->fields.size()) - 1;
    if (buffers_) found.new_buffers = builder_.emit(tuple_get(outputs, last), "new_buffers");
  }
  found.gradients = builder_.emit(tuple_get(both, 1), "gradients");
  return found;
}

// The optimizer, and what goes with new parameters; they and what belongs to them become results. Returns
// the new states.
Expr StepWriter::update(const Expr& gradients, const Var& states, const Var& lr, Expr new_buffers) {
  if (options_.gradient_norm) result(Role::GradientNorm, norm_of(gradients, states));
  const FunctionPtr optimizer = module_.function(options_.prefix + "optimizer");
  const Expr updated = builder_.emit(function_call(global_ref(GlobalFunction(optimizer)),
                                                   {Expr(params_), gradients, Expr(states), Expr(lr)}),
                                     "updated");
  const Expr new_params = builder_.emit(tuple_get(updated, 0), "new_params");
  const Expr new_states = builder_.emit(tuple_get(updated, 1), "new_states");
  result(Role::Parameters, new_params);
  // A step whose gradients were no numbers leaves nothing behind.
  std::optional<Expr> done;
  if (!options_.loss_scale.empty()) done = step_was_done(builder_, Expr(states), new_states);
  const auto kept = [&](const std::string& name, const Expr& before, const Expr& after) {
    return builder_.call("where", {*done, after, before}, {}, name + "_kept");
  };
  if (new_buffers.defined()) {
    if (done) {
      new_buffers = each(model_.buffers, new_buffers, "_after",
                         [&](int at, const std::string& name, const Expr& after) {
                           return kept(name, builder_.emit(tuple_get(Expr(*buffers_), at), name), after);
                         });
    }
    result(Role::Buffers, new_buffers);
  }
  if (averages_) {
    Expr averages = averaged(new_params);
    if (done) {
      averages = each(model_.trained, averages, "_averaged",
                      [&](int at, const std::string& name, const Expr& after) {
                        return kept(name, builder_.emit(tuple_get(Expr(*averages_), at), name), after);
                      });
    }
    result(Role::Averages, averages);
  }
  return new_states;
}

// In the words of the optimizer that clips by this norm, so that what both need is computed once.
Expr StepWriter::norm_of(const Expr& gradients, const Var& states) {
  std::optional<Expr> inverse;
  if (!options_.loss_scale.empty())
    inverse = inverse_of_scale(builder_, loss_scale_of(builder_, Expr(states)));
  std::vector<Expr> fields;
  for (int i = 0; i < static_cast<int>(gradients.type().tuple()->fields.size()); ++i) {
    fields.push_back(builder_.emit(tuple_get(gradients, i)));
    if (inverse) fields.back() = builder_.call("multiply", {fields.back(), *inverse}, {}, "gradient");
  }
  Expr norm = norm_of_gradients(builder_, module_, fields);
  if (options_.dtype == DType::Float64) return norm;
  return builder_.call("astype", {norm}, {{"dtype", Attribute(options_.dtype)}}, "gradient_norm");
}

void StepWriter::result(Role role, const Expr& value) {
  results_.push_back(value);
  roles_.results.push_back({role});
}

Var StepWriter::parameter(std::string_view name, Type type, RoleSlot role) {
  step_.params.emplace_back(builder_.fresh_name(name), std::move(type));
  roles_.params.push_back(std::move(role));
  return step_.params.back();
}

// A tuple of what `make` gives for each field of another.
template <class Make>
Expr StepWriter::each(const std::vector<std::string>& names, const Expr& whole, std::string_view suffix,
                      const Make& make) {
  std::vector<Expr> fields;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const int at = static_cast<int>(i);
    fields.push_back(make(at, names[i], builder_.emit(tuple_get(whole, at), names[i] + std::string(suffix))));
  }
  return tuple(std::move(fields));
}

// decay * average + (1 - decay) * parameter, for each.
Expr StepWriter::averaged(const Expr& params) {
  const double decay = *options_.average;
  const auto number = [&](double value) { return constant(Tensor::scalar(options_.dtype, value)); };
  return each(model_.trained, Expr(*averages_), "_average",
              [&](int at, const std::string& name, const Expr& average) {
                const Expr kept = builder_.call("multiply", {average, number(decay)});
                const Expr param = builder_.emit(tuple_get(params, at), name + "_new");
                const Expr joined = builder_.call("multiply", {param, number(1 - decay)});
                return builder_.call("add", {kept, joined}, {}, name + "_average_new");
              });
}

// A field of a tuple by the name of the model's parameter.
std::optional<Expr> StepWriter::field(const Var& whole, const std::vector<std::string>& names,
                                      const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return Expr(builder_.bind(tuple_get(Expr(whole), static_cast<int>(found - names.begin())), name + "_in"));
}

// What the adjoint takes. Its key stands before the inputs.
std::vector<Expr> StepWriter::arguments(const std::optional<Expr>& scale) {
  std::optional<Var> key;
  if (const auto at = roles_of_adjoint_.param(Role::Key)) {
    const Var& param = fresh_.params[*at];
    key = step_.params.emplace_back(param.name(), param.type(), false, param.span());
    roles_.params.push_back({Role::Key});
  }
  std::vector<Expr> args;
  for (std::size_t i = 0; i < fresh_.params.size(); ++i) {
    const Var& param = fresh_.params[i];
    const Role role = roles_of_adjoint_.params[i].role;
    std::optional<Expr> arg = field(params_, model_.trained, param.name());
    if (!arg && buffers_) arg = field(*buffers_, model_.buffers, param.name());
    if (!arg && role == Role::Key) arg = Expr(*key);
    if (!arg && scale && role == Role::LossScale) arg = *scale;
    if (!arg) {
      step_.params.emplace_back(param.name(), param.type(), false, param.span());
      roles_.params.push_back({role == Role::Target ? Role::Target : Role::Input});
      arg = Expr(step_.params.back());
    }
    args.push_back(std::move(*arg));
  }
  return args;
}

}  // namespace relish
