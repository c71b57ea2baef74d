// The table of members.
#include "shell/foreign_members.h"

#include <fmt/format.h>

#include "stdlib/surface.h"
#include "transform/setup_trainer.h"

namespace relish {
namespace {

constexpr std::string_view parameters_are_values =
    "nothing: parameters are values that you hold; initial_params of a trainer makes the first ones";

constexpr ForeignMember member_rows[] = {
    {"__call__", "main", "{}.NAME(…) with the name of a function"},
    {"apply", "main", "{}.NAME(…) with the name of a function"},
    {"apply_fn", "main", "{}.NAME(…) with the name of a function"},
    {"backward", "", "gradient({}.main), which adds main_adjoint"},
    {"call", "main", "{}.NAME(…) with the name of a function"},
    {"compile", "", "setup_trainer({}.main, loss=\"mse\", optimizer=\"adam\"), or train, which does it"},
    {"cpu", "", "nothing: there is one device"},
    {"cuda", "", "nothing: there is one device"},
    {"eval", "", "nothing: dropout and statistics change in training alone; evaluate({}.main, …) measures"},
    {"fit", "train_step", "train({}.main, data=(x, y), loss=\"mse\")"},
    {"forward", "main", "{}.NAME(…) with the name of a function"},
    {"init", "initial_params",
     "setup_trainer({}.main, …, init=\"xavier_uniform\"), which adds initial_params"},
    {"init_fn", "optimizer_init", "setup_trainer({}.main, …), which adds optimizer_init"},
    {"init_optimizer", "optimizer_init", "setup_trainer({}.main, …), which adds optimizer_init"},
    {"init_params", "initial_params",
     "setup_trainer({}.main, …, init=\"xavier_uniform\"), which adds initial_params"},
    {"init_state", "optimizer_init", "setup_trainer({}.main, …), which adds optimizer_init"},
    {"init_states", "optimizer_init", "setup_trainer({}.main, …), which adds optimizer_init"},
    {"initial_parameters", "initial_params",
     "setup_trainer({}.main, …, init=\"xavier_uniform\"), which adds initial_params"},
    {"initial_states", "optimizer_init", "setup_trainer({}.main, …), which adds optimizer_init"},
    {"initialize", "initial_params",
     "setup_trainer({}.main, …, init=\"xavier_uniform\"), which adds initial_params"},
    {"load_state_dict", "", "load(\"weights.safetensors\"), which gives a dict of tensors"},
    {"loss", "main_loss", "append_loss({}.main, \"mse\"), which adds main_loss"},
    {"named_parameters", "", parameters_are_values},
    {"optimizer_states", "optimizer_init", "setup_trainer({}.main, …), which adds optimizer_init"},
    {"parameters", "", parameters_are_values},
    {"params", "", parameters_are_values},
    {"predict", "main", "predict({}.main, data=x, params=params)"},
    {"save", "", "save(params, \"weights.safetensors\"); save({}, \"model.relish\") writes the text"},
    {"state_dict", "", parameters_are_values},
    {"step", "train_step", "setup_trainer({}.main, …), which adds train_step"},
    {"summary", "", "type({}.main)"},
    {"to", "", "nothing: there is one device; astype changes the dtype of a tensor"},
    {"train", "train_step", "train({}.main, data=(x, y), loss=\"mse\")"},
    {"train_on_batch", "train_step", "setup_trainer({}.main, …), which adds train_step"},
    {"trainable_variables", "", parameters_are_values},
    {"training_step", "train_step", "setup_trainer({}.main, …), which adds train_step"},
    {"update", "train_step", "setup_trainer({}.main, …), which adds train_step"},
    {"weights", "", parameters_are_values},
    {"zero_grad", "", "nothing: gradients are values"},
};

// What the module calls its model: main, or the first function.
std::string model_name_of(const Module& module) {
  const std::vector<std::string> names = module.names();
  return module.find("main") || names.empty() ? "main" : names.front();
}

// The text with another word in the place of each `what`.
std::string with_word(std::string_view what, std::string_view word, std::string_view text) {
  std::string result;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what)) {
    result += text.substr(0, at);
    result += word;
    text.remove_prefix(at + what.size());
  }
  return result + std::string(text);
}

}  // namespace

std::span<const ForeignMember> foreign_members() { return member_rows; }

std::string foreign_member_advice(const Module& module, std::string_view holder, std::string_view word) {
  const std::string model = model_name_of(module);
  for (const ForeignMember& each : member_rows) {
    if (each.word != word) continue;
    const std::string here = with_word("main", model, each.here);
    if (!here.empty() && module.find(here)) return fmt::format("; here it is {}.{}", holder, here);
    if (const std::string option = option_that_adds(module, here); !option.empty())
      return fmt::format("; here it is {}.{}{}", holder, here, option);
    return introduced(with_word("{}", holder, with_word("main", model, each.write)));
  }
  return "";
}

}  // namespace relish
