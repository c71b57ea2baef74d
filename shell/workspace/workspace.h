// A workspace: the statements of a session, its present state, and the log of all its states. The session on
// a terminal, standard input, `run` and whatever else runs statements are clients of it; it knows no
// terminal.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shell/script/script.h"
#include "shell/workspace/file_changes.h"
#include "shell/workspace/proposal.h"
#include "shell/workspace/recorder.h"

namespace relish {

// Whether anybody will ask what was.
enum class Keeping : std::uint8_t { States, Nothing };

class Workspace {
 public:
  Workspace(Session& session, ScriptOptions options, Keeping keeping = Keeping::States);

  Session& session() { return session_; }
  Script& script() { return script_; }
  const Script& script() const { return script_; }
  const Log& log() const { return states_.log(); }
  Log& log() { return states_.log(); }
  // The present state, with all that the running input did up to the last `settle`.
  const State& state() const { return states_.present(); }
  // All states, held or to be made again.
  States& states() { return states_; }

  // An input is what one Enter runs. What it changed becomes one state at its end.
  std::size_t next_input() const { return recorder_.input() + 1; }
  void begin_input();
  void end_input();
  // Runs statements of the input. Throws what they throw; what finished before stays. `first_line`: the
  // number of the text's first line, of one that is a part of another.
  void run(const std::string& name, const std::string& text, std::uint32_t first_line = 1);
  // The same, where each statement at top level is an input, as in a text that nobody types.
  void run_each(const std::string& name, const std::string& text, std::uint32_t first_line);
  // Makes a state of what changed since the last one.
  void settle();

  // Goes to a node of the log, whose state is made again when it was dropped. True when it had to be.
  bool go_to(std::size_t node, std::string_view name = {});
  bool undo(std::size_t to);
  bool redo();
  // The state of a node, made again when it was dropped.
  const State& state_of(std::size_t node) { return states_.of(node); }
  // The node that a number of an input, or a name of a branch or snapshot, means; UsageError at `span`.
  std::size_t node_named(const std::string& name, Span span = {}) const;
  // Changes an option that the states have: "tier", "threads", "seed".
  void set_option(std::string_view name, const std::string& text);

  // The log of a saved session in the place of this one's, at the state that it was saved in; nothing of it
  // runs. What could not be read, for the user.
  std::vector<std::string> restore(const std::string& path);

  // The names are bound to what their modules are by now; no statement says it, so the values stand in its
  // place. `label` is what the state is called.
  void rebind_modules(const std::vector<std::pair<std::string, ModulePtr>>& modules, std::string label);
  // Files of modules and functions, and what changed in them.
  FileChanges& files() { return files_; }

  // What bare expressions showed, by input.
  const ShownValues& shown() const { return recorder_.shown_values(); }

  // Bytes that the values of other states may hold together; beyond that the oldest states are dropped and
  // made again from their statements when somebody asks.
  void set_budget(std::uint64_t bytes);

  // The statements on the way to the present state, with what was shown on it.
  SessionText statements() const;

  // The calls of transforms whose results the last input bound, by the names that they were bound to.
  const std::vector<std::pair<std::string, TransformCall>>& transforms() const { return bound_transforms_; }
  // Inputs that commands make.
  Proposal& proposal() { return proposal_; }

 private:
  bool move_to(std::size_t node);
  State state_now();
  void add_state(LogNode node, State now);

  Session& session_;
  States states_;
  Recorder recorder_;
  Script script_;
  FileChanges files_;
  bool running_ = false;
  Proposal proposal_;
  std::vector<std::pair<std::string, TransformCall>> bound_transforms_;
};

}  // namespace relish
