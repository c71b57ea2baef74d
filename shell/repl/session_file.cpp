// Statements of a session as a text that runs again.
#include "shell/repl/session_file.h"

#include <sys/stat.h>

#include "support/atomic_file.h"
#include "support/failure.h"
#include "support/limits.h"
#include "support/render.h"

namespace relish {
namespace {

// Whether a regular file stands at `path` that no session wrote.
bool is_other_file(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  const std::string text = read_file(path, limits().max_source_bytes, "--max-source-size");
  std::string_view first = std::string_view(text).substr(0, text.find('\n'));
  if (first.ends_with('\r')) first.remove_suffix(1);
  return first != session_heading;
}

}  // namespace

void SessionStatements::add(std::string text) {
  if (!text.ends_with('\n')) text += '\n';
  text_ += text;
  ++inputs_;
}

void SessionStatements::add_part(const std::string& text, const Script::Progress& progress) {
  if (progress.end > 0) add(text.substr(0, progress.end));
  if (!progress.stopped.known()) return;
  has_stopped_ = true;
  text_ += "# Stopped in the middle; what it had done is not repeated:\n";
  std::string_view rest =
      std::string_view(text).substr(progress.stopped.begin, progress.stopped.end - progress.stopped.begin);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    text_ += "#   " + std::string(line) + "\n";
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
}

void SessionStatements::save(const std::string& path, bool overwrite) const {
  if (!overwrite && is_other_file(path)) {
    fail(ErrorClass::Usage, {}, "save.other",
         fmt::format(
             "'{}' is no saved session: it is not replaced; write :save FILE --overwrite to replace it",
             printable(path)));
  }
  write_file_atomically(path, std::string(session_heading) + "\n" + text_);
}

}  // namespace relish
