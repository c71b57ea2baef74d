// What is kept of a whole program beside its objects, so that the next process that runs the same text only
// links: which objects it is made of, which constants its code names, and how values go in and come out.
// What a fault or a call into the program needs besides is found by going the whole way once more, when it
// comes to that.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jit/engine/compile.h"
#include "jit/engine/emit_program.h"
#include "jit/engine/engine.h"

namespace relish::jit {

// All that decides the code of a program beside the machine and this build: the text of its functions, the
// bytes of its constants, what callers give up, what loops are scheduled for. None where it would take longer
// to hash than it may save.
std::optional<std::string> program_text(const ProgramSource& source, const Target& target);

// As the store has it, under the key of the program's text. None of a program that holds what only its own
// process has (native functions, constants that are in no function of the source, function values).
std::optional<std::string> kept_form(const EmittedProgram& emitted, const ProgramSource& source,
                                     const std::vector<std::optional<std::string>>& keys);

// The program as it was kept; null when the store misses one of its objects.
std::shared_ptr<Compiled> program_of_kept(Engine& engine, const std::string& kept,
                                          const ProgramSource& source);

}  // namespace relish::jit
