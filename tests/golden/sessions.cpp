// Golden transcripts of interactive sessions: the program runs on a pseudo-terminal, as for a user, and gets
// the lines behind the prompts one by one. A line `^C` is the interrupt key, `^D` at the end of one the key
// that ends; `<paste>x = 1\ny = 2` is pasted, as a terminal marks it.
//
//   >>> x = 5
//   >>> x * 2
//   10
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <regex>

#include "support/failure.h"
#include "tests/golden/commands.h"
#include "tests/golden/process.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {
namespace {

constexpr int wait_limit_ms = 30000;

// The program on its terminal.
class TerminalProgram {
 public:
  TerminalProgram(const TemporaryFolder& folder, const std::vector<std::string>& options) {
    std::vector<std::string> words = {"relish"};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<std::string> variables = environment_at(folder.path(), {"LC_ALL=C.UTF-8", "TERM=dumb"});
    std::vector<char*> arguments, environment;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    for (std::string& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    winsize size{};
    size.ws_col = 400;
    size.ws_row = 50;
    child_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (child_ < 0) throw Unavailable{"there is no pseudo-terminal here"};
    if (child_ == 0) {
      for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_DFL);
      if (::chdir(folder.path().c_str()) != 0) ::_exit(126);
      ::execve(RELISH_PROGRAM, arguments.data(), environment.data());
      ::_exit(127);
    }
  }
  TerminalProgram(const TerminalProgram&) = delete;
  ~TerminalProgram() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      int status = 0;
      ::waitpid(child_, &status, 0);
    }
    if (terminal_ >= 0) ::close(terminal_);
  }

  void send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::write(terminal_, text.data(), text.size());
      if (sent <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  void resize() const {
    ::usleep(100'000);
    winsize size{};
    size.ws_col = 300;
    size.ws_row = 40;
    ::ioctl(terminal_, TIOCSWINSZ, &size);
    ::usleep(200'000);
  }

  // What the program writes up to its next prompt, which is returned apart; an empty prompt when it ended or
  // hangs.
  std::string read_to_prompt(std::string& prompt) {
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

  int wait_for_end() {
    int status = 0;
    for (int i = 0; i < 2000 && ::waitpid(child_, &status, WNOHANG) == 0; ++i) ::usleep(1000);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  // Without carriage returns and terminal escapes.
  static std::string plain(const std::string& text) {
    static const std::regex escapes("\x1b\\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]|\r|\x07");
    return std::regex_replace(text, escapes, "");
  }

  pid_t child_ = -1;
  int terminal_ = -1;
};

struct Step {
  std::string input;
  bool numbered = false;  // written with the whole prompt, `[3 try] >>> `
};

// `>>> ` and `... ` stand for the whole prompts, with number and branch, where a transcript does not show
// these.
std::string short_prompt(const std::string& prompt) { return prompt.substr(prompt.size() - 4); }

std::vector<Step> steps_of(const std::string& transcript) {
  std::vector<Step> steps;
  bool open = false;  // the line before was a numbered prompt, or went on with one
  std::size_t at = 0;
  while (at < transcript.size()) {
    const std::size_t end = std::min(transcript.find('\n', at), transcript.size());
    const std::string line = transcript.substr(at, end - at);
    // Indented ones go on with a numbered one; elsewhere they are part of what was said.
    static const std::regex marks("(>>>|\\.\\.\\.|(\\[[0-9]+[^\\]]*\\] >>>)|( +\\.\\.\\.))( (.*))?");
    std::smatch found;
    const bool marked = std::regex_match(line, found, marks) && (!found[3].matched || open);
    open = marked && (found[2].matched || found[3].matched);
    if (marked) steps.push_back({found[5], open});
    at = end + 1;
  }
  return steps;
}

constexpr std::string_view paste_mark = "<paste>", resize_mark = "<resize>";

// The text of a paste; empty for other inputs.
std::string pasted(const std::string& input) {
  if (!input.starts_with(paste_mark)) return {};
  std::string text = input.substr(paste_mark.size());
  for (std::size_t at = text.find("\\n"); at != std::string::npos; at = text.find("\\n", at))
    text.replace(at, 2, "\n");
  return text;
}

std::string keys_of(const std::string& input) {
  if (input == "^C") return "\x03";
  if (input.ends_with("^D")) return input.substr(0, input.size() - 2) + "\x04";
  if (input.starts_with(paste_mark)) return "\x1b[200~" + pasted(input) + "\x1b[201~\n";
  return input + "\n";
}

}  // namespace

Outcome run_session(const GoldenFile& file) {
  TemporaryFolder folder;
  std::vector<std::string> options = {"repl"};
  const std::vector<std::string> words = file.words();
  options.insert(options.end(), words.begin(), words.end());
  TerminalProgram program(folder, options);

  Outcome outcome;
  std::string prompt, transcript;
  program.read_to_prompt(prompt);  // the greeting
  for (const Step& step : steps_of(file.source)) {
    if (prompt.empty()) {
      outcome.problems.push_back(fmt::format("the session was over before '{}'", step.input));
      break;
    }
    std::string shown = (step.numbered ? prompt : short_prompt(prompt)) + step.input;
    while (shown.ends_with(' ')) shown.pop_back();
    transcript += shown + "\n";
    // A terminal that is resized while one types.
    const std::size_t resize = step.input.find(resize_mark);
    if (resize != std::string::npos) {
      program.send(step.input.substr(0, resize));
      program.resize();
    }
    program.send(keys_of(step.input.substr(resize == std::string::npos ? 0 : resize + resize_mark.size())));
    std::string output = program.read_to_prompt(prompt);
    // The terminal echoes the line, or those of a paste; what follows is the program's.
    const std::string sent = pasted(step.input);
    for (auto lines = 1 + std::count(sent.begin(), sent.end(), '\n'); lines > 0; --lines) {
      const std::size_t echo_end = output.find('\n');
      output = echo_end == std::string::npos ? std::string() : output.substr(echo_end + 1);
    }
    transcript += without_times(output);
  }
  if (!prompt.empty()) {
    program.send("\x04");
    program.read_to_prompt(prompt);
  }
  outcome.exit_code = program.wait_for_end();
  outcome.transcript = transcript;
  return outcome;
}

}  // namespace relish::testing
