// Modules of other files, as load() and the texts that load them see them: the declarations of a file, read
// with what it loads in turn. A file that leads back to itself is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/reader.h"
#include "shell/program/path_rules.h"
#include "shell/script/libraries.h"

namespace relish {

struct LoadedModule {
  ModulePtr module;
  std::vector<Diagnostic> warnings;
  std::optional<LibraryText> text = {};  // when it holds functions of the script
};

// The one module of the file that `path` names: its class, or the free functions; one without functions when
// the file has functions of the script alone. `chain` holds the files
// that are being read, outermost first. UsageError at `span` for a file with none or several modules,
// TypeError for one of the chain; IOError, PolicyError, and the errors of the text with a note at `span`.
LoadedModule load_module_file(const std::string& path, const PathRules& rules,
                              const std::vector<std::string>& chain, Span span);

// TypeError `id` at `span` when `path` is one of the files of `chain`, which `verb` each other ("load").
void refuse_cycle(const std::string& path, const std::vector<std::string>& chain, std::string_view id,
                  std::string_view verb, Span span);

// Lets the texts of `file`, read with `options`, use the modules that they load.
void allow_loads(ReadOptions& options, const PathRules& rules, std::vector<std::string> chain);

}  // namespace relish
