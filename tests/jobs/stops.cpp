// Signals at random moments and in every phase, time limits, processes that are stopped for a while, clocks
// that jump, and outputs that go away.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/golden/commands.h"
#include "tests/golden/terminal_program.h"
#include "tests/jobs/trials.h"

namespace relish::testing {
namespace {

constexpr int kinds[] = {SIGTERM, SIGINT, SIGHUP};
// How long a job may take to end beside its last write; a busy machine is late.
constexpr double most_seconds_to_end = 2, slack_of_a_busy_machine = 3;

double monotonic_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string last_line_of(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

// What is wrong with the end of a job that a signal ended; it goes on, and ends as the undisturbed one.
std::string fault_of_end(const JobFolder& job, const ProcessResult& result, int signal, double seconds,
                         const Undisturbed& whole) {
  // It was done before the signal came.
  if (result.exit_code == 0) return compare_with(job, whole);
  if (result.exit_code != 128 + signal || result.killed_by_signal) return ending_of(result);
  if (seconds > most_seconds_to_end * slack_of_a_busy_machine)
    return fmt::format("took {:.0f} ms", 1000 * seconds);
  if (const int left = unfinished_files(job); left > 0) return fmt::format("left {} .tmp files", left);
  const std::int64_t step = job.newest_step();
  const std::string last = last_line_of(result.error_output);
  const bool finished = std::filesystem::exists(job.file("final.safetensors"));
  if (finished && step != whole.steps.back()) return "left final.safetensors of a job that did not finish";
  if (!finished && step > 0 && last.find(fmt::format("checkpoint of step {} of", step)) == std::string::npos)
    return fmt::format("the last line does not name step {}: {}", step, last);
  const ProcessResult rest = run_program(job.resumed());
  if (rest.exit_code != 0) return "cannot go on: " + ending_of(rest);
  if (step > 0 && rest.error_output.find(fmt::format("goes on behind step {} of", step)) == std::string::npos)
    return "does not say from where it goes on: " + rest.error_output;
  return compare_with(job, whole);
}

std::string failing_signal(int signal, int after_ms, const Undisturbed& whole) {
  const JobFolder job(whole_job, whole.settings);
  ProcessRequest request = job.request();
  request.signal = signal;
  request.signal_after_ms = after_ms;
  const ProcessResult result = run_program(request);
  return fault_of_end(job, result, signal, result.signal_to_end_ms / 1000, whole);
}

// How the program is started with SIGUSR1: as usual; with one that waits, blocked, until it hears it; with
// one that was ignored before it was there.
enum class Started { Usual, Blocked, Ignored };

// SIGUSR1 saves and goes on; nothing else asks for a checkpoint before the last. `lines`: it comes when so
// many steps are logged.
std::string failing_save_request(std::size_t lines, const Undisturbed& whole,
                                 Started started = Started::Usual) {
  const JobFolder job(whole_job, whole.settings);
  ProcessRequest request = job.request({}, 1000000);
  std::int64_t first = 0;
  bool sent = started == Started::Blocked;
  if (started != Started::Usual) {
    request.prepare = [started] {
      sigset_t asked;
      ::sigemptyset(&asked);
      ::sigaddset(&asked, SIGUSR1);
      if (started == Started::Blocked) ::sigprocmask(SIG_BLOCK, &asked, nullptr);
      if (started == Started::Ignored) ::signal(SIGUSR1, SIG_IGN);
      ::raise(SIGUSR1);
    };
  }
  request.watch = [&](int process) {
    if (first == 0) first = job.newest_step();
    if (sent || steps_in_metrics(job).size() < lines) return;
    sent = true;
    ::kill(process, SIGUSR1);
  };
  const ProcessResult result = run_program(request);
  if (result.exit_code != 0) return ending_of(result);
  if (!sent || first == 0 || first >= whole.steps.back()) return "nothing was saved before the end";
  return compare_with(job, whole);
}

// The disk takes two seconds for each file: a job that is asked to end waits for it, and asked again it does
// not.
std::string failing_second_signal(int signal, const Undisturbed& whole) {
  constexpr auto between = std::chrono::milliseconds(300);
  constexpr double most_seconds = 0.5;
  const JobFolder job(small_job, whole.settings);
  ProcessRequest request =
      job.disturbed("call=sync file=checkpoints/.relish- times=1000000 action=wait value=2000");
  std::chrono::steady_clock::time_point first{}, second{};
  request.watch = [&](int process) {
    const auto now = std::chrono::steady_clock::now();
    if (first == std::chrono::steady_clock::time_point{}) {
      if (job.marks().count == 0) return;
      first = now;
    } else if (second != std::chrono::steady_clock::time_point{} || now < first + between) {
      return;
    } else {
      second = now;
    }
    ::kill(process, signal);
  };
  const ProcessResult result = run_program(request);
  const std::chrono::duration<double> late = std::chrono::steady_clock::now() - second;
  if (second == std::chrono::steady_clock::time_point{}) return "one signal was enough: " + ending_of(result);
  if (result.exit_code != 128 + signal) return ending_of(result);
  if (late.count() > most_seconds * slack_of_a_busy_machine)
    return fmt::format("took {:.0f} ms behind the second signal", 1000 * late.count());
  if (const int left = unfinished_files(job); left > 0) return fmt::format("left {} .tmp files", left);
  return rest_of(job, whole);
}

std::string failing_time_limit(const Undisturbed& whole) {
  const JobFolder job(whole_job, whole.settings);
  ProcessResult result;
  // The undisturbed job may have had a busier machine.
  for (double seconds = whole.milliseconds / 2000; seconds > 0.05 && result.exit_code == 0; seconds /= 2) {
    job.clear();
    result = run_program(job.request({"--time-limit", fmt::format("{:.3f}s", seconds)}));
  }
  if (result.exit_code != 75) return ending_of(result);
  if (result.error_output.find("error[TimeLimit]: stopped by the time limit") == std::string::npos)
    return result.error_output;
  const auto report_json = nlohmann::json::parse(bytes_of(job.file("report.json")), nullptr, false);
  if (job.newest_step() > 0 && report_json.value("status", "") != "time_limit")
    return "report.json says " + report_json.value("status", "");
  return rest_of(job, whole);
}

struct SignalPhase {
  const char* name;
  const char* plan;
};

// By what the job does at that moment.
constexpr SignalPhase phases[] = {
    {"before it begins", "call=load"},
    {"while it reads its script", "call=open file=job.relish"},
    {"while it makes its folder", "call=open file=out/lock"},
    {"before its first step", "call=rename file=report.json after=1"},
    {"while it saves", "call=write file=checkpoints/.relish- bytes=2000 number=2"},
    {"before a checkpoint has its name", "call=rename file=checkpoints/step- number=2"},
    {"while it removes an old checkpoint", "call=unlink file=checkpoints/step-"},
    {"while it writes a line of metrics", "call=write file=metrics.jsonl bytes=900"},
    {"while it saves the best weights", "call=rename file=best.safetensors number=2"},
    {"while it writes the last weights", "call=rename file=final.safetensors"},
    {"while it writes its page", "call=rename file=report.md"},
};

std::string failing_stop(double seconds, const Undisturbed& whole) {
  const JobFolder job(small_job, whole.settings);
  ProcessRequest request = job.request();
  bool stopped = false;
  request.watch = [&](int process) {
    if (stopped || job.newest_step() == 0) return;
    stopped = true;
    ::kill(process, SIGSTOP);
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    ::kill(process, SIGCONT);
  };
  const ProcessResult result = run_program(request);
  if (!stopped) return "it was over before it was stopped";
  return result.exit_code != 0 ? ending_of(result) : compare_with(job, whole);
}

// Exit 0 or 7, and what was saved can be read; then it goes on.
std::string fault_without_output(const JobFolder& job, const ProcessResult& result,
                                 const Undisturbed& whole) {
  if (result.exit_code == 0) return compare_with(job, whole);
  if (result.exit_code != 7 || result.killed_by_signal) return ending_of(result);
  if (job.newest_step() > 0) {
    if (const std::string fault = fault_of_newest_checkpoint(job); !fault.empty()) return fault;
  }
  return rest_of(job, whole);
}

// Standard output is read by `head -1`.
void read_one_line() {
  int ends[2];
  if (::pipe(ends) != 0) ::_exit(126);
  const pid_t reader = ::fork();
  if (reader == 0) {
    ::close(ends[1]);
    char byte = 0;
    while (::read(ends[0], &byte, 1) == 1 && byte != '\n') continue;
    ::_exit(0);
  }
  ::close(ends[0]);
  ::dup2(ends[1], STDOUT_FILENO);
  ::close(ends[1]);
}

// The terminal of a running job is closed: it is told so, saves and ends.
std::string failing_without_terminal(const Undisturbed& whole) {
  const JobFolder job(small_job, whole.settings);
  {
    TemporaryFolder beside;
    std::filesystem::copy(job.beside("job.relish"), beside.file("job.relish"));
    ProcessRequest request = job.request();
    request.arguments[3] = job.path() + "/out";
    TerminalProgram program(beside, request.arguments);
    for (int i = 0; i < 20000 && job.newest_step() == 0; ++i) ::usleep(1000);
    program.hang_up();
    if (const int code = program.wait_for_end(); code != 129 && code != 7 && code != 0)
      return fmt::format("exit code {}", code);
  }
  if (const std::string fault = fault_of_newest_checkpoint(job); !fault.empty()) return fault;
  return rest_of(job, whole);
}

}  // namespace

void try_signals(const RowOptions& options, int signals) {
  std::mt19937_64 random(options.seed + 5);
  const Undisturbed whole = run_undisturbed(whole_job, {"--set", options.full ? "epochs=40" : "epochs=20"});
  const auto moment = [&] {
    return static_cast<int>(random() % static_cast<std::uint64_t>(whole.milliseconds));
  };
  for (int i = 0; i < signals; ++i) {
    const int signal = kinds[i % std::size(kinds)], after = moment();
    report(fmt::format("signal {} after {} ms", signal, after), failing_signal(signal, after, whole));
  }
  const int others = (signals + 2) / 3;
  for (int i = 0; i < others; ++i) {
    const std::size_t lines = 1 + random() % (whole.steps.size() / 2);
    report(fmt::format("SIGUSR1 behind {} logged steps", lines), failing_save_request(lines, whole));
  }
  report("SIGUSR1 that waits until the program hears it", failing_save_request(0, whole, Started::Blocked));
  report("SIGUSR1 behind one that was ignored", failing_save_request(1, whole, Started::Ignored));
  report("the time limit", failing_time_limit(whole));
  fmt::print("{} signals, {} requests to save\n", signals, others);
}

void try_signals_in_phases(const RowOptions& options) {
  if (!can_disturb()) return skip("signals in every phase", "the library that sends them cannot be loaded");
  const Undisturbed whole = run_undisturbed(small_job);
  const JobFolder job(small_job);
  double longest = 0;
  int sent = 0;
  for (const SignalPhase& phase : phases) {
    for (int i = 0; i < options.times; ++i, ++sent) {
      job.clear();
      const int signal = kinds[(sent + i) % std::size(kinds)];
      const ProcessResult result =
          run_program(job.disturbed(fmt::format("{} action=signal value={}", phase.plan, signal)));
      const double seconds = monotonic_now() - job.marks().last;
      longest = std::max(longest, seconds);
      report(fmt::format("signal {} {}", signal, phase.name),
             job.marks().count != 1 ? "it did not get there: " + ending_of(result)
                                    : fault_of_end(job, result, signal, seconds, whole));
    }
  }
  job.clear();
  const ProcessResult asked =
      run_program(job.disturbed(fmt::format("call=load action=signal value={}", SIGUSR1)));
  report("SIGUSR1 before it begins", asked.exit_code != 0 ? ending_of(asked) : compare_with(job, whole));
  for (int i = 0; i < options.times; ++i)
    report(fmt::format("signal {} twice", kinds[i % 3]), failing_second_signal(kinds[i % 3], whole));
  fmt::print("{} signals in {} phases, at most {:.0f} ms to the end\n", sent, std::size(phases),
             1000 * longest);
}

void try_stops_and_clocks(const RowOptions& options) {
  const Undisturbed whole = run_undisturbed(small_job, {"--set", "epochs=400"});
  const double seconds = options.full ? 60 : 0.5;
  for (int i = 0; i < options.times; ++i)
    report(fmt::format("stopped for {} s", seconds), failing_stop(seconds, whole));
  if (!can_disturb()) return skip("a clock that jumps", "the library that moves it cannot be loaded");
  const Undisturbed brief = run_undisturbed(small_job);
  const JobFolder job(small_job);
  for (int i = 0; i < options.times; ++i) {
    for (const int day : {86400, -86400}) {
      job.clear();
      const ProcessResult result = run_program(job.disturbed(
          fmt::format("call=clock number={} times=1000000000 action=shift value={}", 1 + i, day),
          {"--time-limit", "1h"}));
      report(fmt::format("the clock jumps by {} s", day),
             result.exit_code != 0 ? ending_of(result) : compare_with(job, brief));
    }
  }
  fmt::print("{} stops of {} s, {} jumps of the clock\n", options.times, seconds, 2 * options.times);
}

void try_outputs(const RowOptions& options) {
  const Undisturbed whole = run_undisturbed(small_job);
  const JobFolder job(small_job);
  const auto tried = [&](const std::string& what, ProcessRequest request) {
    report(what, fault_without_output(job, run_program(request), whole));
    job.clear();
  };
  for (int i = 0; i < options.times; ++i) {
    for (const char* to : {"closed", "full"}) {
      ProcessRequest request = job.request();
      request.output_to = to;
      tried(fmt::format("standard output is {}", to), request);
    }
    ProcessRequest request = job.request();
    request.prepare = [] { ::close(STDOUT_FILENO); };
    tried("there is no standard output", request);
    request.prepare = [] { ::close(STDERR_FILENO); };
    tried("there is no standard error", request);
    request.prepare = [] {
      ::close(STDOUT_FILENO);
      ::close(STDERR_FILENO);
      ::close(STDIN_FILENO);
    };
    tried("there is neither", request);
    request.prepare = read_one_line;
    tried("standard output goes to head -1", request);
    try {
      report("the terminal is gone", failing_without_terminal(whole));
    } catch (const Unavailable& reason) {
      skip("the terminal is gone", reason.what);
    }
  }
  fmt::print("7 outputs that go away, each {} times\n", options.times);
}

}  // namespace relish::testing
