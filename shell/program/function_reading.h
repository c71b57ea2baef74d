// Some functions of a class, read without the others: these are known, and may be called.
#pragma once

#include <string>
#include <vector>

#include "frontend/reader.h"
#include "ir/nodes/module.h"
#include "shell/session.h"
#include "support/diagnostic.h"

namespace relish {

struct SomeFunctions {
  // The class as the text has it, with these functions alone; null where none of a Python file can be read.
  ModulePtr module;
  std::vector<Diagnostic> warnings;
  std::vector<HoleReport> holes = {};
};
// The text is a class by the name of `known` with some functions. Throws the errors of the text.
SomeFunctions read_some_functions(std::uint32_t source, const Module& known);
// The same of a text that a session saved, or of a whole class where none is known: holes are no errors.
SomeFunctions read_saved_functions(std::uint32_t source, const Module* known);
// A part of the file at `path`, whose loads and constants it sees.
SomeFunctions read_some_functions(std::uint32_t source, const Module& known, const std::string& path,
                                  const Session& session);

}  // namespace relish
