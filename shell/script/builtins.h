// The closed list of built-in functions of scripts. Commands are functions too; they are found in the
// registry.
#pragma once

#include <span>
#include <string_view>

#include "shell/script/call_arguments.h"

namespace relish {

class Script;

struct Builtin {
  std::string_view name;
  std::string_view synopsis;
  ScriptValue (*call)(Script& script, CallArguments& arguments);
};

std::span<const Builtin> all_builtins();
const Builtin* find_builtin(std::string_view name);
// Of a built-in, for the reader; commands may give modules.
inline bool makes_no_module(std::string_view name) { return find_builtin(name) != nullptr; }

// Parts of the table, by file.
std::span<const Builtin> number_builtins();
std::span<const Builtin> sequence_builtins();
std::span<const Builtin> tensor_builtins();
std::span<const Builtin> value_builtins();

}  // namespace relish
