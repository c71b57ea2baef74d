// Statements of a session as a text that runs again.
#include "shell/workspace/session_file.h"

#include <sys/stat.h>

#include <algorithm>

#include "runtime/files/data_file.h"
#include "shell/command.h"
#include "shell/program/user_files.h"
#include "shell/script/builtins.h"
#include "shell/workspace/saved/archive_lines.h"
#include "support/atomic_file.h"
#include "support/failure.h"
#include "support/render.h"

namespace relish {
namespace {

bool is_file(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::string first_bytes_of(const std::string& path) {
  constexpr std::size_t first_bytes = 4096;
  return is_file(path) ? DataFile(path).head(first_bytes) : std::string();
}

bool begins_as_statements(std::string_view text) {
  std::string_view first = text.substr(0, text.find('\n'));
  if (first.ends_with('\r')) first.remove_suffix(1);
  return first == session_heading || first.starts_with(std::string(session_heading) + " --");
}

}  // namespace

std::string left_session_path(std::string_view ending) {
  return user_file("XDG_STATE_HOME", ".local/state", fmt::format("left{}", ending));
}

std::string session_path(const std::string& name, std::initializer_list<std::string_view> endings) {
  if (is_file(name)) return name;
  for (const std::string_view ending : endings)
    if (std::string with = name + std::string(ending); is_file(with)) return with;
  return name;
}

bool holds_statements(const std::string& path) { return begins_as_statements(first_bytes_of(path)); }

bool holds_states(const std::string& path) { return begins_as_archive(first_bytes_of(path)); }

bool is_other_file(const std::string& path) {
  if (!is_file(path)) return false;
  const std::string text = first_bytes_of(path);
  return !begins_as_archive(text) && !begins_as_statements(text);
}

void refuse_other_file(const std::string& path) {
  if (!is_other_file(path)) return;
  fail(ErrorClass::Usage, {}, "save.other",
       fmt::format("'{}' is no saved session: it is not replaced; write :save FILE --overwrite to replace it",
                   printable(path)));
}

void SessionText::add_piece(const SessionPiece& piece) {
  const auto* text = std::get_if<std::string>(&piece);
  auto* before = pieces_.empty() ? nullptr : std::get_if<std::string>(&pieces_.back());
  if (text && before) {
    *before += *text;
  } else {
    pieces_.push_back(piece);
  }
}

void SessionText::add(std::string text) {
  if (!text.ends_with('\n')) text += '\n';
  add_piece(std::move(text));
  ++inputs_;
}

void SessionText::add(const SessionText& other) {
  for (const SessionPiece& piece : other.pieces_) add_piece(piece);
  inputs_ += other.inputs_;
  has_stopped_ |= other.has_stopped_;
  unwritten_.insert(unwritten_.end(), other.unwritten_.begin(), other.unwritten_.end());
}

SessionText SessionText::of_pieces(std::vector<SessionPiece> pieces, std::size_t inputs, bool has_stopped,
                                   std::vector<std::string> unwritten) {
  SessionText result;
  result.pieces_ = std::move(pieces);
  result.inputs_ = inputs;
  result.has_stopped_ = has_stopped;
  result.unwritten_ = std::move(unwritten);
  return result;
}

std::string_view SessionText::first_text() const {
  const auto* text = pieces_.empty() ? nullptr : std::get_if<std::string>(&pieces_.front());
  return text ? std::string_view(*text) : std::string_view();
}

std::optional<std::string> SessionText::plain() const {
  std::string text;
  for (const SessionPiece& piece : pieces_) {
    const auto* own = std::get_if<std::string>(&piece);
    if (!own) return std::nullopt;
    text += *own;
  }
  return text;
}

namespace {

std::string as_comment(std::string_view title, std::string_view text) {
  std::string comment = fmt::format("# {}\n", title);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    comment += std::string(comment_of_input) + std::string(line) + "\n";
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return comment;
}

}  // namespace

void SessionText::add_values(std::string_view title, const SessionText& of, const Script::Progress& progress,
                             const Script& script, const NameMap& had) {
  for (const SessionPiece& piece : of.pieces_) {
    if (const auto* text = std::get_if<std::string>(&piece)) add_piece(as_comment(title, *text));
  }
  if (progress.draws == 0 && progress.touched.empty()) return;
  add_piece(std::string("# What it left:\n"));
  add_left(progress, script, had);
  inputs_ += of.inputs_;
}

void SessionText::add_part(const std::string& text, const Script::Progress& progress, const Script& script,
                           const NameMap& had) {
  if (progress.end > 0) add(text.substr(0, progress.end));
  if (!progress.stopped.known()) return;
  has_stopped_ = true;
  std::string comment = as_comment(
      stopped_title,
      std::string_view(text).substr(progress.stopped.begin, progress.stopped.end - progress.stopped.begin));
  comment += "# What it left:\n";
  add_piece(std::move(comment));
  add_left(progress, script, had);
}

// The values of a stopped statement, as statements.
void SessionText::add_left(const Script::Progress& progress, const Script& script, const NameMap& had) {
  if (progress.draws > 0) {
    // Whoever draws next draws what follows.
    std::string counter = "_drawn";
    while (script.environment().find(counter)) counter = "_" + counter;
    add_piece(fmt::format("for {0} in range({1}): {0} = rand((1,))\ndel {0}\n", counter, progress.draws));
  }
  // Names that hide what the values are made with come last.
  std::vector<std::string> names = progress.touched;
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return !find_builtin(name) && !find_command(name); });
  for (const std::string& name : names) {
    if (!script.environment().find(name)) {
      if (had.find(name)) add_piece("del " + name + "\n");
      continue;
    }
    if (const auto pieces = assignment_pieces(script, name)) {
      for (const SessionPiece& piece : *pieces) add_piece(piece);
    } else {
      unwritten_.push_back(name);
      add_piece(fmt::format("#   {}: a value that no text says\n", name));
    }
  }
}

std::size_t SessionText::save(const std::string& path, std::string_view heading, bool overwrite) const {
  if (!overwrite) refuse_other_file(path);
  const bool again = is_file(path);
  std::string text = std::string(heading) + "\n";
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (const auto* own = std::get_if<std::string>(&pieces_[i])) {
      text += *own;
      continue;
    }
    const std::string file = value_file(path, pieces_[i], i);
    if (!overwrite && !again && is_file(file)) {
      fail(ErrorClass::Usage, {}, "save.other",
           fmt::format("'{}' is there already, where a value of the session would go; write :save FILE "
                       "--overwrite to replace it",
                       printable(file)));
    }
    text += value_expression(path, pieces_[i], i);
  }
  std::size_t files = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (std::holds_alternative<std::string>(pieces_[i])) continue;
    write_value_file(path, pieces_[i], i);
    ++files;
  }
  write_file_atomically(path, text);
  return files;
}

}  // namespace relish
