// Holding, dropping and making again of states.
#include "shell/workspace/states.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "shell/workspace/origins.h"
#include "support/limits.h"
#include "support/render.h"
#include "support/suggest.h"
#include "support/value_text.h"

namespace relish {
namespace {

constexpr std::uint64_t budget_share = 4;  // of the memory limit, a fourth

// Of the states behind the newest ones those stay that bound what runs when somebody goes to another of them:
// one of each stretch, and what took long to make.
constexpr std::size_t newest_states = 1000, stretch = 64;
constexpr double long_seconds = 0.1;

// Of statements that run again: functions come from the inputs that they came from before. What needs other
// states is never run again.
class ReplayObserver final : public ScriptObserver {
 public:
  std::size_t input = 0;

  ModulePtr transformed(const TransformCall& call) override { return with_origins(call, input); }
  bool keeps_values() const override { return false; }
  ScriptValue value_at(const std::string& name, const std::string&, Span) override {
    RELISH_CHECK(false, "the value of '" + name + "' in another state was to be replayed");
    return {};
  }
  std::optional<ScriptValue> unbound(const std::string&, Span) override { return std::nullopt; }
};

}  // namespace

States::States(const Session& session, ScriptOptions options)
    : session_(session), options_(std::move(options)), log_(State{}) {}

void States::begin_with(const State& start) {
  present_ = start;
  log_ = Log(start);
}

void States::restore(LogContent content) {
  log_ = Log(std::move(content));
  present_ = of(log_.present());
}

void States::add(LogNode node) {
  present_ = *node.state;
  log_.add(std::move(node));
  drop_old();
}

// Each is looked at once, when it is the last of the newest; one that somebody went to since stays.
void States::drop_old() {
  if (log_.size() <= newest_states + 1) return;
  const std::size_t id = log_.size() - 1 - newest_states;
  LogNode& node = log_.node(id);
  const auto is_named = [&](const auto& names) {
    return std::any_of(names.begin(), names.end(), [&](const auto& entry) { return entry.second == id; });
  };
  const bool keeps = id % stretch == 0 || node.seconds > long_seconds || node.stopped || !node.changes ||
                     is_named(log_.branches()) || is_named(log_.snapshots());
  if (!keeps && node.made_by.plain()) node.state.reset();
}

const State& States::of(std::size_t node) {
  LogNode& wanted = log_.node(node);
  if (!wanted.state) wanted.state = wanted.kept ? wanted.kept->state() : replayed(node);
  if (const auto unread = std::exchange(wanted.state->unread, nullptr)) unread->complete(*wanted.state);
  return *wanted.state;
}

// A session of its own runs the statements from the nearest state that is kept; nobody sees what they print.
State States::replayed(std::size_t node) const {
  std::vector<std::size_t> way;
  std::size_t from = node;
  for (; !holds(from); from = log_.node(from).parent) way.push_back(from);
  Settings settings = session_.settings();
  settings.quiet = true;
  Session session(settings, std::make_unique<StringOutput>());
  ReplayObserver observer;
  ScriptOptions options = options_;
  options.observer = &observer;
  Script script(session, std::move(options));
  const State start = script.state_since({});
  State state = *log_.node(from).state;
  if (const auto unread = std::exchange(state.unread, nullptr)) unread->complete(state);
  script.go_to(start, state);
  for (auto step = way.rbegin(); step != way.rend(); ++step) {
    const LogNode& made = log_.node(*step);
    observer.input = made.input;
    script.run_text(fmt::format("<in {}>", made.input), *made.made_by.plain());
    session.settings().tier = made.options.tier;
    session.settings().threads = made.options.threads;
    session.settings().seed = made.options.seed;
    session.settings().draws = made.options.draws;
    state = script.state_since(state);
  }
  return state;
}

std::size_t States::node_named(const std::string& name, std::size_t last_input, Span span) const {
  const bool number = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
  if (number) {
    const auto input = whole_number<std::size_t>(name);
    const auto node = input ? log_.behind(*input) : std::nullopt;
    if (node) return *node;
    fail(ErrorClass::Usage, span, "state.unknown",
         fmt::format("there is no state behind input {}; the last that ran is {}", printable(name),
                     last_input));
  }
  if (const auto node = log_.named(name)) return *node;
  std::vector<std::string> names;
  for (const auto* all : {&log_.branches(), &log_.snapshots()})
    for (const auto& [known, node] : *all) names.push_back(known);
  const std::string nearest = did_you_mean(name, names);
  fail(ErrorClass::Usage, span, "state.unknown",
       fmt::format("no branch or snapshot is named '{}'{}", printable(name),
                   nearest.empty() ? "; :snapshot NAME names the present state" : nearest));
}

std::uint64_t States::budget() const { return budget_.value_or(memory_limit() / budget_share); }

// Newest first, as long as there is room: what a state shares with newer ones costs nothing.
States::Kept States::keep_to_budget() {
  Kept kept;
  kept.held.add(present_.names);
  kept.most = kept.held.bytes() + budget();
  for (std::size_t id = log_.size(); id-- > 1;) {
    LogNode& node = log_.node(id);
    if (!node.state) continue;
    const bool keeps = id == log_.present() || (!node.made_by.plain() && !node.kept);
    const HeldBytes::Mark mark = kept.held.mark();
    kept.held.add(node.state->names);
    if (keeps || kept.held.bytes() <= kept.most) continue;
    kept.held.forget_since(mark);
    node.state.reset();
  }
  return kept;
}

void States::let_go(const std::string& name, const ScriptValue& value) {
  for (std::size_t id = log_.present();; id = log_.node(id).parent) {
    LogNode& node = log_.node(id);
    const ScriptValue* held = node.state ? node.state->names.find(name) : nullptr;
    if (held && !is_same_value(*held, value)) break;
    if (held && id != Log::root && (node.made_by.plain() || node.kept)) node.state.reset();
    if (id == Log::root) break;
  }
  present_.names = present_.names.without(name);
}

}  // namespace relish
