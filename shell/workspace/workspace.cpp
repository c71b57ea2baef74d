// Running of inputs, and what they leave in the log.
#include "shell/workspace/workspace.h"

#include <algorithm>
#include <chrono>

#include "shell/workspace/held_bytes.h"
#include "support/limits.h"
#include "support/render.h"
#include "support/suggest.h"
#include "support/value_text.h"

namespace relish {
namespace {

constexpr std::uint64_t budget_share = 4;  // of the memory limit, a fourth

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ScriptOptions observed_by(ScriptOptions options, ScriptObserver* observer) {
  options.observer = observer;
  return options;
}

}  // namespace

Workspace::Workspace(Session& session, ScriptOptions options)
    : session_(session),
      options_(std::move(options)),
      script_(session, observed_by(options_, this)),
      present_(script_.state_since({})),
      log_(present_) {}

void Workspace::begin_input() {
  ++input_;
  running_ = true;
  began_ = seconds_now();
  had_ = present_.names;
  bound_transforms_.clear();
}

void Workspace::end_input() {
  if (!running_) return;
  settle();
  running_ = false;
  log_.end_input(input_);
  transforms_.clear();
}

void Workspace::run(const std::string& name, const std::string& text, std::size_t lines_before) {
  text_ = text;
  text_noted_ = lines_before;
  try {
    script_.run_text(name, text);
  } catch (...) {
    Script::Progress progress = script_.progress();
    // What stands in front of it is no part of it.
    const auto before = static_cast<std::uint32_t>(text_noted_);
    progress.end -= std::min(progress.end, before);
    if (progress.stopped.known()) {
      progress.stopped.begin -= before;
      progress.stopped.end -= before;
      stopped_ = true;
    }
    ran_.add_part(text_.substr(text_noted_), progress, script_, had_);
    throw;
  }
  if (!each_statement_) ran_.add(text_.substr(text_noted_));
}

void Workspace::run_each(const std::string& name, const std::string& text, std::size_t lines_before) {
  each_statement_ = true;
  try {
    run(name, text, lines_before);
  } catch (...) {
    each_statement_ = false;
    throw;
  }
  each_statement_ = false;
  // Behind the last statement no other input began.
  --input_;
  running_ = false;
}

void Workspace::finished(std::uint32_t end) {
  if (!each_statement_ || end <= text_noted_) return;
  std::string text = text_.substr(text_noted_, end - text_noted_);
  text_noted_ = end;
  // The sign between two statements of a line.
  const std::size_t first = text.find_first_not_of(" \t");
  if (first != std::string::npos && text[first] == ';') text.erase(0, text.find_first_not_of("; \t"));
  while (text.starts_with('\n')) text.erase(0, 1);
  ran_.add(std::move(text));
  // The next statement is the next input; what is behind the last one is none.
  end_input();
  begin_input();
}

void Workspace::settle() {
  State now = script_.state_since(present_);
  now.origins = origins_;
  if (used_states_) write_values(now);
  if (donated_.empty() && is_same_state(now, present_)) {
    log_.node(log_.present()).shown.add(ran_);
  } else {
    now.names.for_each_difference(present_.names,
                                  [&](const std::string&, const ScriptValue* here, const ScriptValue*) {
                                    if (here) new_bytes_ += held_bytes(*here);
                                  });
    note_transforms(present_, now);
    LogNode node;
    node.input = input_;
    node.made_by = ran_;
    node.options = now.options;
    node.seconds = seconds_now() - began_;
    node.stopped = stopped_;
    node.state = now;
    log_.add(std::move(node));
    present_ = std::move(now);
    had_ = present_.names;
    keep_to_budget();
  }
  ran_ = {};
  donated_.clear();
  stopped_ = used_states_ = false;
  began_ = seconds_now();
}

// In the place of statements that mean nothing without the log.
void Workspace::write_values(const State& now) {
  Script::Progress left;
  now.names.for_each_difference(had_, [&](const std::string& name, const ScriptValue*, const ScriptValue*) {
    left.touched.push_back(name);
  });
  if (now.options.seed == present_.options.seed) left.draws = now.options.draws - present_.options.draws;
  SessionText values;
  values.add_values(ran_, left, script_, had_);
  ran_ = std::move(values);
}

// Which names the results of transforms were bound to.
void Workspace::note_transforms(const State& before, const State& after) {
  if (transforms_.empty()) return;
  after.names.for_each_difference(
      before.names, [&](const std::string& name, const ScriptValue* here, const ScriptValue*) {
        const auto* module = here ? here->as<ModulePtr>() : nullptr;
        if (!module) return;
        const auto made = std::find_if(transforms_.rbegin(), transforms_.rend(),
                                       [&](const TransformCall& call) { return call.after == *module; });
        if (made != transforms_.rend()) bound_transforms_.emplace_back(name, *made);
      });
}

// --- Moves.

void Workspace::move_to(std::size_t node) {
  const State target = state_of(node);
  script_.go_to(present_, target);
  present_ = target;
  had_ = present_.names;
  origins_ = target.origins ? target.origins : std::make_shared<const Origins>();
}

void Workspace::transformed(const TransformCall& call) {
  transforms_.push_back(call);
  origins_ = std::make_shared<const Origins>(origins_->with(call, input_));
}

bool Workspace::go_to(std::size_t node, std::string_view name) {
  const bool dropped = !log_.node(node).state;
  move_to(node);
  log_.go_to(node, name);
  keep_to_budget();
  return dropped;
}

bool Workspace::undo(std::size_t to) {
  const bool dropped = !log_.node(to).state;
  move_to(to);
  log_.undo(to);
  keep_to_budget();
  return dropped;
}

bool Workspace::redo() {
  const std::size_t to = *log_.forward();
  const bool dropped = !log_.node(to).state;
  move_to(to);
  log_.redo();
  keep_to_budget();
  return dropped;
}

const State& Workspace::state_of(std::size_t node) {
  LogNode& wanted = log_.node(node);
  if (!wanted.state) wanted.state = replayed(node);
  return *wanted.state;
}

// A session of its own runs the statements from the nearest state that is kept; nobody sees what they print.
State Workspace::replayed(std::size_t node) {
  std::vector<std::size_t> way;
  std::size_t from = node;
  for (; !log_.node(from).state; from = log_.node(from).parent) way.push_back(from);
  Settings settings = session_.settings();
  settings.quiet = true;
  Session session(settings, std::make_unique<StringOutput>());
  Script script(session, options_);
  const State start = script.state_since({});
  State state = *log_.node(from).state;
  script.go_to(start, state);
  for (auto step = way.rbegin(); step != way.rend(); ++step) {
    const LogNode& made = log_.node(*step);
    script.run_text(fmt::format("<in {}>", made.input), *made.made_by.plain());
    session.settings().tier = made.options.tier;
    session.settings().threads = made.options.threads;
    session.settings().seed = made.options.seed;
    session.settings().draws = made.options.draws;
    state = script.state_since(state);
  }
  return state;
}

std::size_t Workspace::node_named(const std::string& name, Span span) const {
  const bool number = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
  if (number) {
    const auto input = whole_number<std::size_t>(name);
    const auto node = input ? log_.behind(*input) : std::nullopt;
    if (node) return *node;
    fail(ErrorClass::Usage, span, "state.unknown",
         fmt::format("there is no state behind input {}; the last that ran is {}", printable(name),
                     input_ - (running_ ? 1 : 0)));
  }
  if (const auto node = log_.named(name)) return *node;
  std::vector<std::string> names;
  for (const auto* all : {&log_.branches(), &log_.snapshots()})
    for (const auto& [known, node] : *all) names.push_back(known);
  fail(ErrorClass::Usage, span, "state.unknown",
       fmt::format("no branch or snapshot is named '{}'{}", printable(name), did_you_mean(name, names)));
}

// --- Values of other states.

ScriptValue Workspace::value_at(const std::string& name, const std::string& state, Span span) {
  used_states_ = true;
  const State& other = state_of(node_named(state, span));
  if (const ScriptValue* value = other.names.find(name)) return *value;
  std::vector<std::string> names;
  other.names.for_each([&](const std::string& known, const ScriptValue&) { names.push_back(known); });
  fail(ErrorClass::Type, span, "state.name_unknown",
       fmt::format("'{}' is not bound in the state {}{}", printable(name), state, did_you_mean(name, names)));
}

std::optional<ScriptValue> Workspace::unbound(const std::string& name, Span span) {
  if (!name.starts_with('_')) return std::nullopt;
  if (name == "_") {
    used_states_ = true;
    if (!shown_.empty()) return shown_.rbegin()->second;
    fail(ErrorClass::Type, span, "state.shown", "'_' is the last value shown, and none was shown yet");
  }
  const auto input = whole_number<std::size_t>(std::string_view(name).substr(1));
  if (!input) return std::nullopt;
  used_states_ = true;
  if (auto value = value_shown(*input)) return value;
  fail(ErrorClass::Type, span, "state.shown",
       fmt::format("'{}' is the value that input {} showed, which showed none or is not kept", name, *input));
}

std::optional<ScriptValue> Workspace::value_shown(std::size_t input) const {
  const auto found = shown_.find(input);
  return found == shown_.end() ? std::nullopt : std::optional<ScriptValue>(found->second);
}

void Workspace::shown(const ScriptValue& value) {
  new_bytes_ += held_bytes(value);
  shown_.insert_or_assign(input_, value);
}

// Who gives a value away wants it changed in its place: the states that hold it are dropped, as they can be
// made again.
void Workspace::donated(const std::string& name, const ScriptValue& value) {
  if (!donated_.insert(name).second) return;
  const ScriptValue given = value;
  for (std::size_t id = log_.present();; id = log_.node(id).parent) {
    LogNode& node = log_.node(id);
    const ScriptValue* held = node.state ? node.state->names.find(name) : nullptr;
    if (held && !is_same_value(*held, given)) break;
    if (held && id != Log::root && node.made_by.plain()) node.state.reset();
    if (id == Log::root) break;
  }
  std::erase_if(shown_, [&](const auto& entry) { return is_same_value(entry.second, given); });
  had_ = {};
  present_.names = present_.names.without(name);
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
  State now = script_.state_since(present_);
  now.origins = origins_;
  if (is_same_state(now, present_)) return;
  LogNode node;
  node.input = input_;
  node.label = fmt::format(":set {} {}", name, text);
  node.options = now.options;
  node.state = now;
  log_.add(std::move(node));
  present_ = std::move(now);
}

SessionText Workspace::statements() const {
  SessionText all;
  all.add(log_.node(Log::root).shown);
  for (const std::size_t id : log_.way_to(log_.present())) {
    all.add(log_.node(id).made_by);
    all.add(log_.node(id).shown);
  }
  return all;
}

// --- The budget.

std::uint64_t Workspace::budget() const { return budget_.value_or(memory_limit() / budget_share); }

// Newest first, as long as there is room: what a state shares with newer ones costs nothing.
void Workspace::keep_to_budget() {
  if (new_bytes_ <= budget() / 8) return;
  new_bytes_ = 0;
  HeldBytes held;
  held.add(present_.names);
  const std::uint64_t own = held.bytes();
  for (std::size_t id = log_.size(); id-- > 1;) {
    LogNode& node = log_.node(id);
    if (!node.state) continue;
    const bool keeps = id == log_.present() || !node.made_by.plain();
    const HeldBytes::Mark mark = held.mark();
    held.add(node.state->names);
    if (keeps || held.bytes() - own <= budget()) continue;
    held.forget_since(mark);
    node.state.reset();
  }
  for (auto shown = shown_.rbegin(); shown != shown_.rend();) {
    const HeldBytes::Mark mark = held.mark();
    held.add(shown->second);
    if (held.bytes() - own <= budget()) {
      ++shown;
      continue;
    }
    held.forget_since(mark);
    shown = std::make_reverse_iterator(shown_.erase(std::next(shown).base()));
  }
}

}  // namespace relish
