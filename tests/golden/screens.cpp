// Golden screens of the editor: the program runs on a terminal of the size that the file's head names, keys
// are pressed, and what the terminal shows then stands below them.
//
//   # test: screen 80x24
//   > x = 1<Enter>x.sh<Tab>
//   | [1] >>> x = 1
//   | [2] >>> x.shape_
//
// The cursor is `_`, or stands in brackets around a character. `<resize 60x20>` alone changes the size.
#include <algorithm>
#include <cstdio>
#include <map>

#include "tests/golden/commands.h"
#include "tests/golden/terminal_program.h"
#include "tests/golden/terminal_screen.h"

namespace relish::testing {
namespace {

constexpr std::string_view enter_key = "<Enter>";

std::string keys_of_step(std::string text) {
  static const std::map<std::string, std::string> keys = {{"<Enter>", "\r"},
                                                          {"<Tab>", "\t"},
                                                          {"<Up>", "\x1b[A"},
                                                          {"<Down>", "\x1b[B"},
                                                          {"<Right>", "\x1b[C"},
                                                          {"<Left>", "\x1b[D"},
                                                          {"<Home>", "\x1b[H"},
                                                          {"<End>", "\x1b[F"},
                                                          {"<Backspace>", "\x7f"},
                                                          {"<Undo>", "\x1f"},
                                                          {"<Ctrl-A>", "\x01"},
                                                          {"<Ctrl-C>", "\x03"},
                                                          {"<Ctrl-D>", "\x04"},
                                                          {"<Ctrl-K>", "\x0b"},
                                                          {"<Ctrl-L>", "\x0c"},
                                                          {"<Ctrl-U>", "\x15"},
                                                          {"<Ctrl-W>", "\x17"},
                                                          {"<Ctrl-Y>", "\x19"},
                                                          {"<Alt-Enter>", "\x1b\r"},
                                                          {"<line>", "\n"},
                                                          {"<Ctrl-R>", "\x12"},
                                                          {"<Ctrl-P>", "\x10"},
                                                          {"<Ctrl-N>", "\x0e"},
                                                          {"<Ctrl-E>", "\x05"},
                                                          {"<Ctrl-Left>", "\x1b[1;5D"},
                                                          {"<Ctrl-Right>", "\x1b[1;5C"},
                                                          {"<Alt-Left>", "\x1b[1;3D"},
                                                          {"<Shift-Left>", "\x1b[1;2D"},
                                                          {"<PageUp>", "\x1b[5~"},
                                                          {"<PageDown>", "\x1b[6~"},
                                                          {"<F1>", "\x1bOP"},
                                                          {"<F5>", "\x1b[15~"},
                                                          {"<Shift-Tab>", "\x1b[Z"},
                                                          {"<Ctrl-T>", "\x14"},
                                                          {"<Delete>", "\x1b[3~"},
                                                          {"<paste>", "\x1b[200~"},
                                                          {"</paste>", "\x1b[201~"}};
  for (const auto& [name, bytes] : keys)
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at))
      text.replace(at, name.size(), bytes);
  return text;
}

}  // namespace

Outcome run_screen(const GoldenFile& file) {
  TemporaryFolder folder;
  unsigned columns = 80, rows = 24;
  std::sscanf(file.options.c_str(), "%ux%u", &columns, &rows);
  const auto narrow = [](unsigned size) { return static_cast<unsigned short>(size); };
  // Behind the size: whether there is an editor, the script edit.sh that the session has written, and a
  // pager.
  std::vector<std::string> variables;
  if (file.options.find("EDITOR") != std::string::npos) variables.push_back("EDITOR=sh edit.sh");
  variables.push_back(file.options.find("PAGER") == std::string::npos ? "PAGER="
                                                                      : "PAGER=sed -n 's/^/page: /p'");
  TerminalProgram program(folder, {"repl", "--tier", "interp"},
                          {"xterm", narrow(columns), narrow(rows), variables});
  TerminalScreen screen(columns, rows);
  Outcome outcome;
  std::string bytes, transcript;
  bool goes_on = program.read_to_rest(bytes);
  // What is greeted is no part of it: the first prompt is the first row.
  screen.write("\x1b[H");
  screen.write(std::string_view(bytes).substr(std::min(bytes.rfind("\x1b[?25l"), bytes.size())));
  std::size_t at = 0;
  while (at < file.source.size()) {
    const std::size_t end = std::min(file.source.find('\n', at), file.source.size());
    const std::string line = file.source.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("> ")) {
      if (line.starts_with("#")) transcript += line + "\n";
      continue;
    }
    transcript += line + "\n";
    if (!goes_on) {
      outcome.problems.push_back("the session was over before '" + line + "'");
      break;
    }
    if (std::sscanf(line.c_str(), "> <resize %ux%u>", &columns, &rows) == 2) {
      screen.resize(columns, rows);
      program.resize(narrow(columns), narrow(rows));
    } else {
      // Enter is pressed by a hand: the program rests before and behind it.
      std::string keys = line.substr(2);
      for (std::size_t enter; goes_on && (enter = keys.find(enter_key)) != std::string::npos;) {
        if (enter == 0) enter = enter_key.size();
        program.send(keys_of_step(keys.substr(0, enter)));
        keys.erase(0, enter);
        if (keys.empty()) break;
        goes_on = program.read_to_rest(bytes);
        screen.write(bytes);
      }
      program.send(keys_of_step(keys));
    }
    goes_on = goes_on && program.read_to_rest(bytes);
    screen.write(bytes);
    for (const std::string& row : screen.rows()) transcript += row.empty() ? "|\n" : "| " + row + "\n";
  }
  for (const std::string& sequence : screen.unknown())
    outcome.problems.push_back("found the unknown escape '" + sequence + "'");
  program.send("\x03\x04");
  program.read_to_rest(bytes);
  outcome.exit_code = program.wait_for_end();
  outcome.transcript = transcript;
  return outcome;
}

}  // namespace relish::testing
