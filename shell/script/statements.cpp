// Running of statements.
#include <algorithm>
#include <functional>
#include <map>

#include "frontend/module/module_links.h"
#include "frontend/text/ast_walk.h"
#include "ir/rewriting/rewrite.h"
#include "runtime/format.h"
#include "shell/program/highlight.h"
#include "shell/program/reading.h"
#include "shell/program/text_pictures.h"
#include "shell/program/told_table.h"
#include "shell/script/builtins.h"
#include "shell/script/constant_values.h"
#include "shell/script/loop_progress.h"
#include "shell/script/methods.h"
#include "shell/script/redefinition.h"
#include "shell/script/script.h"
#include "shell/script/unfinished_modules.h"
#include "support/interrupt.h"

namespace relish {
namespace {

void refuse_arg_calls(const ast::Block& block) {
  for (const ast::Statement& statement : block) {
    for (const ast::Expr* expr : ast::own_expressions(statement)) {
      find_arg_calls(*expr, [](const ast::Call&, Span span) {
        fail(ErrorClass::Type, span, "arg.place",
             "arg() stands inside a block; expected it at top level, outside loops, ifs and functions");
      });
    }
    for (const ast::Block* inner : ast::inner_blocks(statement)) refuse_arg_calls(*inner);
    if (const auto* function = statement.as<ast::FunctionDefinition>()) refuse_arg_calls(function->body);
  }
}

// arg("data"), and arg("data", type="str") with a type that there is.
bool is_required(const ast::Call& call) {
  if (call.arguments.size() != 2) return call.arguments.size() == 1;
  const auto* type = call.arguments[1].value->as<ast::StringValue>();
  return call.arguments[1].name == "type" && type && is_argument_type(type->value);
}

}  // namespace

void Script::declare_arguments(const ast::Block& statements) {
  std::map<std::string, Span> declared;
  std::vector<std::pair<std::string, Span>> required;  // without a value
  const auto is_given = [&](const std::string& name) {
    const auto& sets = session_.settings().sets;
    return std::any_of(sets.begin(), sets.end(), [&](const auto& set) { return set.first == name; });
  };
  for (const ast::Statement& statement : statements) {
    for (const ast::Expr* expr : ast::own_expressions(statement)) {
      // The header of a `while` runs many times, that of an `if` or `for` once.
      bool in_condition = statement.as<ast::While>() != nullptr;
      find_arg_calls(*expr, [&](const ast::Call& call, Span span) {
        const auto* name = call.arguments.empty() ? nullptr : call.arguments[0].value->as<ast::StringValue>();
        if (in_condition || !name) {
          fail(ErrorClass::Type, span, "arg.place",
               name ? "arg() stands in the header of a loop; expected it at top level"
                    : "arg() takes its name as a string literal");
        }
        if (is_required(call) && !is_given(name->value)) required.emplace_back(name->value, span);
        auto [found, fresh] = declared.emplace(name->value, span);
        if (!fresh) {
          fail(ErrorClass::Type, span, "arg.twice",
               fmt::format("argument '{}' is declared twice", name->value),
               {{found->second, "the first declaration is here"}});
        }
      });
    }
    for (const ast::Block* block : ast::inner_blocks(statement)) refuse_arg_calls(*block);
    if (const auto* function = statement.as<ast::FunctionDefinition>()) refuse_arg_calls(function->body);
  }
  for (const auto& [name, span] : declared) declared_arguments_.insert(name);
  // Before anything runs.
  if (!required.empty()) missing_argument(options_, required.front().first, required.front().second);
}

// All of it or nothing: what fails leaves the names as they were.
template <class Work>
void Script::atomically(const Work& work) {
  // In a function nothing but its own names changes, and with it they go.
  if (in_function()) return work();
  environment_.begin();
  ModulePtr free_before = free_functions_;
  const std::uint64_t draws_before = session_.settings().draws;
  try {
    work();
    environment_.commit();
  } catch (...) {
    environment_.roll_back();
    free_functions_ = free_before;
    session_.settings().draws = draws_before;
    throw;
  }
}

Script::Flow Script::run_statement(const ast::Statement& statement) {
  poll_interrupt(statement.span);
  Flow flow = Flow::Next;
  try {
    // In a block each inner statement is one of its own: what is done stays done.
    if (ast::inner_blocks(statement).empty()) {
      atomically([&] { flow = execute(statement); });
      // What came while it ran and let it finish, with what it bound.
      poll_interrupt(statement.span);
    } else {
      flow = execute(statement);
    }
    if (!in_function()) let_donations_go(0);
  } catch (Failure& failure) {
    if (!in_function()) give_back_donations();
    failure.at(statement.span);
    throw;
  }
  return flow;
}

// A tensor whose middle is left out says beside its shape what all of it is like.
static std::string shown_by_size(const ScriptValue& value) {
  std::string text = shown_text(value);
  constexpr std::int64_t most_looked_at = std::int64_t{1} << 24;
  const Tensor* tensor = value.tensor();
  if (tensor && tensor->size() > FormatOptions().elide_above && tensor->size() <= most_looked_at)
    text.insert(std::min(text.find('\n'), text.size()), "  " + overview_line_of(*tensor));
  return text;
}

// `n = TypeVar("n")` names a dimension of the functions below it, which the reader has seen; no value.
static bool is_type_variable(const ast::Assignment& assignment) {
  const auto* call = assignment.value ? assignment.value->as<ast::Call>() : nullptr;
  const std::string callee = call ? ast::dotted_name(*call->callee) : std::string();
  return callee == "TypeVar" || callee == "typing.TypeVar";
}

Script::Flow Script::execute(const ast::Block& block) {
  for (const ast::Statement& statement : block) {
    const Flow flow = run_statement(statement);
    if (flow != Flow::Next) return flow;
  }
  return Flow::Next;
}

// `xs.pop()` by itself, in a text that nobody types: it stands there for what it does to xs.
bool Script::only_changes(const ast::Expr& expr) const {
  const auto* call = options_.interactive ? nullptr : expr.as<ast::Call>();
  const auto* method = call ? call->callee->as<ast::Attribute>() : nullptr;
  if (!method || !is_change(method->name)) return false;
  const ast::Expr* root = method->object.get();
  while (const auto* subscript = root->as<ast::Subscript>()) root = subscript->object.get();
  const auto* name = root->as<ast::Name>();
  const ScriptValue* held = name ? variable(*name) : nullptr;
  return held && (held->sequence() || held->dictionary());
}

Script::Flow Script::execute(const ast::Statement& statement) {
  const Span span = statement.span;
  if (const auto* node = statement.as<ast::ExpressionStatement>()) {
    ScriptValue value = value_of(*node->value);
    if (!value.is_none() && !in_function() && !only_changes(*node->value)) {
      const bool program = value.as<ModulePtr>() || value.as<FunctionReference>();
      const bool colors = program && session_.settings().color_programs;
      const std::optional<std::string> table = take_told_table();
      session_.print(table ? *table : colors ? in_colors(shown_text(value)) : shown_by_size(value));
      if (options_.observer) options_.observer->shown(value);
    }
  } else if (const auto* node = statement.as<ast::Assignment>()) {
    if (!is_type_variable(*node)) execute_assignment(*node);
  } else if (const auto* node = statement.as<ast::AugmentedAssignment>()) {
    augment(*node, span);
  } else if (const auto* node = statement.as<ast::Assert>()) {
    execute_assert(*node, span);
  } else if (const auto* node = statement.as<ast::For>()) {
    return execute_for(*node, span);
  } else if (const auto* node = statement.as<ast::While>()) {
    return execute_while(*node, span);
  } else if (const auto* node = statement.as<ast::If>()) {
    return execute_if(*node);
  } else if (const auto* node = statement.as<ast::Return>()) {
    frame_->result = node->value ? value_of(*node->value) : ScriptValue();
    return Flow::Return;
  } else if (const auto* node = statement.as<ast::FunctionDefinition>()) {
    define(*node, span, statement.whole);
  } else if (const auto* node = statement.as<ast::DeclareModule>()) {
    declare(node->module, span);
  } else if (const auto* node = statement.as<ast::DeclareFunction>()) {
    declare(*node, span);
  } else if (const auto* node = statement.as<ast::Deferred>()) {
    declare(*node, span);
  } else if (const auto* node = statement.as<ast::Delete>()) {
    unbind(*node->targets);
  } else if (statement.as<ast::Break>()) {
    return Flow::Break;
  } else if (statement.as<ast::Continue>()) {
    return Flow::Continue;
  }
  return Flow::Next;
}

// A free function goes with its name, unless another one calls it.
void Script::forget_free_function(const std::string& name, Span span) {
  Module rest = *free_functions_;
  rest.remove(name);
  for (const GlobalFunction& function : rest.functions) {
    const auto* caller = std::get_if<FunctionPtr>(&function);
    if (!caller) continue;
    const std::vector<std::string> called = global_references(**caller);
    if (std::find(called.begin(), called.end(), name) != called.end()) {
      fail(ErrorClass::Type, span, "script.unbind",
           fmt::format("'{}' is called by '{}', so it stays; unbind that one first", name,
                       relish::name_of(function)));
    }
  }
  free_functions_ = rest.functions.empty() ? ModulePtr() : std::make_shared<const Module>(std::move(rest));
  if (free_functions_) follow_free_functions();
}

// What stands behind a statement that failed is not declared, unless what is declared calls it.
void Script::forget_undeclared() {
  std::vector<GlobalFunction> declared;
  std::set<std::string> others;
  for (const GlobalFunction& function : text_functions_) {
    if (declared_.contains(relish::name_of(function))) {
      declared.push_back(function);
    } else {
      others.insert(relish::name_of(function));
    }
  }
  if (declared.empty() || others.empty()) return;
  for (const GlobalFunction& function : declared) {
    const auto* caller = std::get_if<FunctionPtr>(&function);
    if (!caller) continue;
    for (const std::string& called : global_references(**caller))
      if (others.contains(called)) return;
  }
  free_functions_ = with_functions(free_before_ ? *free_before_ : Module(), declared, {});
  follow_free_functions();
}

void Script::execute_assignment(const ast::Assignment& assignment) {
  if (grow_by_sum(assignment)) return;
  // A session keeps the values of the state before a statement, should it fail; a script ends there.
  const bool keeps_values = options_.observer && options_.observer->keeps_values();
  ScriptValue value = value_while_rebinding(keeps_values ? nullptr : &assignment, *assignment.value);
  if (assignment.targets.size() == 1) {
    if (const auto* item = assignment.targets[0]->as<ast::Subscript>())
      return set_item(*item, std::move(value), nullptr, assignment.targets[0]->span);
  }
  for (std::size_t i = 0; i + 1 < assignment.targets.size(); ++i) bind(*assignment.targets[i], value);
  bind(*assignment.targets.back(), std::move(value));
}

void Script::execute_assert(const ast::Assert& statement, Span) {
  // The values of a failed comparison are the first thing that one wants to know.
  const auto* comparison = statement.condition->as<ast::Comparison>();
  std::string found;
  bool holds = false;
  if (comparison && comparison->links.size() == 1) {
    ScriptValue left = value_of(*comparison->first);
    ScriptValue right = value_of(*comparison->links[0].operand);
    ScriptValue result = compare(comparison->links[0].op, left, right, statement.condition->span);
    holds = truth(result, statement.condition->span, "assert");
    if (result.as<bool>()) {
      found = fmt::format("found {} {} {}", brief_text(left), ast::text_of(comparison->links[0].op),
                          brief_text(right));
    }
  } else {
    holds = condition(*statement.condition, "assert");
  }
  if (holds) return;
  std::string message = "assertion failed";
  if (statement.message) {
    message += ": " + written_text(value_of(*statement.message));
  } else if (!found.empty() && found.size() < 200 && found.find('\n') == std::string::npos) {
    message += ": " + found;
  }
  fail(ErrorClass::Runtime, statement.condition->span, "script.assert", std::move(message));
}

// What was stopped keeps the rounds that it did; the message says which was the last.
static void tell_round(Failure& failure, std::int64_t round, Span loop) {
  const SourceFile* source = Sources::instance().find(loop.file);
  if (failure.error_class() != ErrorClass::Interrupted || !source) return;
  failure.diagnostics().front().message +=
      fmt::format(", in round {} of the loop at line {}", round, source->position(loop.begin).line);
}

// How many rounds a loop over the value has, where that is plain.
static std::optional<std::int64_t> rounds_of(const ScriptValue& iterable) {
  if (const auto* range = iterable.as<ScriptRange>()) return range->size();
  if (const ScriptList* list = iterable.sequence()) return static_cast<std::int64_t>(list->items.size());
  const Tensor* tensor = iterable.tensor();
  return tensor && tensor->rank() > 0 ? std::optional(tensor->shape().front()) : std::nullopt;
}

Script::Flow Script::run_round(const ast::For& loop, const ScriptValue& item) {
  if (loop.target->as<ast::Name>()) {
    bind(*loop.target, item);
  } else {
    atomically([&] { bind(*loop.target, item); });
  }
  return execute(loop.body);
}

Script::Flow Script::execute_for(const ast::For& loop, Span span) {
  const ScriptValue iterable = value_of(*loop.iterable);
  std::int64_t round = 0;
  Flow flow = Flow::Next;
  LoopProgress progress(session_, loops_, span, rounds_of(iterable));
  try {
    for_each_item(iterable, loop.iterable->span, [&](const ScriptValue& item) {
      progress.round(++round);
      flow = run_round(loop, item);
      return flow != Flow::Break && flow != Flow::Return;
    });
  } catch (Failure& failure) {
    tell_round(failure, round, span);
    throw;
  }
  return flow == Flow::Return ? flow : Flow::Next;
}

Script::Flow Script::execute_while(const ast::While& loop, Span span) {
  std::int64_t round = 1;
  LoopProgress progress(session_, loops_, span, std::nullopt);
  try {
    for (; condition(*loop.condition, "while"); ++round) {
      progress.round(round);
      poll_interrupt(span);
      const Flow flow = execute(loop.body);
      if (flow == Flow::Return) return flow;
      if (flow == Flow::Break) break;
    }
  } catch (Failure& failure) {
    tell_round(failure, round, span);
    throw;
  }
  return Flow::Next;
}

void Script::run_body(const ast::Block& body) { execute(body); }

Script::Flow Script::execute_if(const ast::If& statement) {
  for (const ast::Branch& branch : statement.branches) {
    if (!branch.condition || condition(*branch.condition, "if")) return execute(branch.body);
  }
  return execute(statement.else_body);
}

void Script::declare(const ModulePtr& module, Span span) {
  const ScriptValue* bound = options_.interactive ? environment_.find(module->name) : nullptr;
  const auto* known = bound ? bound->as<ModulePtr>() : nullptr;
  set_name(module->name, known ? with_known_functions(module, **known) : module, span);
}

void Script::declare(const ast::DeclareFunction& declaration, Span span) {
  const GlobalFunction& function = declaration.function;
  if (unfinished_.names.contains(name_of(function)))
    return environment_.set(name_of(function), FunctionReference{unfinished_.module, name_of(function)});
  bool present = free_functions_ && free_functions_->find(name_of(function)) &&
                 *free_functions_->find(name_of(function)) == function;
  if (!present) {
    // All functions of the text come at once, as they may call each other; their names are bound one by one.
    Module base = free_functions_ ? *free_functions_ : Module();
    free_functions_ = with_functions(base, text_functions_, span);
  }
  if (declaration.linked) {
    earlier_.linked[name_of(function)] = text_links_.at(name_of(function));
  } else {
    environment_.set(name_of(function), FunctionReference{free_functions_, name_of(function)});
  }
  declared_.insert(name_of(function));
  if (!present) follow_free_functions();
}

// The other functions of the text may be called by these, so they are there first.
void Script::declare(const ast::Deferred& group, Span span) {
  if (group.definitions.empty()) return;
  const Module base = free_functions_ ? *free_functions_ : Module();
  const bool missing =
      std::any_of(text_functions_.begin(), text_functions_.end(), [&](const GlobalFunction& function) {
        const GlobalFunction* known = base.find(name_of(function));
        return !known || *known != function;
      });
  if (missing) free_functions_ = with_functions(base, text_functions_, span);
  std::vector<Diagnostic> warnings;
  ReadResult read = read_deferred_declarations(group, reading_options(), warnings);
  session_.report(warnings);
  for (const auto& [name, written] : read.linked) text_links_[name] = written;
  for (const ast::Statement& statement : read.script) {
    const auto* node = statement.as<ast::DeclareFunction>();
    if (!node) continue;
    const std::string& name = name_of(node->function);
    std::erase_if(text_functions_, [&](const GlobalFunction& known) { return name_of(known) == name; });
    text_functions_.push_back(node->function);
  }
  for (const ast::Statement& statement : read.script) {
    if (const auto* node = statement.as<ast::DeclareModule>()) declare(node->module, statement.span);
    if (const auto* node = statement.as<ast::DeclareFunction>()) declare(*node, statement.span);
  }
}

// References held under the functions' own names follow the module as it is now.
void Script::follow_free_functions() {
  for (const std::string& name : free_functions_->names()) {
    const ScriptValue* bound = environment_.find(name);
    const auto* reference = bound ? bound->as<FunctionReference>() : nullptr;
    const bool own = reference && reference->name == name && reference->module->name == free_functions_->name;
    if (own && reference->module != unfinished_.module && !unfinished_modules().holds(reference->module))
      environment_.set(name, FunctionReference{free_functions_, name});
  }
}

}  // namespace relish
