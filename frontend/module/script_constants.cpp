// What is a constant is seen from the text alone; its value is asked for when a function uses it.
#include "frontend/module/script_constants.h"

#include <algorithm>
#include <array>

#include "frontend/context.h"
#include "frontend/module/script_checks.h"
#include "frontend/names/binding_names.h"
#include "frontend/text/ast_walk.h"

namespace relish {
namespace {

constexpr std::array<std::string_view, 11> functions_of_constants = {
    "arg", "int", "float", "bool", "str", "min", "max", "len", "range", "abs", "round"};

// Literals, arithmetic, and calls of the functions above on these; `is_known` tells of names.
bool is_constant(const ast::Expr& expr, const std::function<bool(const std::string&)>& is_known) {
  if (const std::string* name = ast::name_of(expr)) return is_known(*name);
  if (const auto* call = expr.as<ast::Call>()) {
    const std::string* callee = ast::name_of(*call->callee);
    const bool known = callee && !is_known(*callee) &&
                       std::find(functions_of_constants.begin(), functions_of_constants.end(), *callee) !=
                           functions_of_constants.end();
    return known && std::all_of(call->arguments.begin(), call->arguments.end(), [&](const ast::Argument& a) {
             return a.stars == 0 && is_constant(*a.value, is_known);
           });
  }
  const bool plain = expr.as<ast::IntValue>() || expr.as<ast::FloatValue>() || expr.as<ast::BoolValue>() ||
                     expr.as<ast::NoneValue>() || expr.as<ast::StringValue>() ||
                     expr.as<ast::NumberListValue>();
  const bool made = expr.as<ast::ListValue>() || expr.as<ast::TupleValue>() || expr.as<ast::Prefix>() ||
                    expr.as<ast::Chain>() || expr.as<ast::Comparison>() || expr.as<ast::Logic>() ||
                    expr.as<ast::Conditional>() || expr.as<ast::Subscript>();
  if (!made) return plain;
  bool all = true;
  ast::for_each_child(expr, [&](const ast::Expr& inner) { all = all && is_constant(inner, is_known); });
  return all;
}

// An item of a list, or a call whose meaning a function does not have itself.
bool is_computed(const ast::Expr& expr) {
  if (expr.as<ast::Subscript>()) return true;
  const auto* call = expr.as<ast::Call>();
  const std::string* callee = call ? ast::name_of(*call->callee) : nullptr;
  return callee && *callee != "range" && *callee != "arg";
}

ast::ExprPtr literal(Span span, ast::ExprKind kind) {
  return std::make_unique<ast::Expr>(ast::Expr{span, std::move(kind)});
}

// A copy of a literal with the place of the name that it stands for.
ast::ExprPtr copy_of(const ast::Expr& value, Span span) {
  const auto all = [&](const std::vector<ast::ExprPtr>& items) {
    std::vector<ast::ExprPtr> copies;
    for (const ast::ExprPtr& item : items) copies.push_back(copy_of(*item, span));
    return copies;
  };
  if (const auto* list = value.as<ast::ListValue>()) return literal(span, ast::ListValue{all(list->items)});
  if (const auto* tuple = value.as<ast::TupleValue>())
    return literal(span, ast::TupleValue{all(tuple->items)});
  if (const auto* plain = value.as<ast::IntValue>()) return literal(span, *plain);
  if (const auto* plain = value.as<ast::FloatValue>()) return literal(span, *plain);
  if (const auto* plain = value.as<ast::BoolValue>()) return literal(span, *plain);
  if (const auto* plain = value.as<ast::StringValue>()) return literal(span, *plain);
  return literal(span, ast::NoneValue{});
}

// The symbols that the types in a function declare by their names: R.Tensor(("n", 4), …), R.Shape(["n"]). In
// that function such a name is the dimension, whatever the script calls so.
void note_symbols(const ast::Expr& expr, std::set<std::string>& symbols) {
  ast::for_each_expr(expr, [&](const ast::Expr& inner) {
    const auto* type = inner.as<ast::Call>();
    if (!type || type->arguments.empty()) return;
    const auto* member = type->callee->as<ast::Attribute>();
    const std::string* kind = member ? &member->name : ast::name_of(*type->callee);
    if (!kind || (*kind != "Tensor" && *kind != "Shape")) return;
    const ast::Expr& shape = *type->arguments[0].value;
    ast::for_each_child(shape, [&](const ast::Expr& dimension) {
      if (const auto* symbol = dimension.as<ast::StringValue>()) symbols.insert(symbol->value);
    });
  });
}

void note_symbols(const ast::Block& block, std::set<std::string>& symbols) {
  for (const ast::Statement& statement : block) {
    if (statement.as<ast::FunctionDefinition>()) continue;  // its symbols are its own
    for (const ast::ExprPtr* expr : ast::expressions_of(statement))
      if (*expr) note_symbols(**expr, symbols);
    for (const ast::Block* inner : ast::blocks_of(statement)) note_symbols(*inner, symbols);
  }
}

}  // namespace

// xs[0] = 1, del xs[0], xs.append(1) change what the name holds, which is as good as binding it.
void ScriptConstants::note_changes(const ast::Statement& statement,
                                   std::map<std::string, int>& bindings) const {
  const auto note = [&](const ast::Expr& place) {
    const ast::Expr* root = &place;
    while (const auto* subscript = root->as<ast::Subscript>()) root = subscript->object.get();
    if (const std::string* name = ast::name_of(*root)) ++bindings[*name];
  };
  const std::function<void(const ast::Expr&)> note_targets = [&](const ast::Expr& target) {
    if (target.as<ast::Subscript>()) return note(target);
    ast::for_each_child(target, note_targets);
  };
  if (const auto* assignment = statement.as<ast::Assignment>()) {
    for (const ast::ExprPtr& target : assignment->targets) note_targets(*target);
  } else if (const auto* augmented = statement.as<ast::AugmentedAssignment>()) {
    note_targets(*augmented->target);
  } else if (const auto* loop = statement.as<ast::For>()) {
    note_targets(*loop->target);
  } else if (const auto* deleted = statement.as<ast::Delete>()) {
    const std::function<void(const ast::Expr&)> note_deleted = [&](const ast::Expr& target) {
      if (ast::name_of(target) || target.as<ast::Subscript>()) return note(target);
      ast::for_each_child(target, note_deleted);
    };
    note_deleted(*deleted->targets);
  }
  for (const ast::Expr* expr : ast::own_expressions(statement)) {
    ast::for_each_expr(*expr, [&](const ast::Expr& inner) {
      const auto* call = inner.as<ast::Call>();
      const auto* method = call ? call->callee->as<ast::Attribute>() : nullptr;
      if (method && sources_.is_change && sources_.is_change(method->name)) note(*method->object);
    });
  }
  for (const ast::Block* block : ast::inner_blocks(statement))
    for (const ast::Statement& inner : *block) note_changes(inner, bindings);
}

std::set<std::string> ScriptConstants::names() const {
  std::set<std::string> result;
  for (const auto& [name, constant] : constants_)
    if (constant.of_text) result.insert(name);
  return result;
}

void ScriptConstants::collect(const ast::Block& statements) {
  std::map<std::string, int> bindings;
  for (const ast::Statement& statement : statements) {
    note_changes(statement, bindings);
    for_each_bound_name(statement, [&](const std::string& name, Span) { ++bindings[name]; });
    if (const auto* module = statement.as<ast::ClassDefinition>()) ++bindings[module->name];
    if (const auto* import = statement.as<ast::Import>())
      for (const ast::Import::Bound& bound : import->bound) ++bindings[bound.name];
  }
  // What the text says of a name holds from its beginning.
  for (const auto& [name, value] : sources_.known)
    if (!bindings.contains(name)) constants_.emplace(name, Constant{value.get(), {}, value, false});
  for (const ast::Statement& statement : statements) {
    const auto* assignment = statement.as<ast::Assignment>();
    if (!assignment || !assignment->value || assignment->annotation) continue;
    Found found;
    for (const ast::ExprPtr& target : assignment->targets)
      find_constants(*target, *assignment->value, statement.span, found);
    for (auto& [name, constant] : found)
      if (bindings[name] == 1) constants_.emplace(name, std::move(constant));
  }
}

// The constants that binding `target` to `value` makes; those of one statement do not know each other.
void ScriptConstants::find_constants(const ast::Expr& target, const ast::Expr& value, Span span,
                                     Found& found) const {
  const auto is_known = [&](const std::string& other) { return constants_.contains(other); };
  if (const std::string* name = ast::name_of(target)) {
    if (is_constant(value, is_known)) found.emplace_back(*name, Constant{&value, span});
    return;
  }
  const std::vector<ast::ExprPtr>* targets = ast::items_of(target);
  if (!targets) return;
  const std::vector<ast::ExprPtr>* values = ast::items_of(value);
  const auto has_star = [](const std::vector<ast::ExprPtr>& items) {
    return std::any_of(items.begin(), items.end(),
                       [](const auto& item) { return item->template as<ast::Starred>(); });
  };
  if (has_star(*targets) || (values && has_star(*values))) return;
  if (values && values->size() == targets->size()) {
    for (std::size_t i = 0; i < targets->size(); ++i)
      find_constants(*(*targets)[i], *(*values)[i], span, found);
    return;
  }
  if (values || !is_constant(value, is_known)) return;
  for (std::size_t i = 0; i < targets->size(); ++i)
    if (const std::string* name = ast::name_of(*(*targets)[i]))
      found.emplace_back(*name, Constant{&value, span, nullptr, true, i, targets->size()});
}

const ast::Expr* ScriptConstants::value_of(const std::string& name) {
  Constant& constant = constants_.at(name);
  if (constant.value) return constant.value.get();
  ConstantLiterals known;
  ast::for_each_expr(*constant.expr, [&](const ast::Expr& inner) {
    const std::string* other = ast::name_of(inner);
    if (other && constants_.contains(*other)) known[*other] = value_of(*other);
  });
  constant.value = sources_.value(*constant.expr, known);
  if (constant.item) {
    const std::vector<ast::ExprPtr>* items = ast::items_of(*constant.value);
    if (!items || items->size() != constant.items)
      fail(ErrorClass::Runtime, constant.expr->span, "script.unpack",
           fmt::format("found {} values for {} names", items ? items->size() : 1, constant.items));
    constant.value = copy_of(*(*items)[*constant.item], constant.expr->span);
  }
  return constant.value.get();
}

void ScriptConstants::put_into(ast::Statement& definition, std::set<std::string>& users) {
  if (constants_.empty()) return;
  const auto note = [&](const std::string& name) {
    if (replaced_) users.insert(name);
    return std::exchange(replaced_, false);
  };
  replaced_ = false;
  if (auto* function = definition.as<ast::FunctionDefinition>()) {
    replace_function(*function, {}, definition.span);
    note(function->name);
  } else if (auto* module = definition.as<ast::ClassDefinition>()) {
    std::set<std::string> hidden;
    for (const ast::Statement& inner : module->body)
      for_each_bound_name(inner, [&](const std::string& name, Span) { hidden.insert(name); });
    for (ast::Statement& inner : module->body) {
      if (auto* function = inner.as<ast::FunctionDefinition>()) {
        replace_function(*function, hidden, definition.span);
        if (note(module->name + "." + function->name)) users.insert(module->name);
      } else {
        replace(inner, hidden, definition.span);
        note(module->name);
      }
    }
  }
}

void ScriptConstants::replace_function(ast::FunctionDefinition& function, std::set<std::string> hidden,
                                       Span at) {
  for (ast::ExprPtr& decorator : function.decorators) replace(decorator, hidden, at);
  for (const ast::TypeParameter& parameter : function.type_parameters) hidden.insert(parameter.name);
  for (const ast::Parameter& parameter : function.parameters) {
    hidden.insert(parameter.name);
    if (parameter.annotation) note_symbols(*parameter.annotation, hidden);
  }
  if (function.result_annotation) note_symbols(*function.result_annotation, hidden);
  note_symbols(function.body, hidden);
  // What the body binds stands behind the types.
  for (ast::Parameter& parameter : function.parameters) {
    replace(parameter.annotation, hidden, at);
    replace(parameter.default_value, hidden, at);
  }
  replace(function.result_annotation, hidden, at);
  for (const ast::Statement& statement : function.body) {
    for_each_bound_name(statement, [&](const std::string& name, Span) { hidden.insert(name); });
    if (const auto* with = statement.as<ast::With>()) {
      for (const ast::WithItem& item : with->items) {
        if (const std::string* name = item.target ? ast::name_of(*item.target) : nullptr)
          hidden.insert(*name);
      }
    }
  }
  replace(function.body, hidden, at);
}

void ScriptConstants::replace(ast::Block& block, const std::set<std::string>& hidden, Span at) {
  for (ast::Statement& statement : block) replace(statement, hidden, at);
}

void ScriptConstants::replace(ast::Statement& statement, const std::set<std::string>& hidden, Span at) {
  if (auto* function = statement.as<ast::FunctionDefinition>())
    return replace_function(*function, hidden, at);
  for (ast::ExprPtr* expr : ast::expressions_of(statement)) replace(*expr, hidden, at);
  for (ast::Block* block : ast::blocks_of(statement)) replace(*block, hidden, at);
}

void ScriptConstants::replace(ast::ExprPtr& expr, const std::set<std::string>& hidden, Span at) {
  if (!expr) return;
  if (const std::string* name = ast::name_of(*expr)) {
    if (!is_seen(*name, hidden, at)) return;
    expr = copy_of(*value_of(*name), expr->span);
    replaced_ = true;
    return;
  }
  if (is_computed(*expr)) {
    // dims[1], len(dims): of constants alone it is a constant too.
    const auto is_known = [&](const std::string& name) { return is_seen(name, hidden, at); };
    ConstantLiterals known;
    ast::for_each_expr(*expr, [&](const ast::Expr& inner) {
      const std::string* name = ast::name_of(inner);
      if (name && is_known(*name)) known[*name] = value_of(*name);
    });
    if (!known.empty() && is_constant(*expr, is_known)) {
      expr = sources_.value(*expr, known);
      replaced_ = true;
      return;
    }
  }
  ast::for_each_part(*expr, [&](ast::ExprPtr& part) { replace(part, hidden, at); });
}

// Only what stands above is known there.
bool ScriptConstants::is_seen(const std::string& name, const std::set<std::string>& hidden, Span at) const {
  const auto found = constants_.find(name);
  return found != constants_.end() && !hidden.contains(name) &&
         (!found->second.of_text || found->second.span.begin < at.begin);
}

ConstantsOfText put_constants(ReadContext& context, const ConstantSources& sources,
                              const ast::Block& assignments, ast::Block& statements) {
  ScriptConstants constants(sources);
  ConstantsOfText result;
  constants.collect(assignments);
  for (ast::Statement& statement : statements) {
    const auto* function = statement.as<ast::FunctionDefinition>();
    const auto* module = statement.as<ast::ClassDefinition>();
    if ((!function && !module) || is_script_function(statement)) continue;
    std::string name = function ? function->name : module->name;
    if (context.attempt([&] { constants.put_into(statement, result.users); })) continue;
    // What uses the constant is not read: it would only be told of again.
    context.unresolved = true;
    statement.kind = ast::Damaged{{std::move(name)}};
  }
  result.names = constants.names();
  return result;
}

}  // namespace relish
