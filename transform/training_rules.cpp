// The functions learning_rate and initial_params, from the texts of schedules and initialisers.
#include "transform/training_rules.h"

#include <algorithm>
#include <map>

#include "ir/evaluator.h"
#include "ir/op.h"
#include "ir/printer.h"
#include "ir/verify.h"
#include "runtime/fans.h"
#include "stdlib/catalog.h"
#include "transform/named_arguments.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

using Known = std::map<std::string, Expr>;

// Writes one function whose calls of texts are inlined.
class RuleWriter {
 public:
  RuleWriter(Module& target, std::string name, std::string_view text, NamedArguments numbers)
      : target_(target), text_(body_loader().load(text)), numbers_(std::move(numbers)) {
    if (target.find(name)) {
      fail(
          ErrorClass::Usage, {}, "setup_trainer.name",
          fmt::format("module {} has a function '{}' already; rename it, since the trainer makes one of that "
                      "name",
                      target.name, name));
    }
    function_.name = std::move(name);
    builder_.begin_block(true);
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

  void finish(const Expr& result) {
    builder_.end_block();
    std::vector<Binding> bindings;
    for (BindingBlock& block : builder_.take_blocks())
      bindings.insert(bindings.end(), block.bindings.begin(), block.bindings.end());
    close_function(function_, std::move(bindings), result);
    target_.set(std::make_shared<const Function>(function_));
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

Expr number(DType dtype, double value) { return constant(Tensor::scalar(dtype, value)); }

}  // namespace

Module add_schedule(const Module& module, const NamedSpec& spec) {
  const RuleChoice choice = choose_rule("schedule", schedule_entries(), spec.name, spec.options);
  Module result = module;
  std::vector<std::pair<std::string, double>> constants = choice.constants;
  constants.emplace_back("warmup", choice.warmup);
  RuleWriter writer(result, "learning_rate", "schedules/schedules.relish",
                    NamedArguments(std::move(constants), DType::Float64));
  const Expr lr = writer.parameter("lr", tensor_type({}, DType::Float64));
  const Attributes wide = {{"dtype", Attribute(DType::Float64)}};
  const Expr done =
      writer.call_operator("astype", {writer.parameter("step", tensor_type({}, DType::Int64))}, wide);
  Expr length =
      writer.call_operator("astype", {writer.parameter("steps", tensor_type({}, DType::Int64))}, wide);
  Known known = {{"lr", lr}, {"step", done}};
  if (choice.warmup > 0) {
    known["step"] = writer.call("after_warmup", known);
    length = writer.call_operator("subtract", {length, number(DType::Float64, choice.warmup)});
  }
  for (const std::string& name : choice.lengths) known[name] = length;
  Expr rate = writer.call(choice.function, known);
  if (choice.warmup > 0) rate = writer.call("warmed", {{"lr", rate}, {"step", done}});
  writer.finish(rate);
  verify_after(result, "schedule");
  return result;
}

Module add_initialiser(const Module& module, const NamedSpec& spec, const std::vector<Type>& params,
                       const std::vector<std::string>& names) {
  const RuleChoice choice = choose_rule("initialiser", initialiser_entries(), spec.name, spec.options);
  Module result = module;
  DType dtype = DType::Float32;  // half types are drawn wide and rounded once
  for (const Type& type : params)
    if (type.tensor() && type.tensor()->dtype == DType::Float64) dtype = DType::Float64;
  RuleWriter writer(result, "initial_params", "initialisers/initialisers.relish",
                    NamedArguments(choice.constants, dtype));
  const Expr key = writer.parameter("key", tensor_type({Scalar(2)}, DType::UInt32));
  std::vector<Expr> values;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Shape shape = fixed_shape(params[i], names[i]);
    const DType own = *params[i].tensor()->dtype;
    Known known = {{"shape", shape_literal(std::vector<Scalar>(shape.begin(), shape.end()))}};
    if (shape.size() < 2) {
      values.push_back(writer.call("zeros", known, own));
      continue;
    }
    const Fans fans = fans_of(shape);
    known["fan_in"] = number(dtype, static_cast<double>(fans.in));
    known["fan_out"] = number(dtype, static_cast<double>(fans.out));
    known["fan"] = known[choice.fan_out ? "fan_out" : "fan_in"];
    known["key"] = writer.call_operator(
        "random.fold_in", {key, constant(Tensor::scalar(DType::Int64, static_cast<double>(i)))});
    Expr value = writer.call(choice.function, known, dtype);
    if (own != dtype) value = writer.call_operator("astype", {value}, {{"dtype", Attribute(own)}});
    values.push_back(value);
  }
  writer.finish(tuple(std::move(values)));
  verify_after(result, "initialiser");
  return result;
}

}  // namespace relish
