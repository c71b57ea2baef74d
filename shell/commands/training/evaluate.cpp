// The command `evaluate`.
#include "train/evaluate.h"

#include <algorithm>

#include "ir/calls/own_keys.h"
#include "shell/commands/data/csv_options.h"
#include "shell/commands/spec_examples.h"
#include "shell/commands/subject.h"
#include "shell/commands/training/data_types.h"
#include "shell/commands/training/training.h"
#include "shell/commands/transform/loss_option.h"
#include "shell/progress.h"
#include "transform/model_forms.h"

namespace relish::commands_evaluate {
namespace {

constexpr Option options[] = {
    {"data", OptionKind::Value, "",
     "(inputs…, targets), or a dict by names of parameters; in the shell FILE[:ENTRY],FILE[:ENTRY]", 0,
     everywhere, true},
    csv_option(csv_columns_option, in_shell),
    csv_option(csv_fill_option, in_shell),
    csv_option(csv_sep_option, in_shell),
    csv_option(csv_decimal_option, in_shell),
    csv_option(csv_header_option, in_shell),
    {"params", OptionKind::Tensors, "", params_doc},
    {"dim", OptionKind::Assignments, "", dims_doc},
    {"ignore_extra", OptionKind::Flag, "", ignore_extra_doc},
    {"metrics", OptionKind::Names, "accuracy", metrics_doc},
    {"loss", OptionKind::Spec, "",
     "the loss of the metric `loss`; it says also from where on one column is positive, and which label does "
     "not count",
     0, everywhere, false, loss_example},
    {"outputs", OptionKind::Integer, "1", "how many results of the function the loss takes"},
    {"prepare", OptionKind::Names, "", prepare_doc},
    {"cast", OptionKind::Flag, "", cast_doc},
    {"batch_size", OptionKind::Integer, "256", "rows of one call"},
};

constexpr Example examples[] = {
    {"relish evaluate m.relish --params final.safetensors --data xt.npy,yt.npy --metrics accuracy",
     "e = evaluate(M.main, params=t[\"params\"], data=(xt, yt), metrics=[\"accuracy\"])"},
};

// Whether the first result of a model is a number, its loss.
bool gives_number(const Function& model) {
  const TupleType* fields = model.result_type.tuple();
  const TensorType* first =
      (fields && !fields->fields.empty() ? fields->fields.front() : model.result_type).tensor();
  return first && first->rank == 0 && first->dtype && is_float(*first->dtype);
}

// Which parameters take data: of the model those without a value; behind them those of its loss.
DataParameters parameters_for_data(const TrainingProgram& program, const TensorsByName& values,
                                   const DataColumns& columns) {
  DataParameters result;
  const FunctionPtr model = function_to_call(program.module, program.inference);
  const auto takes_data = [&](const Var& param) {
    return !values.contains(param.name()) && !is_random_key(param.type());
  };
  for (const Var& param : model->params)
    if (takes_data(param)) result.inputs.push_back(param.name());
  if (program.returns_loss) {
    if (!result.inputs.empty()) {
      result.targets = {result.inputs.back()};
      result.inputs.pop_back();
    }
  } else if (!program.loss.empty()) {
    const FunctionPtr loss = function_to_call(program.module, program.loss);
    for (std::size_t i = model->params.size(); i < loss->params.size(); ++i)
      if (takes_data(loss->params[i])) result.targets.push_back(loss->params[i].name());
  } else {
    for (const std::string& name : columns.names)
      if (std::find(result.inputs.begin(), result.inputs.end(), name) == result.inputs.end())
        result.targets.push_back(name);
    if (!columns.named()) result.targets = {"targets"};
  }
  return result;
}

// Those of the model, and behind them those that its loss has too.
std::vector<std::string> names_of_parameters(const TrainingProgram& program) {
  std::vector<std::string> names;
  for (const std::string& function : {program.inference, program.loss}) {
    if (function.empty()) continue;
    for (const Var& param : function_to_call(program.module, function)->params)
      if (std::find(names.begin(), names.end(), param.name()) == names.end()) names.push_back(param.name());
  }
  return names;
}

ScriptValue run(Invocation& invocation) {
  std::string function = function_of(invocation);
  bind_dims(invocation);
  TrainingProgram program;
  Module module = *invocation.module;
  program.inference = function;
  program.seed = invocation.session.settings().seed;
  if (const FunctionPtr model = module.function(function); model && has_forms(module, *model)) {
    module = decompose(module, function, ModelMode::Inference);
    program.inference = name_of_form(function, ModelMode::Inference);
  }
  if (invocation.given("loss")) {
    AppendLossOptions loss = loss_options(invocation);
    program.loss = module.fresh_name(function + "_loss");
    loss.new_name = program.loss;
    program.loss_is_sum = is_summed(loss);
    program.judgement = judgement_of(loss);
    module = append_loss(module, program.inference, loss);
  } else if (const FunctionPtr model = module.function(program.inference); model && gives_number(*model)) {
    program.returns_loss = true;
    program.loss = program.inference;
  }
  EvaluateOptions wanted;
  wanted.metrics = metrics_option(invocation, program.judgement, module);
  const DataColumns columns = data_columns(invocation, "data", program.returns_loss ? 1 : 2);
  program.prepare = prepare_option(invocation, module, columns.columns.size());
  program.module = std::make_shared<const Module>(std::move(module));
  if (wanted.metrics.empty()) wanted.metrics = {program.returns_loss ? "loss" : "accuracy"};
  wanted.parameters_place = invocation.span_of("params");
  wanted.batch_size = invocation.integer("batch_size", wanted.batch_size);
  if (wanted.batch_size < 1)
    invocation.refuse_value("batch_size", fmt::format("found {}; expected at least 1", wanted.batch_size));
  const bool wants_loss = std::any_of(wanted.metrics.begin(), wanted.metrics.end(),
                                      [](const Metric& metric) { return metric.is_loss(); });
  if (wants_loss && program.loss.empty())
    invocation.refuse_value("metrics", "'loss' needs the option loss, such as loss=\"mse\"");
  TensorsByName values = parameter_values(invocation);
  leave_out_extra(invocation, names_of_parameters(program), values);
  const DataParameters parameters = parameters_for_data(program, values, columns);
  DataSet data = data_set(invocation, "data", columns, parameters);
  const std::string& takes = program.loss.empty() ? program.inference : program.loss;
  fit_dtypes(invocation, data, program, *function_to_call(program.module, takes), parameters);
  Metrics metrics = evaluate(invocation.session.evaluator(), program, values, data, wanted);
  if (invocation.surface == Surface::Shell) {
    std::string text;
    for (const auto& [name, value] : metrics)
      text += fmt::format("{}{} {}", text.empty() ? "" : "\n", name, loss_text(value));
    return text;
  }
  std::vector<std::pair<ScriptValue, ScriptValue>> items;
  for (const auto& [name, value] : metrics) items.emplace_back(name, value);
  return ScriptValue::dict(std::move(items));
}

}  // namespace

extern const Command command_evaluate;
const Command command_evaluate{
    .name = "evaluate",
    .summary = "metrics of a model over data",
    .subject = Subject::Function,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "The inference form of the model is judged, as by `decompose`: dropout leaves its data as they are, "
        "and batch_norm uses the running statistics.",
};

}  // namespace relish::commands_evaluate
