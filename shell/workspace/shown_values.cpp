// Values that were shown.
#include "shell/workspace/shown_values.h"

namespace relish {

namespace {

constexpr std::size_t most_shown = 1000;  // a module may be among them, which no count of bytes knows

}  // namespace

void ShownValues::show(std::size_t input, const ScriptValue& value) {
  by_input_.insert_or_assign(input, value);
  if (by_input_.size() > most_shown) by_input_.erase(by_input_.begin());
}

const ScriptValue* ShownValues::last() const {
  return by_input_.empty() ? nullptr : &by_input_.rbegin()->second;
}

const ScriptValue* ShownValues::of(std::size_t input) const {
  const auto found = by_input_.find(input);
  return found == by_input_.end() ? nullptr : &found->second;
}

void ShownValues::let_go(const ScriptValue& value) {
  std::erase_if(by_input_, [&](const auto& entry) { return is_same_value(entry.second, value); });
}

void ShownValues::keep_to_budget(States::Kept& kept) {
  for (auto shown = by_input_.rbegin(); shown != by_input_.rend();) {
    const HeldBytes::Mark mark = kept.held.mark();
    kept.held.add(shown->second);
    if (kept.held.bytes() <= kept.most) {
      ++shown;
      continue;
    }
    kept.held.forget_since(mark);
    shown = std::make_reverse_iterator(by_input_.erase(std::next(shown).base()));
  }
}

}  // namespace relish
