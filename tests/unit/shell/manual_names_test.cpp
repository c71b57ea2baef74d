// What the manual names exists, and what exists is tried: every flag and command on a page of docs/ is one
// that the program has, and every option of every command stands in a test that runs the program.
#include <catch2/catch.hpp>

#include <filesystem>
#include <regex>
#include <set>

#include "shell/command.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {
namespace {

namespace fs = std::filesystem;

std::set<std::string> matches_in(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
    found.insert((*match)[1].str());
  return found;
}

std::set<std::string> flags_in(const std::string& text) {
  static const std::regex pattern("(?:^|[^a-z-])(--[a-z][a-z-]*[a-z])");
  return matches_in(text, pattern);
}

std::vector<fs::path> pages() {
  std::vector<fs::path> result = {fs::path(RELISH_SOURCE_DIR) / "README.md"};
  for (const auto& entry : fs::directory_iterator(fs::path(RELISH_SOURCE_DIR) / "docs"))
    if (entry.path().extension() == ".md" && entry.path().filename() != "commands.md")  // made from these
      result.push_back(entry.path());
  return result;
}

}  // namespace

TEST_CASE("flags and commands that the manual names exist", "[manual_names]") {
  std::string helps = command_list_help();
  for (const Command* command : all_commands()) helps += "\n" + command_help(*command);
  std::set<std::string> flags = flags_in(helps);
  REQUIRE(flags.contains("--run-dir"));
  flags.merge(flags_in(bytes_of(RELISH_SOURCE_DIR "/dev")));
  // Code in the text; `relish layers.relish` names a file.
  static const std::regex called("(?:^|[^`])`relish ([a-z][a-z-]*)(?![a-z./-])");
  for (const fs::path& page : pages()) {
    INFO(page.filename().string());
    const std::string text = bytes_of(page.string());
    for (const std::string& flag : flags_in(text)) {
      INFO(flag);
      // Of all transforms in a session, of the tests' own generators, of a wrong line that a page shows and
      // of `env`.
      const bool other = flag == "--as" || flag == "--block-signal" || flag == "--rounds" ||
                         flag == "--nosuch" || flag == "--markdown" || flag == "--version";
      CHECK((other || flags.contains(flag)));
    }
    for (const std::string& name : matches_in(text, called)) {
      INFO("relish " << name);
      CHECK(find_command(name) != nullptr);
    }
  }
}

TEST_CASE("every option of every command stands in a test", "[manual_names]") {
  std::string tests;
  for (const char* folder : {"tests/golden", "tests/unit/shell", "tests/jobs", "tests/safety"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(RELISH_SOURCE_DIR) / folder))
      if (entry.is_regular_file() && entry.path().filename() != "manual_names_test.cpp")
        tests += bytes_of(entry.path().string());
  for (const Command* command : all_commands()) {
    for (const Option& option : command->options) {
      // Times differ from run to run, and the pages of the manual that the others make have a test of their
      // own.
      const std::string text = std::string(command->name) + " " + std::string(option.name);
      const std::set<std::string> elsewhere = {"time vs",      "time runs",     "ops coverage",
                                               "ops markdown", "ops elsewhere", "help markdown"};
      INFO(text);
      if (elsewhere.contains(text)) continue;
      const std::string flag = "--" + shell_name(option.name);
      const std::string letter = option.letter ? std::string(" -") + option.letter + " " : flag;
      CHECK((tests.find(flag) != std::string::npos || tests.find(letter) != std::string::npos ||
             tests.find(std::string(option.name) + "=") != std::string::npos));
    }
  }
}

}  // namespace relish::testing
