// Evaluation of script expressions other than calls.
#include <algorithm>
#include <limits>

#include "frontend/module/script_checks.h"
#include "ir/operators/op.h"
#include "runtime/format.h"
#include "shell/foreign_members.h"
#include "shell/script/builtins.h"
#include "shell/script/convert.h"
#include "shell/script/dict_index.h"
#include "shell/script/format_spec.h"
#include "shell/script/indexing.h"
#include "shell/script/methods.h"
#include "shell/script/numbers.h"
#include "shell/script/script_values.h"
#include "shell/script/text_formats.h"
#include "shell/script/value_order.h"
#include "stdlib/op_doc.h"
#include "stdlib/places_of_names.h"
#include "stdlib/python_modules.h"
#include "stdlib/surface.h"
#include "support/interrupt.h"
#include "support/render.h"
#include "support/suggest.h"
#include "transform/setup_trainer.h"

namespace relish {
namespace {

using ast::Operator;

std::vector<SubscriptItem> one_item(const ast::Subscript& node, ScriptValue index) {
  std::vector<SubscriptItem> items;
  items.push_back({std::move(index), node.items[0]->span});
  return items;
}

}  // namespace

ScriptValue ScriptValues::value_of(const ast::Expr& expr) {
  const Span span = expr.span;
  if (const auto* node = expr.as<ast::Name>()) {
    if (&expr == state_of_.first)
      return value_of_state(state_of_.second->as<ast::Name>()->id, node->id,
                            cover(state_of_.second->span, span));
    return value_of_name(*node, span);
  }
  if (const auto* node = expr.as<ast::IntValue>()) return node->value;
  if (const auto* node = expr.as<ast::Chain>()) return value_of_chain(*node, span);
  if (const auto* node = expr.as<ast::Call>()) return value_of_call(*node, span);
  if (const auto* node = expr.as<ast::Comparison>()) return value_of_comparison(*node, span);
  if (const auto* node = expr.as<ast::Subscript>()) return value_of_subscript(*node, span);
  if (const auto* node = expr.as<ast::StringValue>()) return node->value;
  if (const auto* node = expr.as<ast::Attribute>()) return value_of_attribute(*node, span);
  if (const auto* node = expr.as<ast::FloatValue>()) return node->value;
  if (const auto* node = expr.as<ast::BoolValue>()) return node->value;
  if (expr.as<ast::NoneValue>()) return {};
  if (const auto* node = expr.as<ast::FormatString>()) return text_of_format(node->parts);
  if (const auto* node = expr.as<ast::Prefix>()) return value_of_prefix(*node, span);
  if (const auto* node = expr.as<ast::Logic>()) return value_of_logic(*node);
  if (const auto* node = expr.as<ast::TupleValue>()) return ScriptValue::tuple(values_of_items(node->items));
  if (const auto* node = expr.as<ast::ListValue>()) return ScriptValue::list(values_of_items(node->items));
  if (const auto* node = expr.as<ast::DictValue>()) return value_of_dict(*node, span);
  if (const auto* node = expr.as<ast::Conditional>())
    return value_of(condition(*node->condition, "if") ? *node->then_value : *node->else_value);
  if (const auto* node = expr.as<ast::NumberListValue>()) return value_of_numbers(*node);
  if (const auto* node = expr.as<ast::Lambda>()) return value_of_lambda(*node, span);
  if (const auto* node = expr.as<ast::Comprehension>()) return value_of_comprehension(*node, span);
  if (const auto* node = expr.as<ast::StateName>()) return value_of_state(node->id, node->state, span);
  if (const auto* node = expr.as<ast::Hole>()) {
    fail(ErrorClass::Type, span, "hole.value", refusal_of(*node));
  }
  if (const auto* node = expr.as<ast::Unsupported>()) {
    fail(ErrorClass::Type, span, "script.unsupported", refusal_of(*node));
  }
  fail(ErrorClass::Type, span, "script.expression",
       fmt::format("found {}; expected a value", ast::describe(expr)));
}

ScriptValue ScriptValues::value_of_dict(const ast::DictValue& dict, Span span) {
  DictItems items;
  DictIndex index(span);
  const auto add = [&](ScriptValue key, ScriptValue value) {
    if (const auto found = index.find(items, key)) {
      items[*found].second = std::move(value);
      return;
    }
    index.add(key, items.size());
    items.emplace_back(std::move(key), std::move(value));
  };
  for (const auto& [key_expr, value_expr] : dict.items) {
    poll_interrupt(value_expr->span);
    if (!key_expr) {
      const ScriptValue other = value_of(*value_expr);
      if (!other.dictionary()) {
        fail(ErrorClass::Type, value_expr->span, "script.dict",
             fmt::format("found {} behind '**'; expected a dict", describe(other)));
      }
      for (const auto& [key, value] : other.dictionary()->items) add(key, value);
      continue;
    }
    ScriptValue key = value_of(*key_expr);
    check_key(key, key_expr->span);
    add(std::move(key), value_of(*value_expr));
  }
  return ScriptValue::dict(std::move(items));
}

// The operand that decides, as in Python.
ScriptValue ScriptValues::value_of_logic(const ast::Logic& logic) {
  const bool is_and = logic.op == Operator::And;
  const std::string_view word = is_and ? "and" : "or";
  for (std::size_t i = 0;; ++i) {
    ScriptValue value = value_of(*logic.operands[i]);
    const bool last = i + 1 == logic.operands.size();
    if (last || truth(value, logic.operands[i]->span, word) != is_and) return value;
  }
}

ScriptValue ScriptValues::value_of_name(const ast::Name& name, Span span) {
  if (const ScriptValue* value = variable(name)) return *value;
  if (slot_of(name)) {
    std::vector<DiagnosticNote> notes;
    if (frame_->function && names().find(name.id)) {
      notes.push_back({{},
                       fmt::format("the function binds '{}' itself, so the script's is not seen here; "
                                   "pass it as a parameter and return the new value",
                                   printable(name.id))});
    }
    fail(ErrorClass::Runtime, span, "script.unbound_local",
         fmt::format("'{}' is not bound yet", printable(name.id)), std::move(notes));
  }
  if (const Builtin* builtin = find_builtin(name.id)) {
    if (name.id == "arg" || name.id == "donate") {
      fail(ErrorClass::Type, span, "script.callable",
           fmt::format("'{0}' is no value; expected a call, {0}(…)", name.id));
    }
    ScriptFunction function;
    function.name = name.id;
    function.builtin = builtin;
    return std::make_shared<const ScriptFunction>(std::move(function));
  }
  const Command* command = find_command(name.id);
  if (command && (command->surfaces & in_scripts)) {
    const std::string_view module = instead_of_python_module(name.id);  // time.time()
    fail(ErrorClass::Type, span, "script.callable",
         fmt::format("'{0}' is a command; expected a call, {0}(…){1}", name.id,
                     module.empty() ? "" : fmt::format("; {}", module)));
  }
  if (observer()) {
    if (auto value = observer()->unbound(name.id, span)) return std::move(*value);
  }
  if (namespaces().known(name.id) || name.id == "relish") {
    fail(ErrorClass::Type, span, "script.namespace", fmt::format("'{}' is a namespace, no value", name.id));
  }
  unknown_name(name.id, span);
}

namespace {

// R.nn, R.foo and T.exp, of which no function could be made.
void refuse_no_operator(const std::string& path, Span span) {
  const bool of_functions = !path.starts_with("R.");
  const std::string name = of_functions ? path : path.substr(2);
  if (!of_functions && (find_op(name) || successor_of(name))) return;
  const std::string_view instead = written_in_statements(path);
  if (of_functions || !instead.empty())
    fail(ErrorClass::Type, span, "script.namespace",
         fmt::format("'{}' is not for statements; {}", printable(path),
                     instead.empty() ? "it stands in functions; expected an operator of R" : instead));
  const std::vector<std::string> operators = op_names();
  if (std::any_of(operators.begin(), operators.end(),
                  [&](const std::string& each) { return each.starts_with(name + "."); }))
    fail(ErrorClass::Type, span, "script.namespace",
         fmt::format("'{}' is a namespace, no value", printable(path)));
  fail(ErrorClass::Type, span, "op.unknown",
       fmt::format("unknown operator '{}'{}", printable(path), operator_advice(name)));
}

}  // namespace

ScriptValue ScriptValues::value_of_attribute(const ast::Attribute& attribute, Span span) {
  if (std::string path = namespace_path(*attribute.object); !path.empty()) {
    refuse_no_operator(path + "." + attribute.name, span);
    fail(
        ErrorClass::Type, span, "script.callable",
        fmt::format(
            "'{0}.{1}' is no value; expected a call of an operator; a function of it is lambda x: {0}.{1}(x)",
            path, printable(attribute.name)));
  }
  refuse_library(attribute, nullptr, span);
  const ScriptValue object = value_of(*attribute.object);
  if (auto found = this->attribute(object, attribute.name, span)) return std::move(*found);
  const Span place = attribute.name_span.known() ? attribute.name_span : span;
  if (const auto* module = object.as<ModulePtr>()) {
    std::string advice = option_that_adds(**module, attribute.name);
    if (advice.empty()) {
      const std::string* holder = ast::name_of(*attribute.object);
      advice = foreign_member_advice(**module, holder ? *holder : (*module)->name, attribute.name);
    }
    fail(ErrorClass::Type, place, "name.unknown",
         fmt::format("module '{}' has no function '{}'{}", (*module)->name, attribute.name,
                     advice.empty() ? did_you_mean(attribute.name, names_in(*module)) : advice));
  }
  if (find_method(object, attribute.name)) {
    fail(ErrorClass::Type, place, "script.attribute",
         fmt::format("found '{0}' without a call; expected {0}(…)", attribute.name));
  }
  no_attribute(object, attribute.name, place);
}

std::optional<ScriptValue> ScriptValues::attribute(const ScriptValue& object, const std::string& name,
                                                   Span span) {
  if (const auto* module = object.as<ModulePtr>()) {
    if ((*module)->find(name)) return FunctionReference{*module, name};
    const ScriptValue* own = library_function(*module, name);
    return own ? std::optional(*own) : std::nullopt;
  }
  if (const Tensor* tensor = object.tensor()) {
    if (name == "shape") return ShapeValue{tensor->shape()};
    if (name == "dtype") return std::string(name_of(tensor->dtype()));
    if (name == "ndim") return tensor->rank();
    if (name == "size") return tensor->size();
    if (name == "T") return operators_.call("permute_dims", {{"", object, span}}, span);
  }
  const ValueMethod* method = find_method(object, name);
  if (!method || method->change) return std::nullopt;
  ScriptFunction function;
  function.name = name;
  function.method = method;
  function.self = object;
  return std::make_shared<const ScriptFunction>(std::move(function));
}

ScriptValue ScriptValues::value_of_chain(const ast::Chain& chain, Span) {
  std::size_t next = 0;  // the first link that is not evaluated
  const auto take_operand = [&](const ast::Expr& operand) {
    const ast::Link* behind = next < chain.links.size() ? &chain.links[next] : nullptr;
    const ast::Expr* state = behind ? state_behind(operand, *behind) : nullptr;
    if (!state) return value_of(operand);
    ++next;
    struct Scope {
      std::pair<const ast::Expr*, const ast::Expr*>& place;
      std::pair<const ast::Expr*, const ast::Expr*> before;
      ~Scope() { place = before; }
    } scope{state_of_, std::exchange(state_of_, {state, &operand})};
    return value_of(*behind->operand);
  };
  ScriptValue result = take_operand(*chain.first);
  while (next < chain.links.size()) {
    const ast::Link& link = chain.links[next++];
    ScriptValue operand = take_operand(*link.operand);
    result = binary(link.op, result, operand, cover(chain.first->span, link.operand->span));
  }
  return result;
}

// In `M@before.main(x)` the name `before`, when it is that of a state and nothing else; null in a product.
const ast::Expr* ScriptValues::state_behind(const ast::Expr& operand, const ast::Link& link) const {
  if (!observer() || link.op != Operator::MatMul || !operand.as<ast::Name>()) return nullptr;
  const ast::Expr* root = link.operand.get();
  while (!root->as<ast::Name>()) {
    if (const auto* call = root->as<ast::Call>()) {
      root = call->callee.get();
    } else if (const auto* attribute = root->as<ast::Attribute>()) {
      root = attribute->object.get();
    } else if (const auto* subscript = root->as<ast::Subscript>()) {
      root = subscript->object.get();
    } else {
      return nullptr;
    }
  }
  const ast::Name& name = *root->as<ast::Name>();
  const bool joined = operand.span.end == link.op_span.begin && link.op_span.end == root->span.begin;
  if (!joined || slot_of(name) || variable(name)) return nullptr;
  return options_.observer->knows_state(name.id) || means_nothing(name.id) ? root : nullptr;
}

// A name that is not bound and nothing else either: behind '@' it can only be that of a state.
bool ScriptValues::means_nothing(const std::string& name) const {
  if (name.starts_with('_') || find_builtin(name) || find_command(name) || namespaces_.known(name) ||
      name == "relish")
    return false;
  for (const std::string& other : environment_.names()) {
    const ScriptValue* held = environment_.peek(other);
    if (kind_name(*held) != "module") continue;
    const auto* module = environment_.find(other)->as<ModulePtr>();
    if (module && (*module)->find(name)) return false;
  }
  return true;
}

ScriptValue ScriptValues::value_of_state(const std::string& name, const std::string& state, Span span) {
  if (!options_.observer) {
    fail(ErrorClass::Usage, span, "state.session",
         fmt::format("'{}@{}' is a value of an earlier state, which only a session has", name, state));
  }
  return options_.observer->value_at(name, state, span);
}

ScriptValue ScriptValues::value_of_comparison(const ast::Comparison& comparison, Span span) {
  ScriptValue left = value_of(*comparison.first);
  if (comparison.links.size() == 1)
    return compare(comparison.links[0].op, left, value_of(*comparison.links[0].operand), span);
  for (const ast::Link& link : comparison.links) {
    ScriptValue right = value_of(*link.operand);
    if (left.tensor() || right.tensor()) {
      fail(ErrorClass::Type, span, "script.comparison",
           "a chained comparison is not defined on tensors; compare two at a time");
    }
    if (!*compare(link.op, left, right, span).as<bool>()) return false;
    left = std::move(right);
  }
  return true;
}

ScriptValue ScriptValues::value_of_prefix(const ast::Prefix& prefix, Span span) {
  if (prefix.op == ast::PrefixOperator::Not) return !condition(*prefix.operand, "not");
  ScriptValue operand = value_of(*prefix.operand);
  if (operand.tensor()) return operators_.prefix(prefix.op, operand, span);
  if (operand.is_number()) return number_prefix(prefix.op, operand, span);
  fail(ErrorClass::Type, span, "script.operator",
       fmt::format("'{}' is not defined for {}", ast::text_of(prefix.op), describe(operand)));
}

std::string ScriptValues::text_of_format(const std::vector<ast::FormatPart>& parts) {
  std::string result;
  for (const ast::FormatPart& part : parts) {
    if (!part.field) {
      result += part.text;
      continue;
    }
    ScriptValue value = value_of(*part.field);
    if (part.conversion) value = converted_text(value, part.conversion);
    const std::string spec =
        part.spec_fields.empty() ? part.spec : part.spec + text_of_format(part.spec_fields);
    result += format_with_spec(value, spec, part.field->span);
  }
  return result;
}

std::vector<SubscriptItem> ScriptValues::items_of_subscript(const ast::Subscript& node) {
  std::vector<SubscriptItem> items;
  items.reserve(node.items.size());
  for (const ast::ExprPtr& item : node.items) {
    const auto* slice = item->as<ast::Slice>();
    if (item->as<ast::Ellipsis>()) {
      items.push_back({SubscriptItem::Rest{}, item->span});
      continue;
    }
    if (!slice) {
      items.push_back({value_of(*item), item->span});
      continue;
    }
    auto bound = [&](const ast::ExprPtr& expr) -> std::optional<std::int64_t> {
      if (!expr) return std::nullopt;
      ScriptValue value = value_of(*expr);
      if (value.is_none()) return std::nullopt;
      if (auto integer = whole_number_of(value)) return integer;
      fail(ErrorClass::Type, expr->span, "script.slice",
           fmt::format("found {} in a slice; expected an int", describe(value)));
    };
    SubscriptItem::Slice bounds;
    bounds.begin = bound(slice->begin);
    bounds.end = bound(slice->end);
    bounds.step = bound(slice->step);
    items.push_back({bounds, item->span});
  }
  return items;
}

ScriptValue ScriptValues::value_of_subscript(const ast::Subscript& node, Span span) {
  // Of a name that holds a list or dict, the item without a second holder of the whole.
  const auto* name = node.object.get() == state_of_.first ? nullptr : node.object->as<ast::Name>();
  const ScriptValue* held = name ? variable(*name) : nullptr;
  if (held && node.items.size() == 1 && !node.items[0]->as<ast::Slice>() &&
      !node.items[0]->as<ast::Ellipsis>()) {
    ScriptValue index = value_of(*node.items[0]);
    held = variable(*name);
    if (held) return relish::subscript(*held, one_item(node, std::move(index)), span);
  }
  const ScriptValue object = value_of(*node.object);
  return relish::subscript(object, items_of_subscript(node), span);
}

ScriptValue ScriptValues::value_of_numbers(const ast::NumberListValue& numbers) {
  std::vector<ScriptValue> items;
  items.reserve(numbers.size());
  for (std::int64_t value : numbers.integers) items.emplace_back(value);
  if (numbers.integers.empty()) {
    for (double value : numbers.reals) items.emplace_back(value);
    for (const auto& [at, value] : numbers.integers_among) items[at] = value;
  }
  return numbers.tuple ? ScriptValue::tuple(std::move(items)) : ScriptValue::list(std::move(items));
}

bool ScriptValues::condition(const ast::Expr& expr, std::string_view word) {
  return truth(value_of(expr), expr.span, word);
}

}  // namespace relish
