// What commands share: the function that a subject means, and the result of a transform.
#pragma once

#include <string>

#include "shell/command.h"
#include "shell/program/program_file.h"

namespace relish {

// The subject's function: the named one, or the module's only Relax function or `main`.
inline std::string function_of(const Invocation& invocation) {
  if (!invocation.function.empty()) return invocation.function;
  return default_function(*invocation.module, invocation.span);
}

inline ScriptValue module_result(Module module) {
  return ModulePtr(std::make_shared<const Module>(std::move(module)));
}

// The file that a transform of the shell writes.
inline constexpr Option output_option = {"output",
                                         OptionKind::OutputFile,
                                         "standard output",
                                         "file to write; the input is changed in its place",
                                         'o',
                                         in_shell};
inline constexpr Option dialect_option = {
    "dialect", OptionKind::Text, "0.26", "dialect of the text: 0.26, 2023 or 2022", 0, in_shell};

}  // namespace relish
