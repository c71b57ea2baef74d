#include "shell/script/lost_changes.h"

#include <algorithm>
#include <optional>

#include "frontend/text/ast_walk.h"
#include "support/fix.h"
#include "support/render.h"

namespace relish {
namespace {

// Longer texts are not repeated in a message.
constexpr std::size_t most_written = 60;

// By others than its place and the copy that is looked at.
bool is_shared(const ScriptValue& copy) {
  if (const auto* list = copy.as<std::shared_ptr<const ScriptList>>()) return list->use_count() > 2;
  const auto* dict = copy.as<std::shared_ptr<const ScriptDict>>();
  return dict && dict->use_count() > 2;
}

bool changes_in_python(const ScriptValue& value) {
  return value.dictionary() || value.tensor() || (value.sequence() && !value.sequence()->tuple);
}

// A name with subscripts: written again it is the same place.
bool is_place(const ast::Expr& expr) {
  const ast::Expr* root = &expr;
  while (const auto* subscript = root->as<ast::Subscript>()) root = subscript->object.get();
  return root->as<ast::Name>();
}

// What `method` of no argument is called of: rows of rows.items(); null for other expressions.
const ast::Expr* object_of(const ast::Expr& expr, std::string_view method) {
  const auto* call = expr.as<ast::Call>();
  const auto* attribute = call && call->arguments.empty() ? call->callee->as<ast::Attribute>() : nullptr;
  return attribute && attribute->name == method ? attribute->object.get() : nullptr;
}

const ast::Call* call_of(const ast::Expr& expr, std::string_view name) {
  const auto* call = expr.as<ast::Call>();
  const auto* callee = call ? call->callee->as<ast::Name>() : nullptr;
  return callee && callee->id == name ? call : nullptr;
}

std::string_view bare(std::string_view target) {
  const bool in_brackets = target.starts_with('(') && target.ends_with(')');
  return in_brackets ? target.substr(1, target.size() - 2) : target;
}

// The list or tuple that a loop takes the name from: `ps` of `for p, g in zip(ps, gs)`. Empty: none by name.
std::string sequence_of(const ast::Expr& target, const ast::Expr& source, const std::string& name) {
  if (!ast::items_of(target)) return is_place(source) ? std::string(written_at(source.span)) : std::string();
  const auto& parts = *ast::items_of(target);
  const ast::Call* zip = call_of(source, "zip");
  if (!zip || zip->arguments.size() != parts.size()) return {};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string* part = ast::name_of(*parts[i]);
    if (part && *part == name) return sequence_of(*parts[i], *zip->arguments[i].value, name);
  }
  return {};
}

// The place that an item of a loop came from: rows[i], d[k].
struct ItemPlace {
  std::string text;
  std::string over = {};  // what `for i in …` goes over, when the loop does not do it itself
};

std::optional<ItemPlace> place_of_item(const ast::Expr& target, const ast::Expr& source,
                                       const std::string& name) {
  const auto* parts = ast::items_of(target);
  const auto written = [](const ast::Expr& expr) { return std::string(written_at(expr.span)); };
  const auto by_index = [&](const ast::Expr& sequence) -> std::optional<ItemPlace> {
    if (!is_place(sequence)) return std::nullopt;
    return ItemPlace{fmt::format("{}[i]", written(sequence)),
                     fmt::format("for i in range(len({}))", written(sequence))};
  };
  if (!parts) {
    if (const ast::Expr* dict = object_of(source, "values"); dict && is_place(*dict))
      return ItemPlace{fmt::format("{}[k]", written(*dict)), fmt::format("for k in {}", written(*dict))};
    return by_index(source);
  }
  if (const ast::Call* zip = call_of(source, "zip"); zip && zip->arguments.size() == parts->size()) {
    for (std::size_t i = 0; i < parts->size(); ++i) {
      const std::string* part = ast::name_of(*(*parts)[i]);
      const ast::Argument& of = zip->arguments[i];
      if (!part || *part != name || of.stars != 0 || !is_place(*of.value)) continue;
      // The change may need the other names.
      return ItemPlace{written(*of.value) + "[i]",
                       fmt::format("for i, ({}) in enumerate({})", bare(written_at(target.span)),
                                   written_at(source.span))};
    }
    return std::nullopt;
  }
  const std::string* key = parts->size() == 2 ? ast::name_of(*(*parts)[0]) : nullptr;
  if (!key) return std::nullopt;
  const std::string* value = ast::name_of(*(*parts)[1]);
  if (const ast::Expr* dict = object_of(source, "items"); dict && value && *value == name && is_place(*dict))
    return ItemPlace{fmt::format("{}[{}]", written(*dict), *key)};
  const ast::Call* enumerate = call_of(source, "enumerate");
  if (!enumerate || enumerate->arguments.size() != 1) return std::nullopt;
  std::optional<ItemPlace> inner = place_of_item(*(*parts)[1], *enumerate->arguments[0].value, name);
  if (!inner || !inner->text.ends_with("[i]")) return std::nullopt;
  return ItemPlace{inner->text.substr(0, inner->text.size() - 2) + *key + "]"};
}

// The change with another place in front of it; one that is too long to be repeated is left out.
std::string written_for(const LostChange& lost, const std::string& place) {
  const Span change = lost.change.span;
  const std::string_view written = written_at(change);
  if (written.size() > most_written || written.find('\n') != written.npos || lost.root.begin < change.begin ||
      lost.root.end > change.end)
    return place + " …";
  std::string_view front = written.substr(0, lost.root.begin - change.begin);
  std::string_view rest = written.substr(lost.root.end - change.begin);
  // Rows of a tensor have no items of their own: x[i, 0].
  const bool joined = rest.starts_with('[') && place.ends_with(']') &&
                      lost.is_tensor(std::string_view(place).substr(0, place.find('[')));
  const std::string whole = joined ? fmt::format("{}, {}", place.substr(0, place.size() - 1), rest.substr(1))
                                   : fmt::format("{}{}", place, rest);
  return fmt::format("{}{}{}{}", lost.change.before, front, whole, lost.change.behind);
}

// `for d in [a, b]: d["k"] = 1`.
std::string written_for_each(const LostChange& lost, const std::vector<ast::ExprPtr>& items) {
  std::string text;
  if (items.empty() || items.size() > 3) return text;
  for (const ast::ExprPtr& item : items) {
    if (!is_place(*item)) return {};
    text += (text.empty() ? "" : "; ") + written_for(lost, std::string(written_at(item->span)));
  }
  return text;
}

// `for p in ps: p -= 1` of tensors: ps = [p - 1 for p in ps], which also takes the place of a tuple.
std::string sum_for_each(const LostChange& lost) {
  const std::string_view change = written_at(lost.change.span);
  if (lost.root.begin != lost.change.span.begin || !lost.change.before.empty() ||
      change.find('\n') != change.npos || change.size() > most_written)
    return {};
  std::string_view behind = change.substr(lost.root.end - lost.root.begin);
  behind.remove_prefix(std::min(behind.find_first_not_of(' '), behind.size()));
  const std::size_t sign = behind.find_first_of("=[.");
  if (sign == behind.npos || behind[sign] != '=' || sign == 0) return {};
  const std::string_view op = behind.substr(0, sign);
  std::string_view operand = behind.substr(sign + 1);
  operand.remove_prefix(std::min(operand.find_first_not_of(' '), operand.size()));
  const std::string sequence = sequence_of(*lost.unread.target, *lost.unread.source, lost.name);
  if (sequence.empty()) return {};
  const bool plain = operand.find_first_of("+-%/@|&^<> ") == operand.npos || op == "+" || op == "-";
  return fmt::format("{0} = [{1} {2} {3}{4}{5} for {6} in {7}]", sequence, lost.name, op, plain ? "" : "(",
                     operand, plain ? "" : ")", written_at(lost.unread.target->span),
                     written_at(lost.unread.source->span));
}

std::string advice_for_item(const LostChange& lost) {
  const ast::Expr& source = *lost.unread.source;
  const auto* items = ast::items_of(source);
  if (items && lost.unread.target->as<ast::Name>()) {
    if (std::string each = written_for_each(lost, *items); !each.empty()) return "write " + each;
  }
  if (std::string made = sum_for_each(lost); !made.empty()) return "write " + made;
  if (const auto place = place_of_item(*lost.unread.target, source, lost.name)) {
    const std::string change = written_for(lost, place->text);
    return place->over.empty() ? "write " + change : fmt::format("write {}: {}", place->over, change);
  }
  return "go over the positions and change xs[i], or make a new list of what the loop gives";
}

// The place that `b = a`, `b = d[k]`, `b = d.setdefault(k, [])` name.
std::string source_place(const ast::Expr& source) {
  if (is_place(source)) return std::string(written_at(source.span));
  const auto* call = source.as<ast::Call>();
  const auto* method = call && !call->arguments.empty() ? call->callee->as<ast::Attribute>() : nullptr;
  if (!method || (method->name != "get" && method->name != "setdefault") || !is_place(*method->object))
    return {};
  return fmt::format("{}[{}]", written_at(method->object->span), written_at(call->arguments[0].value->span));
}

}  // namespace

bool is_held_elsewhere(const ScriptValue& held, const std::vector<std::vector<SubscriptItem>>& steps,
                       const ast::UnreadChange& unread) {
  if (!changes_in_python(held) && !held.sequence()) return false;  // a text is not copied for it
  const bool fresh = unread.bound == ast::UnreadChange::Bound::Fresh;
  const bool view =
      unread.bound == ast::UnreadChange::Bound::Item || unread.bound == ast::UnreadChange::Bound::Part ||
      unread.bound == ast::UnreadChange::Bound::Place || unread.bound == ast::UnreadChange::Bound::Slice;
  bool shared = held.tensor() && !fresh && !held.tensor()->unique();
  ScriptValue at = held;
  for (std::size_t i = 0;; ++i) {
    // A list that was made for this name, of items that others hold.
    const bool own = i == 0 && (fresh || (unread.bound == ast::UnreadChange::Bound::Slice && !held.tensor()));
    if (!own) shared = shared || is_shared(at);
    if (i == steps.size()) break;
    // What cannot be changed there is refused for that reason.
    if (at.tensor() || steps[i].size() != 1 || !std::get_if<ScriptValue>(&steps[i][0].kind)) return false;
    at = subscript(at, steps[i], steps[i][0].span);
  }
  if (!changes_in_python(at)) return false;
  // A row of a tensor is a view in NumPy.
  return shared || (view && steps.empty() && at.tensor());
}

std::string words_of(const LostChange& lost) {
  const std::string name = printable(lost.name);
  std::string advice;
  if (lost.unread.bound == ast::UnreadChange::Bound::Item) {
    advice = advice_for_item(lost);
  } else if (lost.unread.bound == ast::UnreadChange::Bound::Given) {
    advice = "return the new value";
  } else {
    const std::string place = lost.unread.source ? source_place(*lost.unread.source) : "";
    advice = place.empty() ? "change it where it is held, as xs[i] or d[k], or use the name behind the change"
                           : "write " + written_for(lost, place);
  }
  return fmt::format(
      "the change of '{0}' is lost: its value is its own, and nothing reads '{0}' behind it; {1}", name,
      advice);
}

}  // namespace relish
