// A script's life: reading and running of texts.
#include "shell/script/script.h"

#include <algorithm>
#include <optional>
#include <set>

#include "frontend/names/binding_names.h"
#include "frontend/text/ast_walk.h"
#include "shell/program/literal_text.h"
#include "shell/program/module_files.h"
#include "shell/program/reading.h"
#include "shell/script/constant_values.h"
#include "shell/script/earlier_reads.h"
#include "shell/script/name_places.h"
#include "shell/script/unfinished_modules.h"
#include "shell/script/unread_changes.h"
#include "support/big_stack.h"
#include "support/render.h"
#include "support/suggest.h"
#include "support/value_text.h"
#include "train/run_folder.h"

namespace relish {
namespace {

// What declares and does nothing.
bool is_declaration(const ast::Statement& statement) {
  return statement.as<ast::DeclareModule>() || statement.as<ast::DeclareFunction>() ||
         statement.as<ast::Deferred>() || statement.as<ast::Import>() || statement.as<ast::Pass>();
}

void bind_imports(const ast::Statement& statement, Namespaces& namespaces) {
  const auto* import = statement.as<ast::Import>();
  if (!import) return;
  for (const ast::Import::Bound& bound : import->bound)
    if (bound.name != "*") namespaces.bind(bound.name, bound.target);
}

}  // namespace

Script::Script(Session& session, ScriptOptions options) : ScriptCalls(session, std::move(options)) {}

void Script::run_text(std::string name, std::string text, std::uint32_t first_line) {
  run(Sources::instance().add(std::move(name), std::move(text), first_line));
}

void Script::run(std::uint32_t file) {
  std::optional<ConfinedFiles> confined;
  if (options_.confined) confined.emplace(file_rules(path_rules()));
  progress_ = {};
  with_big_stack([&] {
    text_functions_.clear();
    std::vector<Diagnostic> warnings;
    earlier_.read_ahead.clear();
    const std::string& name = Sources::instance().find(file)->name();
    files_.chain = name.starts_with('<') ? std::vector<std::string>() : std::vector<std::string>{name};
    files_.running = options_.running;
    files_.running.insert(files_.running.end(), files_.chain.begin(), files_.chain.end());
    ReadResult read;
    try {
      read = read_script(file, reading_options(), warnings, options_.interactive ? &has_only_holes : nullptr);
    } catch (Failure& failure) {
      unfinished_modules().explain(failure, environment_);
      throw;
    }
    tell_bound(read, warnings);
    session_.report(warnings);
    unfinished_modules().begin_text(read.holes, warnings);
    const Namespaces namespaces_before = std::exchange(namespaces_, std::move(read.namespaces));
    text_links_ = std::move(read.linked);
    const std::set<std::string> constants = std::move(read.constants.names);
    // Functions that the text makes keep its syntax tree.
    const auto text = std::make_shared<const ast::Block>(std::move(read.script));
    const ast::Block& statements = *text;
    const TextFrame frame(*this, text, *find_places(statements, environment_));
    find_unread_changes(statements, options_.interactive || options_.observer != nullptr);
    find_earlier_reads(statements);
    only_declared_ = std::all_of(statements.begin(), statements.end(), is_declaration);
    declare_arguments(statements);
    if (!options_.interactive) {
      check_arguments(session_.settings().sets, declared_arguments_);
    }
    std::size_t group_end = 0;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      if (i == group_end) group_end = begin_functions(statements, i);
      // The text that opens a file describes it; it is no value to show.
      const auto* expression = statements[i].as<ast::ExpressionStatement>();
      bool description =
          i == 0 && statements.size() > 1 && expression && expression->value->as<ast::StringValue>();
      try {
        if (!description) run_noted(statements[i], constants);
      } catch (...) {
        // Only what ran has imported something.
        namespaces_ = namespaces_before;
        for (std::size_t done = 0; done < i; ++done) bind_imports(statements[done], namespaces_);
        forget_undeclared();
        throw;
      }
      unfinished_modules().note_bound(statements[i], environment_);
      progress_.end = std::max(progress_.end, statements[i].whole.end);
      if (options_.observer) options_.observer->finished(progress_.end);
    }
  });
}

// What a statement that fails or is stopped leaves behind is noted. One without parts leaves nothing but when
// the interrupt came late: then it is done, perhaps with less than it would have been.
void Script::run_noted(const ast::Statement& statement, const std::set<std::string>& constants) {
  std::vector<std::string> were_constants;
  for_each_bound_name(statement, [&](const std::string& name, Span) {
    if (earlier_.constants.erase(name) > 0) were_constants.push_back(name);
  });
  const std::uint64_t draws_before = session_.settings().draws;
  environment_.forget_touched();
  try {
    run_statement(statement);
  } catch (...) {
    progress_.touched = environment_.touched();
    for (std::string& name : were_constants)  // what it did not come to bind is what it was
      if (std::find(progress_.touched.begin(), progress_.touched.end(), name) == progress_.touched.end())
        earlier_.constants.insert(std::move(name));
    progress_.draws = session_.settings().draws - draws_before;
    if (!ast::inner_blocks(statement).empty() || !progress_.touched.empty() || progress_.draws > 0)
      progress_.stopped = statement.whole;
    throw;
  }
  // What functions of later texts see as a constant.
  for_each_bound_name(statement, [&](const std::string& name, Span) {
    if (constants.contains(name)) earlier_.constants.insert(name);
  });
}

// Functions may call each other up to the first that is defined anew; returns its position, or the end.
std::size_t Script::begin_functions(const ast::Block& statements, std::size_t begin) {
  text_functions_.clear();
  declared_.clear();
  free_before_ = free_functions_;
  std::set<std::string> names;
  std::size_t end = begin;
  for (; end < statements.size(); ++end) {
    const auto* node = statements[end].as<ast::DeclareFunction>();
    if (!node) continue;
    if (!names.insert(name_of(node->function)).second) break;
    text_functions_.push_back(node->function);
  }
  unfinished_ = put_aside_unfinished(text_functions_, free_functions_);
  return end;
}

ScriptValue Script::constant(const ast::Expr& expr, const ConstantLiterals& known) {
  const TextFrame frame(*this, nullptr, *find_places(expr, environment_));
  for (const auto& [name, value] : known) environment_.set(name, value_of(*value));
  try {
    return value_of(expr);
  } catch (Failure& failure) {
    failure.at(expr.span);
    throw;
  }
}

ScriptValue Script::evaluate(std::uint32_t file) {
  ScriptValue result;
  with_big_stack([&] {
    const std::shared_ptr<const ast::Expr> expr = read_one_expression(file);
    const TextFrame frame(*this, expr, *find_places(*expr, environment_));
    try {
      result = value_of(*expr);
    } catch (Failure& failure) {
      failure.at(expr->span);
      throw;
    }
  });
  return result;
}

}  // namespace relish
