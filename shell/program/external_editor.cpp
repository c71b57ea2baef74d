// A file of its own for the text, and the editor's process.
#include "shell/program/external_editor.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "shell/program/child_signals.h"
#include "support/atomic_file.h"
#include "support/failure.h"
#include "support/limits.h"
#include "support/render.h"

namespace relish {
namespace {

std::string editor_command() {
  for (const char* variable : {"VISUAL", "EDITOR"}) {
    const char* command = std::getenv(variable);
    if (command && *command) return command;
  }
  return "vi";
}

// A folder that nobody else can look into, gone at the end with all that the editor leaves in it.
class EditedFile {
 public:
  explicit EditedFile(const std::string& text) {
    std::error_code ignored;
    std::string folder = (std::filesystem::temp_directory_path(ignored) / "relish-edit-XXXXXX").string();
    if (!::mkdtemp(folder.data())) {
      fail_at(ErrorClass::IO, folder, "edit.file", fmt::format("cannot make it: {}", std::strerror(errno)));
    }
    folder_ = folder;
    write_file_atomically(path(), text);
  }
  EditedFile(const EditedFile&) = delete;
  ~EditedFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string path() const { return folder_ + "/input.relish"; }

 private:
  std::string folder_;
};

}  // namespace

std::string edited_by_user(const std::string& text) {
  const EditedFile file(text);
  const std::string command = editor_command(), line = command + " \"$1\"", path = file.path();
  const ChildSignals signals;
  const pid_t child = ::fork();
  if (child < 0)
    fail(ErrorClass::IO, {}, "edit.editor", fmt::format("cannot start an editor: {}", std::strerror(errno)));
  if (child == 0) {
    ChildSignals::take_back();
    ::execl("/bin/sh", "sh", "-c", line.c_str(), "relish", path.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fail(
        ErrorClass::IO, {}, "edit.editor",
        fmt::format("the editor '{}' failed; nothing was run. EDITOR names another one", printable(command)));
  }
  return read_file(path, limits().max_source_bytes, "--max-source-size");
}

}  // namespace relish
