// Options of `train` and `setup_trainer` that say what is made of a model.
#pragma once

#include "shell/command.h"
#include "transform/setup_trainer.h"

namespace relish {

// A function that the user names: M.f in scripts, "Module.name" or a plain name of the subject's module.
struct UserFunction {
  FunctionPtr function;  // null: there is none of the name
  ModulePtr module;
};
UserFunction find_user_function(const Invocation& invocation, const std::string& text);
// Of a value of an option: a function, or a text that names one. TypeError, UsageError.
UserFunction user_function(const Invocation& invocation, std::string_view option, const ScriptValue& value);
// What an option of functions and names holds, one by one: a list, one function, or a text of several.
std::vector<ScriptValue> values_of_option(const Invocation& invocation, std::string_view option);

// `optimizer`: NAME(options), or a function of the user's, with lr, clip_norm, clip_value and groups.
OptimizerOptions optimizer_options(const Invocation& invocation);
inline constexpr std::string_view optimizer_doc =
    "NAME(option=value, …): sgd(lr=0.1), …; or a function of yours, M.my_update beside M.my_init";
inline constexpr std::string_view lr_doc = "the learning rate, where the optimizer has it not in brackets";
inline constexpr std::string_view clip_norm_doc = "greatest norm of all gradients together";
inline constexpr std::string_view clip_value_doc = "greatest absolute value of a gradient's element";
inline constexpr std::string_view groups_doc =
    "options of parameters by patterns of names: {\"b*\": {\"lr\": 0.01, \"weight_decay\": 0}}";

// `precision`: float32, bf16, fp16; none for float32.
std::optional<DType> precision_option(const Invocation& invocation);
inline constexpr std::string_view precision_doc =
    "bf16 or fp16: steps compute in half precision where that pays, with parameters and states of float32";

// `prefix`, when it can begin a name.
std::string prefix_option(const Invocation& invocation);
inline constexpr std::string_view prefix_doc =
    "what the names of all that is made begin with, such as d_, so that a module may hold two";

// loss, outputs, optimizer, schedule, wrt, frozen, average, precision.
SetupTrainerOptions trainer_options(const Invocation& invocation);

}  // namespace relish
