// The states that a session holds: the present one, and those of its log, of which the oldest beyond a budget
// are dropped and made again from their statements when somebody asks; so are most of those that many others
// came behind, as a session that goes on for days holds its statements, not every module that it ever had.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shell/script/script.h"
#include "shell/workspace/held_bytes.h"
#include "shell/workspace/log.h"

namespace relish {

class States {
 public:
  States(const Session& session, ScriptOptions options);

  void begin_with(const State& start);
  // The log of a saved session in the place of this one.
  void restore(LogContent content);
  const Log& log() const { return log_; }
  Log& log() { return log_; }
  const State& present() const { return present_; }
  void set_present(State state) { present_ = std::move(state); }
  // A child of the present node, whose state is the present one from now on.
  void add(LogNode node);

  bool holds(std::size_t node) const { return log_.node(node).state.has_value(); }
  // The state of a node, made again when it was dropped.
  const State& of(std::size_t node);
  // The node that a number of an input, or a name of a branch or snapshot, means; UsageError at `span`.
  // `last_input`: the last that ran.
  std::size_t node_named(const std::string& name, std::size_t last_input, Span span) const;

  // Bytes that the values of other states may hold together.
  std::uint64_t budget() const;
  void set_budget(std::uint64_t bytes) { budget_ = bytes; }
  // Drops what is beyond it, newest states last. `held` is what stays then, and room the bytes of it that
  // others may still take.
  struct Kept {
    HeldBytes held;
    std::uint64_t most = 0;
  };
  Kept keep_to_budget();
  // Who holds the value of a name and can make it again lets it go.
  void let_go(const std::string& name, const ScriptValue& value);

 private:
  State replayed(std::size_t node) const;
  void drop_old();

  const Session& session_;
  ScriptOptions options_;
  State present_;
  Log log_;
  std::optional<std::uint64_t> budget_;
};

}  // namespace relish
