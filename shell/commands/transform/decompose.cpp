// The command `decompose`.
#include "shell/commands/subject.h"
#include "transform/model_forms.h"

namespace relish::commands_decompose {
namespace {

constexpr Option options[] = {
    {"mode", OptionKind::Text, "", "training or inference", 0, everywhere, true},
    output_option,
    dialect_option,
};

constexpr Example examples[] = {
    {"relish decompose m.relish --mode training", "T = decompose(M.main, mode=\"training\")"},
    {"relish decompose m.relish -f main --mode inference", "I = decompose(M.main, mode=\"inference\")"},
};

ScriptValue run(Invocation& invocation) {
  const std::string text = invocation.text("mode");
  if (text != "training" && text != "inference")
    invocation.refuse_value("mode", fmt::format("found '{}'; expected training or inference", text));
  const ModelMode mode = text == "training" ? ModelMode::Training : ModelMode::Inference;
  return module_result(decompose(*invocation.module, function_of(invocation), mode));
}

}  // namespace

extern const Command command_decompose;
const Command command_decompose{
    .name = "decompose",
    .summary = "adds the training or the inference form of a model",
    .subject = Subject::Function,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "`mode=\"training\"` adds `<f>_training(params…, key) -> (results…, (buffers…))`: R.nn.dropout draws "
        "its mask from the key, and the running statistics of R.nn.batch_norm come out as they are behind "
        "the batch. Without a dropout there is no key, without running statistics no last result. "
        "`mode=\"inference\"` adds `<f>_inference(params…)`: dropout leaves its data as they are, and "
        "batch_norm uses the running statistics. Functions that the model calls get forms of their own "
        "where these differ.",
    .transforms = true,
};

}  // namespace relish::commands_decompose
