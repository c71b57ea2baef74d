// Line editing on a terminal through libedit: history, completion, pastes as one text, and Ctrl-C that drops
// the line.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace relish {

class LineEditor {
 public:
  // Candidates that complete the end of `text`, each a whole replacement of its last word.
  using Complete = std::function<std::vector<std::string>(std::string_view text)>;

  explicit LineEditor(Complete complete);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;

  // Drop: Ctrl-D behind text; the input is to be forgotten.
  enum class Event { Line, EndOfInput, Interrupt, Drop };
  // Reads one line (more, when it was pasted or recalled) without its line end into `line`. `open`: it goes
  // on with text that stands above it.
  Event read(const std::string& prompt, std::string& line, bool open = false);
  // Makes an input available to the arrow keys.
  void remember(const std::string& input);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The last word of a text, which completion replaces: names with dots, or a ':' command.
std::string_view last_word(std::string_view text);

}  // namespace relish
