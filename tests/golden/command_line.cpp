// Golden files of the command line: the program itself, run in a temporary folder that holds the file's text
// under its own name and the files that its head gives.
//
//   # test: cli call model.relish main --arg x=@x.npy
//   # pipe: fmt -                        reads what the command before wrote
//   # given: x.npy from tests/models/mlp/x.npy [first BYTES]
//   # given: notes.txt text some words
//   # given: there folder
//   # given: here symlink TARGET
//   # given: here fifo
//   # given: linear.so native [mode 0666]   a library of tests/native
//   # shows: out.relish                  its text (of a folder, its files) follows the output
//   # stdin: x.npy
//   # stdout: closed
//   # signal: INT 300
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "support/failure.h"
#include "tests/golden/commands.h"
#include "tests/golden/process.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void bad_directive(const GoldenFile& file, const std::string& text) {
  fail_at(ErrorClass::Usage, file.path, "golden.directive",
          fmt::format("cannot read the directive '{}'", text));
}

void provide(const GoldenFile& file, const TemporaryFolder& folder, const std::string& text) {
  const std::vector<std::string> words = split_words(text);
  if (words.size() == 2 && words[1] == "folder") {
    fs::create_directories(folder.file(words[0]));
  } else if (words.size() == 3 && words[1] == "symlink") {
    fs::create_symlink(words[2], folder.file(words[0]));
  } else if (words.size() == 2 && words[1] == "fifo") {
    if (::mkfifo(folder.file(words[0]).c_str(), 0600) != 0) bad_directive(file, text);
  } else if (words.size() >= 3 && words[1] == "from") {
    std::string bytes = bytes_of(std::string(RELISH_SOURCE_DIR) + "/" + words[2]);
    if (bytes.empty()) bad_directive(file, text);
    if (words.size() == 5 && words[3] == "first") bytes.resize(std::stoul(words[4]));
    folder.put(words[0], bytes);
  } else if (words.size() >= 2 && words[1] == "native") {
    const std::string path = folder.put(words[0], bytes_of(RELISH_NATIVE_FOLDER "/" + words[0]));
    const bool has_mode = words.size() == 4 && words[2] == "mode";
    const auto usual =
        fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read | fs::perms::others_read;
    fs::permissions(path, has_mode ? fs::perms(std::stoul(words[3], nullptr, 8)) : usual);
  } else if (words.size() >= 2 && words[1] == "text") {
    const std::size_t at = text.find(" text");
    const std::string contents = text.size() > at + 6 ? text.substr(at + 6) : "";
    folder.put(words[0], contents + "\n");
  } else {
    bad_directive(file, text);
  }
}

int signal_number(const GoldenFile& file, const std::string& name) {
  if (name == "INT") return SIGINT;
  if (name == "TERM") return SIGTERM;
  if (name == "HUP") return SIGHUP;
  bad_directive(file, name);
}

}  // namespace

Outcome run_command_line(const GoldenFile& file) {
  TemporaryFolder folder;
  const std::string own_name = fs::path(file.path).filename().string();
  folder.put(own_name, file.source);
  for (const std::string& given : file.given) provide(file, folder, given);

  std::vector<std::string> commands = {file.options};
  commands.insert(commands.end(), file.pipes.begin(), file.pipes.end());
  Outcome outcome;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    ProcessRequest request;
    request.arguments = split_words(commands[i]);
    request.folder = folder.path();
    if (i > 0) {
      request.input = folder.put(".pipe", outcome.output);
    } else if (!file.input.empty()) {
      request.input = folder.file(file.input);
    }
    const bool last = i + 1 == commands.size();
    if (last) request.output_to = file.output_to;
    if (last && !file.signal.empty()) {
      const std::vector<std::string> words = split_words(file.signal);
      if (words.size() != 2) bad_directive(file, file.signal);
      request.signal = signal_number(file, words[0]);
      request.signal_after_ms = std::stoi(words[1]);
    }
    const ProcessResult result = run_program(request);
    outcome.output = result.output;
    outcome.error_output += without_times(result.error_output);
    outcome.exit_code = result.exit_code;
    if (result.timed_out) outcome.problems.push_back("did not end within its time");
    if (result.killed_by_signal)
      outcome.problems.push_back(fmt::format("died by signal {}", result.exit_code - 128));
    if (request.signal != 0 && result.signal_to_end_ms > 2000) {
      outcome.problems.push_back(
          fmt::format("went on for {:.0f} ms after the signal", result.signal_to_end_ms));
    }
    if (!last && result.exit_code != 0) {
      outcome.problems.push_back(
          fmt::format("'{}' of the pipe ended with {}", commands[i], result.exit_code));
      break;
    }
  }
  for (const std::string& name : file.shows) {
    const bool there = fs::exists(folder.file(name));
    outcome.output += fmt::format("--- {}{}\n", name, there ? "" : " is not there");
    if (!there) continue;
    if (fs::is_directory(folder.file(name))) {
      std::set<std::string> entries;
      for (const fs::directory_entry& entry : fs::directory_iterator(folder.file(name))) {
        entries.insert(entry.path().filename().string());
      }
      outcome.output += fmt::format("{}\n", fmt::join(entries, "\n"));
    } else {
      outcome.output += bytes_of(folder.file(name));
    }
  }
  return outcome;
}

}  // namespace relish::testing
