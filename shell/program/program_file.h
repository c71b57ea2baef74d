// A file as the shell's commands read it: its declarations, never its statements.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ast.h"
#include "ir/module.h"
#include "ir/printer.h"
#include "shell/program/path_rules.h"
#include "shell/script/script_value.h"
#include "support/diagnostic.h"

namespace relish {

struct ProgramFile {
  std::string path;                     // "-" for standard input
  std::uint32_t source = 0;             // id of the text
  std::vector<ModulePtr> classes;       // in the order of the text
  ModulePtr free_functions;             // module `Module`; null when there are none
  std::vector<std::string> made_names;  // bound by statements, which are not run
  bool has_statements = false;
  std::map<std::string, std::string> linked;  // functions of other files: lib_f -> lib.f
  std::vector<Diagnostic> warnings;

  // All modules that hold functions.
  std::vector<ModulePtr> modules() const;
};

// Reads a file's declarations, with those of files that it loads by the rules given; `chain`: the files that
// are being read. All errors of the text are thrown together. IOError, ResourceLimit.
ProgramFile read_program(const std::string& path, const PathRules& rules,
                         std::vector<std::string> chain = {});

// The function that a command means by `name`: "main", "Module.main", or empty for the only Relax function or
// `main`. UsageError with the nearest name when there is none.
FunctionReference find_function(const ProgramFile& program, std::string_view name);
// The function of a module that is meant when none is named.
std::string default_function(const Module& module, Span span);

// The text of the whole file with `changed` in the place of `original`: all modules when the file has
// declarations only, else the one module.
std::string text_with(const ProgramFile& program, const ModulePtr& original, const ModulePtr& changed,
                      const PrintOptions& options);
// Modules as one text, with one section of constants; `free_functions` among them stand without a class.
std::string text_of_modules(const std::vector<ModulePtr>& modules, const ModulePtr& free_functions,
                            PrintOptions options);
// Of `--dialect`: "0.26" (or empty), "2023", "2022"; UsageError otherwise.
PrintOptions print_options(std::string_view dialect);

// A file's text as a source; "-" is standard input, which is read once.
struct SourceText {
  std::string path;
  std::uint32_t source;
};
SourceText read_text(const std::string& path);
// Reads standard input now, on the thread that signals interrupt.
void read_standard_input();

}  // namespace relish
