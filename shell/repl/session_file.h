// The statements of a session, and the file that `:save` writes them to. A session that is saved and run
// again comes to the same state, as long as no statement was stopped in the middle.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/script/script.h"

namespace relish {

// The first line of a saved session.
inline constexpr std::string_view session_heading = "# relish: 1 session";

class SessionStatements {
 public:
  // An input that ran, in whole.
  void add(std::string text);
  // An input that failed or was stopped: what finished of it stands.
  void add_part(const std::string& text, const Script::Progress& progress);

  std::size_t inputs() const { return inputs_; }
  // Whether a statement stands as a comment, since it stopped in the middle.
  bool has_stopped() const { return has_stopped_; }
  // Writes the session's file. UsageError for a file that is no saved session, unless `overwrite`; IOError.
  void save(const std::string& path, bool overwrite) const;

 private:
  std::string text_;
  std::size_t inputs_ = 0;
  bool has_stopped_ = false;
};

}  // namespace relish
