// The optimizer of a model: the text of the library is written for one parameter and inlined for each.
#include "transform/optimizer.h"

#include <fmt/format.h>

#include "ir/operators/evaluator.h"
#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "ir/printer/reserved_names.h"
#include "ir/verify/verify.h"
#include "stdlib/catalog.h"
#include "support/suggest.h"
#include "transform/named_arguments.h"
#include "transform/parameter_marks.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

const OptimizerEntry& optimizer_entry(const NamedSpec& spec) {
  const OptimizerEntry* entry = find_optimizer(spec.name);
  if (!entry) {
    fail(ErrorClass::Usage, {}, "optimizer.unknown",
         fmt::format("no optimizer '{}'; optimizers are {}{}", spec.name, fmt::join(optimizer_names(), ", "),
                     did_you_mean(spec.name, optimizer_names())));
  }
  return *entry;
}

// Makes one function; every call of the optimizer's text is inlined into it.
class OptimizerWriter {
 public:
  OptimizerWriter(Module& target, const OptimizerEntry& entry, OptimizerChoice choice, DType dtype)
      : target_(target),
        entry_(entry),
        choice_(std::move(choice)),
        dtype_(dtype),
        numbers_(choice_.constants, dtype),
        text_(body_loader().load(choice_.text)) {}

  // optimizer_init(params) -> states. Returns the type of the states.
  Type write_init(const std::vector<Type>& types, const std::vector<std::string>& names) {
    begin("optimizer_init");
    const std::vector<Expr> params = parameter_tuple("params", types, names);
    std::vector<Expr> states = call(choice_.start, {});
    for (const std::string& start : choice_.starts) {
      for (const Expr& param : params) {
        states.push_back(start.empty() ? builder_.emit(op_call(*find_op("zeros_like"), {param}, {}))
                                       : call(start, {{"p", param}}).at(0));
      }
    }
    const Expr result = tuple(states);
    finish(result, {"optimizer_init", {{Role::Parameters, names}}, {{Role::States}}, false});
    return result.type();
  }

  void write_update(const std::vector<Type>& types, const std::vector<std::string>& names,
                    const Type& states_type) {
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
    std::vector<Expr> new_states = call(choice_.step, shared);
    RELISH_CHECK(new_states.size() == shared_count);
    for (std::size_t i = 0; i < shared_count; ++i) shared[i].second = new_states[i];
    shared.emplace_back("lr", lr);
    change_gradients(params, gradients);

    std::vector<Expr> new_params;
    std::vector<std::vector<Expr>> own(choice_.parameter_states.size());
    for (std::size_t i = 0; i < params.size(); ++i) {
      Known known = shared;
      known.emplace_back("p", params[i]);
      known.emplace_back("g", gradients[i]);
      for (std::size_t s = 0; s < own.size(); ++s)
        known.emplace_back(choice_.parameter_states[s], states[shared_count + s * params.size() + i]);
      const std::vector<Expr> updated = call(choice_.update, known);
      RELISH_CHECK(updated.size() == 1 + own.size());
      new_params.push_back(updated[0]);
      rename(updated[0], names[i]);
      for (std::size_t s = 0; s < own.size(); ++s) own[s].push_back(updated[1 + s]);
    }
    for (const std::vector<Expr>& kind : own) new_states.insert(new_states.end(), kind.begin(), kind.end());
    const std::vector<std::string> all_states = state_names(names);
    for (std::size_t i = 0; i < new_states.size(); ++i) rename(new_states[i], all_states[i]);
    finish(tuple({tuple(new_params), tuple(new_states)}),
           {"optimizer",
            {{Role::Parameters, names}, {Role::Gradients, names}, {Role::States}, {Role::LearningRate}},
            {{Role::Parameters}, {Role::States}},
            true});
  }

 private:
  // Values that a function of a text may ask for, by name.
  using Known = std::vector<std::pair<std::string, Expr>>;

  // Clipping and decay, as chosen.
  void change_gradients(const std::vector<Expr>& params, std::vector<Expr>& gradients) {
    if (choice_.gradient_steps.empty()) return;
    const ModulePtr text = body_loader().load("optimizers/gradients.relish");
    for (const std::string& step : choice_.gradient_steps) {
      if (text->function("apply_" + step)) {
        for (std::size_t i = 0; i < params.size(); ++i)
          gradients[i] = call(*text, "apply_" + step, {{"p", params[i]}, {"g", gradients[i]}}).at(0);
        continue;
      }
      // One factor for all, from the sum of all squares.
      std::optional<Expr> squares;
      for (const Expr& gradient : gradients) {
        const Expr own = call(*text, "sum_of_squares", {{"g", gradient}}).at(0);
        squares = squares ? builder_.emit(op_call(*find_op("add"), {*squares, own}, {})) : own;
      }
      const Expr factor = call(*text, step + "_factor", {{"squares", *squares}}).at(0);
      for (Expr& gradient : gradients)
        gradient = call(*text, "scaled", {{"g", gradient}, {"factor", factor}}).at(0);
    }
  }

  // "num_steps", then "<parameter>_v" for every kind of parameter state.
  std::vector<std::string> state_names(const std::vector<std::string>& params) const {
    std::vector<std::string> names;
    names.assign(entry_.shared_states.begin(), entry_.shared_states.end());
    for (const std::string& state : choice_.parameter_states)
      for (const std::string& param : params) names.push_back(param + "_" + state);
    return names;
  }

  void begin(std::string name) {
    function_ = Function{};
    function_.name = std::move(name);
    builder_ = FunctionBuilder();
    renamed_.clear();
    builder_.begin_block(true);
  }

  Expr parameter(const std::string& name, Type type) {
    function_.params.emplace_back(builder_.fresh_name(name), std::move(type));
    return Expr(function_.params.back());
  }

  // What a state or parameter has become is named after it.
  void rename(const Expr& updated, const std::string& name) {
    if (const Var* var = updated.as_var())
      renamed_.insert_or_assign(var->id(), builder_.fresh_name(name + "_new"));
  }

  // A tuple parameter and its fields as variables.
  std::vector<Expr> parameter_tuple(const std::string& name, const std::vector<Type>& types,
                                    const std::vector<std::string>& names) {
    const Expr whole = parameter(name, TupleType{types});
    std::vector<Expr> fields;
    for (std::size_t i = 0; i < types.size(); ++i)
      fields.push_back(builder_.emit(tuple_get(whole, static_cast<int>(i)), names[i]));
    return fields;
  }

  std::vector<Expr> call(const std::string& name, const Known& known) { return call(*text_, name, known); }

  // Inlines a function of a text; the fields of its result, which may be one tensor, as leaves.
  std::vector<Expr> call(const Module& text, const std::string& name, const Known& known) {
    const FunctionPtr callee = text.function(name);
    RELISH_CHECK(callee != nullptr, name);
    std::vector<Expr> args;
    for (const Var& param : callee->params) args.push_back(argument(param.name(), known));
    const Expr result = inline_call(builder_, target_, text, *callee, args);
    if (const auto* literal = result.as<TupleExpr>()) return literal->fields;
    std::vector<Expr> fields;
    const TupleType* type = result.type().tuple();
    if (!type) return {result};
    for (int i = 0; i < static_cast<int>(type->fields.size()); ++i)
      fields.push_back(builder_.emit(tuple_get(result, i)));
    return fields;
  }

  Expr argument(const std::string& name, const Known& known) {
    const auto find = [&](std::string_view wanted) {
      return std::find_if(known.begin(), known.end(), [&](const auto& item) { return item.first == wanted; });
    };
    if (const auto found = find(name); found != known.end()) return found->second;
    if (name != "steps") return numbers_.value(name);
    const auto counter = find("num_steps");
    RELISH_CHECK(counter != known.end());
    return builder_.emit(op_call(*find_op("astype"), {counter->second}, {{"dtype", Attribute(dtype_)}}),
                         name);
  }

  void finish(const Expr& result, const RoleSignature& roles) {
    builder_.end_block();
    std::vector<Binding> bindings = builder_.take_bindings();
    close_function(function_, std::move(bindings), result, renamed_);
    set_role(target_, std::move(function_), roles);
  }

  Module& target_;
  const OptimizerEntry& entry_;
  OptimizerChoice choice_;
  DType dtype_;
  NamedArguments numbers_;
  ModulePtr text_;
  Function function_;
  FunctionBuilder builder_;
  VarNames renamed_;
};

}  // namespace

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

Module add_optimizer(const Module& module, const NamedSpec& spec, const std::vector<Type>& params,
                     const std::vector<std::string>& names) {
  const OptimizerEntry& entry = optimizer_entry(spec);
  const DType dtype = common_dtype(params, names);
  Module result = module;
  OptimizerWriter writer(result, entry, choose_optimizer(entry, spec.options), dtype);
  const Type states = writer.write_init(params, names);
  writer.write_update(params, names, states);
  verify_after(result, "optimizer");
  return result;
}

}  // namespace relish
