// Running of statements.
#include <algorithm>
#include <functional>
#include <map>

#include "frontend/module/module_links.h"
#include "frontend/text/ast_walk.h"
#include "ir/rewriting/rewrite.h"
#include "shell/script/builtins.h"
#include "shell/script/redefinition.h"
#include "shell/script/script.h"
#include "support/interrupt.h"

namespace relish {
namespace {

// Calls `visit` for every call of `arg` in the expression and what it holds.
void find_arg_calls(const ast::Expr& expr, const std::function<void(const ast::Call&, Span)>& visit) {
  ast::for_each_expr(expr, [&](const ast::Expr& inner) {
    const auto* call = inner.as<ast::Call>();
    const std::string* name = call ? ast::name_of(*call->callee) : nullptr;
    if (name && *name == "arg") visit(*call, inner.span);
  });
}

void refuse_arg_calls(const ast::Block& block) {
  for (const ast::Statement& statement : block) {
    for (const ast::Expr* expr : ast::own_expressions(statement)) {
      find_arg_calls(*expr, [](const ast::Call&, Span span) {
        fail(ErrorClass::Type, span, "arg.place",
             "arg() stands inside a block; expected it at top level, outside loops and ifs");
      });
    }
    for (const ast::Block* inner : ast::inner_blocks(statement)) refuse_arg_calls(*inner);
  }
}

}  // namespace

void Script::declare_arguments(const ast::Block& statements) {
  std::map<std::string, Span> declared;
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
        auto [found, fresh] = declared.emplace(name->value, span);
        if (!fresh) {
          fail(ErrorClass::Type, span, "arg.twice",
               fmt::format("argument '{}' is declared twice", name->value),
               {{found->second, "the first declaration is here"}});
        }
      });
    }
    for (const ast::Block* block : ast::inner_blocks(statement)) refuse_arg_calls(*block);
  }
  for (const auto& [name, span] : declared) declared_arguments_.insert(name);
}

// All of it or nothing: what fails leaves the names as they were.
void Script::atomically(const std::function<void()>& work) {
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
  } catch (Failure& failure) {
    failure.at(statement.span);
    throw;
  }
  return flow;
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

Script::Flow Script::execute(const ast::Statement& statement) {
  const Span span = statement.span;
  if (const auto* node = statement.as<ast::ExpressionStatement>()) {
    ScriptValue value = value_of(*node->value);
    if (!value.is_none()) {
      session_.print(shown_text(value));
      if (options_.observer) options_.observer->shown(value);
    }
  } else if (const auto* node = statement.as<ast::Assignment>()) {
    if (!is_type_variable(*node)) execute_assignment(*node);
  } else if (const auto* node = statement.as<ast::AugmentedAssignment>()) {
    execute_augmented(*node, span);
  } else if (const auto* node = statement.as<ast::Assert>()) {
    execute_assert(*node, span);
  } else if (const auto* node = statement.as<ast::For>()) {
    return execute_for(*node, span);
  } else if (const auto* node = statement.as<ast::While>()) {
    return execute_while(*node, span);
  } else if (const auto* node = statement.as<ast::If>()) {
    return execute_if(*node);
  } else if (const auto* node = statement.as<ast::DeclareModule>()) {
    declare(node->module, span);
  } else if (const auto* node = statement.as<ast::DeclareFunction>()) {
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

void Script::bind(const ast::Expr& target, ScriptValue value) {
  if (const std::string* name = ast::name_of(target)) {
    set_name(*name, std::move(value), target.span);
    return;
  }
  const std::vector<ast::ExprPtr>* targets = nullptr;
  if (const auto* tuple = target.as<ast::TupleValue>()) targets = &tuple->items;
  if (const auto* list = target.as<ast::ListValue>()) targets = &list->items;
  if (!targets) {
    fail(ErrorClass::Type, target.span, "script.target",
         fmt::format("cannot assign to {}; expected a name", ast::describe(target)));
  }
  std::vector<ScriptValue> items;
  for_each_item(value, target.span, [&](const ScriptValue& item) {
    items.push_back(item);
    return items.size() <= targets->size();
  });
  if (items.size() != targets->size()) {
    fail(ErrorClass::Runtime, target.span, "script.unpack",
         fmt::format("found {}{} values for {} names", items.size() > targets->size() ? "more than " : "",
                     std::min(items.size(), targets->size()), targets->size()));
  }
  for (std::size_t i = 0; i < items.size(); ++i) bind(*(*targets)[i], std::move(items[i]));
}

// `del a, b`.
void Script::unbind(const ast::Expr& target) {
  if (const auto* tuple = target.as<ast::TupleValue>()) {
    for (const ast::ExprPtr& item : tuple->items) unbind(*item);
    return;
  }
  const std::string* name = ast::name_of(target);
  if (!name) {
    fail(ErrorClass::Type, target.span, "script.target",
         fmt::format("cannot unbind {}; expected a name", ast::describe(target)));
  }
  if (!environment_.find(*name)) unknown_name(*name, target.span);
  if (free_functions_ && free_functions_->find(*name)) remove_free_function(*name, target.span);
  environment_.remove(*name);
}

// A free function goes with its name, unless another one calls it.
void Script::remove_free_function(const std::string& name, Span span) {
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
  ScriptValue value = value_of(*assignment.value);
  for (std::size_t i = 0; i + 1 < assignment.targets.size(); ++i) bind(*assignment.targets[i], value);
  bind(*assignment.targets.back(), std::move(value));
  // A module that was loaded is one that functions of later inputs may use.
  const std::string* name = assignment.targets.size() == 1 ? ast::name_of(*assignment.targets[0]) : nullptr;
  const ScriptValue* bound = name ? environment_.find(*name) : nullptr;
  const ModulePtr* module = bound ? bound->as<ModulePtr>() : nullptr;
  if (module && loaded_program_path(*assignment.value)) loads_[*name] = *module;
}

void Script::execute_augmented(const ast::AugmentedAssignment& assignment, Span span) {
  const std::string* name = ast::name_of(*assignment.target);
  if (!name) {
    fail(ErrorClass::Type, assignment.target->span, "script.target",
         fmt::format("cannot assign to {}; expected a name", ast::describe(*assignment.target)));
  }
  // What may grow in place is not held here too, nor copied.
  const ScriptValue* held = environment_.find(*name);
  const bool grows = held && assignment.op == ast::Operator::Add && (held->string() || held->sequence());
  ScriptValue before;
  if (!grows) before = value_of_name(*name, assignment.target->span);
  ScriptValue operand = value_of(*assignment.value);
  if (grows) {
    if (grow(*name, operand, span)) return;
    before = value_of_name(*name, assignment.target->span);
  }
  set_name(*name, binary(assignment.op, before, operand, span), assignment.target->span);
}

// `name += operand` in place, so that what is built piece by piece costs its length and not the square.
bool Script::grow(const std::string& name, const ScriptValue& operand, Span span) {
  ScriptValue* value = environment_.find_to_change(name);
  if (!value) return false;
  const auto size = [](const ScriptValue& part) {
    return part.string() ? part.string()->size() : part.sequence() ? part.sequence()->items.size() : 0;
  };
  check_item_count(static_cast<std::int64_t>(size(*value) + size(operand)), span);
  return value->append_in_place(operand);
}

// `x = x + a + b` of a text or a list, as `x += a + b`. False when it is another assignment.
bool Script::grow_by_sum(const ast::Assignment& assignment) {
  const auto* sum = assignment.value ? assignment.value->as<ast::Chain>() : nullptr;
  const std::string* first = sum ? ast::name_of(*sum->first) : nullptr;
  if (!first || assignment.targets.size() != 1) return false;
  const std::string* name = ast::name_of(*assignment.targets[0]);
  const ScriptValue* held = name && *name == *first ? environment_.find(*name) : nullptr;
  if (!held || !(held->string() || held->sequence())) return false;
  const bool is_text = held->string() != nullptr, is_tuple = !is_text && held->sequence()->tuple;
  for (const ast::Link& link : sum->links)
    if (link.op != ast::Operator::Add) return false;
  const auto fits = [&](const ScriptValue& part) {
    return is_text ? part.string() != nullptr : part.sequence() && part.sequence()->tuple == is_tuple;
  };
  std::vector<ScriptValue> parts;
  bool all_fit = true;
  for (const ast::Link& link : sum->links) {
    parts.push_back(value_of(*link.operand));
    all_fit = fits(parts.back());
    if (!all_fit) break;
  }
  if (all_fit) {
    const Span first_part = sum->links[0].operand->span;
    ScriptValue added = parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i)
      added = binary(ast::Operator::Add, added, parts[i], cover(first_part, sum->links[i].operand->span));
    if (grow(*name, added, assignment.value->span)) return true;
  }
  // As any other sum; what was evaluated is not evaluated again.
  ScriptValue result = value_of_name(*name, sum->first->span);
  for (std::size_t i = 0; i < sum->links.size(); ++i) {
    const ast::Link& link = sum->links[i];
    const ScriptValue operand = i < parts.size() ? parts[i] : value_of(*link.operand);
    result = binary(link.op, result, operand, cover(sum->first->span, link.operand->span));
  }
  set_name(*name, std::move(result), assignment.targets[0]->span);
  return true;
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
    if (const auto* flag = result.as<bool>()) {
      holds = *flag;
      found = fmt::format("found {} {} {}", brief_text(left), ast::text_of(comparison->links[0].op),
                          brief_text(right));
    } else if (result.tensor()->rank() == 0) {
      holds = result.tensor()->get_int(0) != 0;
    } else {
      fail(ErrorClass::Type, statement.condition->span, "script.condition",
           fmt::format("'assert' takes a bool or a 0-d bool tensor, found {}", describe(result)));
    }
  } else {
    holds = condition(*statement.condition, "assert");
  }
  if (holds) return;
  std::string message = "assertion failed";
  if (statement.message) {
    message += ": " + text_of(value_of(*statement.message));
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

Script::Flow Script::execute_for(const ast::For& loop, Span span) {
  ScriptValue iterable = value_of(*loop.iterable);
  std::int64_t round = 0;
  try {
    for_each_item(iterable, loop.iterable->span, [&](const ScriptValue& item) {
      ++round;
      poll_interrupt(span);
      atomically([&] { bind(*loop.target, item); });
      return execute(loop.body) != Flow::Break;
    });
  } catch (Failure& failure) {
    tell_round(failure, round, span);
    throw;
  }
  return Flow::Next;
}

Script::Flow Script::execute_while(const ast::While& loop, Span span) {
  std::int64_t round = 1;
  try {
    for (; condition(*loop.condition, "while"); ++round) {
      poll_interrupt(span);
      if (execute(loop.body) == Flow::Break) break;
    }
  } catch (Failure& failure) {
    tell_round(failure, round, span);
    throw;
  }
  return Flow::Next;
}

Script::Flow Script::execute_if(const ast::If& statement) {
  for (const ast::Branch& branch : statement.branches) {
    if (!branch.condition || condition(*branch.condition, "if")) return execute(branch.body);
  }
  return execute(statement.else_body);
}

void Script::declare(const ModulePtr& module, Span span) { set_name(module->name, module, span); }

void Script::declare(const ast::DeclareFunction& declaration, Span span) {
  const GlobalFunction& function = declaration.function;
  bool present = free_functions_ && free_functions_->find(name_of(function)) &&
                 *free_functions_->find(name_of(function)) == function;
  if (!present) {
    // All functions of the text come at once, as they may call each other; their names are bound one by one.
    Module base = free_functions_ ? *free_functions_ : Module();
    free_functions_ = with_functions(base, text_functions_, span);
  }
  if (declaration.linked) {
    linked_[name_of(function)] = text_links_.at(name_of(function));
  } else {
    environment_.set(name_of(function), FunctionReference{free_functions_, name_of(function)});
  }
  declared_.insert(name_of(function));
  if (!present) follow_free_functions();
}

// References held under the functions' own names follow the module as it is now.
void Script::follow_free_functions() {
  for (const std::string& name : free_functions_->names()) {
    const ScriptValue* bound = environment_.find(name);
    const auto* reference = bound ? bound->as<FunctionReference>() : nullptr;
    bool own = reference && reference->name == name && reference->module->name == free_functions_->name;
    if (own) environment_.set(name, FunctionReference{free_functions_, name});
  }
}

}  // namespace relish
