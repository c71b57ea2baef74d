// A loss put on a function: the function's bindings, then the loss's, in one dataflow block. Library losses
// are inlined for the types of the outputs that they consume, so a loss is written once for all shapes.
#include "transform/append_loss.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/calls/own_keys.h"
#include "ir/operators/evaluator.h"
#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "ir/verify/verify.h"
#include "stdlib/catalog.h"
#include "stdlib/foreign_names.h"
#include "support/suggest.h"
#include "transform/named_arguments.h"
#include "transform/parameter_marks.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

// Parameters that leave open what the result is.
std::vector<DiagnosticNote> notes_of_open_parameters(const Function& function) {
  std::vector<DiagnosticNote> notes;
  for (const Var& param : function.params) {
    const TensorType* tensor = param.type().tensor();
    if (!tensor || (tensor->dtype && tensor->rank >= 0)) continue;
    notes.push_back(
        {param.span(),
         fmt::format("parameter '{}' has no {}; expected one such as {}", param.name(),
                     tensor->dtype ? "shape" : "dtype",
                     tensor->shape ? print(Type(TensorType{DType::Float32, tensor->shape, tensor->rank}))
                                   : "R.Tensor((2, 3), \"float32\")")});
  }
  return notes;
}

// The type of the predictions of a library loss.
const TensorType& predictions_type(const Expr& output, const Function& function, Span span) {
  const TensorType* tensor = output.type().tensor();
  if (!tensor || !tensor->dtype || !is_float(*tensor->dtype)) {
    fail(ErrorClass::Type, span, "append_loss.output",
         fmt::format("{} returns {}; a loss needs a floating tensor", function.name, print(output.type())),
         tensor && tensor->dtype ? std::vector<DiagnosticNote>() : notes_of_open_parameters(function));
  }
  return *tensor;
}

// Which dimension of the predictions counts the classes.
std::size_t class_dimension(const std::vector<Scalar>& dims) {
  return dims.size() <= 2 ? dims.size() - 1 : 1;
}

// The type of a parameter of the loss behind the predictions.
Type extra_type(const LossEntry& entry, const std::string& name, const TensorType& predictions) {
  const bool per_class = name == "weights";
  if (!per_class && !entry.class_targets) return predictions;
  const std::optional<DType> dtype = per_class ? predictions.dtype : DType::Int64;
  if (!predictions.shape || predictions.shape->empty()) {
    TensorType type = predictions;
    type.dtype = dtype;
    if (per_class) {
      type.shape.reset();
      type.rank = 1;
    } else if (type.rank > 0) {
      --type.rank;
    }
    return type;
  }
  std::vector<Scalar> dims = *predictions.shape;
  const std::size_t class_dim = class_dimension(dims);
  if (per_class) return TensorType{dtype, std::vector<Scalar>{dims[class_dim]}, 1};
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(class_dim));
  const int rank = static_cast<int>(dims.size());
  return TensorType{dtype, std::move(dims), rank};
}

const LossEntry& loss_entry(const NamedSpec& spec) {
  if (const LossEntry* entry = find_loss(spec.name)) return *entry;
  const auto instead = written_instead(spec.name);  // of another library
  fail(ErrorClass::Usage, {}, "loss.unknown",
       fmt::format("no loss '{}'; losses are {}{}", spec.name, fmt::join(loss_names(), ", "),
                   instead && !instead->empty() ? "; write " + std::string(*instead)
                                                : did_you_mean_choice(spec.name, loss_names())));
}

// Writes the calls of a loss of the library into the new function.
class LibraryLoss {
 public:
  LibraryLoss(FunctionBuilder& builder, Module& target, const NamedSpec& spec, const TensorType& predictions)
      : builder_(builder),
        target_(target),
        entry_(loss_entry(spec)),
        predictions_(predictions),
        choice_(choose_loss(entry_, spec.options, predictions.rank)) {}

  std::vector<std::pair<std::string, Type>> extra() const {
    std::vector<std::pair<std::string, Type>> types;
    for (const std::string& name : choice_.extra)
      types.emplace_back(name, extra_type(entry_, name, predictions_));
    return types;
  }

  // `args`: the predictions, then values for extra().
  Expr write(std::vector<Expr> args) {
    if (choice_.flatten) {
      args[0] = flat_positions(args[0], 2);
      args[1] = flat_positions(args[1], entry_.class_targets ? 1 : 2);
    }
    ModulePtr text = with_call_attributes(body_loader().load(choice_.text), choice_.call_attributes);
    const FunctionPtr function = text->function(choice_.function);
    RELISH_CHECK(function != nullptr, choice_.function);
    const NamedArguments named(choice_.constants, *predictions_.dtype);
    std::vector<Expr> given;
    for (const Var& param : function->params) {
      const auto extra = std::find(choice_.extra.begin(), choice_.extra.end(), param.name());
      if (param.name() == "predictions")
        given.push_back(args[0]);
      else if (extra != choice_.extra.end())
        given.push_back(args[1 + static_cast<std::size_t>(extra - choice_.extra.begin())]);
      else
        given.push_back(named.value(param.name()));
    }
    Expr losses = inline_call(builder_, target_, *text, *function, given);
    if (!choice_.rows.empty()) losses = row_sums(losses);
    if (!choice_.join.empty()) {
      text = body_loader().load("losses/reductions.relish");
      return inline_call(builder_, target_, *text, *text->function(choice_.join), {losses});
    }
    const bool flat_losses = choice_.flatten && !choice_.scalar;
    return flat_losses ? reshaped(losses, position_dims()) : losses;
  }

 private:
  Expr reshaped(const Expr& value, std::vector<Scalar> dims) {
    return builder_.emit(op_call(*find_op("reshape"), {value, shape_literal(std::move(dims))}, {}));
  }

  // All dimensions from `first` on as one.
  Expr flat_positions(const Expr& value, std::size_t first) {
    const std::vector<Scalar>& dims = *value.type().tensor()->shape;
    std::vector<Scalar> flat(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(first));
    Scalar positions = dims[first];
    for (std::size_t i = first + 1; i < dims.size(); ++i) positions = positions * dims[i];
    flat.push_back(positions);
    return reshaped(value, std::move(flat));
  }

  // The shape of the losses of rows and positions.
  std::vector<Scalar> position_dims() const {
    std::vector<Scalar> dims = *predictions_.shape;
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(class_dimension(dims)));
    return dims;
  }

  Expr row_sums(const Expr& losses) {
    AttributeList axes;
    for (int i = 1; i < predictions_.rank; ++i) axes.emplace_back(i);
    const ModulePtr text = with_call_attributes(body_loader().load(choice_.text), {{"axis", axes}});
    return inline_call(builder_, target_, *text, *text->function(choice_.rows), {losses});
  }

  FunctionBuilder& builder_;
  Module& target_;
  const LossEntry& entry_;
  TensorType predictions_;
  LossChoice choice_;
};

// The parameters of the user's loss behind the outputs that it consumes.
std::vector<std::pair<std::string, Type>> extra_of_user_loss(const AppendLossOptions& options,
                                                             const std::vector<Expr>& outputs,
                                                             std::size_t consumed, Span span) {
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
  std::vector<std::pair<std::string, Type>> extra;
  for (std::size_t i = consumed; i < function.params.size(); ++i)
    extra.emplace_back(function.params[i].name(), substitute(function.params[i].type(), sizes));
  return extra;
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
  std::optional<LibraryLoss> library;
  if (!options.loss_function)
    library.emplace(builder, result, options.loss, predictions_type(outputs[0], *function, span));
  std::vector<Expr> args(outputs.begin(), outputs.begin() + options.outputs);
  for (const auto& [extra_name, type] :
       library ? library->extra() : extra_of_user_loss(options, outputs, consumed, span)) {
    // A place tells a parameter from the others, so only the first of them stands where the result does.
    const bool first = appended.params.size() == function->params.size();
    appended.params.emplace_back(builder.fresh_name(extra_name), type, false, first ? span : Span{});
    args.emplace_back(appended.params.back());
  }
  std::vector<Expr> targets;
  std::copy_if(args.begin() + options.outputs, args.end(), std::back_inserter(targets),
               [](const Expr& arg) { return !is_random_key(arg.type()); });
  const Expr value = library
                         ? library->write(std::move(args))
                         : inline_call(builder, result, *options.loss_module, *options.loss_function, args);
  const Expr beside = options.beside ? options.beside(builder, result, outputs, targets) : Expr();
  builder.end_block();

  Expr returned_loss = value;
  if (outputs.size() > consumed || beside.defined()) {
    std::vector<Expr> fields{value};
    if (beside.defined()) fields.push_back(beside);
    fields.insert(fields.end(), outputs.begin() + options.outputs, outputs.end());
    returned_loss = tuple(std::move(fields), span);
  }
  std::vector<Binding> bindings = builder.take_bindings();
  appended.attributes = attributes_of_derived(*function, appended.name, appended.params);
  close_function(appended, std::move(bindings), returned_loss);
  check_replaces(result, appended);
  result.set(std::make_shared<const Function>(std::move(appended)));
  verify_after(result, "append_loss");
  return result;
}

}  // namespace relish
