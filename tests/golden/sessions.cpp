// Golden transcripts of interactive sessions: the program runs on a pseudo-terminal, as for a user, and gets
// the lines behind the prompts one by one. A line `^C` is the interrupt key, `^D` at the end of one the key
// that ends; `<paste>x = 1\ny = 2` is pasted, as a terminal marks it.
//
//   >>> x = 5
//   >>> x * 2
//   10
#include <algorithm>
#include <regex>

#include "support/failure.h"
#include "tests/golden/commands.h"
#include "tests/golden/terminal_program.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {
namespace {

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
      program.resize(300, 40);
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
