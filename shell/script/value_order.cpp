// Values share their parts: a list of two that are one list, sixty deep, has 2^60 leaves and sixty lists. A
// pair of shared containers that was found equal is not gone through again.
#include "shell/script/value_order.h"

#include <algorithm>
#include <set>

#include "shell/script/convert.h"
#include "shell/script/dict_index.h"
#include "shell/script/numbers.h"
#include "shell/script/program_equality.h"
#include "shell/script/script_function.h"
#include "support/interrupt.h"

namespace relish {
namespace {

class Equality {
 public:
  explicit Equality(Span span) : span_(span) {}

  bool equal(const ScriptValue& a, const ScriptValue& b) {
    poll_interrupt(span_);
    if (a.tensor() || b.tensor()) {
      fail(ErrorClass::Type, span_, "script.tensor_equality",
           "'==' and '!=' are not defined on tensors; use R.equal or allclose, or numbers by t.item()");
    }
    if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
    if (a.kind().index() != b.kind().index())
      return equal_dims(a, b) || equal_dims(b, a) || is_kind(a, b) || is_kind(b, a);
    if (const std::string* text = a.string()) return *text == *b.string();
    if (const auto* left = a.as<std::shared_ptr<const ScriptList>>())
      return once(*left, *b.as<std::shared_ptr<const ScriptList>>());
    if (const auto* left = a.as<std::shared_ptr<const ScriptDict>>())
      return once(*left, *b.as<std::shared_ptr<const ScriptDict>>());
    if (const auto* left = a.as<ScriptRange>()) {
      const auto* right = b.as<ScriptRange>();
      const std::uint64_t size = left->count();
      return size == right->count() &&
             (size == 0 || (left->begin == right->begin && (size == 1 || left->step == right->step)));
    }
    if (const auto* left = a.as<ShapeValue>()) return left->dims == b.as<ShapeValue>()->dims;
    if (const auto* left = a.as<ModulePtr>()) {
      const ModulePtr& right = *b.as<ModulePtr>();
      return *left == right || is_same_program(**left, *right);
    }
    if (const auto* left = a.as<FunctionReference>())
      return is_same_program(*left, *b.as<FunctionReference>());
    if (const auto* left = a.as<ScriptFunctionPtr>()) {
      const ScriptFunction &f = **left, &g = **b.as<ScriptFunctionPtr>();
      return &f == &g || (!f.text && !g.text && f.builtin == g.builtin && f.method == g.method &&
                          (!f.method || equal(f.self, g.self)));
    }
    return a.is_none();
  }

 private:
  // type(x) is the name of a kind, and equals the function that makes values of it: type(1) == int.
  bool is_kind(const ScriptValue& a, const ScriptValue& b) {
    const ScriptFunction* function = b.script_function();
    return a.string() && function && function->builtin && function->name == *a.string();
  }

  // A shape equals a list or tuple of the same ints.
  bool equal_dims(const ScriptValue& a, const ScriptValue& b) {
    const auto* shape = a.as<ShapeValue>();
    const ScriptList* list = b.sequence();
    if (!shape || !list || shape->dims.size() != list->items.size()) return false;
    for (std::size_t i = 0; i < shape->dims.size(); ++i) {
      if (!equal(ScriptValue(shape->dims[i]), list->items[i])) return false;
    }
    return true;
  }

  template <class Container>
  bool once(const std::shared_ptr<const Container>& a, const std::shared_ptr<const Container>& b) {
    const bool shared = a.use_count() > 1 && b.use_count() > 1;
    const std::pair<const void*, const void*> both(a.get(), b.get());
    if (shared && equal_.count(both)) return true;
    if (!equal_items(*a, *b)) return false;
    if (shared) equal_.insert(both);
    return true;
  }

  bool equal_items(const ScriptList& left, const ScriptList& right) {
    if (left.tuple != right.tuple || left.items.size() != right.items.size()) return false;
    for (std::size_t i = 0; i < left.items.size(); ++i) {
      if (!equal(left.items[i], right.items[i])) return false;
    }
    return true;
  }

  bool equal_items(const ScriptDict& left, const ScriptDict& right) {
    if (left.items.size() != right.items.size()) return false;
    for (const auto& [key, value] : left.items) {
      const ScriptValue* found = find_in(right, key);
      if (!found || !equal(*found, value)) return false;
    }
    return true;
  }

  Span span_;
  std::set<std::pair<const void*, const void*>> equal_;
};

Order order_of_sizes(std::size_t a, std::size_t b) {
  return a < b ? Order::Less : a > b ? Order::Greater : Order::Equal;
}

Order order_by(Equality& equality, const ScriptValue& a, const ScriptValue& b, const RefuseOrder& refuse) {
  if (a.is_number() && b.is_number()) {
    const int sign = compare_numbers(a, b);
    return sign == 2 ? Order::None : sign < 0 ? Order::Less : sign > 0 ? Order::Greater : Order::Equal;
  }
  if (a.string() && b.string()) {
    const int sign = a.string()->compare(*b.string());
    return sign < 0 ? Order::Less : sign > 0 ? Order::Greater : Order::Equal;
  }
  if (a.as<ShapeValue>() || b.as<ShapeValue>()) {
    const ScriptValue first = shape_as_tuple(a), second = shape_as_tuple(b);
    return order_by(equality, first, second, [&](const auto&, const auto&) { refuse(a, b); });
  }
  const ScriptList* left = a.sequence();
  const ScriptList* right = b.sequence();
  if (left && right && left->tuple == right->tuple) {
    for (std::size_t i = 0; i < std::min(left->items.size(), right->items.size()); ++i) {
      if (!equality.equal(left->items[i], right->items[i]))
        return order_by(equality, left->items[i], right->items[i], refuse);
    }
    return order_of_sizes(left->items.size(), right->items.size());
  }
  refuse(a, b);
  return Order::None;
}

}  // namespace

bool equal_values(const ScriptValue& a, const ScriptValue& b, Span span) {
  return Equality(span).equal(a, b);
}

Order order_of(const ScriptValue& a, const ScriptValue& b, Span span, const RefuseOrder& refuse) {
  poll_interrupt(span);
  Equality equality(span);
  return order_by(equality, a, b, refuse);
}

}  // namespace relish
