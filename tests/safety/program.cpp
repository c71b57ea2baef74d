// Starting and ending the program.
#include "tests/safety/program.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "support/failure.h"
#include "tests/golden/process.h"

namespace relish::testing {

TrialResult run_trial(const Trial& trial) {
  std::vector<std::string> words = {"relish"};
  words.insert(words.end(), trial.arguments.begin(), trial.arguments.end());
  // Its own folders are nowhere, also for one who may make any, so that nothing is left beside the trial's.
  std::vector<std::string> variables = environment_at("/dev/null", {"LC_ALL=C"});
  std::vector<char*> arguments, environment;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);

  int ends[2];
  RELISH_CHECK(::pipe2(ends, O_CLOEXEC) == 0, "no pipe");
  const pid_t child = ::fork();
  RELISH_CHECK(child >= 0, "cannot fork");
  if (child == 0) {
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing < 0) ::_exit(126);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    const auto limit = [](auto resource, std::int64_t bytes) {
      const rlimit both = {static_cast<rlim_t>(bytes), static_cast<rlim_t>(bytes)};
      if (bytes >= 0) ::setrlimit(resource, &both);
    };
    limit(RLIMIT_FSIZE, trial.largest_file);
    limit(RLIMIT_DATA, trial.data_bytes);
    if (::chdir(trial.folder.c_str()) != 0) ::_exit(126);
    for (const int stream : trial.closed) ::close(stream);
    ::execve(RELISH_PROGRAM, arguments.data(), environment.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  if (trial.kill_after_us >= 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(trial.kill_after_us));
    ::kill(child, SIGKILL);
  }
  TrialResult result;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    result.messages.append(buffer, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

SmallDisk::SmallDisk(std::string folder, std::size_t bytes) : folder_(std::move(folder)) {
  // Where mounting is allowed it is done for this process and its children alone.
  static const bool apart =
      ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  const std::string size = "size=" + std::to_string(bytes);
  mounted_ = apart && ::mount("relish-test", folder_.c_str(), "tmpfs", 0, size.c_str()) == 0;
}

SmallDisk::~SmallDisk() {
  if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
}

}  // namespace relish::testing
