// signals [--moments N] [--seed S] [--phase PART]: sends SIGINT or SIGTERM at random moments of every phase,
// and asks that the process is gone within 0.3 s with the signal's exit code and one line, leaving no
// half-written file. Without N, a few moments each.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "tests/golden/process.h"
#include "tests/signals/phases.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {
namespace {

constexpr double most_milliseconds = 300;
// Moments lie within so much of a phase's run; those before belong to the loader of programs.
constexpr int first_moment_ms = 40;
constexpr int last_moment_ms = 2000;
// A machine that is busy with something else may be late; a process that does not end is late each time.
constexpr int tries = 3;

std::optional<std::string> contents(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

int count_of(const std::string& text, std::string_view part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class PhaseRun {
 public:
  explicit PhaseRun(const Phase& phase) : phase_(phase) {
    std::ofstream(folder_.file("s.relish")) << phase.script;
    ::mkfifo(folder_.file("fifo.relish").c_str(), 0600);
    ::mkfifo(folder_.file("fifo.npy").c_str(), 0600);
    if (!phase.prepared_by.empty()) {
      ProcessRequest request = request_of(phase.prepared_by);
      run_program(request);
    }
    if (phase.endless()) return;
    // How long it takes undisturbed, and what it then leaves.
    ProcessRequest whole = request_of(phase.arguments);
    whole.signal = SIGKILL;
    whole.signal_after_ms = last_moment_ms;
    const auto start = std::chrono::steady_clock::now();
    const ProcessResult result = run_program(whole);
    const auto time = std::chrono::steady_clock::now() - start;
    milliseconds_ = static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
    if (!phase.output.empty() && !result.killed_by_signal) whole_ = contents(folder_.file(phase.output));
    clear();
  }

  int milliseconds() const { return milliseconds_; }
  double longest_ms() const { return longest_ms_; }

  // What is wrong when `signal` comes after so much time; empty when all is right.
  std::string failing(int signal, int after_ms) {
    std::string problem;
    for (int attempt = 0; attempt < tries; ++attempt) {
      problem = failing_once(signal, after_ms);
      clear();
      if (problem.empty()) break;
    }
    return problem;
  }

 private:
  ProcessRequest request_of(const std::vector<std::string>& arguments) const {
    ProcessRequest request;
    request.arguments = arguments;
    request.folder = folder_.path();
    request.output_to = phase_.output_to;
    return request;
  }

  void clear() {
    if (!phase_.output.empty()) std::filesystem::remove(folder_.file(phase_.output));
    std::filesystem::remove_all(folder_.file("runs"));
    std::filesystem::remove_all(folder_.file(".cache"));  // the next run compiles as the first did
  }

  std::string failing_once(int signal, int after_ms) {
    ProcessRequest request = request_of(phase_.arguments);
    request.signal = signal;
    request.signal_after_ms = after_ms;
    const ProcessResult result = run_program(request);
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      if (entry.path().filename().string().ends_with(".tmp"))
        return fmt::format("left {}", entry.path().filename().string());
    }
    if (!phase_.output.empty()) {
      const auto found = contents(folder_.file(phase_.output));
      if (found && whole_ && *found != *whole_) return fmt::format("{} is half-written", phase_.output);
    }
    if (result.exit_code != 128 + signal) {
      // It was done before the signal came, as well as it ever is.
      const bool done = !result.killed_by_signal && milliseconds_ < last_moment_ms;
      return done ? "" : fmt::format("exit code {}: {}", result.exit_code, result.error_output);
    }
    longest_ms_ = std::max(longest_ms_, result.signal_to_end_ms);
    if (result.killed_by_signal) return "died by the signal, which nothing handled";
    if (result.signal_to_end_ms > most_milliseconds)
      return fmt::format("took {:.0f} ms", result.signal_to_end_ms);
    const int lines = count_of(result.error_output, "error[");
    if (lines != 1) return fmt::format("found {} lines of errors: {}", lines, result.error_output);
    return "";
  }

  const Phase& phase_;
  TemporaryFolder folder_;
  int milliseconds_ = last_moment_ms;  // undisturbed, no more than this
  double longest_ms_ = 0;
  std::optional<std::string> whole_;
};

// A signal that the parent ignores stays ignored.
std::string failing_to_ignore() {
  TemporaryFolder folder;
  ProcessRequest request;
  request.arguments = {"-e", "t = rand((60000000,), seed=1)\nprint(\"done\")"};
  request.folder = folder.path();
  request.ignored_signal = SIGINT;
  request.signal = SIGINT;
  request.signal_after_ms = 100;
  const ProcessResult result = run_program(request);
  if (result.exit_code == 0 && result.output == "done\n") return "";
  return fmt::format("exit code {}: {}", result.exit_code, result.error_output);
}

// Sends the signals of all phases, two phases beside each other: most of the time they only wait.
class AllPhases {
 public:
  AllPhases(int moments, std::uint64_t seed, std::string_view part) : moments_(moments), seed_(seed) {
    for (const Phase& phase : all_phases())
      if (phase.name.find(part) != std::string::npos) phases_.push_back(phase);
    if (!part.empty()) return;
    for (const std::string& name : builtins_without_phase()) report(name + "()", "has no phase");
    report("a signal that is ignored", failing_to_ignore());
  }

  // How many problems there were.
  int run() {
    std::thread other([&] { run_next(); });
    run_next();
    other.join();
    fmt::print("{} problems\n", problems_);
    return problems_;
  }

 private:
  void report(const std::string& what, const std::string& problem) {
    if (problem.empty()) return;
    const std::lock_guard lock(mutex_);
    ++problems_;
    fmt::print("{}: {}\n", what, problem);
  }

  void run_next() {
    for (std::size_t i = next_++; i < phases_.size(); i = next_++) run_phase(i);
  }

  void run_phase(std::size_t index) {
    const Phase& phase = phases_[index];
    PhaseRun run(phase);
    std::mt19937_64 random(seed_ * 1000 + index);
    const int last = std::max(first_moment_ms + 1, std::min(run.milliseconds(), last_moment_ms));
    for (int i = 0; i < moments_; ++i) {
      const int signal = random() % 2 == 0 ? SIGINT : SIGTERM;
      const int moment =
          first_moment_ms + static_cast<int>(random() % static_cast<std::uint64_t>(last - first_moment_ms));
      report(fmt::format("{}, signal {} after {} ms", phase.name, signal, moment),
             run.failing(signal, moment));
    }
    const std::lock_guard lock(mutex_);
    fmt::print("{}: {} moments, at most {:.0f} ms\n", phase.name, moments_, run.longest_ms());
    std::fflush(stdout);
  }

  int moments_;
  std::uint64_t seed_;
  std::vector<Phase> phases_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;  // over what follows, and what is printed
  int problems_ = 0;
};

}  // namespace
}  // namespace relish::testing

int main(int count, char** words) {
  int moments = 2;
  std::uint64_t seed = 1;
  std::string_view part;
  const auto number = [](std::string_view value, auto& into) {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), into);
    return error == std::errc() && end == value.data() + value.size();
  };
  bool right = count % 2 == 1;
  for (int i = 1; right && i + 1 < count; i += 2) {
    const std::string_view option = words[i], value = words[i + 1];
    if (option == "--moments")
      right = number(value, moments);
    else if (option == "--seed")
      right = number(value, seed);
    else if (option == "--phase")
      part = value;
    else
      right = false;
  }
  if (!right) {
    fmt::print(stderr, "signals [--moments N] [--seed S] [--phase PART]\n");
    return 2;
  }
  return relish::testing::AllPhases(moments, seed, part).run() == 0 ? 0 : 1;
}
