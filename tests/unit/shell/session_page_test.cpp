// The sessions of docs/session.md are run, input by input, and say what the page says. RELISH_UPDATE=1 in the
// environment writes what they say into the page.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "shell/workspace/state_words.h"
#include "tests/unit/shell/session_harness.h"
#include "tests/unit/temporary_folder.h"

using namespace relish;
using relish::testing::SessionHarness;

namespace {

constexpr const char* page_path = RELISH_SOURCE_DIR "/docs/session.md";

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
