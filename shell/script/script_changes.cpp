// Places and what is changed there.
#include "shell/script/script_changes.h"

#include <algorithm>

#include "shell/command.h"
#include "shell/script/builtins.h"
#include "shell/script/change_values.h"
#include "shell/script/indexing_tensors.h"
#include "shell/script/numbers.h"
#include "support/counted.h"
#include "support/interrupt.h"
#include "support/render.h"

namespace relish {
namespace {

// In Python the list would grow by the rows of the tensor; elsewhere the two add up element by element.
void refuse_sum_in_place(const ScriptValue& held, ast::Operator op, const ScriptValue& operand, Span span) {
  const bool list = held.sequence() && !held.sequence()->tuple;
  if (!list || op != ast::Operator::Add || !operand.tensor()) return;
  fail(ErrorClass::Type, span, "script.operator",
       fmt::format("'+=' is not defined for a list and {}; write xs.extend(t), or xs = tensor(xs) + t",
                   describe(operand)));
}

}  // namespace

std::optional<ScriptChanges::Place> ScriptChanges::place_of(const ast::Expr& expr) {
  const ast::Expr* root = &expr;
  std::vector<const ast::Subscript*> subscripts;
  while (const auto* subscript = root->as<ast::Subscript>()) {
    subscripts.push_back(subscript);
    root = subscript->object.get();
  }
  const auto* name = root->as<ast::Name>();
  if (!name || root == state_of_.first || (!slot_of(*name) && !variable(*name))) return std::nullopt;
  Place place{name, root->span};
  for (auto subscript = subscripts.rbegin(); subscript != subscripts.rend(); ++subscript) {
    place.steps.push_back(items_of_subscript(**subscript));
    place.spans.push_back(cover(root->span, (*subscript)->items.back()->span));
  }
  return place;
}

ScriptValue ScriptChanges::value_at(const Place& place) {
  if (place.steps.empty()) return value_of_name(*place.name, place.span);
  const ScriptValue* at = variable(*place.name);
  if (!at) return value_of_name(*place.name, place.span);
  ScriptValue value = subscript(*at, place.steps[0], place.spans[0]);
  for (std::size_t i = 1; i < place.steps.size(); ++i)
    value = subscript(value, place.steps[i], place.spans[i]);
  return value;
}

ScriptValue* ScriptChanges::value_to_change(const ast::Name& name) {
  if (NameSlot* slot = slot_of(name)) return slot->bound ? &slot->value : nullptr;
  const bool placed = name.place.owner == names().number();
  return names().to_change(placed ? name.place.index : names().place_of(name.id));
}

// The caller of a function would see the change in Python, and does not here.
void ScriptChanges::check_may_change(const ast::Name& name, Span span) {
  if (!frame_ || !frame_->function) return;
  const NameSlot* slot = slot_of(name);
  const bool outer =
      !slot || (name.place.kind == ast::NamePlace::Kind::Cell && name.place.index >= frame_->own_cells);
  if (!outer && (slot->own || !slot->bound)) return;
  const ScriptValue* value = variable(name);
  if (!value || !(value->dictionary() || value->tensor() || (value->sequence() && !value->sequence()->tuple)))
    return;
  fail(ErrorClass::Type, span, "script.foreign_change",
       outer ? fmt::format("'{}' is a name outside of '{}' and is not changed there; return the new {}",
                           printable(name.id), frame_->function->name, kind_name(*value))
             : fmt::format(
                   "'{0}' is a parameter of '{1}' and is not changed there; return the new {2}, or begin "
                   "with {0} = {2}({0})",
                   printable(name.id), frame_->function->name, kind_name(*value)));
}

void ScriptChanges::check_is_seen(const Place& place, const ChangeText& change) {
  const ast::Name& name = *place.name;
  const bool of_script = name.place.kind == ast::NamePlace::Kind::Script;
  if (!name.unread || (of_script && names().is_seen_by_functions(name.place.index))) return;
  const ScriptValue* held = variable(name);
  if (!held || !is_held_elsewhere(*held, place.steps, *name.unread)) return;
  const auto is_tensor = [&](std::string_view other) {
    const ScriptValue* value = variable(ast::Name{std::string(other)});
    return value && value->tensor();
  };
  const LostChange lost{name.id, place.span, change, *name.unread, is_tensor};
  fail(ErrorClass::Type, place.span, "script.lost_change", words_of(lost));
}

void ScriptChanges::check_is_seen(const ast::AugmentedAssignment& assignment, const ScriptValue& operand,
                                  Span change) {
  const auto* name = assignment.target->as<ast::Name>();
  if (!name->unread || operand.is_none()) return;
  check_is_seen(Place{name, assignment.target->span}, {change});
}

// What the expression has read would be changed with it in Python.
void ScriptChanges::check_is_first(const ast::Name& name, Span span) {
  if (!name.read_before.known()) return;
  fail(ErrorClass::Type, span, "script.earlier_read",
       fmt::format(
           "'{0}' is read in front of its change in one expression, where Python would see the change; "
           "write the change on a line of its own",
           printable(name.id)),
       {{name.read_before, "it is read here"}});
}

ScriptValue& ScriptChanges::to_change(const Place& place, std::uint32_t levels, const ChangeText& change) {
  check_may_change(*place.name, place.span);
  check_is_first(*place.name, place.span);
  check_is_seen(place, change);
  ScriptValue* at = value_to_change(*place.name);
  if (!at) value_of_name(*place.name, place.span);
  auto inside = static_cast<std::uint32_t>(place.steps.size()) + levels;
  if (inside > most_value_nesting) {
    fail(ErrorClass::ResourceLimit, place.span, "limit.value_nesting",
         fmt::format("lists and dicts nest deeper than {}", most_value_nesting));
  }
  for (std::size_t i = 0; i < place.steps.size(); ++i, --inside)
    at = &item_to_change(*at, place.steps[i], inside - 1, place.spans[i]);
  return *at;
}

void ScriptChanges::bind_name(const ast::Name& name, ScriptValue value, Span span) {
  if (NameSlot* slot = slot_of(name)) {
    slot->value = std::move(value);
    slot->bound = slot->own = true;
  } else {
    set_script_name(name, std::move(value), span);
  }
}

void ScriptChanges::bind(const ast::Expr& target, ScriptValue value) {
  if (const auto* name = target.as<ast::Name>()) return bind_name(*name, std::move(value), target.span);
  if (const auto* tuple = target.as<ast::TupleValue>()) return unpack(target, tuple->items, value);
  if (const auto* list = target.as<ast::ListValue>()) return unpack(target, list->items, value);
  if (const auto* subscript = target.as<ast::Subscript>())
    return set_item(*subscript, std::move(value), undo(), target.span);
  fail(ErrorClass::Type, target.span, "script.target",
       fmt::format("cannot assign to {}; expected a name, or an item such as xs[i]", ast::describe(target)));
}

void ScriptChanges::unpack(const ast::Expr& target, const std::vector<ast::ExprPtr>& targets,
                           const ScriptValue& value) {
  const auto rest = static_cast<std::size_t>(
      std::find_if(targets.begin(), targets.end(),
                   [](const auto& each) { return each->template as<ast::Starred>(); }) -
      targets.begin());
  const bool starred = rest < targets.size();
  std::vector<ScriptValue> items;
  if (value.is_none() || value.as<bool>() || value.as<std::int64_t>() || value.as<double>())
    fail(ErrorClass::Type, target.span, "script.unpack",
         fmt::format("found {} for {}; expected a list or tuple of them", describe(value),
                     counted(targets.size(), "name")));
  for_each_item(value, target.span, [&](const ScriptValue& item) {
    items.push_back(item);
    return starred || items.size() <= targets.size();
  });
  if (starred ? items.size() + 1 < targets.size() : items.size() != targets.size()) {
    fail(ErrorClass::Runtime, target.span, "script.unpack",
         fmt::format("found {}{} for {}{}", items.size() > targets.size() ? "more than " : "",
                     counted(std::min(items.size(), targets.size()), "value"), starred ? "at least " : "",
                     counted(targets.size() - starred, "name")));
  }
  const std::size_t taken = starred ? items.size() - (targets.size() - 1) : 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (i != rest) {
      bind(*targets[i], std::move(items[at++]));
      continue;
    }
    const auto begin = items.begin() + static_cast<std::ptrdiff_t>(at);
    std::vector<ScriptValue> part(std::make_move_iterator(begin),
                                  std::make_move_iterator(begin + static_cast<std::ptrdiff_t>(taken)));
    bind(*targets[i]->as<ast::Starred>()->value, ScriptValue::list(std::move(part)));
    at += taken;
  }
}

void ScriptChanges::set_item(const ast::Subscript& target, ScriptValue value, Environment* undo, Span span) {
  std::optional<Place> place = place_of(*target.object);
  if (!place) {
    if (const auto* name = target.object->as<ast::Name>()) value_of_name(*name, target.object->span);
    fail(ErrorClass::Type, target.object->span, "script.target",
         fmt::format("cannot assign to an item of {}; bind it to a name first",
                     ast::describe(*target.object)));
  }
  const std::vector<SubscriptItem> items = items_of_subscript(target);
  ScriptValue& holder = to_change(*place, nesting_of(value) + 1, {span, "", " = …"});
  set_item_of(holder, items, std::move(value), undo, span);
}

void ScriptChanges::unbind(const ast::Expr& target) {
  if (const auto* tuple = target.as<ast::TupleValue>()) {
    for (const ast::ExprPtr& item : tuple->items) unbind(*item);
    return;
  }
  if (const auto* subscript = target.as<ast::Subscript>()) {
    std::optional<Place> place = place_of(*subscript->object);
    if (!place) {
      fail(ErrorClass::Type, target.span, "script.target",
           fmt::format("cannot remove an item of {}; bind it to a name first",
                       ast::describe(*subscript->object)));
    }
    const std::vector<SubscriptItem> items = items_of_subscript(*subscript);
    remove_item_of(to_change(*place, 1, {target.span, "del "}), items, undo(), target.span);
    return;
  }
  const auto* name = target.as<ast::Name>();
  if (!name) {
    fail(ErrorClass::Type, target.span, "script.target",
         fmt::format("cannot unbind {}; expected a name or an item", ast::describe(target)));
  }
  if (NameSlot* slot = slot_of(*name)) {
    if (!slot->bound) value_of_name(*name, target.span);
    *slot = {};
    return;
  }
  if (!environment_.find(name->id)) {
    const bool builtin = find_builtin(name->id) != nullptr;
    if (builtin || find_command(name->id))
      fail(ErrorClass::Type, target.span, "name.unknown",
           fmt::format("nothing is bound to '{}', which is {} of the language", name->id,
                       builtin ? "a built-in" : "a command"));
    unknown_name(name->id, target.span);
  }
  if (free_functions_ && free_functions_->find(name->id)) forget_free_function(name->id, target.span);
  environment_.remove(name->id);
}

void ScriptChanges::augment(const ast::AugmentedAssignment& assignment, Span span) {
  const ast::Expr& target = *assignment.target;
  if (const auto* subscript = target.as<ast::Subscript>()) {
    std::optional<Place> place = place_of(target);
    if (!place) {
      fail(ErrorClass::Type, target.span, "script.target",
           fmt::format("cannot assign to an item of {}; bind it to a name first",
                       ast::describe(*subscript->object)));
    }
    ScriptValue operand = value_of(*assignment.value);
    std::vector<SubscriptItem> last = std::move(place->steps.back());
    place->steps.pop_back();
    place->spans.pop_back();
    ScriptValue& holder = to_change(*place, nesting_of(operand) + 1, {span});
    if (!holder.tensor()) {
      ScriptValue& item = item_to_change(holder, last, nesting_of(operand), target.span);
      refuse_sum_in_place(item, assignment.op, operand, span);
      if (assignment.op == ast::Operator::Add && grow_in_place(item, operand, span)) return;
      ScriptValue changed = binary(assignment.op, item, operand, span);
      set_item_of(holder, last, std::move(changed), nullptr, span);
      return;
    }
    ScriptValue changed = binary(assignment.op, relish::subscript(holder, last, target.span), operand, span);
    set_item_of(holder, last, std::move(changed), nullptr, span);
    return;
  }
  const auto* name = target.as<ast::Name>();
  if (!name) {
    fail(ErrorClass::Type, target.span, "script.target",
         fmt::format("cannot assign to {}; expected a name or an item", ast::describe(target)));
  }
  // What may grow in place is not held here too, nor copied.
  const ScriptValue* held = variable(*name);
  const bool grows = held && assignment.op == ast::Operator::Add && (held->string() || held->sequence());
  if (grows) {
    const ScriptValue operand = value_of(*assignment.value);
    if (held->sequence() && !held->sequence()->tuple) check_may_change(*name, target.span);
    refuse_sum_in_place(*held, assignment.op, operand, span);
    check_is_seen(assignment, operand, span);
    if (ScriptValue* value = value_to_change(*name); value && grow_in_place(*value, operand, span)) return;
    bind_name(*name, binary(assignment.op, value_of_name(*name, target.span), operand, span), target.span);
    return;
  }
  const ScriptValue before = value_of_name(*name, target.span);
  if (before.dictionary()) check_may_change(*name, target.span);
  const ScriptValue operand = value_of(*assignment.value);
  check_is_seen(assignment, operand, span);
  bind_name(*name, binary(assignment.op, before, operand, span), target.span);
}

bool ScriptChanges::grow_by_sum(const ast::Assignment& assignment) {
  const auto* sum = assignment.value ? assignment.value->as<ast::Chain>() : nullptr;
  const auto* first = sum ? sum->first->as<ast::Name>() : nullptr;
  if (!first || assignment.targets.size() != 1) return false;
  const auto* name = assignment.targets[0]->as<ast::Name>();
  const ScriptValue* held = name && name->id == first->id ? variable(*name) : nullptr;
  if (!held || !(held->string() || held->sequence())) return false;
  // `xs = xs + [x]` of a parameter binds the name anew: from then on it is the function's.
  const NameSlot* slot = slot_of(*name);
  if (slot && !slot->own && !held->string()) return false;
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
    ScriptValue* value = value_to_change(*name);
    if (value && grow_in_place(*value, added, assignment.value->span)) return true;
  }
  // As any other sum; what was evaluated is not evaluated again.
  ScriptValue result = value_of_name(*name, sum->first->span);
  for (std::size_t i = 0; i < sum->links.size(); ++i) {
    const ast::Link& link = sum->links[i];
    const ScriptValue operand = i < parts.size() ? parts[i] : value_of(*link.operand);
    result = binary(link.op, result, operand, cover(sum->first->span, link.operand->span));
  }
  bind_name(*name, std::move(result), assignment.targets[0]->span);
  return true;
}

}  // namespace relish
