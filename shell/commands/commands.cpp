// The list of all commands, in the order of the manual.
#include "shell/command.h"

namespace relish {

extern const Command command_run, command_repl, command_call, command_check, command_fmt, command_type;
extern const Command command_gradient, command_bind_params, command_append_loss, command_optimizer,
    command_setup_trainer;
extern const Command command_legalize, command_dce, command_passes;
extern const Command command_train, command_evaluate, command_time, command_check_gradients;
extern const Command command_load, command_save;
extern const Command command_ops, command_doc, command_help_page, command_version;

std::span<const Command* const> all_commands() {
  static constexpr const Command* list[] = {
      &command_run,       &command_repl,          &command_call,
      &command_check,     &command_fmt,           &command_type,
      &command_gradient,  &command_bind_params,   &command_append_loss,
      &command_optimizer, &command_setup_trainer, &command_legalize,
      &command_dce,       &command_passes,        &command_train,
      &command_evaluate,  &command_time,          &command_check_gradients,
      &command_load,      &command_save,          &command_ops,
      &command_doc,       &command_help_page,     &command_version,
  };
  return list;
}

}  // namespace relish
