// The option `loss` of append_loss and setup_trainer: NAME(options), or a function of the user's.
#pragma once

#include "shell/command.h"
#include "train/evaluate.h"
#include "transform/append_loss.h"

namespace relish {

AppendLossOptions loss_options(const Invocation& invocation);

// Whether the loss of a batch is the sum over its rows.
inline bool is_summed(const AppendLossOptions& options) {
  const Attribute* reduction = find_attribute(options.loss.options, "reduction");
  const std::string* text = reduction != nullptr ? reduction->as<std::string>() : nullptr;
  return text != nullptr && *text == "sum";
}

// What the loss says about predictions: from where on one is positive, and which label does not count.
Judgement judgement_of(const AppendLossOptions& options);

}  // namespace relish
