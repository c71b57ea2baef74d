// The round-trip law.
#include "tests/golden/reading.h"

#include <filesystem>

#include "frontend/reader.h"
#include "ir/equality/equal.h"
#include "ir/printer/older_locals.h"
#include "ir/printer/printer.h"
#include "ir/verify/verify.h"
#include "shell/commands/text/canonical_text.h"
#include "shell/program/module_files.h"
#include "support/failure.h"
#include "support/render.h"

namespace relish::testing {
namespace {

struct NamedDialect {
  Dialect dialect;
  const char* name;
};
constexpr NamedDialect older_dialects[] = {{Dialect::D2023, "2023"}, {Dialect::D2022, "2022"}};

std::string first_line_of(const Diagnostics& diagnostics) {
  const std::string text = render(diagnostics.all(), Sources::instance(), {});
  return text.substr(0, text.find('\n'));
}

// Where two texts part, as "line N: 'a' and 'b'".
std::string text_difference(const std::string& a, const std::string& b) {
  std::size_t line = 1, start = 0, i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) {
    if (a[i] == '\n') ++line, start = i + 1;
    ++i;
  }
  const auto line_of = [&](const std::string& text) {
    return start >= text.size() ? std::string("<end>") : text.substr(start, text.find('\n', start) - start);
  };
  return fmt::format("line {}: '{}' and '{}'", line, line_of(a), line_of(b));
}

void check_verified(const Module& module, const std::string& what, std::vector<std::string>& problems) {
  if (!module.check_well_formed) return;
  Diagnostics diagnostics;
  verify(module, diagnostics);
  if (diagnostics.has_errors())
    problems.push_back(fmt::format("{} does not verify: {}", what, first_line_of(diagnostics)));
}

// Reads `text`; nothing after reporting a problem.
std::optional<ReadResult> read_again(const std::string& text, const std::string& what,
                                     std::vector<std::string>& problems) {
  Diagnostics diagnostics;
  ReadResult result = read_source(Sources::instance().add("<printed>", text), {}, diagnostics);
  if (!diagnostics.has_errors()) return result;
  problems.push_back(fmt::format("{} does not read back: {}", what, first_line_of(diagnostics)));
  return std::nullopt;
}

// The older dialects have no spelling for some of today's constructs; what is refused by name is no broken
// law.
std::optional<std::string> older_text(const Module& module, Dialect dialect) {
  try {
    return print(module, {.dialect = dialect});
  } catch (const Failure& failure) {
    if (failure.error_class() == ErrorClass::Internal) throw;
    return std::nullopt;
  }
}

void check_module(const Module& module, const std::string& what, std::vector<std::string>& problems) {
  check_verified(module, what, problems);
  const std::string text = print(module);
  if (const auto again = read_again(text, what + " as printed", problems)) {
    const std::vector<ModulePtr> modules = again->all_modules();
    if (modules.size() != 1) {
      problems.push_back(fmt::format("{} reads back as {} modules", what, modules.size()));
    } else {
      if (!equal_modulo_names(module, *modules.front())) {
        problems.push_back(
            fmt::format("{} reads back different: {}", what, first_difference(module, *modules.front())));
      }
      const std::string twice = print(*modules.front());
      if (twice != text)
        problems.push_back(
            fmt::format("{} prints anew as other text, {}", what, text_difference(text, twice)));
    }
  }
  for (const NamedDialect& older : older_dialects) {
    const std::optional<std::string> older_form = older_text(module, older.dialect);
    if (!older_form) continue;
    const std::string title = fmt::format("{} in the dialect of {}", what, older.name);
    const auto again = read_again(*older_form, title, problems);
    if (!again || again->all_modules().size() != 1) continue;
    const Module& back = *again->all_modules().front();
    const Module said = as_older_dialects_say(module);
    if (!equal_modulo_names(said, back)) {
      problems.push_back(fmt::format("{} reads back different: {}", title, first_difference(said, back)));
    }
  }
}

}  // namespace

bool is_python(const GoldenFile& file) { return std::filesystem::path(file.path).extension() == ".py"; }

std::uint32_t add_source(const GoldenFile& file) {
  return Sources::instance().add(std::filesystem::path(file.path).filename().string(), file.source);
}

PathRules rules_of(const GoldenFile& file) {
  PathRules rules;
  rules.folder = std::filesystem::path(file.path).parent_path().string();
  return rules;
}

ReadOptions reading_options(const GoldenFile& file) {
  ReadOptions options;
  options.python_file = is_python(file);
  allow_loads(options, rules_of(file), {file.path});
  options.load_all = true;
  return options;
}

std::vector<std::string> round_trip_problems(const Module& module, const std::string& what) {
  std::vector<std::string> problems;
  check_module(module, what, problems);
  return problems;
}

std::vector<std::string> round_trip_problems(const GoldenFile& file) {
  std::vector<std::string> problems;
  Diagnostics diagnostics;
  const ReadResult result = read_source(add_source(file), reading_options(file), diagnostics);
  if (diagnostics.has_errors()) return problems;  // the law is about accepted programs
  for (const ModulePtr& module : result.all_modules()) {
    check_module(*module, fmt::format("module {}", module->name), problems);
  }
  // The whole file, with its statements.
  const std::string text = printed_source(file);
  Diagnostics again;
  const std::optional<std::string> twice =
      canonical_text(Sources::instance().add("<printed>", text), {}, rules_of(file), again);
  if (again.has_errors()) {
    problems.push_back("the file as printed does not read back: " + first_line_of(again));
  } else if (twice && *twice != text) {
    problems.push_back("the file prints anew as other text, " + text_difference(text, *twice));
  }
  return problems;
}

Dialect dialect_of(const GoldenFile& file) {
  const std::optional<std::string> name = file.option("--dialect");
  if (!name || *name == "0.26") return Dialect::D026;
  if (*name == "2023") return Dialect::D2023;
  if (*name == "2022") return Dialect::D2022;
  fail_at(ErrorClass::Usage, file.path, "golden.dialect", fmt::format("unknown dialect '{}'", *name));
}

std::string printed_source(const GoldenFile& file, Dialect dialect) {
  Diagnostics diagnostics;
  PrintOptions options;
  options.dialect = dialect;
  const std::optional<std::string> text =
      canonical_text(add_source(file), options, rules_of(file), diagnostics);
  return text && !diagnostics.has_errors() ? *text : std::string();
}

}  // namespace relish::testing
