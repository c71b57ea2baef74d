// The command `evaluate`.
#include "train/evaluate.h"

#include <algorithm>

#include "shell/commands/loss_option.h"
#include "shell/commands/subject.h"
#include "shell/commands/training.h"
#include "shell/progress.h"
#include "transform/model_forms.h"

namespace relish::commands_evaluate {
namespace {

constexpr Option options[] = {
    {"data", OptionKind::Value, "", "(inputs…, targets); in the shell FILE[:ENTRY],FILE[:ENTRY]", 0,
     everywhere, true},
    {"params", OptionKind::Tensors, "", "values of the parameters by name"},
    {"metrics", OptionKind::Names, "accuracy", "accuracy, accuracy(threshold=0.5), loss"},
    {"loss", OptionKind::Spec, "",
     "the loss of the metric `loss`; it says also from where on one column is positive, and which label does "
     "not count"},
    {"batch_size", OptionKind::Integer, "256", "rows of one call"},
};

constexpr Example examples[] = {
    {"relish evaluate m.relish --params final.safetensors --data xt.npy,yt.npy --metrics accuracy",
     "e = evaluate(M.main, params=t[\"params\"], data=(xt, yt), metrics=[\"accuracy\"])"},
};

ScriptValue run(Invocation& invocation) {
  std::string function = function_of(invocation);
  TrainingProgram program;
  program.module = invocation.module;
  program.inference = function;
  if (const FunctionPtr model = program.module->function(function);
      model && has_forms(*program.module, *model)) {
    program.module =
        std::make_shared<const Module>(decompose(*program.module, function, ModelMode::Inference));
    program.inference = name_of_form(function, ModelMode::Inference);
  }
  if (invocation.given("loss")) {
    AppendLossOptions loss = loss_options(invocation);
    program.loss = program.module->fresh_name(function + "_loss");
    loss.new_name = program.loss;
    program.loss_is_sum = is_summed(loss);
    program.judgement = judgement_of(loss);
    program.module = std::make_shared<const Module>(append_loss(*program.module, program.inference, loss));
  }
  EvaluateOptions wanted;
  wanted.metrics = metrics_option(invocation, program.judgement);
  if (wanted.metrics.empty()) wanted.metrics = {"accuracy"};
  wanted.parameters_place = invocation.span_of("params");
  wanted.batch_size = invocation.integer("batch_size", wanted.batch_size);
  if (wanted.batch_size < 1) invocation.refuse_value("batch_size", "expected at least 1");
  bool wants_loss = std::find(wanted.metrics.begin(), wanted.metrics.end(), "loss") != wanted.metrics.end();
  if (wants_loss && program.loss.empty()) invocation.refuse_value("metrics", "'loss' needs the option loss");
  Metrics metrics = evaluate(invocation.session.evaluator(), program, parameter_values(invocation),
                             data_set(invocation, "data"), wanted);
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
