// What `train` and `evaluate` share: data sets and start values from a script's values or the shell's files.
#pragma once

#include "shell/command.h"
#include "train/batches.h"
#include "train/program.h"
#include "transform/training_rules.h"

namespace relish {

// Tensors of an option: (inputs…, targets) as a tuple or list of tensors, or FILE[:ENTRY],… on the command
// line.
DataSet data_set(const Invocation& invocation, std::string_view option);
TensorsByName parameter_values(const Invocation& invocation);

// The option `metrics`: names, and of accuracy perhaps a threshold: "accuracy(threshold=0.3)".
std::vector<std::string> metrics_option(const Invocation& invocation, Judgement& judgement);

// The option `init`: NAME(options), or rules by patterns of names: {"w*": "he_normal"}.
InitialRules init_option(const Invocation& invocation);
inline constexpr std::string_view init_doc =
    "start values of weights: NAME(option=value, …) such as he_normal, or by patterns of names: "
    "{\"w*\": \"he_normal\"}";

// A warning for each dropout that the function reaches and that leaves its data as they are.
void warn_of_dropout(const Invocation& invocation, const Function& function);

}  // namespace relish
