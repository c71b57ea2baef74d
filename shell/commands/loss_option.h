// The option `loss` of append_loss and setup_trainer: NAME(options), or a function of the user's.
#pragma once

#include "shell/command.h"
#include "transform/append_loss.h"

namespace relish {

AppendLossOptions loss_options(const Invocation& invocation);

}  // namespace relish
