// The sessions of docs/session.md are run, input by input, and say what the page says. RELISH_UPDATE=1 in the
// environment writes what they say into the page.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>

#include "shell/workspace/state_words.h"
#include "tests/unit/shell/session_harness.h"
#include "tests/unit/temporary_folder.h"

using namespace relish;
using relish::testing::SessionHarness;

namespace {

// The inputs of a transcript: the lines behind the prompts, with those that go on.
std::vector<std::string> inputs_of(const std::string& transcript) {
  std::vector<std::string> inputs;
  for (std::size_t at = 0; at < transcript.size();) {
    const std::size_t end = std::min(transcript.find('\n', at), transcript.size() - 1) + 1;
    std::string line = transcript.substr(at, end - at);
    at = end;
    const bool first = line.starts_with('[') && line.find("] >>> ") != std::string::npos;
    const std::size_t open = std::min(line.find_first_not_of(' '), line.size());
    const bool next = std::string_view(line).substr(open).starts_with("...");
    if (first) inputs.push_back(line.substr(line.find(">>> ") + 4));
    if (next && !inputs.empty()) inputs.back() += line.size() > open + 4 ? line.substr(open + 4) : "\n";
  }
  return inputs;
}

std::string transcript_of(SessionHarness& session, const std::vector<std::string>& inputs) {
  std::string text;
  for (const std::string& input : inputs) {
    bool first = true;
    for (std::size_t at = 0; at < input.size();) {
      const std::size_t end = input.find('\n', at) + 1;
      text += prompt_of(session.workspace(), !first) + input.substr(at, end - at);
      while (text.ends_with(" \n")) text.erase(text.size() - 2, 1);
      at = end;
      first = false;
    }
    text += session.with_errors(input);
  }
  return text;
}

std::string content_of_page(const std::string& path) {
  std::ifstream file(std::string(RELISH_SOURCE_DIR) + "/" + path);
  std::string page{std::istreambuf_iterator<char>(file), {}};
  REQUIRE_FALSE(page.empty());
  return page;
}

// What stands between a fence of that kind and its end; `at` moves behind it.
std::optional<std::string> next_block(const std::string& page, std::string_view kind, std::size_t& at) {
  const std::string fence = "```" + std::string(kind) + "\n";
  const std::size_t begin = page.find(fence, at);
  if (begin == std::string::npos) return std::nullopt;
  const std::size_t end = page.find("```\n", begin + fence.size());
  at = end + 4;
  return page.substr(begin + fence.size(), end - begin - fence.size());
}

// A folder of its own for what a session writes.
class FolderOfSession {
 public:
  FolderOfSession() { std::filesystem::current_path(folder_.path()); }
  ~FolderOfSession() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_ = std::filesystem::current_path();
  testing::TemporaryFolder folder_;
};

// The answers of a transcript: all but the lines with prompts.
std::string answers_of(const std::string& transcript) {
  std::string answers;
  bool asks = false;
  for (std::size_t at = 0; at < transcript.size();) {
    const std::size_t end = std::min(transcript.find('\n', at), transcript.size() - 1) + 1;
    const std::string line = transcript.substr(at, end - at);
    at = end;
    const std::size_t open = std::min(line.find_first_not_of(' '), line.size());
    asks = (line.starts_with('[') && line.find("] >>> ") != std::string::npos) ||
           (asks && open > 0 && std::string_view(line).substr(open).starts_with("..."));
    if (!asks) answers += line;
  }
  return answers;
}

}  // namespace

TEST_CASE("sessions of the manual that are piped whole give the answers of the page") {
  const std::string page = content_of_page("docs/session.md");
  std::size_t count = 0, at = 0;
  while (const auto transcript = next_block(page, "session", at)) {
    // The first fault would end a piped session.
    if (transcript->find(": error[") != std::string::npos) continue;
    const FolderOfSession folder;
    SessionHarness session("jit");
    session.inputs().set_summaries(true);
    const std::string begin = session.output();
    session.inputs().run_text("<stdin>", *transcript);
    INFO(*transcript);
    // What is typed has its input for a name, and what is piped is one text.
    static const std::regex inputs("<in [0-9]+>");
    CHECK(session.output() == begin + std::regex_replace(answers_of(*transcript), inputs, "<stdin>"));
    ++count;
  }
  CHECK(count >= 5);
}

TEST_CASE("the first session of the README is pasted block by block") {
  const std::string page = content_of_page("README.md");
  const FolderOfSession folder;
  SessionHarness session("jit");
  std::size_t at = 0, count = 0;
  for (; count < 3; ++count) {
    const auto block = next_block(page, "python", at);
    REQUIRE(block);
    const std::string told = session.with_errors(*block);
    INFO(*block << told);
    CHECK(told.find("error[") == std::string::npos);
    if (count == 1) CHECK(told.find("M = gradient(M.main, wrt=[\"w\"])") != std::string::npos);
    if (count == 2) CHECK(told.find("saved ") != std::string::npos);
  }
}

TEST_CASE("the first session of the README is pasted whole") {
  const std::string page = content_of_page("README.md");
  const FolderOfSession folder;
  SessionHarness session("jit");
  session.inputs().set_summaries(true);
  std::string all;
  for (std::size_t at = 0, count = 0; count < 3; ++count) all += *next_block(page, "python", at) + "\n";
  const std::string told = session.with_errors(all);
  INFO(told);
  CHECK(told.find("error[") == std::string::npos);
  // What :undo goes back over is the statement in front of it, so the module is still there for :time.
  for (const std::string_view answer : {"M = gradient(M.main, wrt=[\"w\"])\n     + main_adjoint\n",
                                        "~ M.main", "now at state 2: ", "main: median ", "saved "})
    CHECK(told.find(answer) != std::string::npos);
}

TEST_CASE("the sessions of the manual that are pasted whole give the answers of the page") {
  const std::string page = content_of_page("docs/session.md");
  std::size_t count = 0, at = 0;
  while (const auto transcript = next_block(page, "session", at)) {
    const FolderOfSession folder;
    SessionHarness session("jit");
    session.inputs().set_summaries(true);
    const std::string told = session.with_errors(*transcript);
    INFO(*transcript);
    const std::string answers = answers_of(*transcript);
    const std::size_t fault = transcript->find(": error[");
    if (fault == std::string::npos) {
      CHECK(told == answers);
    } else {
      // The first fault ends a paste; what is told up to there is the same.
      const std::size_t end = answers.find('\n', answers.find(": error["));
      CHECK(told.substr(0, end) == answers.substr(0, end));
    }
    ++count;
  }
  CHECK(count >= 10);
}

TEST_CASE("the texts of the manual that are pasted whole give their output") {
  const std::string page = content_of_page("docs/language.md");
  std::size_t count = 0;
  const std::string fence = "```relish\n";
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    const std::string text = *next_block(page, "relish", at);
    if (!page.substr(at).starts_with("\n```output\n")) continue;
    const std::string wanted = *next_block(page, "output", at);
    // Files and arguments are those of a script; a lone text is shown as it is typed.
    const auto has = [&](std::string_view words) { return text.find(words) != std::string::npos; };
    if (has("load(") || has("save(") || has("arg(") || has("exit(")) continue;
    const FolderOfSession folder;
    SessionHarness session;
    INFO(text);
    const std::string told = session.with_errors(text);
    // A fault is told with the place in the input, and not in a file.
    const bool fails = page.substr(at).starts_with("\n```error\n");
    CHECK(told.substr(0, fails ? wanted.size() : told.size()) == wanted);
    ++count;
  }
  CHECK(count >= 25);
}

namespace {

constexpr const char* page_path = RELISH_SOURCE_DIR "/docs/session.md";

}  // namespace

TEST_CASE("the sessions of the manual say what the page says") {
  std::ifstream file(page_path);
  std::string page{std::istreambuf_iterator<char>(file), {}};
  REQUIRE_FALSE(page.empty());
  const std::string fence = "```session\n";
  // What a session writes goes into a folder of its own.
  const testing::TemporaryFolder folder;
  struct Inside {
    std::filesystem::path before = std::filesystem::current_path();
    explicit Inside(const std::string& path) { std::filesystem::current_path(path); }
    ~Inside() { std::filesystem::current_path(before); }
  } inside(folder.path());
  std::size_t count = 0;
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    at += fence.size();
    const std::size_t end = page.find("```\n", at);
    REQUIRE(end != std::string::npos);
    const std::string shown = page.substr(at, end - at);
    SessionHarness session("jit");
    session.inputs().set_summaries(true);
    const std::string found = transcript_of(session, inputs_of(shown));
    CHECK(found == shown);
    page.replace(at, end - at, found);
    ++count;
  }
  CHECK(count >= 5);
  if (std::getenv("RELISH_UPDATE")) std::ofstream(page_path) << page;
}
