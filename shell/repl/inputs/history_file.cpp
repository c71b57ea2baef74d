// Reading and appending of the history file.
#include "shell/repl/inputs/history_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "shell/program/user_files.h"

namespace relish {
namespace {

constexpr std::size_t most_inputs = 10'000, most_history_bytes = 10'000'000;

}  // namespace

std::string history_path() { return user_file("XDG_STATE_HOME", ".local/state", "history"); }

std::string escape_input(std::string_view input) {
  std::string line;
  for (char c : input) {
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\\') {
      line += "\\\\";
    } else {
      line += c;
    }
  }
  return line;
}

std::string unescape_input(std::string_view line) {
  std::string input;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) {
      ++i;
      input += line[i] == 'n' ? '\n' : line[i];
    } else {
      input += line[i];
    }
  }
  return input;
}

HistoryFile::HistoryFile(std::string path) : path_(std::move(path)) {}

std::vector<std::string> HistoryFile::read() const {
  std::vector<std::string> inputs;
  if (path_.empty()) return inputs;
  std::ifstream file(path_);
  std::string line;
  while (std::getline(file, line)) inputs.push_back(unescape_input(line));
  file.close();
  std::size_t bytes = 0;
  for (const std::string& input : inputs) bytes += input.size();
  if (inputs.size() <= most_inputs && bytes <= most_history_bytes) return inputs;
  // Somewhat shorter than need be, so that not every session has to.
  std::size_t first = 0;
  for (; inputs.size() - first > most_inputs / 10 * 9 || bytes > most_history_bytes / 10 * 9; ++first)
    bytes -= inputs[first].size();
  inputs.erase(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(first));
  write(inputs);
  return inputs;
}

void HistoryFile::write(const std::vector<std::string>& inputs) const {
  const std::string fresh = path_ + ".new";
  int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return;
  std::string text;
  for (const std::string& input : inputs) text += escape_input(input) + "\n";
  const ssize_t written = ::write(file, text.data(), text.size());
  ::close(file);
  const bool whole = written == static_cast<ssize_t>(text.size());
  if (!whole || std::rename(fresh.c_str(), path_.c_str()) != 0) ::unlink(fresh.c_str());
}

void HistoryFile::append(const std::string& input) const {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
  int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return;
  // A file that others could read, from wherever it came, is made private.
  ::fchmod(file, 0600);
  std::string line = escape_input(input) + "\n";
  [[maybe_unused]] ssize_t written = ::write(file, line.data(), line.size());
  ::close(file);
}

}  // namespace relish
