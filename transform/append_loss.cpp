// A loss put on a function: the function's bindings, then the loss's, in one dataflow block. Library losses
// are inlined for the types of the outputs that they consume, so a loss is written once for all shapes.
#include "transform/append_loss.h"

#include <fmt/format.h>

#include "ir/evaluator.h"
#include "ir/printer.h"
#include "ir/verify.h"
#include "stdlib/catalog.h"
#include "support/suggest.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

// The loss as a function of known module, and the types of its parameters after the consumed outputs.
struct ResolvedLoss {
  ModulePtr module;
  FunctionPtr function;
  std::vector<std::pair<std::string, Type>> extra;
};

const TensorType& tensor_output(const Expr& output, const std::string& function, Span span) {
  const TensorType* tensor = output.type().tensor();
  if (!tensor) {
    fail(ErrorClass::Type, span, "append_loss.output",
         fmt::format("{} returns {}; a loss needs a tensor", function, print(output.type())));
  }
  return *tensor;
}

// The types of the loss's parameters behind the predictions.
Type extra_type(const LossEntry& entry, const std::string& name, const TensorType& predictions) {
  const bool classes = predictions.shape && !predictions.shape->empty();
  if (!entry.class_targets || !classes) {
    TensorType type = predictions;
    if (entry.class_targets) type.dtype = DType::Int64;
    return type;
  }
  std::vector<Scalar> dims = *predictions.shape;
  const std::size_t class_dim = dims.size() <= 2 ? dims.size() - 1 : 1;
  const Scalar class_count = dims[class_dim];
  if (name == "weights") return TensorType{predictions.dtype, std::vector<Scalar>{class_count}, 1};
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(class_dim));
  const int rank = static_cast<int>(dims.size());
  return TensorType{DType::Int64, std::move(dims), rank};
}

// A copy of the loss with the chosen attributes in every operator call that has them.
FunctionPtr with_call_attributes(const FunctionPtr& function, const Attributes& attributes) {
  if (attributes.empty()) return function;
  Function copy = *function;
  for (BindingBlock& block : copy.blocks) {
    for (Binding& binding : block.bindings) {
      auto* plain = std::get_if<VarBinding>(&binding.kind);
      const auto* call = plain ? plain->value.as<OpCall>() : nullptr;
      if (!call) continue;
      Attributes changed = call->attributes;
      for (const auto& [name, value] : attributes)
        if (find_attribute(changed, name)) changed = with_attribute(std::move(changed), name, value);
      plain->value = op_call(*call->op, call->args, std::move(changed), plain->value.span());
    }
  }
  return std::make_shared<const Function>(std::move(copy));
}

ResolvedLoss library_loss(const NamedSpec& spec, const Expr& predictions, const std::string& function,
                          Span span) {
  const LossEntry* entry = find_loss(spec.name);
  if (!entry) {
    fail(ErrorClass::Usage, {}, "loss.unknown",
         fmt::format("no loss '{}'; losses are {}{}", spec.name, fmt::join(loss_names(), ", "),
                     did_you_mean(spec.name, loss_names())));
  }
  const TensorType& type = tensor_output(predictions, function, span);
  const LossChoice choice = choose_loss(*entry, spec.options, type.rank);
  ResolvedLoss loss;
  loss.module = body_loader().load(choice.text);
  const FunctionPtr text = loss.module->function(choice.function);
  RELISH_CHECK(text != nullptr, choice.function);
  loss.function = with_call_attributes(text, choice.call_attributes);
  for (std::size_t i = 1; i < choice.params.size(); ++i)
    loss.extra.emplace_back(choice.params[i], extra_type(*entry, choice.params[i], type));
  return loss;
}

ResolvedLoss user_loss(const AppendLossOptions& options, const std::vector<Expr>& outputs,
                       std::size_t consumed, Span span) {
  ResolvedLoss loss{options.loss_module, options.loss_function, {}};
  const Function& function = *options.loss_function;
  if (function.params.size() < consumed) {
    fail(ErrorClass::Type, span, "append_loss.outputs",
         fmt::format("{} has {} parameters, fewer than the {} outputs that it shall consume", function.name,
                     function.params.size(), consumed),
         {{function.span, "the loss is declared here"}});
  }
  for (std::size_t i = 0; i < consumed; ++i) {
    if (fits(outputs[i].type(), function.params[i].type()) == Fit::Never) {
      fail(ErrorClass::Type, span, "append_loss.type",
           fmt::format("output {} has type {}; the loss expects {}", i, print(outputs[i].type()),
                       print(function.params[i].type())),
           {{function.params[i].span(),
             fmt::format("parameter '{}' of {}", function.params[i].name(), function.name)}});
    }
  }
  // Sizes of the loss's own parameters that the outputs fix ("n" of both) are the function's sizes.
  ScalarMap sizes;
  for (std::size_t i = 0; i < consumed; ++i) {
    const TensorType* wanted = function.params[i].type().tensor();
    const TensorType* found = outputs[i].type().tensor();
    if (!wanted || !found || !wanted->shape || !found->shape) continue;
    for (std::size_t d = 0; d < wanted->shape->size(); ++d)
      if (auto var = (*wanted->shape)[d].as_var()) sizes.emplace(var->id(), (*found->shape)[d]);
  }
  for (std::size_t i = consumed; i < function.params.size(); ++i)
    loss.extra.emplace_back(function.params[i].name(), substitute(function.params[i].type(), sizes));
  return loss;
}

}  // namespace

std::vector<std::string> loss_names() {
  std::vector<std::string> names;
  for (const LossEntry& entry : loss_entries()) names.emplace_back(entry.name);
  return names;
}

Module append_loss(const Module& module, std::string_view name, const AppendLossOptions& options) {
  const FunctionPtr function = relax_function(module, name);
  const Span span = function->result_span.known() ? function->result_span : function->span;

  Module result = module;
  FunctionBuilder builder;
  Function appended;
  appended.name = options.new_name.empty() ? function->name + "_loss" : options.new_name;
  if (appended.name == function->name) {
    fail(ErrorClass::Usage, function->span, "append_loss.name",
         fmt::format("the loss of '{0}' cannot be called '{0}' itself", function->name));
  }
  appended.attributes = function->attributes;
  appended.pure = function->pure;
  appended.span = function->span;
  appended.result_span = function->result_span;

  VarMap vars;
  for (const Var& param : function->params) {
    builder.reserve_name(param.name());
    appended.params.emplace_back(param.name(), param.type(), false, param.span());
    vars.emplace(param.id(), Expr(appended.params.back()));
  }
  for (const Binding& binding : all_bindings(*function)) builder.reserve_name(binding.var().name());
  builder.begin_block(true);
  for (const Binding& binding : all_bindings(*function)) builder.append(copy_binding(binding, vars));

  // What the function returns, field by field when it is a tuple.
  builder.set_origin(span);
  const Expr returned = substitute(function->result, vars);
  std::vector<Expr> outputs;
  if (const auto* literal = returned.as<TupleExpr>()) {
    outputs = literal->fields;
  } else if (const TupleType* type = returned.type().tuple()) {
    for (int i = 0; i < static_cast<int>(type->fields.size()); ++i)
      outputs.push_back(builder.emit(tuple_get(returned, i, span)));
  } else {
    outputs = {returned};
  }
  if (options.outputs < 1 || static_cast<std::size_t>(options.outputs) > outputs.size()) {
    fail(ErrorClass::Usage, span, "append_loss.outputs",
         fmt::format("the loss shall consume {} outputs; {} returns {}", options.outputs, name,
                     outputs.size()));
  }
  const auto consumed = static_cast<std::size_t>(options.outputs);
  if (!options.loss_function && consumed != 1) {
    fail(ErrorClass::Usage, span, "append_loss.outputs",
         fmt::format("loss {} consumes one output, not {}", options.loss.name, consumed));
  }
  const ResolvedLoss loss = options.loss_function
                                ? user_loss(options, outputs, consumed, span)
                                : library_loss(options.loss, outputs[0], function->name, span);

  std::vector<Expr> args(outputs.begin(), outputs.begin() + options.outputs);
  for (const auto& [extra_name, type] : loss.extra) {
    appended.params.emplace_back(builder.fresh_name(extra_name), type, false, span);
    args.emplace_back(appended.params.back());
  }
  const Expr value = inline_call(builder, result, *loss.module, *loss.function, args);
  builder.end_block();

  Expr returned_loss = value;
  if (outputs.size() > consumed) {
    std::vector<Expr> fields{value};
    fields.insert(fields.end(), outputs.begin() + options.outputs, outputs.end());
    returned_loss = tuple(std::move(fields), span);
  }
  std::vector<Binding> bindings;
  for (BindingBlock& block : builder.take_blocks())
    bindings.insert(bindings.end(), block.bindings.begin(), block.bindings.end());
  close_function(appended, std::move(bindings), returned_loss);
  check_replaces(result, appended);
  result.set(std::make_shared<const Function>(std::move(appended)));
  verify_after(result, "append_loss");
  return result;
}

}  // namespace relish
