// The statements of a session, and the file that `:save` writes them to. A session that is saved and run
// again comes to the same state: where a statement was stopped in the middle, the values stand that it left.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/repl/value_statement.h"
#include "shell/script/script.h"

namespace relish {

// The first line of a saved session.
inline constexpr std::string_view session_heading = "# relish: 1 session";

class SessionStatements {
 public:
  // An input that ran, in whole.
  void add(std::string text);
  // An input that failed or was stopped: what finished of it stands, and of a statement that was stopped the
  // values that `script` has from it now.
  void add_part(const std::string& text, const Script::Progress& progress, const Script& script);

  std::size_t inputs() const { return inputs_; }
  // Whether a statement stands as a comment, since it stopped in the middle.
  bool has_stopped() const { return has_stopped_; }
  // Names whose values no text says.
  const std::vector<std::string>& unwritten() const { return unwritten_; }
  // Writes the session's file and those of large values. UsageError for a file that is no saved session, or
  // for values where none is saved, unless `overwrite`; IOError.
  void save(const std::string& path, bool overwrite) const;

 private:
  void add_piece(const SessionPiece& piece);

  std::vector<SessionPiece> pieces_;
  std::vector<std::string> unwritten_;
  std::size_t inputs_ = 0;
  bool has_stopped_ = false;
};

}  // namespace relish
