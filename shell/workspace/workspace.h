// A workspace: the statements of a session, its present state, and the log of all its states. REPL, standard
// input and whatever else lets a user explore are clients of it; it knows no terminal.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell/script/script.h"
#include "shell/workspace/log.h"

namespace relish {

class Workspace final : public ScriptObserver {
 public:
  Workspace(Session& session, ScriptOptions options);

  Session& session() { return session_; }
  Script& script() { return script_; }
  const Script& script() const { return script_; }
  const Log& log() const { return log_; }
  Log& log() { return log_; }
  // The present state, with all that the running input did up to the last `settle`.
  const State& state() const { return present_; }

  // An input is what one Enter runs. What it changed becomes one state at its end.
  std::size_t next_input() const { return input_ + 1; }
  void begin_input();
  void end_input();
  // Runs statements of the input. Throws what they throw; what finished before stays. `lines_before`: bytes
  // of `text` in front of what was written, so that lines have their numbers.
  void run(const std::string& name, const std::string& text, std::size_t lines_before = 0);
  // The same, where each statement at top level is an input, as in a text that nobody types.
  void run_each(const std::string& name, const std::string& text, std::size_t lines_before);
  // Makes a state of what changed since the last one.
  void settle();

  // Goes to a node of the log, whose state is made again when it was dropped. True when it had to be.
  bool go_to(std::size_t node, std::string_view name = {});
  bool undo(std::size_t to);
  bool redo();
  // The state of a node, made again when it was dropped.
  const State& state_of(std::size_t node);
  // The node that a number of an input, or a name of a branch or snapshot, means; UsageError at `span`.
  std::size_t node_named(const std::string& name, Span span = {}) const;
  // Changes an option that the states have: "tier", "threads", "seed".
  void set_option(std::string_view name, const std::string& text);

  // Bytes that the values of other states may hold together; beyond that the oldest states are dropped and
  // made again from their statements when somebody asks.
  std::uint64_t budget() const;
  void set_budget(std::uint64_t bytes) { budget_ = bytes, keep_to_budget(); }

  // The statements on the way to the present state, with what was shown on it.
  SessionText statements() const;

  // What a bare expression of an input has shown.
  std::optional<ScriptValue> value_shown(std::size_t input) const;
  // Of the functions of all modules, up to what runs.
  const Origins& origins() const { return *origins_; }
  // The calls of transforms whose results the last input bound, by the names that they were bound to.
  const std::vector<std::pair<std::string, TransformCall>>& transforms() const { return bound_transforms_; }

  void finished(std::uint32_t end) override;
  void shown(const ScriptValue& value) override;
  void donated(const std::string& name, const ScriptValue& value) override;
  void transformed(const TransformCall& call) override;
  bool knows_state(const std::string& state) const override { return log_.named(state).has_value(); }
  ScriptValue value_at(const std::string& name, const std::string& state, Span span) override;
  std::optional<ScriptValue> unbound(const std::string& name, Span span) override;

 private:
  void move_to(std::size_t node);
  void keep_to_budget();
  void write_values(const State& now);
  void note_transforms(const State& before, const State& after);
  State replayed(std::size_t node);

  Session& session_;
  ScriptOptions options_;
  Script script_;
  State present_;
  Log log_;
  std::size_t input_ = 0;
  bool running_ = false;
  bool each_statement_ = false;
  double began_ = 0;
  // Of the input that runs, since the last state: what was run, and the names whose values were given away.
  SessionText ran_;
  std::set<std::string> donated_;
  NameMap had_;  // what was bound when it began
  bool stopped_ = false;
  bool used_states_ = false;                  // values of other states, or shown ones
  std::string text_;                          // that runs
  std::size_t text_noted_ = 0;                // how much of it is in `ran_`
  std::map<std::size_t, ScriptValue> shown_;  // by input
  std::shared_ptr<const Origins> origins_ = std::make_shared<const Origins>();
  std::vector<TransformCall> transforms_;
  std::vector<std::pair<std::string, TransformCall>> bound_transforms_;
  std::optional<std::uint64_t> budget_;
  std::uint64_t new_bytes_ = 0;  // of values bound since the budget was looked at
};

}  // namespace relish
