// The list of all commands, in the order of the manual.
#include "shell/command.h"

// COMMAND(FILE, NAME): command_NAME in the namespace of FILE.cpp, in a folder by theme. Commands name their
// parts alike, and each file has a namespace of its own, so that several can be compiled together.
#define RELISH_COMMANDS(COMMAND)              \
  COMMAND(run, run)                           \
  COMMAND(run, repl)                          \
  COMMAND(call, call)                         \
  COMMAND(check, check)                       \
  COMMAND(fmt, fmt)                           \
  COMMAND(type, type)                         \
  COMMAND(gradient, gradient)                 \
  COMMAND(derivatives, vjp)                   \
  COMMAND(derivatives, jvp)                   \
  COMMAND(derivatives, hvp)                   \
  COMMAND(derivatives, jacobian)              \
  COMMAND(bind_params, bind_params)           \
  COMMAND(bind_symbols, bind_symbols)         \
  COMMAND(append_loss, append_loss)           \
  COMMAND(decompose, decompose)               \
  COMMAND(optimizer, optimizer)               \
  COMMAND(setup_trainer, setup_trainer)       \
  COMMAND(legalize, legalize)                 \
  COMMAND(fuse, fuse)                         \
  COMMAND(schedule, schedule)                 \
  COMMAND(lower, lower)                       \
  COMMAND(kernel_code, llvm)                  \
  COMMAND(kernel_code, asm)                   \
  COMMAND(fold, fold)                         \
  COMMAND(simplify, simplify)                 \
  COMMAND(canonicalize, canonicalize)         \
  COMMAND(cse, cse)                           \
  COMMAND(dce, dce)                           \
  COMMAND(inline_calls, inline_calls)         \
  COMMAND(unroll, unroll)                     \
  COMMAND(to_dataflow, to_dataflow)           \
  COMMAND(lambda_lift, lambda_lift)           \
  COMMAND(expand_tuples, expand_tuples)       \
  COMMAND(lift_params, lift_params)           \
  COMMAND(dead_parameters, dead_parameters)   \
  COMMAND(normalize, normalize)               \
  COMMAND(topological_sort, topological_sort) \
  COMMAND(passes, passes)                     \
  COMMAND(train, train)                       \
  COMMAND(evaluate, evaluate)                 \
  COMMAND(predict, predict)                   \
  COMMAND(runs, runs)                         \
  COMMAND(plot, plot)                         \
  COMMAND(sweep, sweep)                       \
  COMMAND(time, time)                         \
  COMMAND(profile, profile)                   \
  COMMAND(memory, memory)                     \
  COMMAND(machine, machine)                   \
  COMMAND(cache, cache)                       \
  COMMAND(check_gradients, check_gradients)   \
  COMMAND(compare_tiers, compare_tiers)       \
  COMMAND(load, load)                         \
  COMMAND(save, save)                         \
  COMMAND(moves, undo)                        \
  COMMAND(moves, redo)                        \
  COMMAND(moves, goto_state)                  \
  COMMAND(states, branch)                     \
  COMMAND(states, branches)                   \
  COMMAND(states, snapshot)                   \
  COMMAND(states, history)                    \
  COMMAND(settings, set)                      \
  COMMAND(settings, tier)                     \
  COMMAND(looking, vars)                      \
  COMMAND(asking, info)                       \
  COMMAND(asking, uses)                       \
  COMMAND(asking, where)                      \
  COMMAND(looking, shape)                     \
  COMMAND(looking, stats)                     \
  COMMAND(diff, diff)                         \
  COMMAND(redo_derived, redo_derived)         \
  COMMAND(restore, restore)                   \
  COMMAND(reload, reload)                     \
  COMMAND(edit, edit)                         \
  COMMAND(fix, fix)                           \
  COMMAND(pictures, hist)                     \
  COMMAND(pictures, heat)                     \
  COMMAND(ops, ops)                           \
  COMMAND(doc, doc)                           \
  COMMAND(help, help_page)                    \
  COMMAND(version, version)

namespace relish {

#define COMMAND(file, name)              \
  namespace commands_##file {            \
    extern const Command command_##name; \
  }
RELISH_COMMANDS(COMMAND)
#undef COMMAND

std::span<const Command* const> all_commands() {
#define COMMAND(file, name) &commands_##file::command_##name,
  static constexpr const Command* list[] = {RELISH_COMMANDS(COMMAND)};
#undef COMMAND
  return list;
}

#undef RELISH_COMMANDS

}  // namespace relish
