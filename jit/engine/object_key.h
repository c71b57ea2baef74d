// What an object is known by: all that decides its bytes.
#pragma once

#include <optional>
#include <string>

#include "jit/engine/machine.h"

namespace relish::jit {

// 64 hexadecimal digits of the module's code as it goes to the optimizer, of how it is made, of the machine
// that it is made for, and of this program with its LLVM. None when this program does not know its own build:
// then its objects could not be told from those of another one.
std::optional<std::string> object_key(const Machine& machine, const llvm::Module& module, Effort effort);
// Of what is kept of a whole program, by its text (jit/engine/kept_program.h).
std::optional<std::string> program_key(const Machine& machine, const std::string& text);
// Of code that this program emits for a text.
std::optional<std::string> object_key(const Machine& machine, const std::string& text, Effort effort);

}  // namespace relish::jit
