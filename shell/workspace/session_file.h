// The statements of a session, and the file that `:save` writes them to. A session that is saved and run
// again comes to the same state: where a statement was stopped in the middle, the values stand that it left.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell/script/script.h"
#include "shell/workspace/name_map.h"
#include "shell/workspace/value_statement.h"

namespace relish {

// How the first line of a saved session begins; options may follow.
inline constexpr std::string_view session_heading = "# relish: 1 session";

// What stands as a comment above its lines, each behind `comment_of_input`.
inline constexpr std::string_view stopped_title = "Stopped in the middle:";
inline constexpr std::string_view other_states_title = "With values of other states:";
inline constexpr std::string_view last_call_title = "With the arguments of the last call:";
inline constexpr std::string_view comment_of_input = "#   ";

// The file that a name means: the one of that very name, else the first with one of the endings behind it
// that is there; the name itself where there is none.
std::string session_path(const std::string& name, std::initializer_list<std::string_view> endings);
// Where a session that ends leaves what no file has, `left` with that ending in the user's state folder;
// empty where there is no such folder.
std::string left_session_path(std::string_view ending);
// Whether the statements of a session stand in the file, and whether all its states do.
bool holds_statements(const std::string& path);
bool holds_states(const std::string& path);
// Whether a regular file stands at `path` that no session wrote.
bool is_other_file(const std::string& path);
// Refuses to replace such a file: UsageError.
void refuse_other_file(const std::string& path);

class SessionText {
 public:
  // An input that ran, in whole.
  void add(std::string text);
  // An input that failed or was stopped: what finished of it stands, and of a statement that was stopped the
  // values that `script` has from it now. `had`: the names that were bound before it.
  void add_part(const std::string& text, const Script::Progress& progress, const Script& script,
                const NameMap& had);
  // An input that used what the file does not have, values of other states or arguments of a call: it is a
  // comment with that title, and what it left stands as values.
  void add_values(std::string_view title, const SessionText& of, const Script::Progress& progress,
                  const Script& script, const NameMap& had);
  // All of another one behind this.
  void add(const SessionText& other);

  // As it was saved and read again.
  static SessionText of_pieces(std::vector<SessionPiece> pieces, std::size_t inputs, bool has_stopped,
                               std::vector<std::string> unwritten);
  const std::vector<SessionPiece>& pieces() const { return pieces_; }
  // The statements as one text; none where values stand among them that are in no text.
  std::optional<std::string> plain() const;
  // Its first text; empty when there is none.
  std::string_view first_text() const;
  std::size_t inputs() const { return inputs_; }
  // Whether a statement stands as a comment, since it stopped in the middle.
  bool has_stopped() const { return has_stopped_; }
  // Names whose values no text says.
  const std::vector<std::string>& unwritten() const { return unwritten_; }
  // Writes the session's file and those of large values, and says how many these are; `heading` is the first
  // line. UsageError for a file that is no saved session, or for values where none is saved, unless
  // `overwrite`; IOError.
  std::size_t save(const std::string& path, std::string_view heading, bool overwrite) const;

 private:
  void add_piece(const SessionPiece& piece);
  void add_left(const Script::Progress& progress, const Script& script, const NameMap& had);

  std::vector<SessionPiece> pieces_;
  std::vector<std::string> unwritten_;
  std::size_t inputs_ = 0;
  bool has_stopped_ = false;
};

}  // namespace relish
