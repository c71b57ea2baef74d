// Titles of states.
#include "shell/workspace/state_words.h"

#include "support/render.h"

namespace relish {

std::string prompt_of(const Workspace& workspace, bool open) {
  const std::string& branch = workspace.log().branch();
  const std::string where = branch == "main" ? "" : " " + (branch.empty() ? std::string("?") : branch);
  const std::string place = fmt::format("[{}{}] ", workspace.next_input(), where);
  return open ? std::string(place.size(), ' ') + "... " : place + ">>> ";
}

std::string title_of(const LogNode& node) {
  constexpr std::size_t most_characters = 60;
  if (!node.label.empty()) return node.label;
  std::string_view text = node.made_by.first_text();
  // A statement that stands there as a comment, since its values do, is what somebody wrote all the same.
  for (const std::string_view title : {stopped_title, other_states_title, last_call_title}) {
    const std::string begin = fmt::format("# {}\n{}", title, comment_of_input);
    if (text.starts_with(begin))
      return printable(text.substr(begin.size(), text.find('\n', begin.size()) - begin.size()),
                       most_characters);
  }
  // What declares says so behind its decorators.
  std::string_view line;
  while (!text.empty()) {
    line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string_view::npos && line[begin] != '@' && line[begin] != '#') break;
  }
  return printable(line, most_characters);
}

std::string place_of(const Workspace& workspace, std::size_t node) {
  if (node == Log::root) return "the start";
  const LogNode& state = workspace.log().node(node);
  return fmt::format("state {}: {}", state.input, title_of(state));
}

}  // namespace relish
