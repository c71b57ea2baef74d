// The command `time`: steady-state timings of one function.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <thread>

#include <sched.h>

#include "jit/jit.h"
#include "shell/commands/run/arguments_of_both.h"
#include "shell/commands/subject.h"
#include "shell/program/call_values.h"
#include "shell/program/told_table.h"
#include "shell/script/convert.h"
#include "support/interrupt.h"
#include "support/render.h"

namespace relish::commands_time {
namespace {

// Runs go on until both are reached, or the most is.
constexpr int least_runs = 10;
constexpr int most_runs = 10000;
constexpr double wanted_seconds = 0.5;
// Before that, calls go on until they no longer become quicker: the best of so many is not better by this
// share than the best of as many before. Not for ever: a machine that others use never comes to rest.
constexpr std::size_t compared_runs = 5;
constexpr double steady_share = 0.02;
constexpr double most_warm_seconds = 0.2;

constexpr Option own_options[] = {
    {"carry", OptionKind::Assignments, "", "results that become arguments of the next call: out.1.0=w0"},
    {"vs", OptionKind::Spec, "",
     "another function to time beside it, with the same arguments: FILE[:FUNCTION] in the shell, M.f elsewhere"},
    {"runs", OptionKind::Integer, "as many as fit half a second, at least 10", "number of measured calls"},
    {"json", OptionKind::Flag, "", "one JSON object", 0, in_shell},
};

const std::vector<Option>& all_options() {
  static const std::vector<Option> options = call_options_and(own_options);
  return options;
}

constexpr Example examples[] = {
    {"relish time m.relish main --arg x=rand --params w.npz --json",
     "t = time(M.main, arg={\"x\": x, \"w\": w})"},
};

struct Timing {
  double compile_ms = 0, first_ms = 0, median_ms = 0, mean_ms = 0, min_ms = 0, p90_ms = 0;
  double low_ms = 0, high_ms = 0;  // between which the median lies, with a confidence of 95 %
  int runs = 0, warm_runs = 0;
};

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// A result that replaces an argument of the next call, by flat names.
struct Carry {
  std::string result, parameter;
};

// `value` with the field at `path` ("1.0") replaced.
Value with_field(const Value& value, std::string_view path, const Value& field) {
  if (path.empty()) return field;
  std::size_t dot = path.find('.');
  std::size_t index = std::stoul(std::string(path.substr(0, dot)));
  std::vector<Value> fields = value.fields();
  fields[index] = with_field(fields[index], dot == std::string_view::npos ? "" : path.substr(dot + 1), field);
  return Value::tuple(std::move(fields));
}

void apply_carry(const std::vector<Carry>& carries, const std::vector<CallParameter>& parameters,
                 Value result, std::vector<Value>& arguments) {
  NamedTensors named = flatten_result(result);
  result = Value();
  for (const Carry& carry : carries) {
    auto found = std::find_if(named.begin(), named.end(),
                              [&](const auto& entry) { return entry.first == carry.result; });
    if (found == named.end()) {
      fail(ErrorClass::Usage, {}, "time.carry",
           fmt::format("--carry: there is no result '{}'", printable(carry.result)));
    }
    std::string head = carry.parameter.substr(0, carry.parameter.find('.'));
    bool done = false;
    for (std::size_t i = 0; i < parameters.size() && !done; ++i) {
      if (parameters[i].name != head) continue;
      std::string rest = carry.parameter.size() > head.size() ? carry.parameter.substr(head.size() + 1) : "";
      arguments[i] = with_field(arguments[i], rest, Value(found->second));
      done = true;
    }
    if (!done) {
      fail(ErrorClass::Usage, {}, "time.carry",
           fmt::format("--carry: '{}' is no parameter", printable(carry.parameter)));
    }
  }
}

// Whether `path` ("1.0", or nothing) leads to a tensor of the value.
bool has_tensor_at(const Value& value, std::string_view path) {
  if (path.empty()) return !value.is_tuple();
  const std::size_t dot = path.find('.');
  const std::string_view digits = path.substr(0, dot);
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size() || !value.is_tuple() ||
      index >= value.fields().size())
    return false;
  return has_tensor_at(value.fields()[index],
                       dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1));
}

// Each result goes to a parameter, or to a field of one, that is a tensor, and no two to the same.
void check_carries(const std::vector<Carry>& carries, const std::vector<CallParameter>& parameters,
                   const std::vector<Value>& arguments) {
  const auto refuse = [](const Carry& carry, std::string_view why) {
    fail(ErrorClass::Usage, {}, "time.carry",
         fmt::format("--carry: '{}' {}", printable(carry.parameter), why));
  };
  std::set<std::string> seen;
  for (const Carry& carry : carries) {
    const std::size_t dot = carry.parameter.find('.');
    const std::string head = carry.parameter.substr(0, dot);
    const std::string path = dot == std::string::npos ? "" : carry.parameter.substr(dot + 1);
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const CallParameter& each) { return each.name == head; });
    if (found == parameters.end()) refuse(carry, "is no parameter");
    const auto place = static_cast<std::size_t>(found - parameters.begin());
    if (place < arguments.size() && !has_tensor_at(arguments[place], path))
      refuse(carry, "is no tensor; a field of a tuple is p.0, and --carry stands once for each");
    if (!seen.insert(carry.parameter).second)
      refuse(carry, "is given twice; expected one result for each parameter");
  }
}

// Tuples as they are, with nothing in them.
Value emptied(const Value& value) {
  if (!value.is_tuple()) return {};
  std::vector<Value> fields;
  for (const Value& field : value.fields()) fields.push_back(emptied(field));
  return Value::tuple(std::move(fields));
}

// The parameters that get all their tensors anew, by number: a call may end those that it is given.
std::vector<std::size_t> given_parameters(const std::vector<Carry>& carries,
                                          const std::vector<CallParameter>& parameters,
                                          const std::vector<Value>& arguments) {
  const std::function<bool(const Value&, const std::string&)> carried = [&](const Value& value,
                                                                            const std::string& name) {
    const auto is_name = [&](const Carry& carry) { return carry.parameter == name; };
    if (std::any_of(carries.begin(), carries.end(), is_name)) return true;
    if (!value.is_tuple() || value.fields().empty()) return false;
    for (std::size_t i = 0; i < value.fields().size(); ++i)
      if (!carried(value.fields()[i], fmt::format("{}.{}", name, i))) return false;
    return true;
  };
  std::vector<std::size_t> given;
  for (std::size_t i = 0; i < parameters.size() && i < arguments.size(); ++i)
    if (carried(arguments[i], parameters[i].name)) given.push_back(i);
  return given;
}

// Calls until their times are steady, and how many that takes.
int warm_up(const std::function<double()>& call_once) {
  std::vector<double> times;
  const auto begin = std::chrono::steady_clock::now();
  const auto least_of = [&](std::size_t from) {
    const auto at = times.begin() + static_cast<std::ptrdiff_t>(from);
    return *std::min_element(at, at + compared_runs);
  };
  while (milliseconds_since(begin) < most_warm_seconds * 1000) {
    times.push_back(call_once());
    const std::size_t count = times.size();
    if (count >= 2 * compared_runs &&
        least_of(count - compared_runs) >= (1 - steady_share) * least_of(count - 2 * compared_runs))
      break;
  }
  return static_cast<int>(times.size());
}

// Of sorted times, by their ranks alone: whatever their distribution is.
void tell_confidence(Timing& timing, const std::vector<double>& times) {
  constexpr double deviations = 1.96;
  const auto count = static_cast<double>(times.size());
  const double low = std::floor((count - deviations * std::sqrt(count)) / 2);
  const double high = std::ceil((count + deviations * std::sqrt(count)) / 2);
  timing.low_ms = times[static_cast<std::size_t>(std::max(0.0, low))];
  timing.high_ms = times[static_cast<std::size_t>(std::min(count - 1, high))];
}

Timing measure(Session& session, const ModulePtr& module, const std::string& function,
               std::vector<Value> arguments, const std::vector<Carry>& carries, int wanted_runs) {
  Evaluator& evaluator = session.evaluator();
  std::vector<CallParameter> parameters = call_parameters(*module, function);
  check_carries(carries, parameters, arguments);
  Timing timing;
  auto begin = std::chrono::steady_clock::now();
  const std::vector<std::size_t> given = given_parameters(carries, parameters, arguments);
  prepare_giving(evaluator, module, function, arguments, given);
  timing.compile_ms = milliseconds_since(begin);
  // One measured call; with carried results the old arguments are given away, as a training step does.
  auto call_once = [&] {
    std::vector<Value> now = arguments;
    for (const std::size_t parameter : given) arguments[parameter] = emptied(now[parameter]);
    auto start = std::chrono::steady_clock::now();
    Value result = call_giving(evaluator, module, function, std::move(now), given);
    double spent = milliseconds_since(start);
    if (!carries.empty()) apply_carry(carries, parameters, std::move(result), arguments);
    poll_interrupt();
    return spent;
  };
  timing.first_ms = call_once();  // it touches memory for the first time, so it is none of the measured ones
  if (wanted_runs <= 0) timing.warm_runs = warm_up(call_once);
  std::vector<double> times;
  auto measuring = std::chrono::steady_clock::now();
  while (static_cast<int>(times.size()) < (wanted_runs > 0 ? wanted_runs : most_runs)) {
    times.push_back(call_once());
    bool enough = static_cast<int>(times.size()) >= least_runs &&
                  milliseconds_since(measuring) >= wanted_seconds * 1000;
    if (wanted_runs <= 0 && enough) break;
  }
  std::sort(times.begin(), times.end());
  timing.runs = static_cast<int>(times.size());
  timing.min_ms = times.front();
  timing.median_ms = times.size() % 2 == 1 ? times[times.size() / 2]
                                           : (times[times.size() / 2 - 1] + times[times.size() / 2]) / 2;
  tell_confidence(timing, times);
  timing.mean_ms = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  timing.p90_ms = times[std::min(times.size() - 1, times.size() * 9 / 10)];
  return timing;
}

// Threads that the tier uses: one in the interpreter, else those asked for or of the affinity.
int threads_of(const Session& session) {
  if (session.settings().tier == "interp") return 1;
  if (session.settings().threads > 0) return session.settings().threads;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

ScriptValue dict_of(const Timing& timing, const Session& session) {
  return ScriptValue::dict({{"compile_ms", timing.compile_ms},
                            {"first_ms", timing.first_ms},
                            {"median_ms", timing.median_ms},
                            {"mean_ms", timing.mean_ms},
                            {"min_ms", timing.min_ms},
                            {"p90_ms", timing.p90_ms},
                            {"low_ms", timing.low_ms},
                            {"high_ms", timing.high_ms},
                            {"runs", timing.runs},
                            {"warm_runs", timing.warm_runs},
                            {"threads", threads_of(session)},
                            {"tier", session.settings().tier}});
}

nlohmann::ordered_json json_of(const ScriptValue& timing) {
  nlohmann::ordered_json json;
  for (const auto& [key, value] : timing.dictionary()->items) {
    if (value.string()) {
      json[*key.string()] = *value.string();
    } else if (value.as<std::int64_t>()) {
      json[*key.string()] = *value.as<std::int64_t>();
    } else {
      json[*key.string()] = *real_of(value);
    }
  }
  return json;
}

std::string line_of(std::string_view name, const ScriptValue& timing) {
  auto real = [&](std::string_view key) { return *real_of(*timing.find(key)); };
  return fmt::format(
      "{}: median {:.4f} ms ({:.4f} to {:.4f}), mean {:.4f}, min {:.4f}, p90 {:.4f} ({} runs, {} threads, {}); "
      "compile {:.1f} ms, first {:.3f} ms",
      name, real("median_ms"), real("low_ms"), real("high_ms"), real("mean_ms"), real("min_ms"),
      real("p90_ms"), text_of(*timing.find("runs")), text_of(*timing.find("threads")),
      text_of(*timing.find("tier")), real("compile_ms"), real("first_ms"));
}

// Which of the two is the faster, by their medians.
std::string ratio_words(double ratio) {
  return ratio > 1 ? fmt::format("the first takes {:.2f} times as long", ratio)
                   : fmt::format("the second takes {:.2f} times as long", 1 / ratio);
}

// The other function: FILE[:FUNCTION] in the shell, a function or module in scripts.
FunctionReference other_function(const Invocation& invocation, const std::string& function) {
  if (invocation.surface == Surface::Script) {
    const ScriptValue& value = *invocation.find("vs");
    if (const auto* reference = value.as<FunctionReference>()) return *reference;
    const auto* module = value.as<ModulePtr>();
    if (const std::string* word = value.string())
      invocation.misuse("vs",
                        fmt::format("found the word '{}', which is no function here; expected one such as "
                                    "M.main or M@2.main",
                                    printable(*word)));
    if (!module) invocation.misuse("vs", fmt::format("found {}; expected a function", describe(value)));
    return {*module, (*module)->find(function) ? function : default_function(**module, invocation.span)};
  }
  const std::string written = invocation.text("vs");
  const std::size_t colon = written.rfind(':');
  const std::string path = written.substr(0, colon);
  return find_function(read_program(path, path_rules_beside(invocation.session, path)),
                       colon == std::string::npos ? function : written.substr(colon + 1));
}

ScriptValue run(Invocation& invocation) {
  Session& session = invocation.session;
  std::string function = function_of(invocation);
  std::vector<Carry> carries;
  for (const auto& [result, parameter] : invocation.assignments("carry"))
    carries.push_back({result, text_of(parameter)});
  if (invocation.given("runs") && invocation.integer("runs", 0) < 1)
    invocation.refuse_value("runs", "expected at least 1");
  int runs = static_cast<int>(std::clamp<std::int64_t>(invocation.integer("runs", 0), 0, most_runs));
  std::optional<FunctionReference> other;
  if (invocation.given("vs")) other = other_function(invocation, function);
  std::optional<ArgumentsOfBoth> both;
  if (other) both.emplace(invocation, FunctionReference{invocation.module, function}, *other);
  std::vector<Value> arguments = both ? both->of_first() : call_arguments(invocation, function);
  std::vector<Value> others = both ? both->of_second(arguments) : std::vector<Value>();
  ScriptValue timing =
      dict_of(measure(session, invocation.module, function, std::move(arguments), carries, runs), session);
  const bool script = invocation.surface == Surface::Script;
  bool json = invocation.flag("json");
  if (!other) {
    tell_table([&] { return line_of(function, timing); });
    if (script) return timing;
    return json ? ScriptValue(json_of(timing).dump()) : ScriptValue(line_of(function, timing));
  }
  ScriptValue other_timing =
      dict_of(measure(session, other->module, other->name, std::move(others), carries, runs), session);
  double ratio = *real_of(*timing.find("median_ms")) / *real_of(*other_timing.find("median_ms"));
  const std::string other_name = script ? other->name : invocation.text("vs");
  const auto lines = [&] {
    return fmt::format("{}\n{}\nratio {:.3f}: {}", line_of(function, timing),
                       line_of(other_name, other_timing), ratio, ratio_words(ratio));
  };
  tell_table(lines);
  if (script) {
    std::vector<std::pair<ScriptValue, ScriptValue>> items = timing.dictionary()->items;
    items.emplace_back("vs", other_timing);
    items.emplace_back("ratio", ratio);
    return ScriptValue::dict(std::move(items));
  }
  if (!json) return lines();
  nlohmann::ordered_json result = json_of(timing);
  result["vs"] = json_of(other_timing);
  result["ratio"] = ratio;
  return result.dump();
}

}  // namespace

extern const Command command_time;
const Command command_time{
    .name = "time",
    .summary = "times a function in its steady state",
    .subject = Subject::Call,
    .options = all_options(),
    .run = run,
    .examples = examples,
    .doc =
        "Arguments are made once and stay alive; a result is dropped before the next call. With --carry a "
        "result is given to the named parameter of the next call, as in training; where all tensors of a "
        "parameter are, the call may write its results in their place. Calls are measured when they "
        "no longer become quicker, at most 0.2 seconds behind the first. With a confidence of 95 % the median "
        "lies between the two times behind it (`low_ms` and `high_ms`), as far as runs are alike; the mean "
        "counts what disturbed a run, as the time of many together does.",
};

}  // namespace relish::commands_time
