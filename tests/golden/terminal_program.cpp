// Starting, feeding and reading of the program.
#include "tests/golden/terminal_program.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <regex>

#include "tests/golden/commands.h"
#include "tests/golden/process.h"

namespace relish::testing {
namespace {

constexpr int wait_limit_ms = 30000;

// Without carriage returns and terminal escapes.
std::string plain(const std::string& text) {
  static const std::regex escapes("\x1b\\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]|\r|\x07");
  return std::regex_replace(text, escapes, "");
}

}  // namespace

TerminalProgram::TerminalProgram(const TemporaryFolder& folder, const std::vector<std::string>& options,
                                 const TerminalForm& form) {
  std::vector<std::string> words = {"relish"};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<std::string> variables = environment_at(folder.path(), {"LC_ALL=C.UTF-8", "TERM=" + form.name});
  variables.insert(variables.end(), form.variables.begin(), form.variables.end());
  std::vector<char*> arguments, environment;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  winsize size{};
  size.ws_col = form.columns;
  size.ws_row = form.rows;
  child_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
  if (child_ < 0) throw Unavailable{"there is no pseudo-terminal here"};
  if (child_ == 0) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_DFL);
    if (::chdir(folder.path().c_str()) != 0) ::_exit(126);
    ::execve(RELISH_PROGRAM, arguments.data(), environment.data());
    ::_exit(127);
  }
  // A program that is started beside this one must not hold its terminal open.
  ::fcntl(terminal_, F_SETFD, FD_CLOEXEC);
}

TerminalProgram::~TerminalProgram() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    int status = 0;
    ::waitpid(child_, &status, 0);
  }
  if (terminal_ >= 0) ::close(terminal_);
}

void TerminalProgram::send(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t sent = ::write(terminal_, text.data(), text.size());
    if (sent <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void TerminalProgram::resize(unsigned short columns, unsigned short rows) const {
  ::usleep(100'000);
  winsize size{};
  size.ws_col = columns;
  size.ws_row = rows;
  ::ioctl(terminal_, TIOCSWINSZ, &size);
  ::usleep(200'000);
}

std::string TerminalProgram::read_to_prompt(std::string& prompt) const {
  std::string text;
  prompt.clear();
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(wait_limit_ms)) {
    pollfd ready{terminal_, POLLIN, 0};
    const bool something = ::poll(&ready, 1, 30) > 0;
    if (something) {
      char buffer[4096];
      const ssize_t got = ::read(terminal_, buffer, sizeof buffer);
      if (got <= 0) return plain(text);
      text.append(buffer, static_cast<std::size_t>(got));
      continue;
    }
    // Nothing for a moment: a prompt at the end of the text is the prompt.
    const std::string seen = plain(text);
    static const std::regex prompts("(\\[[0-9]+[^\\]\n]*\\] >>> )|( +\\.\\.\\. )");
    const std::size_t line = seen.rfind('\n') == std::string::npos ? 0 : seen.rfind('\n') + 1;
    if (std::regex_match(seen.substr(line), prompts)) {
      prompt = seen.substr(line);
      return seen.substr(0, line);
    }
  }
  return plain(text);
}

bool TerminalProgram::read_to_rest(std::string& bytes) const {
  constexpr std::string_view cursor_shown = "\x1b[?25h";
  constexpr int quiet_ms = 80;
  bytes.clear();
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(wait_limit_ms)) {
    pollfd ready{terminal_, POLLIN, 0};
    if (::poll(&ready, 1, quiet_ms) > 0) {
      char buffer[4096];
      const ssize_t got = ::read(terminal_, buffer, sizeof buffer);
      if (got <= 0) return false;
      bytes.append(buffer, static_cast<std::size_t>(got));
    } else if (bytes.ends_with(cursor_shown)) {
      return true;
    }
  }
  return false;
}

void TerminalProgram::hang_up() {
  ::close(terminal_);
  terminal_ = -1;
}

int TerminalProgram::wait_for_end() {
  int status = 0;
  for (int i = 0; i < 2000 && ::waitpid(child_, &status, WNOHANG) == 0; ++i) ::usleep(1000);
  child_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace relish::testing
