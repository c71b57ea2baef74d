// The functions learning_rate and initial_params, from the texts of schedules and initialisers.
#include "transform/training_rules.h"

#include <algorithm>
#include <map>

#include "ir/operators/evaluator.h"
#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "ir/verify/verify.h"
#include "stdlib/catalog.h"
#include "support/glob.h"
#include "support/render.h"
#include "support/suggest.h"
#include "transform/named_arguments.h"
#include "transform/parameter_marks.h"
#include "transform/parameter_roles.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

using Known = std::map<std::string, Expr>;

// Writes one function whose calls of texts are inlined.
class RuleWriter {
 public:
  RuleWriter(Module& target, std::string name, std::string_view text)
      : target_(target), text_(body_loader().load(text)), numbers_({}, DType::Float64) {
    function_.name = std::move(name);
    builder_.begin_block(true);
  }

  // What functions of the text get for the names of numbers.
  void set_numbers(NamedArguments numbers) { numbers_ = std::move(numbers); }

  // Whether a function of the text asks for one of these.
  bool takes(const std::string& function, std::initializer_list<std::string_view> names) const {
    const FunctionPtr callee = text_->function(function);
    RELISH_CHECK(callee != nullptr, function);
    return std::any_of(callee->params.begin(), callee->params.end(), [&](const Var& param) {
      return std::find(names.begin(), names.end(), param.name()) != names.end();
    });
  }

  Expr parameter(const std::string& name, Type type) {
    function_.params.emplace_back(builder_.fresh_name(name), std::move(type));
    return Expr(function_.params.back());
  }

  Expr call_operator(std::string_view name, std::vector<Expr> args, Attributes attributes = {}) {
    return builder_.emit(op_call(*find_op(name), std::move(args), std::move(attributes)));
  }

  // Inlines a function of the text, with `dtype` for what its own operator calls make.
  Expr call(const std::string& name, const Known& known, std::optional<DType> dtype = {}) {
    const ModulePtr text = dtype ? with_call_attributes(text_, {{"dtype", Attribute(*dtype)}}) : text_;
    const FunctionPtr callee = text->function(name);
    RELISH_CHECK(callee != nullptr, name);
    std::vector<Expr> args;
    for (const Var& param : callee->params) {
      const auto found = known.find(param.name());
      args.push_back(found == known.end() ? numbers_.value(param.name()) : found->second);
    }
    return inline_call(builder_, target_, *text, *callee, args);
  }

  void finish(const Expr& result, const RoleSignature& roles) {
    builder_.end_block();
    std::vector<Binding> bindings = builder_.take_bindings();
    close_function(function_, std::move(bindings), result);
    set_role(target_, std::move(function_), roles);
  }

 private:
  Module& target_;
  ModulePtr text_;
  NamedArguments numbers_;
  Function function_;
  FunctionBuilder builder_;
};

Shape fixed_shape(const Type& type, const std::string& name) {
  const TensorType* tensor = type.tensor();
  if (!tensor || !tensor->dtype || !is_float(*tensor->dtype) || !tensor->shape) {
    fail(ErrorClass::Type, {}, "optimizer.parameter",
         fmt::format("parameter '{}' has type {}; an initialiser needs a floating tensor of fixed shape",
                     name, print(type)));
  }
  Shape shape;
  for (const Scalar& dim : *tensor->shape) {
    if (!dim.as_int()) {
      fail(ErrorClass::Type, {}, "optimizer.parameter",
           fmt::format("parameter '{}' has type {}; an initialiser needs a floating tensor of fixed shape",
                       name, print(type)));
    }
    shape.push_back(*dim.as_int());
  }
  return shape;
}

// The rule by which a parameter starts.
NamedSpec rule_of(const InitialRules& rules, const std::string& name, const ParameterUse& use,
                  std::size_t rank) {
  for (const auto& [pattern, spec] : rules.patterns)
    if (matches_glob(pattern, name)) return spec;
  switch (use.role) {
    case ParameterRole::Offset:
      return {"zeros", {}};
    case ParameterRole::Scale:
      return {"ones", {}};
    case ParameterRole::Slope:
      return {"constant", {{"value", Attribute(0.25)}}};
    case ParameterRole::Unknown:
      if (rank < 2) return {"zeros", {}};
      break;
    case ParameterRole::Embedding:
      if (rules.weights.name.empty()) return {"normal", {}};
      break;
    case ParameterRole::Weight:
      break;
  }
  return rules.weights.name.empty() ? NamedSpec{"xavier_uniform", {}} : rules.weights;
}

void check_patterns(const InitialRules& rules, const std::vector<std::string>& names) {
  for (const auto& [pattern, spec] : rules.patterns) {
    const bool matches = std::any_of(names.begin(), names.end(),
                                     [&](const std::string& name) { return matches_glob(pattern, name); });
    if (matches) continue;
    fail(ErrorClass::Usage, {}, "init.pattern",
         fmt::format("init: no trained parameter is called '{}'; they are {}{}", printable(pattern),
                     fmt::join(names, ", "), did_you_mean(pattern, names)));
  }
}

void check_fans(const ParameterUse& use, std::size_t rank, const std::string& name, const std::string& rule) {
  const bool counted = use.role == ParameterRole::Weight || use.role == ParameterRole::Embedding ||
                       (use.role == ParameterRole::Unknown && rank >= 2);
  if (counted && use.fans.in > 0 && use.fans.out > 0) return;
  fail(
      ErrorClass::Usage, {}, "init.fans",
      fmt::format("init: {} goes by the number of connections, and parameter '{}' connects nothing; expected "
                  "normal, uniform, constant, ones or zeros",
                  rule, name));
}

}  // namespace

Module add_schedule(const Module& module, const NamedSpec& spec, DType dtype, const std::string& prefix) {
  const RuleChoice choice = choose_rule("schedule", schedule_entries(), spec.name, spec.options);
  Module result = module;
  std::vector<std::pair<std::string, double>> constants = choice.constants;
  constants.emplace_back("warmup", choice.warmup);
  RuleWriter writer(result, prefix + "learning_rate", "schedules/schedules.relish");
  writer.set_numbers(NamedArguments(std::move(constants), DType::Float64));
  const Expr lr = writer.parameter("lr", tensor_type({}, DType::Float64));
  const Attributes wide = {{"dtype", Attribute(DType::Float64)}};
  const Expr done =
      writer.call_operator("astype", {writer.parameter("step", tensor_type({}, DType::Int64))}, wide);
  Expr length =
      writer.call_operator("astype", {writer.parameter("steps", tensor_type({}, DType::Int64))}, wide);
  Known known = {{"lr", lr}, {"step", done}};
  if (choice.warmup > 0) {
    known["step"] = writer.call("after_warmup", known);
    length = writer.call_operator("subtract", {length, constant_of(DType::Float64, choice.warmup)});
  }
  for (const std::string& name : choice.lengths) known[name] = length;
  Expr rate = writer.call(choice.function, known);
  if (choice.warmup > 0) rate = writer.call("warmed", {{"lr", rate}, {"step", done}});
  if (dtype != DType::Float64) rate = writer.call_operator("astype", {rate}, {{"dtype", Attribute(dtype)}});
  writer.finish(
      rate,
      {"learning_rate", {{Role::LearningRate}, {Role::Step}, {Role::Steps}}, {{Role::LearningRate}}, false});
  verify_after(result, "schedule");
  return result;
}

Module add_initialiser(const Module& module, const InitialRules& rules, const Function& function,
                       const std::vector<std::string>& names, const std::vector<bool>& drawn,
                       const std::string& prefix) {
  check_patterns(rules, names);
  const std::vector<ParameterUse> uses = parameter_uses(module, function, names);
  std::vector<Type> types;
  for (const std::string& name : names)
    for (const Var& param : function.params)
      if (param.name() == name) types.push_back(param.type());
  RELISH_CHECK(types.size() == names.size());

  Module result = module;
  DType wide = DType::Float32;  // half types are drawn wide and rounded once
  for (const Type& type : types)
    if (type.tensor() && type.tensor()->dtype == DType::Float64) wide = DType::Float64;
  RuleWriter writer(result, prefix + "initial_params", "initialisers/initialisers.relish");
  const Expr key = writer.parameter("key", tensor_type({Scalar(2)}, DType::UInt32));
  std::vector<Expr> values;
  std::vector<std::string> filled;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!drawn.empty() && !drawn[i]) continue;
    filled.push_back(names[i]);
    const Shape shape = fixed_shape(types[i], names[i]);
    const ParameterUse& use = uses[i];
    const NamedSpec spec = rule_of(rules, names[i], use, shape.size());
    const RuleChoice choice = choose_rule("initialiser", initialiser_entries(), spec.name, spec.options);
    writer.set_numbers(NamedArguments(choice.constants, wide));
    Known known = {{"shape", shape_literal(std::vector<Scalar>(shape.begin(), shape.end()))}};
    if (writer.takes(choice.function, {"fan", "fan_in", "fan_out"})) {
      check_fans(use, shape.size(), names[i], spec.name);
      known["fan_in"] = constant_of(wide, static_cast<double>(use.fans.in));
      known["fan_out"] = constant_of(wide, static_cast<double>(use.fans.out));
      known["fan"] = known[choice.fan_out ? "fan_out" : "fan_in"];
    }
    if (writer.takes(choice.function, {"key"})) {
      known["key"] = writer.call_operator(
          "random.fold_in", {key, constant(Tensor::scalar(DType::Int64, static_cast<double>(i)))});
    }
    const DType own = *types[i].tensor()->dtype;
    Expr value = writer.call(choice.function, known, wide);
    if (own != wide) value = writer.call_operator("astype", {value}, {{"dtype", Attribute(own)}});
    values.push_back(value);
  }
  writer.finish(tuple(std::move(values)),
                {"initial_params", {{Role::Key}}, {{Role::Parameters, filled}}, false});
  verify_after(result, "initialiser");
  return result;
}

}  // namespace relish
