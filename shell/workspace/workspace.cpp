// Running of inputs, and what they leave in the log.
#include "shell/workspace/workspace.h"

#include "shell/workspace/held_bytes.h"
#include "shell/workspace/saved/archive_reader.h"
#include "support/value_text.h"

namespace relish {
namespace {

ScriptOptions observed_by(ScriptOptions options, ScriptObserver* observer) {
  options.observer = observer;
  return options;
}

}  // namespace

Workspace::Workspace(Session& session, ScriptOptions options, Keeping keeping)
    : session_(session),
      states_(session, options),
      recorder_(states_),
      script_(session, keeping == Keeping::States ? observed_by(options, &recorder_) : options),
      files_(*this) {
  states_.begin_with(script_.state_since({}));
}

void Workspace::begin_input() {
  recorder_.set_input(recorder_.input() + 1);
  running_ = true;
  recorder_.record().begin(state().names);
  bound_transforms_.clear();
}

void Workspace::end_input() {
  if (!running_) return;
  settle();
  running_ = false;
  log().end_input(recorder_.input());
  recorder_.record().end_input();
}

void Workspace::run(const std::string& name, const std::string& text, std::uint32_t first_line) {
  // What nobody asks about is not noted.
  if (!script_.options().observer) return script_.run_text(name, text, first_line);
  recorder_.record().begin_text(text);
  try {
    script_.run_text(name, text, first_line);
  } catch (...) {
    recorder_.record().note_failed(script_.progress(), script_);
    throw;
  }
  recorder_.record().end_text();
}

void Workspace::run_each(const std::string& name, const std::string& text, std::uint32_t first_line) {
  struct EachStatement {
    Recorder& recorder;
    ~EachStatement() { recorder.at_each_statement({}); }
  } scope{recorder_};
  // The next statement is the next input.
  recorder_.at_each_statement([this] {
    end_input();
    begin_input();
  });
  recorder_.record().begin_text(text);
  try {
    script_.run_text(name, text, first_line);
  } catch (...) {
    recorder_.record().note_failed(script_.progress(), script_);
    throw;
  }
  // Behind the last statement no other input began.
  recorder_.set_input(recorder_.input() - 1);
  running_ = false;
}

State Workspace::state_now() { return script_.state_since(state()); }

void Workspace::add_state(LogNode node, State now) {
  node.input = recorder_.input();
  node.options = now.options;
  // The state before has lost what was given away.
  if (!recorder_.record().gave_away()) {
    auto& changes = node.changes.emplace();
    now.names.for_each_difference(
        state().names, [&](const std::string& name, const ScriptValue* here, const ScriptValue* there) {
          changes.push_back({!here ? '-' : there ? '~' : '+', name});
        });
    changes.shrink_to_fit();
  }
  node.state = std::move(now);
  states_.add(std::move(node));
}

void Workspace::settle() {
  State now = state_now();
  InputRecord& record = recorder_.record();
  record.write_values(state(), now, script_);
  if (!record.gave_away() && is_same_state(now, state())) {
    log().node(log().present()).shown.add(record.ran());
  } else {
    now.names.for_each_difference(state().names,
                                  [&](const std::string&, const ScriptValue* here, const ScriptValue*) {
                                    if (here) recorder_.values_came(held_bytes(*here));
                                  });
    for (auto& bound : record.bound_between(state(), now)) bound_transforms_.push_back(std::move(bound));
    LogNode node;
    node.made_by = record.ran();
    node.seconds = record.seconds();
    node.stopped = record.stopped();
    node.label = record.label();
    add_state(std::move(node), std::move(now));
    recorder_.keep_to_budget();
  }
  record.begin(state().names);
}

// --- Moves.

bool Workspace::move_to(std::size_t node) {
  const bool dropped = !states_.holds(node);
  const State target = state_of(node);
  script_.go_to(state(), target);
  states_.set_present(target);
  recorder_.record().begin(target.names);
  return dropped;
}

bool Workspace::go_to(std::size_t node, std::string_view name) {
  const bool dropped = move_to(node);
  log().go_to(node, name);
  recorder_.keep_to_budget();
  return dropped;
}

bool Workspace::undo(std::size_t to) {
  const bool dropped = move_to(to);
  log().undo(to);
  recorder_.keep_to_budget();
  return dropped;
}

bool Workspace::redo() {
  const bool dropped = move_to(*log().forward());
  log().redo();
  recorder_.keep_to_budget();
  return dropped;
}

std::size_t Workspace::node_named(const std::string& name, Span span) const {
  return states_.node_named(name, recorder_.input() - (running_ ? 1 : 0), span);
}

void Workspace::set_option(std::string_view name, const std::string& text) {
  settle();
  Settings& settings = session_.settings();
  if (name == "tier") {
    session_.evaluator(text);  // which knows the tiers
    settings.tier = text;
  } else if (name == "threads") {
    settings.threads = *whole_number<int>(text);
  } else {
    settings.seed = *whole_number<std::uint64_t>(text);
    settings.draws = 0;
  }
  State now = state_now();
  if (is_same_state(now, state())) return;
  LogNode node;
  node.label = fmt::format(":set {} {}", name, text);
  add_state(std::move(node), std::move(now));
}

std::vector<std::string> Workspace::restore(const std::string& path) {
  RestoredSession restored =
      read_archive(path, {[this](const std::string& file) { return script_.load_module(file, {}, true); },
                          [this](std::uint32_t source, std::optional<FileFunctions> functions) {
                            files_.take_saved(source, std::move(functions));
                          }});
  const State before = state();
  states_.restore(std::move(restored.content));
  script_.go_to(before, state());
  recorder_.set_input(std::max(recorder_.input(), restored.last_input + 1));
  recorder_.record().begin(state().names);
  log().note_saved();
  recorder_.shown_values() = {};
  for (const auto& [input, value] : restored.shown) recorder_.shown_values().show(input, value);
  return std::move(restored.lost);
}

void Workspace::rebind_modules(const std::vector<std::pair<std::string, ModulePtr>>& modules,
                               std::string label) {
  std::vector<std::string> names;
  for (const auto& [name, module] : modules) {
    script_.environment().set(name, module);
    names.push_back(name);
  }
  if (!names.empty()) recorder_.record().note_values(std::move(names), script_);
  recorder_.record().set_label(std::move(label));
}

void Workspace::set_budget(std::uint64_t bytes) {
  states_.set_budget(bytes);
  recorder_.keep_to_budget();
}

SessionText Workspace::statements() const {
  SessionText all;
  all.add(log().node(Log::root).shown);
  for (const std::size_t id : log().way_to(log().present())) {
    all.add(log().node(id).made_by);
    all.add(log().node(id).shown);
  }
  return all;
}

}  // namespace relish
