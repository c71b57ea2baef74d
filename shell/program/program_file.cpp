// Files as commands read them.
#include "shell/program/program_file.h"
#include "shell/script/constant_values.h"

#include <algorithm>

#include "frontend/module/script_checks.h"
#include "frontend/reader.h"
#include "ir/printer/constant_section.h"
#include "shell/program/module_files.h"
#include "shell/program/notebook.h"
#include "shell/program/reading.h"
#include "shell/session.h"
#include "support/atomic_file.h"
#include "support/failure.h"
#include "support/limits.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

// Names that plain assignments of a script bind, to tell a name of theirs from a misspelt one.
void collect_made_names(const ast::Block& block, std::vector<std::string>& into) {
  for (const ast::Statement& statement : block) {
    if (const auto* assignment = statement.as<ast::Assignment>()) {
      for (const ast::ExprPtr& target : assignment->targets) {
        if (const std::string* name = ast::name_of(*target)) into.push_back(*name);
        if (const auto* tuple = target->as<ast::TupleValue>()) {
          for (const ast::ExprPtr& item : tuple->items) {
            if (const std::string* name = ast::name_of(*item)) into.push_back(*name);
          }
        }
      }
    } else if (const auto* deferred = statement.as<ast::Deferred>()) {
      into.insert(into.end(), deferred->names.begin(), deferred->names.end());
    } else if (const auto* loop = statement.as<ast::For>()) {
      collect_made_names(loop->body, into);
    } else if (const auto* branches = statement.as<ast::If>()) {
      for (const ast::Branch& branch : branches->branches) collect_made_names(branch.body, into);
      collect_made_names(branches->else_body, into);
    }
  }
}

std::string& standard_input_text() {
  static std::string text;
  return text;
}
bool standard_input_read = false;

using Links = std::map<std::string, std::string>;

std::vector<std::string> relax_names(const Module& module, const Links& linked) {
  std::vector<std::string> names;
  for (const GlobalFunction& function : module.functions) {
    if (linked.count(name_of(function))) continue;
    if (std::holds_alternative<FunctionPtr>(function)) names.push_back(name_of(function));
  }
  return names;
}

// "main", or the only Relax function that is the module's own; empty when neither is there.
std::string chosen_function(const Module& module, const Links& linked) {
  if (module.function("main")) return "main";
  std::vector<std::string> names = relax_names(module, linked);
  if (names.size() == 1) return names.front();
  // A module of one prim_func alone means that one.
  if (names.empty() && module.functions.size() == 1) return name_of(module.functions.front());
  return {};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

void read_standard_input() {
  if (standard_input_read) return;
  standard_input_text() = read_file("-", limits().max_source_bytes, "--max-source-size");
  standard_input_read = true;
}

std::vector<ModulePtr> ProgramFile::modules() const {
  std::vector<ModulePtr> all = classes;
  if (free_functions) all.push_back(free_functions);
  return all;
}

std::string text_of_program(const std::string& path) {
  std::string text = read_file(path, limits().max_source_bytes, "--max-source-size");
  return is_notebook(path) ? code_of_notebook(path, text) : text;
}

SourceText read_text(const std::string& path) {
  if (path == "-") {
    read_standard_input();
    return {path, Sources::instance().add("<stdin>", standard_input_text())};
  }
  std::string text = text_of_program(path);
  const bool mark = text.starts_with("\xEF\xBB\xBF");
  return {path, Sources::instance().add(path, std::move(text)), mark};
}

ProgramFile read_program(const std::string& path, const PathRules& rules, std::vector<std::string> chain) {
  start_language();
  ProgramFile program;
  program.path = path;
  program.rules = rules;
  const SourceText text = read_text(path);
  program.source = text.source;
  program.byte_order_mark = text.byte_order_mark;
  ReadOptions options;
  options.python_file = is_python_file(path);
  options.redefinitions = !options.python_file;
  if (path != "-") chain.push_back(path);
  allow_loads(options, rules, chain);
  options.load_all = true;
  Diagnostics diagnostics;
  ReadResult result = read_source(program.source, options, diagnostics);
  throw_if_errors(diagnostics);
  program.arguments = declared_arguments(result.script);
  if (!rules.more_arguments) check_arguments(rules.arguments, program.arguments);
  program.warnings = diagnostics.all();
  take_declarations(result, program);
  if (std::any_of(result.script.begin(), result.script.end(), is_script_function)) {
    auto statements = std::make_shared<const ast::Block>(std::move(result.script));
    program.library = LibraryText{std::move(statements), std::move(result.namespaces),
                                  std::move(result.constants.names), std::move(chain)};
  }
  return program;
}

void take_declarations(ReadResult& result, ProgramFile& into) {
  into.linked = std::move(result.linked);
  into.with_constants = std::move(result.constants.users);
  into.classes = std::move(result.modules);
  into.free_functions = std::move(result.free_functions);
  ModulePlace free{into.free_functions, {}, {}};
  for (const ast::Statement& statement : result.script) {
    const auto* module = statement.as<ast::DeclareModule>();
    const auto* function = statement.as<ast::DeclareFunction>();
    if (module) into.places.push_back({module->module, statement.whole, module->functions});
    if (function && !function->linked)
      free.functions.push_back({name_of(function->function), statement.whole, statement.comments_above});
    bool declaration = module || function || statement.as<ast::Import>();
    const auto* text = statement.as<ast::ExpressionStatement>();
    bool description = text && text->value->as<ast::StringValue>();
    if (!declaration && !description) into.has_statements = true;
  }
  if (free.module) into.places.push_back(std::move(free));
  collect_made_names(result.script, into.made_names);
}

std::string default_function_or_none(const Module& module) { return chosen_function(module, {}); }

std::string default_function(const Module& module, Span span) {
  std::string name = chosen_function(module, {});
  if (!name.empty()) return name;
  std::vector<std::string> names = module.names();
  fail(ErrorClass::Usage, span, "function.choice",
       names.empty()
           ? fmt::format("module '{}' has no functions", module.name)
           : fmt::format("module '{}' has no 'main' and not just one Relax function; name one of {}",
                         module.name, joined(names)));
}

FunctionReference find_function(const ProgramFile& program, std::string_view name) {
  std::vector<ModulePtr> modules = program.modules();
  if (name.empty()) {
    std::vector<FunctionReference> candidates;
    for (const ModulePtr& module : modules) {
      std::string chosen = chosen_function(*module, program.linked);
      if (!chosen.empty()) candidates.push_back({module, chosen});
    }
    if (candidates.size() == 1) return candidates.front();
    if (modules.size() == 1) default_function(*modules.front(), {});
    std::string found = modules.empty() ? "declares no functions" : "declares several modules";
    fail(ErrorClass::Usage, {}, "function.choice",
         fmt::format("{} {}; name a function by -f", program.path, found));
  }
  std::size_t dot = name.find('.');
  std::string_view class_name = dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
  std::string_view function = dot == std::string_view::npos ? name : name.substr(dot + 1);
  std::vector<FunctionReference> found;
  std::vector<std::string> known;
  for (const ModulePtr& module : modules) {
    for (const std::string& candidate : module->names())
      known.push_back(class_name.empty() ? candidate : module->name + "." + candidate);
    if ((class_name.empty() || module->name == class_name) && module->find(function)) {
      found.push_back({module, std::string(function)});
    }
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1) {
    fail(ErrorClass::Usage, {}, "function.ambiguous",
         fmt::format("'{}' is a function of {} modules of {}; write MODULE.{}", function, found.size(),
                     program.path, function));
  }
  std::string head(class_name.empty() ? name : class_name);
  if (std::find(program.made_names.begin(), program.made_names.end(), head) != program.made_names.end()) {
    fail(ErrorClass::Usage, {}, "function.made",
         fmt::format("'{}' is made by a statement: use run", printable(head)));
  }
  fail(ErrorClass::Usage, {}, "function.unknown",
       fmt::format("{} has no function '{}'{}", program.path, printable(name), did_you_mean(name, known)));
}

std::string text_of_modules(const std::vector<ModulePtr>& modules, const ModulePtr& free_functions,
                            PrintOptions options) {
  if (modules.size() == 1) {
    options.free_functions = modules.front() == free_functions;
    return print(*modules.front(), options);
  }
  ConstantSection constants;
  std::string text;
  for (const ModulePtr& module : modules) {
    options.free_functions = module == free_functions;
    if (!text.empty()) text += "\n";
    text += print_part(*module, constants, options);
  }
  if (!constants.empty()) text += "\n" + constants.text();
  return text;
}

PrintOptions print_options(std::string_view dialect) {
  PrintOptions options;
  if (dialect.empty() || dialect == "0.26") return options;
  if (dialect == "2023") {
    options.dialect = Dialect::D2023;
  } else if (dialect == "2022") {
    options.dialect = Dialect::D2022;
  } else {
    fail(ErrorClass::Usage, {}, "option.dialect",
         fmt::format("--dialect: found '{}'; expected 0.26, 2023 or 2022", printable(dialect)));
  }
  return options;
}

}  // namespace relish
