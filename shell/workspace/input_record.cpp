// Noting what runs.
#include "shell/workspace/input_record.h"

#include <algorithm>

#include "support/clock.h"

namespace relish {
void InputRecord::begin(const NameMap& had) {
  ran_ = {};
  label_.clear();
  donated_.clear();
  stopped_ = used_states_ = used_last_call_ = false;
  began_ = steady_seconds();
  had_ = had;
}

double InputRecord::seconds() const { return steady_seconds() - began_; }

void InputRecord::begin_text(std::string text) {
  text_ = std::move(text);
  noted_ = 0;
}

void InputRecord::end_text() {
  std::string text = text_.substr(noted_);
  while (text.starts_with('\n')) text.erase(0, 1);
  ran_.add(std::move(text));
  noted_ = text_.size();
}

bool InputRecord::note_statement(std::uint32_t end) {
  if (end <= noted_) return false;
  std::string text = text_.substr(noted_, end - noted_);
  noted_ = end;
  // The sign between two statements of a line.
  const std::size_t first = text.find_first_not_of(" \t");
  if (first != std::string::npos && text[first] == ';') text.erase(0, text.find_first_not_of("; \t"));
  while (text.starts_with('\n')) text.erase(0, 1);
  ran_.add(std::move(text));
  return true;
}

void InputRecord::note_failed(Script::Progress progress, const Script& script) {
  // What stands in front of it is no part of it.
  const auto before = static_cast<std::uint32_t>(noted_);
  progress.end -= std::min(progress.end, before);
  if (progress.stopped.known()) {
    progress.stopped.begin -= before;
    progress.stopped.end -= before;
    stopped_ = true;
  }
  ran_.add_part(text_.substr(noted_), progress, script, had_);
}

void InputRecord::note_values(std::vector<std::string> names, const Script& script) {
  Script::Progress left;
  left.touched = std::move(names);
  ran_.add_values("", {}, left, script, had_);
}

void InputRecord::write_values(const State& before, const State& now, const Script& script) {
  if (!used_states_ && !used_last_call_) return;
  Script::Progress left;
  now.names.for_each_difference(had_, [&](const std::string& name, const ScriptValue*, const ScriptValue*) {
    left.touched.push_back(name);
  });
  if (now.options.seed == before.options.seed) left.draws = now.options.draws - before.options.draws;
  SessionText values;
  values.add_values(used_states_ ? other_states_title : last_call_title, ran_, left, script, had_);
  ran_ = std::move(values);
}

bool InputRecord::give_away(const std::string& name) {
  if (!donated_.insert(name).second) return false;
  had_ = {};
  return true;
}

std::vector<std::pair<std::string, TransformCall>> InputRecord::bound_between(const State& before,
                                                                              const State& after) const {
  std::vector<std::pair<std::string, TransformCall>> bound;
  if (transforms_.empty()) return bound;
  after.names.for_each_difference(
      before.names, [&](const std::string& name, const ScriptValue* here, const ScriptValue*) {
        const auto* module = here ? here->as<ModulePtr>() : nullptr;
        if (!module) return;
        const auto made = std::find_if(transforms_.rbegin(), transforms_.rend(),
                                       [&](const TransformCall& call) { return call.after == *module; });
        if (made != transforms_.rend()) bound.emplace_back(name, *made);
      });
  return bound;
}

}  // namespace relish
