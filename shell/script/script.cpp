// A script's life: reading and running of texts, arguments of the command line, and the files that it may
// name.
#include "shell/script/script.h"

#include <algorithm>
#include <optional>
#include <set>

#include "frontend/text/ast_walk.h"
#include "shell/program/literal_text.h"
#include "shell/program/module_files.h"
#include "shell/program/reading.h"
#include "support/big_stack.h"
#include "support/render.h"
#include "support/suggest.h"
#include "support/value_text.h"
#include "train/run_folder.h"

namespace relish {
namespace {

[[noreturn]] void bad_value(const std::string& name, const std::string& text, std::string_view expected) {
  fail(ErrorClass::Usage, {}, "arg.value",
       fmt::format("--set {}: found '{}'; expected {}", name, printable(text), expected));
}

// A value of `--set` as the default's kind.
ScriptValue converted(const std::string& name, const std::string& text, const ScriptValue& fallback) {
  if (fallback.as<bool>()) {
    if (text == "True" || text == "true" || text == "1") return true;
    if (text == "False" || text == "false" || text == "0") return false;
    bad_value(name, text, "True or False");
  }
  if (fallback.as<std::int64_t>()) {
    const auto value = whole_number<std::int64_t>(text);
    if (!value) bad_value(name, text, "an int");
    return *value;
  }
  if (fallback.as<double>()) {
    const auto value = real_number(text);
    if (!value) bad_value(name, text, "a number");
    return *value;
  }
  if (fallback.string()) return text;
  if (fallback.sequence()) {
    ScriptValue value = parse_literal(text, "--set " + name);
    if (!value.sequence()) bad_value(name, text, "a list");
    return value;
  }
  // Without a default the text decides.
  bool literal =
      !text.empty() && (std::string_view("[(\"'-+.0123456789").find(text[0]) != std::string_view::npos ||
                        text == "True" || text == "False" || text == "None");
  return literal ? parse_literal(text, "--set " + name) : ScriptValue(text);
}

// What declares and does nothing.
bool is_declaration(const ast::Statement& statement) {
  return statement.as<ast::DeclareModule>() || statement.as<ast::DeclareFunction>() ||
         statement.as<ast::Import>() || statement.as<ast::Pass>();
}

}  // namespace

Script::Script(Session& session, ScriptOptions options)
    : session_(session), options_(std::move(options)), operators_(session) {
  start_language();
}

ReadOptions Script::reading_options() {
  ReadOptions options;
  options.session_functions = free_functions_.get();
  options.namespaces = namespaces_;
  options.session_links = linked_;
  for (const std::string& name : environment_.names()) {
    const ScriptValue& value = *environment_.find(name);
    const ModulePtr* module = value.as<ModulePtr>();
    if (module) options.session_modules.push_back(name);
    auto loaded = loads_.find(name);
    if (module && loaded != loads_.end() && loaded->second == *module)
      options.session_loads.emplace_back(name, *module);
    bool declared = free_functions_ && value.as<FunctionReference>() && free_functions_->find(name);
    if (!module && !declared) options.session_names.push_back(name);
  }
  options.load_module = [this](const std::string& path, Span span) {
    ModulePtr& module = read_ahead_[path];
    if (!module) module = read_module_file(path, span);
    return module;
  };
  return options;
}

ModulePtr Script::read_module_file(const std::string& path, Span span) {
  LoadedModule loaded = load_module_file(path, path_rules(), chain_, span);
  session_.report(loaded.warnings);
  return loaded.module;
}

ModulePtr Script::load_module(const std::string& path, Span span) {
  auto ahead = read_ahead_.find(path);
  return ahead != read_ahead_.end() && ahead->second ? ahead->second : read_module_file(path, span);
}

void Script::run_text(std::string name, std::string text) {
  run(Sources::instance().add(std::move(name), std::move(text)));
}

void Script::run(std::uint32_t file) {
  std::optional<ConfinedFiles> confined;
  if (options_.confined) confined.emplace(file_rules(path_rules()));
  progress_ = {};
  with_big_stack([&] {
    text_functions_.clear();
    std::vector<Diagnostic> warnings;
    read_ahead_.clear();
    const std::string& name = Sources::instance().find(file)->name();
    chain_ = name.starts_with('<') ? std::vector<std::string>() : std::vector<std::string>{name};
    running_ = options_.running;
    running_.insert(running_.end(), chain_.begin(), chain_.end());
    ReadResult read = read_script(file, reading_options(), warnings);
    session_.report(warnings);
    namespaces_ = std::move(read.namespaces);
    text_links_ = std::move(read.linked);
    const ast::Block& statements = read.script;
    only_declared_ = std::all_of(statements.begin(), statements.end(), is_declaration);
    declare_arguments(statements);
    if (!options_.interactive) {
      for (const auto& [name, value] : session_.settings().sets) {
        if (declared_arguments_.count(name)) continue;
        std::vector<std::string> known(declared_arguments_.begin(), declared_arguments_.end());
        fail(ErrorClass::Usage, {}, "arg.unknown",
             fmt::format("--set: the script declares no argument '{}'{}", printable(name),
                         did_you_mean(name, known)));
      }
    }
    std::size_t group_end = 0;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      if (i == group_end) group_end = begin_functions(statements, i);
      // The text that opens a file describes it; it is no value to show.
      const auto* expression = statements[i].as<ast::ExpressionStatement>();
      bool description =
          i == 0 && statements.size() > 1 && expression && expression->value->as<ast::StringValue>();
      if (!description) run_noted(statements[i]);
      progress_.end = std::max(progress_.end, statements[i].whole.end);
    }
  });
}

// What a statement that fails or is stopped leaves behind is noted. One without parts leaves nothing but when
// the interrupt came late: then it is done, perhaps with less than it would have been.
void Script::run_noted(const ast::Statement& statement) {
  const std::uint64_t draws_before = session_.settings().draws;
  environment_.forget_touched();
  try {
    run_statement(statement);
  } catch (...) {
    progress_.touched = environment_.touched();
    progress_.draws = session_.settings().draws - draws_before;
    if (!ast::inner_blocks(statement).empty() || !progress_.touched.empty() || progress_.draws > 0)
      progress_.stopped = statement.whole;
    throw;
  }
}

// Functions may call each other up to the first that is defined anew; returns its position, or the end.
std::size_t Script::begin_functions(const ast::Block& statements, std::size_t begin) {
  text_functions_.clear();
  std::set<std::string> names;
  for (std::size_t i = begin; i < statements.size(); ++i) {
    const auto* node = statements[i].as<ast::DeclareFunction>();
    if (!node) continue;
    if (!names.insert(name_of(node->function)).second) return i;
    text_functions_.push_back(node->function);
  }
  return statements.size();
}

ScriptValue Script::evaluate(std::uint32_t file) {
  ScriptValue result;
  with_big_stack([&] {
    ast::ExprPtr expr = read_one_expression(file);
    try {
      result = value_of(*expr);
    } catch (Failure& failure) {
      failure.at(expr->span);
      throw;
    }
  });
  return result;
}

ScriptValue Script::argument(const std::string& name, const ScriptValue& fallback, Span) {
  // The last of repeated flags holds.
  const std::string* given = nullptr;
  for (const auto& [set_name, text] : session_.settings().sets) {
    if (set_name == name) given = &text;
  }
  return given ? converted(name, *given, fallback) : fallback;
}

PathRules Script::path_rules() const {
  PathRules rules = relish::path_rules(session_, options_.folder, options_.confined);
  // What the command line gave is named by the user.
  for (const auto& [name, text] : session_.settings().sets) {
    if (!text.empty()) rules.given.push_back(text);
  }
  rules.jobs.push_back(RunFolderOptions().base);
  for (const auto& [name, text] : session_.settings().job_flags) {
    if (name == "run_dir") rules.jobs.push_back(text);
  }
  return rules;
}

std::string Script::resolve_path(const std::string& path, Span span) {
  return resolve(path_rules(), path, span);
}

}  // namespace relish
