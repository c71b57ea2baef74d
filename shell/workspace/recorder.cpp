// Notes and answers.
#include "shell/workspace/recorder.h"

#include "shell/script/unread_value.h"
#include "support/render.h"
#include "support/suggest.h"
#include "support/value_text.h"

namespace relish {
namespace {

// Of the budget: that much is worth a look at what is held, and may be in the arguments of one call.
constexpr std::uint64_t share_of_budget = 8;

}  // namespace

void Recorder::keep_to_budget() {
  if (new_bytes_ <= states_.budget() / share_of_budget) return;
  new_bytes_ = 0;
  States::Kept kept = states_.keep_to_budget();
  shown_.keep_to_budget(kept);
}

void Recorder::finished(std::uint32_t end) {
  if (then_ && record_.note_statement(end)) then_();
}

void Recorder::shown(const ScriptValue& value) {
  new_bytes_ += held_bytes(value);
  shown_.show(input_, value);
}

// Who gives a value away wants it changed in its place: the states that hold it are dropped, as they can be
// made again.
void Recorder::donated(const std::string& name, const ScriptValue& value) {
  if (!record_.give_away(name)) return;
  // A holder of its own: `value` may stand in what lets go of it.
  const ScriptValue given = value;  // NOLINT(performance-unnecessary-copy-initialization)
  states_.let_go(name, given);
  shown_.let_go(given);
  calls_.let_go(given);
}

ModulePtr Recorder::transformed(const TransformCall& call) {
  TransformCall told = call;
  told.after = with_origins(call, input_);
  record_.transformed(told);
  return told.after;
}

void Recorder::called(const FunctionReference& function, const std::vector<Value>& arguments) {
  // What is given away has no other holder.
  if (!record_.gave_away()) calls_.note(function, arguments, states_.budget() / share_of_budget);
}

std::optional<std::vector<Value>> Recorder::last_arguments(const FunctionReference& function) {
  auto arguments = calls_.of(function);
  if (arguments) record_.use_last_call();
  return arguments;
}

ScriptValue Recorder::value_at(const std::string& name, const std::string& state, Span span) {
  record_.use_states();
  const State& other = states_.of(states_.node_named(state, input_ - 1, span));
  if (const ScriptValue* value = other.names.find(name)) return value_in(other, name, *value);
  std::vector<std::string> names;
  other.names.for_each([&](const std::string& known, const ScriptValue&) { names.push_back(known); });
  fail(ErrorClass::Type, span, "state.name_unknown",
       fmt::format("'{}' is not bound in the state {}{}", printable(name), state, did_you_mean(name, names)));
}

std::optional<ScriptValue> Recorder::unbound(const std::string& name, Span span) {
  if (!name.starts_with('_')) return std::nullopt;
  if (name == "_") {
    record_.use_states();
    if (const ScriptValue* last = shown_.last()) return read_value(*last);
    fail(ErrorClass::Type, span, "state.shown", "'_' is the last value shown, and none was shown yet");
  }
  const auto input = whole_number<std::size_t>(std::string_view(name).substr(1));
  if (!input) return std::nullopt;
  record_.use_states();
  if (const ScriptValue* value = shown_.of(*input)) return read_value(*value);
  fail(ErrorClass::Type, span, "state.shown",
       fmt::format("'{}' is the value that input {} showed, which showed none or is not kept", name, *input));
}

}  // namespace relish
