// Expressions but calls.
#include "shell/repl/faults/expression_check.h"

#include "frontend/text/ast_walk.h"
#include "shell/repl/faults/placeholder.h"
#include "shell/script/builtins.h"
#include "shell/script/operator_types.h"
#include "shell/script/script_values.h"
#include "shell/workspace/workspace.h"

namespace relish {

ExpressionCheck::ExpressionCheck(Workspace& workspace, Namespaces namespaces,
                                 std::function<void(Span, const std::string&)> tell)
    : workspace_(workspace),
      namespaces_(std::move(namespaces)),
      tell_(std::move(tell)),
      names_(workspace.script().environment()) {}

// Only what is wrong whatever the values are: faults of a run are told by the run.
void ExpressionCheck::tell_failure(const Failure& failure, Span span) {
  const Diagnostic& first = failure.diagnostics().front();
  const ErrorClass wrong = first.error_class;
  if (wrong == ErrorClass::Interrupted) throw Failure(failure);
  if (wrong != ErrorClass::Type && wrong != ErrorClass::Usage && wrong != ErrorClass::Data) return;
  tell_(first.span.file == span.file && first.span.known() ? first.span : span, first.message);
}

void ExpressionCheck::visit_children(const ast::Expr& expr) {
  ast::for_each_child(expr, [&](const ast::Expr& child) { value_of(child); });
}

// What means something without being bound.
bool ExpressionCheck::is_known_word(const std::string& name) const {
  const Command* command = find_command(name);
  return name.starts_with('_') || name == "relish" || namespaces_.known(name) || find_builtin(name) ||
         (command && (command->surfaces & in_scripts)) || workspace_.log().named(name);
}

// In the words of a run: to look up a name that nothing is bound to does nothing else.
void ExpressionCheck::tell_unbound(const ast::Expr& expr) {
  const std::string path = ast::dotted_name(expr);
  if (names_.deferred() || path.empty()) return;
  // The session may have what the text takes away.
  if (workspace_.script().environment().peek(path.substr(0, path.find('.')))) return;
  try {
    workspace_.script().evaluate(Sources::instance().add("<typed>", path));
  } catch (const Failure& failure) {
    tell_failure(failure, expr.span);
  }
}

std::string ExpressionCheck::namespace_path(const ast::Expr& expr) const {
  const std::string dotted = ast::dotted_name(expr);
  const std::string root = dotted.substr(0, dotted.find('.'));
  if (root.empty() || root.size() == dotted.size() || names_.is_bound(root) || !namespaces_.known(root))
    return {};
  return namespaces_.canonical(dotted);
}

ExpressionCheck::Known ExpressionCheck::value_of(const ast::Expr& expr) {
  if (const auto* node = expr.as<ast::Name>()) return value_of_name(*node, expr);
  if (const auto* node = expr.as<ast::IntValue>()) return node->value;
  if (const auto* node = expr.as<ast::FloatValue>()) return node->value;
  if (const auto* node = expr.as<ast::BoolValue>()) return node->value;
  if (const auto* node = expr.as<ast::StringValue>()) return node->value;
  if (expr.as<ast::NoneValue>()) return ScriptValue();
  if (const auto* node = expr.as<ast::TupleValue>()) return value_of_items(node->items, true);
  if (const auto* node = expr.as<ast::ListValue>()) return value_of_items(node->items, false);
  if (const auto* node = expr.as<ast::Chain>()) return value_of_chain(*node);
  if (const auto* node = expr.as<ast::Prefix>()) return value_of_prefix(*node, expr.span);
  if (const auto* node = expr.as<ast::Attribute>()) return value_of_attribute(*node, expr);
  if (const auto* node = expr.as<ast::Call>()) return value_of_call(*node, expr.span);
  if (const auto* node = expr.as<ast::Subscript>()) return value_of_subscript(*node);
  if (const auto* node = expr.as<ast::Lambda>()) {
    check_lambda(*node);
  } else if (const auto* comprehension = expr.as<ast::Comprehension>()) {
    check_comprehension(*comprehension);
  } else {
    visit_children(expr);
  }
  return std::nullopt;
}

ExpressionCheck::Known ExpressionCheck::value_of_name(const ast::Name& name, const ast::Expr& expr) {
  if (names_.is_bound(name.id)) return names_.value(name.id);
  if (!is_known_word(name.id)) tell_unbound(expr);
  return std::nullopt;
}

ExpressionCheck::Known ExpressionCheck::value_of_items(const std::vector<ast::ExprPtr>& items, bool tuple) {
  std::vector<ScriptValue> values;
  for (const ast::ExprPtr& item : items)
    if (auto value = value_of(*item)) values.push_back(std::move(*value));
  if (values.size() < items.size()) return std::nullopt;
  return tuple ? ScriptValue::tuple(std::move(values)) : ScriptValue::list(std::move(values));
}

ExpressionCheck::Known ExpressionCheck::value_of_attribute(const ast::Attribute& attribute,
                                                           const ast::Expr& expr) {
  const std::string dotted = ast::dotted_name(expr);
  const std::string root = dotted.substr(0, dotted.find('.'));
  if (!root.empty() && !names_.is_bound(root)) {
    if (!is_known_word(root)) tell_unbound(expr);
    return std::nullopt;
  }
  const Known object = value_of(*attribute.object);
  if (!object) return std::nullopt;
  if (const auto* module = object->as<ModulePtr>()) {
    if ((*module)->find(attribute.name)) return FunctionReference{*module, attribute.name};
    // What the session's own module does not have, a run says best.
    const std::string* name = ast::name_of(*attribute.object);
    if (!name || !names_.is_of_session(*name)) return std::nullopt;
    return checked(expr.span, [&]() -> Known {
      workspace_.script().evaluate(Sources::instance().add("<typed>", dotted));
      return std::nullopt;
    });
  }
  const Tensor* tensor = object->tensor();
  if (tensor && attribute.name == "shape") return ScriptValue(ShapeValue{tensor->shape()});
  if (tensor && attribute.name == "dtype") return ScriptValue(std::string(name_of(tensor->dtype())));
  if (tensor && attribute.name == "ndim") return ScriptValue(tensor->rank());
  if (tensor && attribute.name == "size") return ScriptValue(tensor->size());
  return std::nullopt;
}

ExpressionCheck::Known ExpressionCheck::value_between(ast::Operator op, const Known& a, const Known& b,
                                                      Span span) {
  if (!a || !b) return std::nullopt;
  if (a->is_number() && b->is_number()) {
    // What a number is counts only where it is a size.
    if (op == ast::Operator::Pow || op == ast::Operator::ShiftLeft) return std::nullopt;
    try {
      return plain_operation(op, *a, *b, span);
    } catch (const Failure&) {
      return std::nullopt;
    }
  }
  const bool formats = op == ast::Operator::Mod && a->string();
  if (formats || !(a->tensor() || b->tensor())) return std::nullopt;
  return checked(span, [&] { return placeholder_of(type_of_operator(op, *a, *b, span)); });
}

ExpressionCheck::Known ExpressionCheck::value_of_chain(const ast::Chain& chain) {
  Known value = value_of(*chain.first);
  for (const ast::Link& link : chain.links) {
    // M@before.main(x) is no product.
    const std::string dotted = ast::dotted_name(*link.operand);
    const std::string root = dotted.substr(0, dotted.find('.'));
    const bool state =
        link.op == ast::Operator::MatMul && workspace_.log().named(root) && !names_.is_bound(root);
    const Known operand = value_of(*link.operand);
    value = state ? std::nullopt
                  : value_between(link.op, value, operand, cover(chain.first->span, link.operand->span));
  }
  return value;
}

ExpressionCheck::Known ExpressionCheck::value_of_prefix(const ast::Prefix& prefix, Span span) {
  const Known operand = value_of(*prefix.operand);
  if (!operand || prefix.op != ast::PrefixOperator::Minus) return std::nullopt;
  if (const auto* integer = operand->as<std::int64_t>(); integer && *integer != INT64_MIN)
    return ScriptValue(-*integer);
  if (const auto* real = operand->as<double>()) return ScriptValue(-*real);
  if (!operand->tensor()) return std::nullopt;
  return checked(span, [&] {
    return placeholder_of(type_of_operator_call(*find_op("negative"), {{"", *operand, span}}, span));
  });
}

// Sizes of a shape, and items of what is written out.
ExpressionCheck::Known ExpressionCheck::value_of_subscript(const ast::Subscript& subscript) {
  const Known object = value_of(*subscript.object);
  std::vector<Known> items;
  for (const ast::ExprPtr& item : subscript.items) items.push_back(value_of(*item));
  const auto* index = items.size() == 1 && items[0] ? items[0]->as<std::int64_t>() : nullptr;
  if (!object || !index || subscript.comma) return std::nullopt;
  const auto at = [&](const auto& list) -> const auto* {
    const auto count = static_cast<std::int64_t>(list.size());
    const std::int64_t place = *index < 0 ? *index + count : *index;
    return place < 0 || place >= count ? nullptr : &list[static_cast<std::size_t>(place)];
  };
  if (const auto* shape = object->as<ShapeValue>()) {
    const std::int64_t* size = at(shape->dims);
    return size ? Known(*size) : std::nullopt;
  }
  const ScriptList* list = object->sequence();
  const ScriptValue* item = list ? at(list->items) : nullptr;
  return item ? Known(*item) : std::nullopt;
}

void ExpressionCheck::check_parameters(const std::vector<ast::Parameter>& parameters) {
  for (const ast::Parameter& parameter : parameters) names_.bind_local(parameter.name);
}

void ExpressionCheck::check_lambda(const ast::Lambda& lambda) {
  for (const ast::Parameter& parameter : lambda.parameters)
    if (parameter.default_value) value_of(*parameter.default_value);
  const TextNames::Inside inside(names_, true);
  check_parameters(lambda.parameters);
  value_of(*lambda.value);
}

void ExpressionCheck::check_comprehension(const ast::Comprehension& comprehension) {
  const TextNames::Inside inside(names_, false);
  for (const ast::ComprehensionClause& clause : comprehension.clauses) {
    value_of(*clause.value);
    if (clause.target) names_.bind_local(*clause.target);
  }
  if (comprehension.key) value_of(*comprehension.key);
  value_of(*comprehension.value);
}

}  // namespace relish
