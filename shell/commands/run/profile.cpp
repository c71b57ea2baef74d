// The command `profile`: where the time of a compiled function goes, a row a kernel.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "ir/rewriting/rewrite.h"
#include "jit/jit.h"
#include "shell/commands/subject.h"
#include "shell/program/call_values.h"
#include "shell/program/machine_facts.h"
#include "shell/program/told_table.h"
#include "shell/script/convert.h"
#include "support/atomic_file.h"
#include "support/interrupt.h"
#include "support/source.h"

namespace relish::commands_profile {
namespace {

constexpr int least_runs = 5, most_runs = 1000;
constexpr double wanted_seconds = 0.3;
// What a trace shows at most.
constexpr std::size_t most_traced = 100'000;

constexpr Option own_options[] = {
    {"runs", OptionKind::Integer, "as many as fit 0.3 seconds, at least 5", "number of measured calls"},
    {"json", OptionKind::Flag, "", "one JSON object", 0, in_shell},
    {"trace", OptionKind::OutputFile, "", "file for the runs of all kernels, which Perfetto and Chrome show"},
};

const std::vector<Option>& all_options() {
  static const std::vector<Option> options = call_options_and(own_options);
  return options;
}

constexpr Example examples[] = {
    {"relish profile m.relish main --arg x=rand --params w.npz --trace t.json",
     "p = profile(M.main, arg={\"x\": x, \"w\": w})"},
};

// A kernel in all its calls.
struct Row {
  std::string name;
  std::int64_t calls = 0;
  double ms = 0;
  std::optional<double> operations = 0.0, bytes = 0.0;
  std::map<std::uint32_t, std::set<std::uint32_t>> lines = {};  // by file
  std::vector<std::string> apart = {};  // why it is not part of what reads its results
};

struct Profile {
  int runs = 0;
  double total_ms = 0;  // of all runs
  std::vector<Row> rows;
};

double milliseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

void note_line(Row& row, Span span) {
  const SourceFile* source = Sources::instance().find(span.file);
  if (source) row.lines[span.file].insert(source->position(span.begin).line);
}

// The lines that a kernel was made from: of what calls it and of what it stores.
void note_lines(Row& row, const KernelLog::Kernel& kernel) {
  note_line(row, kernel.span);
  if (!kernel.function->body.defined()) return;
  for_each_stmt(kernel.function->body, [&](const Stmt& stmt) {
    if (stmt.as<Store>() && stmt->span.file == kernel.span.file) note_line(row, stmt->span);
  });
}

// Each reason once, with the line of what reads the result.
void note_apart(Row& row, const KernelLog::Kernel& kernel) {
  for (const FusionNote& note : kernel.apart) {
    const SourceFile* source = Sources::instance().find(note.reader.file);
    const std::string text =
        source ? fmt::format("line {}: {}", source->position(note.reader.begin).line, note.why) : note.why;
    if (std::find(row.apart.begin(), row.apart.end(), text) == row.apart.end()) row.apart.push_back(text);
  }
}

std::vector<Row> rows_of(const KernelLog& log) {
  std::map<std::string, Row> rows;
  for (const KernelLog::Run& run : log.runs) {
    const KernelLog::Kernel& kernel = log.kernels[run.kernel];
    Row& row = rows[kernel.function->name];
    ++row.calls;
    row.ms += static_cast<double>(run.end_ns - run.begin_ns) / 1e6;
    row.operations =
        row.operations && run.operations ? std::optional(*row.operations + *run.operations) : std::nullopt;
    row.bytes = row.bytes && run.bytes ? std::optional(*row.bytes + *run.bytes) : std::nullopt;
  }
  for (const KernelLog::Kernel& kernel : log.kernels) {
    const auto row = rows.find(kernel.function->name);
    if (row == rows.end()) continue;
    note_lines(row->second, kernel);
    note_apart(row->second, kernel);
  }
  std::vector<Row> result;
  for (auto& [name, row] : rows) {
    row.name = name;
    result.push_back(std::move(row));
  }
  std::sort(result.begin(), result.end(), [](const Row& a, const Row& b) { return a.ms > b.ms; });
  return result;
}

std::string lines_text(const Row& row) {
  std::string text;
  for (const auto& [file, lines] : row.lines) {
    for (auto at = lines.begin(); at != lines.end();) {
      const std::uint32_t first = *at;
      std::uint32_t last = first;
      for (++at; at != lines.end() && *at == last + 1; ++at) ++last;
      text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
      if (last > first) text += fmt::format("-{}", last);
    }
  }
  return text;
}

// Per second of the kernel's time, in billions.
std::optional<double> rate(const Row& row, const std::optional<double>& amount) {
  if (!amount || row.ms <= 0) return std::nullopt;
  return *amount / row.ms / 1e6;
}

// Of the measured speed of this machine, where that is known: what is nearer to its limit is what holds a
// kernel up. More than memory gives comes from caches.
std::optional<double> of_peak(const Row& row, const std::optional<MachineSpeed>& speed, int threads) {
  const auto gflops = rate(row, row.operations), gbs = rate(row, row.bytes);
  if (!speed || !gflops || !gbs) return std::nullopt;
  const double computes = *gflops / (threads == 1 ? speed->gflops_one : speed->gflops_all);
  const double moves = *gbs / (threads == 1 ? speed->gbs_one : speed->gbs_all);
  return std::max(computes, moves > 1 ? 0 : moves);
}

std::string table(const Profile& profile, const std::string& function, int threads) {
  const auto speed = known_speed(describe_machine());
  const double runs = profile.runs;
  std::string text = fmt::format("{}: {:.4f} ms a call ({} calls, {} thread{})\n", function,
                                 profile.total_ms / runs, profile.runs, threads, threads == 1 ? "" : "s");
  std::size_t width = 28, lines_width = 5;
  for (const Row& row : profile.rows) {
    width = std::max(width, row.name.size());
    lines_width = std::max(lines_width, lines_text(row).size());
  }
  text += fmt::format("{:<{}} {:>7} {:>11} {:>7} {:>9} {:>8} {:>7}  {:<{}}  {}\n", "kernel", width, "calls",
                      "ms", "share", "GFLOP/s", "GB/s", "of peak", "lines", lines_width, "stays apart, as");
  double inside = 0;
  for (const Row& row : profile.rows) {
    inside += row.ms;
    const auto gflops = rate(row, row.operations), gbs = rate(row, row.bytes);
    const auto number = [](const std::optional<double>& value) {
      return value ? fmt::format("{:.2f}", *value) : std::string("-");
    };
    const auto part = of_peak(row, speed, threads);
    const std::string peak = part ? fmt::format("{:.0f}%", 100 * *part) : "-";
    text += fmt::format("{:<{}} {:>7.6g} {:>11.4f} {:>6.1f}% {:>9} {:>8} {:>7}  {:<{}}  {}\n", row.name,
                        width, static_cast<double>(row.calls) / runs, row.ms / runs,
                        100 * row.ms / profile.total_ms, number(gflops), number(gbs), peak, lines_text(row),
                        lines_width, fmt::join(row.apart, "; "));
  }
  const double outside = std::max(0.0, profile.total_ms - inside);
  text += fmt::format("{:<{}} {:>7} {:>11.4f} {:>6.1f}%", "outside of kernels", width, "", outside / runs,
                      100 * outside / profile.total_ms);
  return text;
}

ScriptValue optional_number(const std::optional<double>& value) {
  return value ? ScriptValue(*value) : ScriptValue();
}

nlohmann::ordered_json json_of(const Profile& profile, const std::string& function, int threads) {
  const auto speed = known_speed(describe_machine());
  nlohmann::ordered_json json, rows = nlohmann::ordered_json::array();
  for (const Row& row : profile.rows) {
    nlohmann::ordered_json each;
    each["name"] = row.name;
    each["calls"] = static_cast<double>(row.calls) / profile.runs;
    each["ms"] = row.ms / profile.runs;
    each["share"] = row.ms / profile.total_ms;
    const auto gflops = rate(row, row.operations), gbs = rate(row, row.bytes);
    each["gflops"] = gflops ? nlohmann::ordered_json(*gflops) : nlohmann::ordered_json();
    each["gbs"] = gbs ? nlohmann::ordered_json(*gbs) : nlohmann::ordered_json();
    const auto peak = of_peak(row, speed, threads);
    each["of_peak"] = peak ? nlohmann::ordered_json(*peak) : nlohmann::ordered_json();
    each["lines"] = lines_text(row);
    each["apart"] = row.apart;
    rows.push_back(std::move(each));
  }
  json["function"] = function;
  json["runs"] = profile.runs;
  json["threads"] = threads;
  json["ms"] = profile.total_ms / profile.runs;
  json["kernels"] = std::move(rows);
  return json;
}

ScriptValue dict_of(const Profile& profile, int threads) {
  const auto speed = known_speed(describe_machine());
  std::vector<ScriptValue> rows;
  for (const Row& row : profile.rows) {
    std::vector<ScriptValue> apart(row.apart.begin(), row.apart.end());
    rows.push_back(ScriptValue::dict({{"name", row.name},
                                      {"calls", static_cast<double>(row.calls) / profile.runs},
                                      {"ms", row.ms / profile.runs},
                                      {"share", row.ms / profile.total_ms},
                                      {"gflops", optional_number(rate(row, row.operations))},
                                      {"gbs", optional_number(rate(row, row.bytes))},
                                      {"of_peak", optional_number(of_peak(row, speed, threads))},
                                      {"lines", lines_text(row)},
                                      {"apart", ScriptValue::list(std::move(apart))}}));
  }
  return ScriptValue::dict({{"runs", profile.runs},
                            {"threads", threads},
                            {"ms", profile.total_ms / profile.runs},
                            {"kernels", ScriptValue::list(std::move(rows))}});
}

// Complete events of Chrome's trace format, in microseconds from the first.
std::string trace_of(const KernelLog& log) {
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  const std::size_t shown = std::min(log.runs.size(), most_traced);
  const std::int64_t begin = log.runs.empty() ? 0 : log.runs[log.runs.size() - shown].begin_ns;
  for (std::size_t i = log.runs.size() - shown; i < log.runs.size(); ++i) {
    const KernelLog::Run& run = log.runs[i];
    nlohmann::ordered_json event;
    event["name"] = log.kernels[run.kernel].function->name;
    event["cat"] = "kernel";
    event["ph"] = "X";
    event["ts"] = static_cast<double>(run.begin_ns - begin) / 1e3;
    event["dur"] = static_cast<double>(run.end_ns - run.begin_ns) / 1e3;
    event["pid"] = 1;
    event["tid"] = 1;
    if (run.operations) event["args"]["operations"] = *run.operations;
    if (run.bytes) event["args"]["bytes"] = *run.bytes;
    events.push_back(std::move(event));
  }
  nlohmann::ordered_json json;
  json["traceEvents"] = std::move(events);
  json["displayTimeUnit"] = "ns";
  return json.dump() + "\n";
}

Profile measure(KernelLog& log, Evaluator& evaluator, const ModulePtr& module, const std::string& function,
                const std::vector<Value>& arguments, std::int64_t wanted) {
  evaluator.call(module, function, arguments);
  evaluator.call(module, function, arguments);
  log.runs.clear();
  Profile profile;
  const auto begin = std::chrono::steady_clock::now();
  const auto enough = [&] {
    if (wanted > 0) return profile.runs >= wanted;
    const bool long_enough = milliseconds(std::chrono::steady_clock::now() - begin) >= wanted_seconds * 1000;
    return profile.runs >= most_runs || (profile.runs >= least_runs && long_enough);
  };
  while (!enough()) {
    std::vector<Value> given = arguments;
    const auto start = std::chrono::steady_clock::now();
    const Value result = evaluator.call(module, function, std::move(given));
    profile.total_ms += milliseconds(std::chrono::steady_clock::now() - start);
    ++profile.runs;
    poll_interrupt();
  }
  profile.rows = rows_of(log);
  return profile;
}

ScriptValue run(Invocation& invocation) {
  const Settings& settings = invocation.session.settings();
  if (settings.tier != "jit")
    fail(ErrorClass::Usage, invocation.span, "profile.tier",
         fmt::format("profile shows what compiled code does: found tier {}; expected jit", settings.tier));
  const std::string function = function_of(invocation);
  const std::vector<Value> arguments = call_arguments(invocation, function);
  const std::int64_t wanted = std::clamp<std::int64_t>(invocation.integer("runs", 0), 0, most_runs);
  const std::string trace = invocation.given("trace") ? invocation.output_path("trace") : "";
  if (!trace.empty()) check_can_be_written(trace);
  KernelLog log;
  const std::unique_ptr<Evaluator> watched =
      make_jit({.threads = settings.threads, .log = &log, .objects = invocation.session.objects()});
  const Profile profile = measure(log, *watched, invocation.module, function, arguments, wanted);
  const int threads = settings.threads > 0 ? settings.threads : describe_machine().threads;
  if (!trace.empty()) write_file_atomically(trace, trace_of(log));
  tell_table([&] { return table(profile, function, threads); });
  if (invocation.surface == Surface::Script) return dict_of(profile, threads);
  if (invocation.flag("json")) return json_of(profile, function, threads).dump();
  return table(profile, function, threads);
}

}  // namespace

extern const Command command_profile;
const Command command_profile{
    .name = "profile",
    .summary = "shows where the time of a compiled function goes, a row a kernel",
    .subject = Subject::Call,
    .options = all_options(),
    .run = run,
    .examples = examples,
    .doc =
        "A row has the calls of a kernel and its time in one call of the function, its share, operations and "
        "bytes a second as its text has them before loops are scheduled (every buffer read or written once), "
        "the lines that it was made from, and why it is not part of what reads its result. `of peak` is the larger part of what `relish machine` measured of "
        "arithmetic and of memory (not of caches, which give more); it is there once that has run. The code is "
        "compiled with a clock around every kernel; other code has none.",
};

}  // namespace relish::commands_profile
