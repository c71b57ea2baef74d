// A file as the shell's commands read it: its declarations, never its statements.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/reader.h"
#include "ir/nodes/module.h"
#include "ir/printer/printer.h"
#include "shell/program/path_rules.h"
#include "shell/script/libraries.h"
#include "shell/script/script_value.h"
#include "support/diagnostic.h"

namespace relish {

// Where the text has a module: a class, or the free functions.
struct ModulePlace {
  ModulePtr module;
  Span whole;  // of a class
  std::vector<ast::FunctionPlace> functions;
};

struct ProgramFile {
  std::string path;                     // "-" for standard input
  std::uint32_t source = 0;             // id of the text
  bool byte_order_mark = false;         // the file begins with one, which the source has not
  PathRules rules;                      // of the files that it loads
  std::vector<ModulePlace> places;      // where its modules stand
  std::vector<ModulePtr> classes;       // in the order of the text
  ModulePtr free_functions;             // module `Module`; null when there are none
  std::vector<std::string> made_names;  // bound by statements, which are not run
  bool has_statements = false;
  std::set<std::string> arguments;            // that its statements ask for by arg()
  std::map<std::string, std::string> linked;  // functions of other files: lib_f -> lib.f
  std::vector<Diagnostic> warnings;
  std::set<std::string> with_constants;     // declarations that see a constant: f, M, M.f
  std::optional<LibraryText> library = {};  // when it holds functions of the script

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
// The same; empty when none is meant.
std::string default_function_or_none(const Module& module);

// The modules of a text that was read, their places and what else it has.
void take_declarations(ReadResult& result, ProgramFile& into);

// Modules as one text, with one section of constants; `free_functions` among them stand without a class.
std::string text_of_modules(const std::vector<ModulePtr>& modules, const ModulePtr& free_functions,
                            PrintOptions options);
// Of `--dialect`: "0.26" (or empty), "2023", "2022"; UsageError otherwise.
PrintOptions print_options(std::string_view dialect);

// A file's text as a source; "-" is standard input, which is read once.
struct SourceText {
  std::string path;
  std::uint32_t source;
  bool byte_order_mark = false;
};
SourceText read_text(const std::string& path);
// What the file says as a program: its bytes, or the code of a notebook.
std::string text_of_program(const std::string& path);
// Reads standard input now, on the thread that signals interrupt.
void read_standard_input();

}  // namespace relish
