// Evaluation of script expressions other than calls.
#include <algorithm>
#include <limits>

#include "frontend/module/script_checks.h"
#include "runtime/format.h"
#include "shell/script/builtins.h"
#include "shell/script/dict_index.h"
#include "shell/script/format_spec.h"
#include "shell/script/indexing.h"
#include "shell/script/numbers.h"
#include "shell/script/script_values.h"
#include "shell/script/value_order.h"
#include "support/interrupt.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

using ast::Operator;

ScriptValue repeat(const ScriptValue& value, std::int64_t times, Span span) {
  times = std::max<std::int64_t>(times, 0);
  auto check_size = [&](std::size_t size) {
    std::int64_t total = 0;
    bool overflow = __builtin_mul_overflow(static_cast<std::int64_t>(size), times, &total);
    check_item_count(overflow ? std::numeric_limits<std::int64_t>::max() : total, span);
  };
  if (const std::string* text = value.string()) {
    check_size(text->size());
    std::string result;
    in_polled_parts(
        times,
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) result += *text;
        },
        span);
    return result;
  }
  const ScriptList& list = *value.sequence();
  check_size(list.items.size());
  // Whether there is room is asked before the room is taken.
  HeldMemory(static_cast<std::uint64_t>(times) * list.items.size() * sizeof(ScriptValue), "a list", span);
  std::vector<ScriptValue> items;
  items.reserve(list.items.size() * static_cast<std::size_t>(times));
  for (std::int64_t i = 0; i < times; ++i) {
    poll_interrupt(span);
    items.insert(items.end(), list.items.begin(), list.items.end());
  }
  return list.tuple ? ScriptValue::tuple(std::move(items)) : ScriptValue::list(std::move(items));
}

// `a op b` of strings and sequences; nothing when the operator is not theirs.
std::optional<ScriptValue> container_operation(Operator op, const ScriptValue& a, const ScriptValue& b,
                                               Span span) {
  if (op == Operator::Add) {
    if (a.string() && b.string()) {
      check_item_count(static_cast<std::int64_t>(a.string()->size() + b.string()->size()), span);
      return ScriptValue(*a.string() + *b.string());
    }
    const ScriptList* left = a.sequence();
    const ScriptList* right = b.sequence();
    if (left && right && left->tuple == right->tuple) {
      check_item_count(static_cast<std::int64_t>(left->items.size() + right->items.size()), span);
      std::vector<ScriptValue> items = left->items;
      items.insert(items.end(), right->items.begin(), right->items.end());
      return left->tuple ? ScriptValue::tuple(std::move(items)) : ScriptValue::list(std::move(items));
    }
  }
  if (op == Operator::Mul) {
    auto repeats = [](const ScriptValue& value) { return value.string() || value.sequence(); };
    if (repeats(a) && integer_of(b)) return repeat(a, *integer_of(b), span);
    if (repeats(b) && integer_of(a)) return repeat(b, *integer_of(a), span);
  }
  return std::nullopt;
}

// A float that is a whole number is among the ints.
bool contains(const ScriptRange& range, const ScriptValue& item) {
  std::optional<std::int64_t> number = integer_of(item);
  if (const auto* real = item.as<double>(); real && *real >= -0x1p63 && *real < 0x1p63) {
    const auto whole = static_cast<std::int64_t>(*real);
    if (static_cast<double>(whole) == *real) number = whole;
  }
  return number && range.contains(*number);
}

bool contains(const ScriptValue& container, const ScriptValue& item, Span span) {
  if (const std::string* text = container.string()) {
    if (!item.string()) no_operator(Operator::In, item, container, span);
    return text->find(*item.string()) != std::string::npos;
  }
  if (const auto* range = container.as<ScriptRange>(); range && !item.tensor()) return contains(*range, item);
  if (const ScriptDict* dict = container.dictionary(); dict && !item.tensor()) return find_in(*dict, item);
  bool found = false;
  for_each_item(container, span, [&](const ScriptValue& candidate) {
    found = equal_values(candidate, item, span);
    return !found;
  });
  return found;
}

}  // namespace

ScriptValue ScriptValues::value_of(const ast::Expr& expr) {
  const Span span = expr.span;
  if (const auto* node = expr.as<ast::Name>()) {
    if (&expr == state_of_.first)
      return value_of_state(state_of_.second->as<ast::Name>()->id, node->id,
                            cover(state_of_.second->span, span));
    return value_of_name(node->id, span);
  }
  if (const auto* node = expr.as<ast::StateName>()) return value_of_state(node->id, node->state, span);
  if (const auto* node = expr.as<ast::IntValue>()) return node->value;
  if (const auto* node = expr.as<ast::FloatValue>()) return node->value;
  if (const auto* node = expr.as<ast::BoolValue>()) return node->value;
  if (expr.as<ast::NoneValue>()) return {};
  if (const auto* node = expr.as<ast::StringValue>()) return node->value;
  if (const auto* node = expr.as<ast::FormatString>()) return value_of_format(*node);
  if (const auto* node = expr.as<ast::Call>()) return value_of_call(*node, span);
  if (const auto* node = expr.as<ast::Chain>()) return value_of_chain(*node, span);
  if (const auto* node = expr.as<ast::Comparison>()) return value_of_comparison(*node, span);
  if (const auto* node = expr.as<ast::Prefix>()) return value_of_prefix(*node, span);
  if (const auto* node = expr.as<ast::Attribute>()) return value_of_attribute(*node, span);
  if (const auto* node = expr.as<ast::Subscript>()) return value_of_subscript(*node, span);
  if (const auto* node = expr.as<ast::NumberListValue>()) return value_of_numbers(*node);
  if (const auto* node = expr.as<ast::TupleValue>()) {
    return ScriptValue::tuple(values_of_items(node->items));
  }
  if (const auto* node = expr.as<ast::ListValue>()) {
    return ScriptValue::list(values_of_items(node->items));
  }
  if (const auto* node = expr.as<ast::DictValue>()) {
    DictItems items;
    DictIndex index(span);
    for (const auto& [key_expr, value_expr] : node->items) {
      poll_interrupt(key_expr ? key_expr->span : span);
      if (!key_expr) {
        fail(ErrorClass::Type, value_expr->span, "script.dict", "found '**' in a dict; expected KEY: VALUE");
      }
      ScriptValue key = value_of(*key_expr);
      if (!key.string() && !key.is_number()) {
        fail(ErrorClass::Type, key_expr->span, "script.dict",
             fmt::format("{} is no key of a dict", describe(key)));
      }
      ScriptValue value = value_of(*value_expr);
      if (const auto found = index.find(items, key)) {
        items[*found].second = std::move(value);
        continue;
      }
      index.add(key, items.size());
      items.emplace_back(std::move(key), std::move(value));
    }
    return ScriptValue::dict(std::move(items));
  }
  if (const auto* node = expr.as<ast::Logic>()) {
    bool is_and = node->op == Operator::And;
    for (const ast::ExprPtr& operand : node->operands) {
      if (condition(*operand, is_and ? "and" : "or") != is_and) return !is_and;
    }
    return is_and;
  }
  if (const auto* node = expr.as<ast::Conditional>()) {
    return value_of(condition(*node->condition, "if") ? *node->then_value : *node->else_value);
  }
  if (const auto* node = expr.as<ast::Unsupported>()) {
    fail(ErrorClass::Type, span, "script.unsupported", refusal_of(*node));
  }
  fail(ErrorClass::Type, span, "script.expression",
       fmt::format("found {}; expected a value", ast::describe(expr)));
}

ScriptValue ScriptValues::value_of_name(const std::string& name, Span span) {
  if (const ScriptValue* value = environment_.find(name)) return *value;
  const Command* command = find_command(name);
  if (find_builtin(name) || (command && (command->surfaces & in_scripts))) {
    fail(ErrorClass::Type, span, "script.callable",
         fmt::format("'{}' is a {}; expected a call, {}(…)", name,
                     find_builtin(name) ? "built-in" : "command", name));
  }
  if (options_.observer) {
    if (auto value = options_.observer->unbound(name, span)) return std::move(*value);
  }
  if (namespaces_.known(name) || name == "relish") {
    fail(ErrorClass::Type, span, "script.namespace", fmt::format("'{}' is a namespace, no value", name));
  }
  unknown_name(name, span);
}

ScriptValue ScriptValues::value_of_attribute(const ast::Attribute& attribute, Span span) {
  if (std::string path = namespace_path(*attribute.object); !path.empty()) {
    fail(ErrorClass::Type, span, "script.callable",
         fmt::format("'{}.{}' is no value; expected a call of an operator", path, printable(attribute.name)));
  }
  ScriptValue object = value_of(*attribute.object);
  if (const auto* module = object.as<ModulePtr>()) {
    if ((*module)->find(attribute.name)) return FunctionReference{*module, attribute.name};
    std::vector<std::string> names = (*module)->names();
    fail(ErrorClass::Type, attribute.name_span, "name.unknown",
         fmt::format("module '{}' has no function '{}'{}", (*module)->name, attribute.name,
                     did_you_mean(attribute.name, names)));
  }
  if (const Tensor* tensor = object.tensor()) {
    if (attribute.name == "shape") return ShapeValue{tensor->shape()};
    if (attribute.name == "dtype") return std::string(name_of(tensor->dtype()));
    if (attribute.name == "ndim") return tensor->rank();
    if (attribute.name == "astype") {
      fail(ErrorClass::Type, attribute.name_span, "script.attribute",
           "found 'astype' without a call; write x.astype(\"float32\")");
    }
    static const std::vector<std::string> names = {"shape", "dtype", "ndim", "astype"};
    fail(ErrorClass::Type, attribute.name_span, "script.attribute",
         fmt::format("a tensor has no '{}'; expected shape, dtype, ndim or astype(){}", attribute.name,
                     did_you_mean(attribute.name, names)));
  }
  fail(ErrorClass::Type, attribute.name_span.known() ? attribute.name_span : span, "script.attribute",
       fmt::format("{} has no attribute '{}'", describe(object), attribute.name));
}

ScriptValue ScriptValues::binary(Operator op, const ScriptValue& a, const ScriptValue& b, Span span) {
  if (a.tensor() || b.tensor()) return operators_.binary(op, a, b, span);
  if (a.is_number() && b.is_number()) return number_operation(op, a, b, span);
  if (auto result = container_operation(op, a, b, span)) return *result;
  no_operator(op, a, b, span);
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
  if (!options_.observer || link.op != Operator::MatMul || !operand.as<ast::Name>()) return nullptr;
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
  const std::string& name = root->as<ast::Name>()->id;
  const bool joined = operand.span.end == link.op_span.begin && link.op_span.end == root->span.begin;
  return joined && !environment_.find(name) && options_.observer->knows_state(name) ? root : nullptr;
}

ScriptValue ScriptValues::value_of_state(const std::string& name, const std::string& state, Span span) {
  if (!options_.observer) {
    fail(ErrorClass::Usage, span, "state.session",
         fmt::format("'{}@{}' is a value of an earlier state, which only a session has", name, state));
  }
  return options_.observer->value_at(name, state, span);
}

ScriptValue ScriptValues::compare(Operator op, const ScriptValue& a, const ScriptValue& b, Span span) {
  switch (op) {
    case Operator::In:
      return contains(b, a, span);
    case Operator::NotIn:
      return !contains(b, a, span);
    case Operator::Is:
      if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
      fail(ErrorClass::Type, span, "script.operator", "'is' compares with None only; use '=='");
    default:
      break;
  }
  if (a.tensor() || b.tensor()) return operators_.binary(op, a, b, span);
  if (op == Operator::Eq) return equal_values(a, b, span);
  if (op == Operator::Ne) return !equal_values(a, b, span);
  const Order result = order_of(a, b, span, [&](const ScriptValue& left, const ScriptValue& right) {
    no_operator(op, left, right, span);
  });
  if (result == Order::None) return false;
  switch (op) {
    case Operator::Lt:
      return result == Order::Less;
    case Operator::Le:
      return result != Order::Greater;
    case Operator::Gt:
      return result == Order::Greater;
    case Operator::Ge:
      return result != Order::Less;
    default:
      no_operator(op, a, b, span);
  }
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

ScriptValue ScriptValues::value_of_format(const ast::FormatString& text) {
  std::string result;
  for (const ast::FormatPart& part : text.parts) {
    if (!part.field) {
      result += part.text;
      continue;
    }
    ScriptValue value = value_of(*part.field);
    if (part.conversion == 'r') value = quoted_text_of(value);
    if (part.conversion == 's') value = text_of(value);
    result += format_with_spec(value, part.spec, part.field->span);
  }
  return result;
}

ScriptValue ScriptValues::value_of_subscript(const ast::Subscript& node, Span span) {
  ScriptValue object = value_of(*node.object);
  std::vector<SubscriptItem> items;
  for (const ast::ExprPtr& item : node.items) {
    const auto* slice = item->as<ast::Slice>();
    if (!slice) {
      items.push_back({value_of(*item), item->span});
      continue;
    }
    auto bound = [&](const ast::ExprPtr& expr) -> std::optional<std::int64_t> {
      if (!expr) return std::nullopt;
      ScriptValue value = value_of(*expr);
      if (value.is_none()) return std::nullopt;
      if (auto integer = integer_of(value)) return integer;
      fail(ErrorClass::Type, expr->span, "script.slice",
           fmt::format("found {} in a slice; expected an int", describe(value)));
    };
    items.push_back(
        {SubscriptItem::Slice{bound(slice->begin), bound(slice->end), bound(slice->step)}, item->span});
  }
  return relish::subscript(object, items, span);
}

ScriptValue ScriptValues::value_of_numbers(const ast::NumberListValue& numbers) {
  std::vector<ScriptValue> items;
  items.reserve(numbers.size());
  for (std::int64_t value : numbers.integers) items.emplace_back(value);
  if (numbers.integers.empty()) {
    for (double value : numbers.reals) items.emplace_back(value);
  }
  return numbers.tuple ? ScriptValue::tuple(std::move(items)) : ScriptValue::list(std::move(items));
}

bool ScriptValues::condition(const ast::Expr& expr, std::string_view word) {
  ScriptValue value = value_of(expr);
  if (const auto* flag = value.as<bool>()) return *flag;
  if (const Tensor* tensor = value.tensor(); tensor && tensor->rank() == 0 && is_bool(tensor->dtype())) {
    return tensor->get_int(0) != 0;
  }
  fail(ErrorClass::Type, expr.span, "script.condition",
       fmt::format("'{}' takes a bool or a 0-d bool tensor, found {}", word, describe(value)));
}

void for_each_item(const ScriptValue& iterable, Span span,
                   const std::function<bool(const ScriptValue&)>& visit) {
  if (const auto* range = iterable.as<ScriptRange>()) {
    std::int64_t size = range->size();
    for (std::int64_t i = 0; i < size; ++i) {
      poll_interrupt(span);
      if (!visit(range->at(i))) return;
    }
    return;
  }
  if (const ScriptList* list = iterable.sequence()) {
    for (const ScriptValue& item : list->items) {
      poll_interrupt(span);
      if (!visit(item)) return;
    }
    return;
  }
  if (const ScriptDict* dict = iterable.dictionary()) {
    for (const auto& [key, value] : dict->items) {
      poll_interrupt(span);
      if (!visit(key)) return;
    }
    return;
  }
  if (const auto* shape = iterable.as<ShapeValue>()) {
    for (std::int64_t dim : shape->dims) {
      if (!visit(dim)) return;
    }
    return;
  }
  // The samples of a data set: the rows of a tensor.
  if (const Tensor* tensor = iterable.tensor(); tensor && tensor->rank() > 0) {
    for (std::int64_t i = 0; i < tensor->shape()[0]; ++i) {
      poll_interrupt(span);
      if (!visit(relish::subscript(iterable, {{ScriptValue(i), span}}, span))) return;
    }
    return;
  }
  fail(ErrorClass::Type, span, "script.iterate",
       fmt::format("found {}; expected a range, list, tuple, dict or the rows of a tensor",
                   describe(iterable)));
}

}  // namespace relish
