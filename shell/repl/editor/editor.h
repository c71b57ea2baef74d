// What reads inputs from a terminal: line by line where it can do no more, else as a text that is edited as
// a whole.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/scanner.h"
#include "shell/repl/completion/completion.h"
#include "shell/repl/faults/input_faults.h"

namespace relish {

// What an editor asks the session.
struct EditorQuestions {
  std::function<Completions(std::string_view text)> complete;  // at the end of the text
  std::function<Missing(std::string_view text)> missing;
  // A line about where the cursor is, for the end of the text.
  std::function<std::string(std::string_view text)> status;
  // What is wrong in the text as it stands. `goes_on` may end the answer, which is none then.
  std::function<std::optional<std::vector<InputFault>>(std::string_view text,
                                                       const std::function<bool()>& goes_on)>
      faults;
  // Whether something happened that the session wants to tell, while nobody types.
  std::function<bool()> wakes;
};

class Editor {
 public:
  virtual ~Editor() = default;

  // Drop: Ctrl-D behind text; the input is to be forgotten. Woken: what was typed stands in the line again at
  // the next call.
  enum class Event { Line, EndOfInput, Interrupt, Drop, Woken };
  // Reads one line (more, when it was pasted or recalled) without its line end into `line`. `open`: it goes
  // on with text that stands above it, and `prompt` is that of such lines.
  virtual Event read(const std::string& prompt, std::string& line, bool open) = 0;
  // Whether what was read is a whole input.
  virtual bool reads_whole_inputs() const = 0;
  // Makes an input available to the arrow keys.
  virtual void remember(const std::string& input) = 0;
  // What the next line begins with.
  virtual void prefill(const std::string& text) = 0;
};

// A text that takes the place of the last word, if there is one for all candidates; "" when none is longer.
std::string common_continuation(const Completions& completions);

}  // namespace relish
