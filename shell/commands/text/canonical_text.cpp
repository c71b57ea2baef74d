// Canonical text of declarations and statements in their order.
#include "shell/commands/text/canonical_text.h"

#include <algorithm>

#include "frontend/reader.h"
#include "ir/printer/constant_section.h"
#include "shell/program/in_place.h"
#include "shell/program/module_files.h"
#include "shell/program/program_file.h"
#include "shell/program/reading.h"
#include "shell/session.h"

namespace relish {
namespace {

std::uint32_t end_of(const ast::Block& block);

// The end of a statement with the blocks inside it.
std::uint32_t end_of(const ast::Statement& statement) {
  std::uint32_t end = statement.span.end;
  if (const auto* loop = statement.as<ast::For>()) end = std::max(end, end_of(loop->body));
  if (const auto* loop = statement.as<ast::While>()) end = std::max(end, end_of(loop->body));
  if (const auto* function = statement.as<ast::FunctionDefinition>())
    end = std::max(end, end_of(function->body));
  if (const auto* branches = statement.as<ast::If>()) {
    for (const ast::Branch& branch : branches->branches) end = std::max(end, end_of(branch.body));
    end = std::max(end, end_of(branches->else_body));
  }
  return end;
}

std::uint32_t end_of(const ast::Block& block) {
  std::uint32_t end = 0;
  for (const ast::Statement& statement : block) end = std::max(end, end_of(statement));
  return end;
}

// The lines as they are written, with the first so many comments of the statement and one behind it, without
// blanks at the ends of lines.
std::string written_text(const ast::Statement& statement, std::size_t begin, std::size_t end,
                         std::size_t comments_above, std::string_view source) {
  std::size_t rest = end;
  while (rest < source.size() && (source[rest] == ' ' || source[rest] == '\t' || source[rest] == ';')) ++rest;
  bool comment = rest < source.size() && source[rest] == '#';
  std::string text;
  if (statement.comments) {
    const std::vector<std::string>& before = statement.comments->before;
    for (std::size_t i = 0; i < std::min(comments_above, before.size()); ++i) {
      const std::string& line = before[i];
      // The version line is written anew.
      bool version = i == 0 && line.starts_with("relish:");
      if (!version) text += line.empty() ? "#\n" : "# " + line + "\n";
    }
  }
  std::string_view body = source.substr(begin, end - begin);
  std::size_t at = 0;
  while (at < body.size()) {
    std::size_t stop = std::min(body.find('\n', at), body.size());
    std::string_view line = body.substr(at, stop - at);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r'))
      line.remove_suffix(1);
    text += line;
    if (stop < body.size()) text += '\n';
    at = stop + 1;
  }
  if (comment) {
    std::size_t stop = std::min(source.find('\n', rest), source.size());
    std::string_view behind = source.substr(rest, stop - rest);
    while (!behind.empty() && (behind.back() == ' ' || behind.back() == '\r')) behind.remove_suffix(1);
    text += "  ";
    text += behind;
  }
  return text + "\n";
}

std::string statement_text(const ast::Statement& statement, std::string_view source) {
  return written_text(statement, statement.span.begin, end_of(statement), std::string::npos, source);
}

// A declaration that sees constants stays as it is written: printed, it would say their values instead.
bool keeps_its_text(const ast::Statement& statement, const std::set<std::string>& with_constants) {
  const auto* module = statement.as<ast::DeclareModule>();
  const auto* function = statement.as<ast::DeclareFunction>();
  return (module && with_constants.contains(module->module->name)) ||
         (function && with_constants.contains(name_of(function->function)));
}

bool only_declares(const ast::Statement& statement) {
  return statement.as<ast::DeclareModule>() || statement.as<ast::DeclareFunction>() ||
         statement.as<ast::Deferred>();
}

// Whether an empty line stands before the statement and its comments.
bool empty_line_before(const ast::Statement& statement, std::string_view source) {
  std::size_t at = statement.span.begin;
  std::size_t lines = statement.comments ? statement.comments->before.size() : 0;
  // To the beginning of the statement's first line, its comments included.
  while (at > 0 && source[at - 1] != '\n') --at;
  while (lines > 0 && at > 0) {
    --at;
    while (at > 0 && source[at - 1] != '\n') --at;
    std::size_t word = source.find_first_not_of(" \t\r", at);
    if (word != std::string_view::npos && source[word] == '#') --lines;
  }
  if (at == 0) return false;
  std::size_t before = at - 1;
  while (before > 0 && source[before - 1] != '\n') --before;
  std::size_t word = source.find_first_not_of(" \t\r", before);
  return word == std::string_view::npos || source[word] == '\n';
}

std::string declaration_text(const ast::Statement& statement, ConstantSection& constants,
                             PrintOptions options) {
  if (const auto* module = statement.as<ast::DeclareModule>())
    return print_part(*module->module, constants, options);
  Module one;
  one.set(statement.as<ast::DeclareFunction>()->function);
  options.free_functions = true;
  return print_part(one, constants, options);
}

// The line that says which language it is: the text's own, which may say more than the version.
std::string version_line(std::string_view source) {
  std::string_view first = source.substr(0, source.find('\n'));
  while (first.ends_with('\r') || first.ends_with(' ')) first.remove_suffix(1);
  return std::string(first.starts_with("# relish: ") ? first : "# relish: 1") + "\n";
}

std::string text_in_order(const ReadResult& result, std::string_view source, const PrintOptions& options) {
  ConstantSection constants;
  // Statements are beyond TVMScript: the text says so.
  bool statements = !std::all_of(result.script.begin(), result.script.end(), only_declares);
  std::string text = statements ? version_line(source) : "";
  const ast::Statement* before = nullptr;
  for (const ast::Statement& statement : result.script) {
    bool declaration = only_declares(statement);
    bool apart = before && (declaration || only_declares(*before) || empty_line_before(statement, source));
    if (apart) text += "\n";
    // Another dialect is asked for to be read elsewhere, where no statement gives the constants.
    const bool kept = statement.as<ast::Deferred>() || (declaration && options.dialect == Dialect::D026 &&
                                                        keeps_its_text(statement, result.constants.users));
    text += kept          ? written_text(statement, statement.whole.begin, statement.whole.end,
                                         statement.comments_above, source)
            : declaration ? declaration_text(statement, constants, options)
                          : statement_text(statement, source);
    before = &statement;
  }
  if (!result.end_comments.empty() && before) text += "\n";
  for (const std::string& line : result.end_comments) text += line.empty() ? "#\n" : "# " + line + "\n";
  if (!constants.empty()) text += "\n" + constants.text();
  return text;
}

ReadResult read_for_printing(std::uint32_t source, const PathRules& rules, Diagnostics& diagnostics) {
  start_language();
  const std::string& name = Sources::instance().find(source)->name();
  ReadOptions reading;
  reading.python_file = is_python_file(name);
  reading.redefinitions = !reading.python_file;
  allow_loads(reading, rules, {name});
  reading.load_all = true;
  return read_source(source, reading, diagnostics);
}

}  // namespace

std::optional<std::string> canonical_text_in_place(const SourceText& text, const PrintOptions& options,
                                                   const PathRules& rules, Diagnostics& diagnostics) {
  ReadResult result = read_for_printing(text.source, rules, diagnostics);
  if (!result.printable) return std::nullopt;
  ProgramFile program;
  program.path = text.path;
  program.source = text.source;
  program.byte_order_mark = text.byte_order_mark;
  program.rules = rules;
  take_declarations(result, program);
  InPlaceRequest request;
  for (const ModulePtr& module : program.modules()) request.changes.push_back({module, module});
  request.format = true;
  request.printing = options;
  return text_in_place(program, request);
}

std::optional<std::string> canonical_text(std::uint32_t source, const PrintOptions& options,
                                          const PathRules& rules, Diagnostics& diagnostics) {
  const SourceFile* file = Sources::instance().find(source);
  ReadResult result = read_for_printing(source, rules, diagnostics);
  if (!result.printable) return std::nullopt;
  // The text says lib.f, as it did; the copies belong to the modules, not to it.
  std::erase_if(result.script, [](const ast::Statement& statement) {
    const auto* function = statement.as<ast::DeclareFunction>();
    return function && function->linked;
  });
  // Declarations alone need no imports: the heading says what their names are.
  auto is_import = [](const ast::Statement& statement) { return statement.as<ast::Import>() != nullptr; };
  bool only_declarations = std::all_of(
      result.script.begin(), result.script.end(),
      [&](const ast::Statement& statement) { return only_declares(statement) || is_import(statement); });
  if (only_declarations) std::erase_if(result.script, is_import);
  std::vector<ModulePtr> modules = result.all_modules();
  if (only_declarations && result.end_comments.empty() && modules.size() == 1) {
    return text_of_modules(modules, result.free_functions, options);
  }
  // Of a Python file only the declarations are printed, so these say the constants themselves.
  if (is_python_file(file->name())) result.constants.users.clear();
  PrintOptions with_links = options;
  with_links.linked = result.linked;
  return text_in_order(result, file->text(), with_links);
}

}  // namespace relish
