// Search for names of Python's in the text that a diagnostic points at.
#include "frontend/module/python_uses.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "frontend/module/decorators.h"
#include "frontend/names/binding_names.h"
#include "frontend/text/scanner.h"

namespace relish {
namespace {

// What TVM has for its users in Python; in a function there is nothing of these.
constexpr std::array<std::string_view, 11> python_namespaces = {
    "R.frontend", "R.transform", "R.training",      "R.testing",      "R.analysis", "R.backend",
    "R.dpl",      "R.utils",     "R.block_builder", "R.BlockBuilder", "tvm"};

bool is_of_python(std::string_view canonical) {
  return std::any_of(python_namespaces.begin(), python_namespaces.end(), [&](std::string_view each) {
    return canonical.starts_with(each) && (canonical.size() == each.size() || canonical[each.size()] == '.');
  });
}

// Built-in functions of Python that run, or give a value, while TVM reads a function.
constexpr std::array<std::string_view, 33> python_functions = {
    "all",    "any",     "bin",     "callable", "chr",  "dict", "dir",   "enumerate",  "filter",
    "format", "getattr", "hasattr", "hash",     "hex",  "id",   "input", "isinstance", "iter",
    "list",   "map",     "next",    "oct",      "open", "ord",  "print", "repr",       "reversed",
    "set",    "sorted",  "str",     "tuple",    "type", "zip"};

bool is_python_function(std::string_view name) {
  return std::binary_search(python_functions.begin(), python_functions.end(), name);
}

// A dotted name as it stands in the text.
struct PythonUse {
  std::string name;  // up to its first dot
  std::string dotted;
  Span at;  // of the first part
};

// Calls `visit` for the names inside `span` that are read there: no attributes, no names of arguments,
// nothing in strings and comments. True as soon as `visit` is.
template <typename Visit>
bool any_name(std::string_view text, Span span, const Visit& visit) {
  std::size_t at = span.begin == 0 ? std::string_view::npos : text.rfind('\n', span.begin - 1);
  at = at == std::string_view::npos ? 0 : at + 1;
  char before = ' ';  // the last sign that is no blank
  while (at < span.end) {
    const char c = text[at];
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '"' || c == '\'') {
      for (++at; at < span.end && text[at] != c && text[at] != '\n'; ++at)
        if (text[at] == '\\') ++at;
      ++at;
      before = c;
    } else if (is_name_part(c)) {
      std::size_t end = at, first_end = 0;
      while (end < text.size() && (is_name_part(text[end]) || (text[end] == '.' && is_name_start(c)))) {
        if (text[end] == '.' && first_end == 0) first_end = end;
        ++end;
      }
      if (first_end == 0) first_end = end;
      const std::size_t behind = std::min(text.find_first_not_of(' ', end), text.size());
      const bool argument = (before == '(' || before == ',') && behind + 1 < text.size() &&
                            text[behind] == '=' && text[behind + 1] != '=';
      const bool prefix = end < text.size() && (text[end] == '"' || text[end] == '\'');  // of a string
      if (is_name_start(c) && before != '.' && at >= span.begin && first_end <= span.end && !argument &&
          !prefix &&
          visit(PythonUse{
              std::string(text.substr(at, first_end - at)), std::string(text.substr(at, end - at)),
              Span{span.file, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(first_end)}}))
        return true;
      at = end;
      before = 'a';
    } else {
      if (c != ' ' && c != '\n') before = c;
      ++at;
    }
  }
  return false;
}

std::set<std::string> own_names(const ast::FunctionDefinition& definition) {
  std::set<std::string> names;
  for (const ast::Parameter& parameter : definition.parameters) names.insert(parameter.name);
  const auto take = [&](const std::string& name, Span) { names.insert(name); };
  for (const ast::Statement& statement : definition.body) {
    for_each_bound_name(statement, take);
    if (const auto* nested = statement.as<ast::FunctionDefinition>()) names.merge(own_names(*nested));
  }
  return names;
}

}  // namespace

void tell_python_uses(ReadContext& context, const ast::FunctionDefinition& definition, Span whole,
                      std::size_t first) {
  if (!context.python_file) return;
  std::optional<std::set<std::string>> own;
  for (std::size_t i = first; i < context.diagnostics.all().size(); ++i) {
    Diagnostic told = context.diagnostics.all()[i];
    const Span span = told.span;
    if (told.severity != Severity::Error || told.error_class != ErrorClass::Type || span.file != whole.file ||
        span.begin < whole.begin || span.end > whole.end)
      continue;
    if (!own) own = own_names(definition);
    any_name(context.text, span, [&](const PythonUse& use) {
      if (own->contains(use.name) || context.constants.contains(use.name)) return false;
      // What is said of something in a module tells what to write in its place.
      const bool of_module =
          context.python_modules.contains(use.name) ||
          (context.namespaces.known(use.name) && is_of_python(context.namespaces.canonical(use.dotted)));
      if (told.id == "name.unknown" && use.at.begin == told.span.begin && is_python_function(use.name)) {
        // What is said of the name to write in its place holds here too.
        const std::size_t advice = told.message.find(';');
        told.message =
            fmt::format("found '{}', a function of Python, which does not run here{}", use.name,
                        advice == std::string::npos ? "; write what it makes" : told.message.substr(advice));
      } else if (!of_module) {
        try {
          refuse_python_name(context, use.name, use.at);
          return false;
        } catch (const Failure& failure) {
          told = failure.diagnostics().front();
        }
      }
      told.error_class = ErrorClass::Syntax;
      told.id = "refused.python";
      context.python_faults.insert_or_assign(i, std::move(told));
      return true;
    });
  }
}

std::vector<Diagnostic> with_python_uses(ReadContext& context) {
  std::vector<Diagnostic> all = context.diagnostics.all();
  // A loop that is read once more drops what it told before.
  for (auto& [number, told] : context.python_faults)
    if (number < all.size() && all[number].span.begin <= told.span.begin &&
        told.span.end <= all[number].span.end)
      all[number] = std::move(told);
  return all;
}

}  // namespace relish
