// The file of earlier inputs, `$XDG_STATE_HOME/relish/history`: a line an input, with line ends and
// backslashes escaped, readable by its owner alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relish {

class HistoryFile {
 public:
  // Empty path: nothing is kept. Troubles with the file are no troubles of the session: they are ignored.
  explicit HistoryFile(std::string path);

  // The newest inputs; what is beyond their most number or size goes from the file too.
  std::vector<std::string> read() const;
  void append(const std::string& input) const;

 private:
  void write(const std::vector<std::string>& inputs) const;

  std::string path_;
};

// From XDG_STATE_HOME, else HOME; empty when neither is set.
std::string history_path();
std::string escape_input(std::string_view input);
std::string unescape_input(std::string_view line);

}  // namespace relish
