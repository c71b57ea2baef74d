// What the running input did since the last state: its statements, what it gave away, which commands made
// modules, and whether it meant something that only this session knows.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "shell/script/script.h"
#include "shell/workspace/name_map.h"
#include "shell/workspace/session_file.h"

namespace relish {

class InputRecord {
 public:
  // A state was made; `had` is what is bound in it.
  void begin(const NameMap& had);
  const SessionText& ran() const { return ran_; }
  bool stopped() const { return stopped_; }
  double seconds() const;

  // A text begins to run.
  void begin_text(std::string text);
  // It ran, in whole or up to a statement that ends there.
  void end_text();
  // False when nothing of it is new.
  bool note_statement(std::uint32_t end);
  // It failed: what finished before the fault stands, and what the statement at the fault left.
  void note_failed(Script::Progress progress, const Script& script);

  // Values of other states, or shown ones: in the place of its statements, which mean nothing without the
  // log, the values stand that they left between the states.
  void use_states() { used_states_ = true; }
  void use_last_call() { used_last_call_ = true; }
  // What the state is called that comes of it, when no statement says it.
  void set_label(std::string label) { label_ = std::move(label); }
  const std::string& label() const { return label_; }
  // Names that were bound by no statement: their values stand behind what ran so far.
  void note_values(std::vector<std::string> names, const Script& script);
  void write_values(const State& before, const State& now, const Script& script);

  // False when the name's value was given away before.
  bool give_away(const std::string& name);
  bool gave_away() const { return !donated_.empty(); }
  void transformed(const TransformCall& call) { transforms_.push_back(call); }
  void end_input() { transforms_.clear(); }
  // The calls whose results are bound in `after` and were not before, by the names that have them.
  std::vector<std::pair<std::string, TransformCall>> bound_between(const State& before,
                                                                   const State& after) const;

 private:
  SessionText ran_;
  NameMap had_;
  double began_ = 0;
  std::string text_;
  std::size_t noted_ = 0;  // how much of it is in `ran_`
  bool stopped_ = false;
  bool used_states_ = false;
  bool used_last_call_ = false;  // its arguments
  std::string label_;
  std::set<std::string> donated_;
  std::vector<TransformCall> transforms_;
};

}  // namespace relish
