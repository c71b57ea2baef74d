// The front end asked for a part of a class.
#include "shell/program/function_reading.h"

#include <filesystem>

#include "frontend/reader.h"
#include "shell/program/module_files.h"
#include "shell/program/path_rules.h"
#include "shell/program/reading.h"
#include "shell/script/unfinished_modules.h"
#include "support/failure.h"

namespace relish {

namespace {

SomeFunctions read_with(std::uint32_t source, const Module* known, ReadOptions options,
                        ToleratesErrors tolerates = nullptr) {
  options.known_class = known;
  SomeFunctions result;
  ReadResult read = read_script(source, std::move(options), result.warnings, tolerates);
  // All of them are left out, with warnings.
  const bool left_out = is_python_file(Sources::instance().find(source)->name()) && !result.warnings.empty();
  if (known && read.modules.empty() && left_out) return result;
  if (read.modules.size() != 1 || (known && read.modules.front()->name != known->name)) {
    fail(ErrorClass::Type, Span{source, 0, 0}, "module.count",
         fmt::format("found {} modules; expected the class{}", read.modules.size(),
                     known ? " " + known->name : std::string()));
  }
  result.module = read.modules.front();
  result.holes = std::move(read.holes);
  return result;
}

}  // namespace

SomeFunctions read_some_functions(std::uint32_t source, const Module& known) {
  return read_with(source, &known, {});
}

SomeFunctions read_saved_functions(std::uint32_t source, const Module* known) {
  return read_with(source, known, {}, &has_only_holes);
}

SomeFunctions read_some_functions(std::uint32_t source, const Module& known, const std::string& path,
                                  const Session& session) {
  ReadOptions options;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  allow_loads(options, path_rules(session, folder, false), {path});
  return read_with(source, &known, std::move(options));
}

}  // namespace relish
