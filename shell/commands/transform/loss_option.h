// The option `loss` of append_loss and setup_trainer: NAME(options), or a function of the user's.
#pragma once

#include "shell/command.h"
#include "train/evaluate.h"
#include "transform/append_loss.h"

namespace relish {

AppendLossOptions loss_options(const Invocation& invocation);

// Whether the text is a name that a function may have.
bool is_plain_name(const std::string& text);

// NAME(option=value, …) of an option; no name when it is not given. UsageError at the option.
NamedSpec spec_option(const Invocation& invocation, std::string_view option);
// Of a text that is part of the option's value.
NamedSpec spec_in_option(const Invocation& invocation, std::string_view option, const std::string& text);

// Whether the loss of a batch is the sum over its rows.
inline bool is_summed(const AppendLossOptions& options) {
  const Attribute* reduction = find_attribute(options.loss.options, "reduction");
  const std::string* text = reduction != nullptr ? reduction->as<std::string>() : nullptr;
  return text != nullptr && *text == "sum";
}

// What the loss says about predictions: from where on one is positive, and which label does not count.
Judgement judgement_of(const AppendLossOptions& options);

}  // namespace relish
