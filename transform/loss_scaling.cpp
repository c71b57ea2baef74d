// The functions around the optimizer that keep the scale.
#include "transform/loss_scaling.h"

#include <algorithm>

#include "transform/parameter_marks.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

constexpr double first_scale = 65536, greatest_scale = 16777216;
constexpr std::int64_t steps_to_growth = 2000;

// Places in the tuple of states.
enum StatePlace : int { OwnStates, Scale, GoodSteps, SkippedSteps };

Expr count(std::int64_t value) { return constant(Tensor::scalar_int(DType::Int64, value)); }

// The function under another name, with its roles.
FunctionPtr renamed(Module& module, const std::string& name, const std::string& new_name) {
  Function copy = copy_with_fresh_vars(*module.function(name));
  copy.name = new_name;
  FunctionPtr made = std::make_shared<const Function>(std::move(copy));
  module.set(made);
  return made;
}

class ScalingWriter {
 public:
  ScalingWriter(Module& module, DType dtype, const std::string& prefix)
      : module_(module), dtype_(dtype), prefix_(prefix) {}

  Type write_init() {
    const FunctionPtr own = renamed(module_, prefix_ + "optimizer_init", prefix_ + "unscaled_optimizer_init");
    begin(*own);
    const Expr states =
        builder_.emit(function_call(global_ref(GlobalFunction(own)), arguments()), "own_states");
    const Expr result = tuple({states, constant_of(dtype_, first_scale), count(0), count(0)});
    Type type = result.type();
    finish(prefix_ + "optimizer_init", result, *roles_of(*own));
    return type;
  }

  void write_update(const Type& states_type) {
    const FunctionPtr own = renamed(module_, prefix_ + "optimizer", prefix_ + "unscaled_optimizer");
    const RoleSignature roles = *roles_of(*own);
    const std::size_t states_at = roles.param(Role::States).value();
    begin(*own);
    // Those of the optimizer by its own parameters' sizes, then what scaling adds.
    TupleType all = *states_type.tuple();
    all.fields[OwnStates] = function_.params[states_at].type();
    function_.params[states_at] = Var(function_.params[states_at].name(), std::move(all));
    const Expr params(function_.params[roles.param(Role::Parameters).value()]);
    const Expr gradients(function_.params[roles.param(Role::Gradients).value()]);
    const Expr states(function_.params[states_at]);
    const Expr old_states = builder_.emit(tuple_get(states, OwnStates), "own_states");
    const Expr scale = builder_.emit(tuple_get(states, Scale), "scale");
    const Expr good = builder_.emit(tuple_get(states, GoodSteps), "good_steps");
    const Expr skipped = builder_.emit(tuple_get(states, SkippedSteps), "skipped_steps");

    const Expr inverse = inverse_of_scale(builder_, scale);
    std::vector<Expr> fields;
    Expr fault = constant_of(dtype_, 0);  // becomes NaN where a gradient is no number
    for (int i = 0; i < static_cast<int>(gradients.type().tuple()->fields.size()); ++i) {
      const Expr scaled = builder_.emit(tuple_get(gradients, i));
      fields.push_back(builder_.call("multiply", {scaled, inverse}, {}, "gradient"));
      const Expr nothing = builder_.call("multiply", {fields.back(), constant_of(dtype_, 0)});
      fault = builder_.call("add", {fault, builder_.call("sum", {nothing})}, {}, "fault");
    }
    const Expr finite = builder_.call("equal", {fault, constant_of(dtype_, 0)}, {}, "finite");

    std::vector<Expr> args = arguments();
    args[roles.param(Role::Gradients).value()] = tuple(fields);
    args[states_at] = old_states;
    const Expr updated = builder_.emit(function_call(global_ref(GlobalFunction(own)), args), "updated");
    const Expr new_params = builder_.emit(tuple_get(updated, 0), "new_params");
    const Expr new_states = builder_.emit(tuple_get(updated, 1), "new_states");
    const Expr kept_params = chosen(finite, new_params, params);
    const Expr kept_states = chosen(finite, new_states, old_states);

    const Expr more = builder_.call("add", {good, count(1)});
    const Expr reached = builder_.call("greater_equal", {more, count(steps_to_growth)});
    const Expr grows = builder_.call("logical_and", {finite, reached}, {}, "grows");
    const Expr doubled = builder_.call("multiply", {scale, constant_of(dtype_, 2)});
    const Expr bounded = builder_.call("minimum", {doubled, constant_of(dtype_, greatest_scale)});
    const Expr halved = builder_.call("multiply", {scale, constant_of(dtype_, 0.5)});
    const Expr smaller = builder_.call("where", {finite, scale, halved});
    const Expr new_scale = builder_.call("where", {grows, bounded, smaller}, {}, "new_scale");
    const Expr counted = builder_.call("where", {finite, more, count(0)});
    const Expr new_good = builder_.call("where", {grows, count(0), counted}, {}, "new_good_steps");
    const Expr one_more = builder_.call("add", {skipped, count(1)});
    const Expr new_skipped = builder_.call("where", {finite, skipped, one_more}, {}, "new_skipped_steps");
    finish(prefix_ + "optimizer",
           tuple({kept_params, tuple({kept_states, new_scale, new_good, new_skipped})}), roles);
  }

 private:
  // The parameters of `own` anew.
  void begin(const Function& own) {
    const Function fresh = copy_with_fresh_vars(own);
    function_ = Function{};
    function_.params = fresh.params;
    builder_ = FunctionBuilder();
    for (const Var& param : function_.params) builder_.reserve_name(param.name());
    builder_.begin_block(true);
  }

  std::vector<Expr> arguments() const { return {function_.params.begin(), function_.params.end()}; }

  void finish(const std::string& name, const Expr& result, const RoleSignature& roles) {
    builder_.end_block();
    function_.name = name;
    close_function(function_, builder_.take_bindings(), result);
    module_.remove(name);
    set_role(module_, std::move(function_), roles);
  }

  // Each tensor of `after` where the step was done, else of `before`.
  Expr chosen(const Expr& done, const Expr& after, const Expr& before) {
    const TupleType* fields = after.type().tuple();
    if (!fields) return builder_.call("where", {done, after, before});
    std::vector<Expr> kept;
    for (int i = 0; i < static_cast<int>(fields->fields.size()); ++i) {
      const Expr now = builder_.emit(tuple_get(after, i));
      kept.push_back(chosen(done, now, builder_.emit(tuple_get(before, i))));
    }
    return tuple(std::move(kept));
  }

  Module& module_;
  DType dtype_;
  const std::string& prefix_;
  Function function_;
  FunctionBuilder builder_;
};

}  // namespace

std::string add_scaled_loss(Module& module, const std::string& name) {
  const FunctionPtr loss = module.function(name);
  Function scaled = copy_with_fresh_vars(*loss);
  scaled.name = name + "_scaled";
  FunctionBuilder builder;
  for (const Var& param : scaled.params) builder.reserve_name(param.name());
  const std::vector<Binding> bindings = all_bindings(scaled);
  for (const Binding& binding : bindings) builder.reserve_name(binding.var().name());
  std::vector<Expr> results = {scaled.result};
  builder.begin_block(true);
  for (const Binding& binding : bindings) builder.append(binding);
  if (const auto* literal = scaled.result.as<TupleExpr>()) {
    results = literal->fields;
  } else if (const TupleType* type = scaled.result.type().tuple()) {
    results.clear();
    for (int i = 0; i < static_cast<int>(type->fields.size()); ++i)
      results.push_back(builder.emit(tuple_get(scaled.result, i)));
  }
  const Var scale(builder.fresh_name(loss_scale_name), results.front().type());
  scaled.params.push_back(scale);
  const Expr value = builder.call("multiply", {results.front(), Expr(scale)}, {}, "scaled_loss");
  builder.end_block();
  results.insert(results.begin(), value);
  scaled.attributes = attributes_of_derived(*loss, scaled.name, scaled.params);
  close_function(scaled, builder.take_bindings(), tuple(std::move(results)));
  check_replaces(module, scaled);
  std::string made = scaled.name;
  module.set(std::make_shared<const Function>(std::move(scaled)));
  return made;
}

void add_loss_scaling(Module& module, DType dtype, const std::string& prefix) {
  ScalingWriter writer(module, dtype, prefix);
  const Type states = writer.write_init();
  writer.write_update(states);
}

Expr loss_scale_of(FunctionBuilder& builder, const Expr& states) {
  return builder.emit(tuple_get(states, Scale), std::string(loss_scale_name));
}

Expr inverse_of_scale(FunctionBuilder& builder, const Expr& scale) {
  return builder.call("divide", {constant_of(*scale.type().tensor()->dtype, 1), scale}, {}, "inverse");
}

Expr step_was_done(FunctionBuilder& builder, const Expr& before, const Expr& after) {
  const Expr old_count = builder.emit(tuple_get(before, SkippedSteps), "skipped_before");
  const Expr new_count = builder.emit(tuple_get(after, SkippedSteps), "skipped_after");
  return builder.call("equal", {old_count, new_count}, {}, "done");
}

}  // namespace relish
