// Spawning of the program under test.
#include "tests/golden/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include "support/failure.h"

namespace relish::testing {
namespace {

using Clock = std::chrono::steady_clock;

std::string whole_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// How much longer than in a release the program takes to start.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int slowness = 10;
#else
constexpr int slowness = 1;
#endif

// Whether the program has come so far that it handles the signal: on a busy machine its loading takes a
// while.
bool has_begun(pid_t child, const ProcessRequest& request) {
  if (request.signal == SIGKILL || request.signal == request.ignored_signal) return true;
  const std::string status = whole_file("/proc/" + std::to_string(child) + "/status");
  const std::size_t at = status.find("SigCgt:");
  if (at == std::string::npos) return true;
  const std::uint64_t caught = std::stoull(status.substr(at + 7), nullptr, 16);
  return (caught >> (request.signal - 1) & 1) != 0;
}

// In the child: never returns.
[[noreturn]] void become_program(const ProcessRequest& request, const std::string& input,
                                 const std::string& output, const std::string& errors,
                                 const std::vector<char*>& arguments, const std::vector<char*>& environment) {
  const auto redirect = [](const std::string& path, int flags, int descriptor) {
    const int opened = ::open(path.c_str(), flags, 0600);
    if (opened < 0 || ::dup2(opened, descriptor) < 0) ::_exit(126);
  };
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    ::signal(number, number == request.ignored_signal ? SIG_IGN : SIG_DFL);
  redirect(input, O_RDONLY, STDIN_FILENO);
  if (request.output_to == "closed") {
    int ends[2];
    if (::pipe(ends) != 0 || ::dup2(ends[1], STDOUT_FILENO) < 0) ::_exit(126);
    ::close(ends[0]);
    ::close(ends[1]);
  } else if (request.output_to == "unread") {
    // The reading end stays open in the program itself.
    int ends[2];
    if (::pipe(ends) != 0 || ::dup2(ends[1], STDOUT_FILENO) < 0) ::_exit(126);
  } else if (request.output_to == "full") {
    redirect("/dev/full", O_WRONLY, STDOUT_FILENO);
  } else {
    redirect(output, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
  }
  redirect(errors, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
  if (request.prepare) request.prepare();
  if (::chdir(request.folder.c_str()) != 0) ::_exit(126);
  ::execve(RELISH_PROGRAM, arguments.data(), environment.data());
  ::_exit(127);
}

}  // namespace

std::vector<std::string> environment_at(const std::string& folder, std::vector<std::string> more) {
  more.insert(more.end(), {"HOME=" + folder, "XDG_CACHE_HOME=" + folder + "/.cache",
                           "XDG_STATE_HOME=" + folder + "/.state", "PATH=/usr/bin:/bin"});
  for (const char* name : {"ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"})
    if (const char* value = std::getenv(name)) more.push_back(std::string(name) + "=" + value);
  return more;
}

ProcessResult run_program(const ProcessRequest& request) {
  // Everything that allocates comes before the fork.
  const std::string input = request.input.empty() ? "/dev/null" : request.input;
  const std::string output = request.folder + "/.stdout", errors = request.folder + "/.stderr";
  std::vector<std::string> words = {"relish"};
  words.insert(words.end(), request.arguments.begin(), request.arguments.end());
  std::vector<std::string> variables = environment_at(request.folder, {"LC_ALL=C"});
  variables.insert(variables.end(), request.variables.begin(), request.variables.end());
  std::vector<char*> arguments, environment;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);

  const Clock::time_point start = Clock::now();
  const pid_t child = ::fork();
  RELISH_CHECK(child >= 0, "cannot fork");
  if (child == 0) become_program(request, input, output, errors, arguments, environment);

  ProcessResult result;
  Clock::time_point signalled = start;
  bool sent = request.signal == 0;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    const auto elapsed = Clock::now() - start;
    if (!sent && elapsed >= std::chrono::milliseconds(request.signal_after_ms * slowness) &&
        has_begun(child, request)) {
      ::kill(child, request.signal);
      signalled = Clock::now();
      sent = true;
    }
    if (!result.timed_out && elapsed >= std::chrono::seconds(request.limit_seconds * slowness)) {
      ::kill(child, SIGKILL);
      result.timed_out = true;
    }
    if (request.watch) request.watch(child);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  result.signal_to_end_ms = std::chrono::duration<double, std::milli>(Clock::now() - signalled).count();
  result.killed_by_signal = WIFSIGNALED(status);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.output = whole_file(output);
  result.error_output = whole_file(errors);
  ::unlink(output.c_str());
  ::unlink(errors.c_str());
  return result;
}

}  // namespace relish::testing
