// Starting and waiting. A child is the leader of a process group, so that a terminal's Ctrl-C comes to it
// once, from here.
#include "shell/commands/training/child_jobs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <map>

#include "support/failure.h"
#include "support/interrupt.h"
#include "train/run_folder_files.h"

namespace relish {
namespace {

std::string own_program() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0) fail_at(ErrorClass::IO, "/proc/self/exe", "file.system", std::strerror(errno));
  return {path, static_cast<std::size_t>(size)};
}

// Behind the fork: only what is safe in a signal handler.
[[noreturn]] void become(const char* program, char* const* arguments, int log, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(128 + SIGTERM);  // it ended before that held
  const int input = ::open("/dev/null", O_RDONLY);
  if (input >= 0) ::dup2(input, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execv(program, arguments);
  constexpr int not_started = 127;
  ::_exit(not_started);
}

pid_t start(const std::string& program, const ChildJob& job) {
  std::vector<std::string> words = job.arguments;
  words.insert(words.begin(), program);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int log = open_in_run_folder(job.log, O_WRONLY | O_CREAT | O_APPEND);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(program.c_str(), arguments.data(), log, parent);
  const int error = errno;
  ::close(log);
  if (child < 0) fail_at(ErrorClass::IO, program, "file.system", std::strerror(error));
  ::setpgid(child, child);
  return child;
}

void wait_a_moment() {
  constexpr long milliseconds = 20;
  const timespec time = {0, milliseconds * 1'000'000};
  ::nanosleep(&time, nullptr);  // a signal ends it sooner
}

}  // namespace

void run_child_jobs(const std::vector<ChildJob>& jobs, std::size_t together,
                    const std::function<void(std::size_t)>& started,
                    const std::function<void(std::size_t, int)>& ended) {
  const std::string program = own_program();
  const InterruptHold children_are_waited_for;
  std::map<pid_t, std::size_t> running;
  std::size_t next = 0;
  int told = 0;  // the signal that was passed on
  while (!running.empty() || (told == 0 && next < jobs.size())) {
    const int asked = interrupt_flag.load();
    if (asked != 0 && told == 0) {
      told = asked;
      // The time limit of this process is theirs as a signal to end.
      for (const auto& [child, number] : running) ::kill(-child, asked == SIGXCPU ? SIGTERM : asked);
      continue;
    }
    if (told == 0 && running.size() < together && next < jobs.size()) {
      running.emplace(start(program, jobs[next]), next);
      started(next++);
      continue;
    }
    for (auto at = running.begin(); at != running.end();) {
      int status = 0;
      if (::waitpid(at->first, &status, WNOHANG) != at->first) {
        ++at;
        continue;
      }
      ended(at->second, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
      at = running.erase(at);
    }
    if (!running.empty()) wait_a_moment();
  }
}

}  // namespace relish
