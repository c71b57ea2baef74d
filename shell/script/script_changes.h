// What statements change: names, and items of lists, dicts and tensors. A change belongs to the name that is
// written: a value that somebody else holds too is copied first, so another name keeps what it had. Nobody
// else: then it changes in place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shell/script/lost_changes.h"
#include "shell/script/script_values.h"

namespace relish {

class ScriptChanges : public ScriptValues {
 protected:
  using ScriptValues::ScriptValues;

  // A name and the subscripts behind it, evaluated: d["a"][0].
  struct Place {
    const ast::Name* name = nullptr;
    Span span;
    std::vector<std::vector<SubscriptItem>> steps = {};
    std::vector<Span> spans = {};  // of the subscripts
  };
  // Nothing when the expression is no name with subscripts, or the name no variable.
  std::optional<Place> place_of(const ast::Expr& expr);
  // What stands there now.
  ScriptValue value_at(const Place& place);
  // The value itself, whose containers nobody else holds; `levels` of nesting come into it. TypeError when
  // the name's value is not this function's to change, or nobody would see the change.
  ScriptValue& to_change(const Place& place, std::uint32_t levels, const ChangeText& change);
  void check_is_first(const ast::Name& name, Span span);
  // Where undo of changes in place is noted; null when nothing is to be undone.
  Environment* undo() { return frame_ && frame_->function ? nullptr : &environment_; }

  void bind(const ast::Expr& target, ScriptValue value);
  void unbind(const ast::Expr& target);
  // `undo` is null when nothing of the statement can fail behind it.
  void set_item(const ast::Subscript& target, ScriptValue value, Environment* undo, Span span);
  void augment(const ast::AugmentedAssignment& assignment, Span span);
  // `x = x + a + b` of a text or a list, as `x += a + b`. False when it is another assignment.
  bool grow_by_sum(const ast::Assignment& assignment);
  // A name that stood for a free function is gone.
  virtual void forget_free_function(const std::string& name, Span span) = 0;

 private:
  ScriptValue* value_to_change(const ast::Name& name);
  void check_may_change(const ast::Name& name, Span span);
  void check_is_seen(const Place& place, const ChangeText& change);
  // The same of `x += operand`, which changes a list, dict or tensor in Python.
  void check_is_seen(const ast::AugmentedAssignment& assignment, const ScriptValue& operand, Span change);
  void bind_name(const ast::Name& name, ScriptValue value, Span span);
  void unpack(const ast::Expr& target, const std::vector<ast::ExprPtr>& targets, const ScriptValue& value);
};

// Notes how what was changed in the list or dict that `holder` holds is taken back.
template <class Container, class Work>
void undo_change(Environment* undo, const ScriptValue& holder, Work work) {
  if (!undo || !undo->recording()) return;
  std::weak_ptr<const Container> held = *holder.as<std::shared_ptr<const Container>>();
  undo->undo_by([held, work = std::move(work)]() mutable {
    if (const auto still = held.lock()) work(const_cast<Container&>(*still));
  });
}

}  // namespace relish
