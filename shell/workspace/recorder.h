// The observer of a session's statements: it notes what they do, and answers what only a session knows, the
// values of other states, those that were shown, and the arguments of calls.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shell/workspace/input_record.h"
#include "shell/workspace/last_calls.h"
#include "shell/workspace/shown_values.h"
#include "shell/workspace/states.h"

namespace relish {

class Recorder final : public ScriptObserver {
 public:
  explicit Recorder(States& states) : states_(states) {}

  InputRecord& record() { return record_; }
  // The number of the input that runs.
  std::size_t input() const { return input_; }
  void set_input(std::size_t number) { input_ = number; }
  // What happens behind each statement at top level; nothing unless it is set.
  void at_each_statement(std::function<void()> then) { then_ = std::move(then); }
  ShownValues& shown_values() { return shown_; }
  const ShownValues& shown_values() const { return shown_; }
  // Drops what is beyond the budget, when values came since the last time that are worth a look.
  void values_came(std::uint64_t bytes) { new_bytes_ += bytes; }
  void keep_to_budget();

  void finished(std::uint32_t end) override;
  void shown(const ScriptValue& value) override;
  void donated(const std::string& name, const ScriptValue& value) override;
  ModulePtr transformed(const TransformCall& call) override;
  void called(const FunctionReference& function, const std::vector<Value>& arguments) override;
  void refused(const FunctionReference& function) override { calls_.forget(function); }
  bool knows_state(const std::string& state) const override { return states_.log().named(state).has_value(); }
  ScriptValue value_at(const std::string& name, const std::string& state, Span span) override;
  std::optional<ScriptValue> unbound(const std::string& name, Span span) override;
  std::optional<std::vector<Value>> last_arguments(const FunctionReference& function) override;

 private:
  States& states_;
  InputRecord record_;
  std::size_t input_ = 0;
  std::function<void()> then_;
  ShownValues shown_;
  LastCalls calls_;
  std::uint64_t new_bytes_ = 0;  // of values bound since the budget was looked at
};

}  // namespace relish
