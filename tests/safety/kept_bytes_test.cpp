// A file that a command writes over its own input keeps all that is not what the command writes: in every
// form of file, by every transform, killed at any moment, and without room.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <map>

#include "shell/command.h"
#include "tests/safety/notebooks.h"
#include "tests/safety/program.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {
namespace {

using generate::Random;

// The words of every command that writes a text, with what it needs to run on a notebook. A command of the
// registry that is missing here fails the test.
std::vector<std::vector<std::string>> writing_commands(const std::string& function) {
  const std::map<std::string, std::vector<std::string>> options = {
      {"gradient", {"-f", function}},
      {"vjp", {"-f", function}},
      {"jvp", {"-f", function}},
      {"hvp", {"-f", function}},
      {"jacobian", {"-f", function}},
      {"bind_params", {"-f", function, "--set", "w=ones"}},
      {"append_loss", {"-f", function, "--loss", "l1"}},
      {"optimizer", {"-f", function, "--optimizer", "sgd(lr=0.1)"}},
      {"setup_trainer", {"-f", function, "--loss", "l1", "--optimizer", "adam(lr=0.1)"}},
      {"decompose", {"-f", function, "--mode", "inference"}},
      {"legalize", {}},
      {"fuse", {}},
      {"lower", {"--to", "schedule"}},
      {"schedule", {}},
      {"dce", {}},
      {"fold", {}},
      {"simplify", {}},
      {"canonicalize", {}},
      {"cse", {}},
      {"unroll", {}},
      {"inline", {}},
      {"to_dataflow", {}},
      {"lambda_lift", {}},
      {"expand_tuples", {}},
      {"lift_params", {}},
      {"dead_parameters", {}},
      {"normalize", {}},
      {"topological_sort", {}},
      {"bind_symbols", {"-f", function}},
      {"passes", {"-f", function, "-p", "gradient, legalize, dce"}},
  };
  std::vector<std::vector<std::string>> result = {{"fmt"}};
  for (const Command* command : all_commands()) {
    if (!command->transforms) continue;
    const auto found = options.find(std::string(command->name));
    INFO("the transform " << command->name << " has no entry here");
    REQUIRE(found != options.end());
    std::vector<std::string> words = {shell_name(command->name)};
    words.insert(words.end(), found->second.begin(), found->second.end());
    result.push_back(std::move(words));
  }
  return result;
}

// The first of the kept pieces that a text lacks; nothing when all stand there in their order.
std::string missing(const std::string& text, const std::vector<std::string>& kept) {
  std::size_t at = 0;
  for (const std::string& piece : kept) {
    const std::size_t found = text.find(piece, at);
    if (found == std::string::npos) return piece.empty() ? "nothing" : piece;
    at = found + piece.size();
  }
  return {};
}

std::vector<std::string> in_place(std::vector<std::string> words, const std::string& file) {
  words.insert(words.begin() + 1, file);
  words.insert(words.end(), {"-o", file});
  return words;
}

// Runs `rounds` random texts through every command.
void check_texts(const std::string& name, int rounds, Notebook (*make)(Random&), std::uint64_t seed) {
  TemporaryFolder folder;
  for (int round = 0; round < rounds; ++round) {
    Random random(seed + static_cast<std::uint64_t>(round));
    const Notebook notebook = make(random);
    const std::string function = notebook.text.find("class M0") != std::string::npos ? "M0.main" : "free";
    for (const std::vector<std::string>& words : writing_commands(function)) {
      if (name.ends_with(".relish") && words.front() == "fmt") continue;  // it formats the whole text
      INFO("seed " << seed + static_cast<std::uint64_t>(round) << ", " << words.front() << " of\n"
                   << notebook.text);
      const std::string path = folder.put(name, notebook.text);
      const TrialResult result = run_trial({in_place(words, name), folder.path()});
      INFO(result.messages);
      const std::string after = bytes_of(path);
      INFO("became\n" << after);
      // A new function may have a name that the statements use; then nothing is written.
      if (result.messages.find("[program.in_place]") != std::string::npos) {
        CHECK(result.exit_code == 2);
        CHECK(after == notebook.text);
        continue;
      }
      REQUIRE(result.exit_code == 0);
      CHECK(missing(after, notebook.kept).empty());
      CHECK(run_trial({{"check", name}, folder.path()}).exit_code == 0);
      if (words.front() == "gradient") CHECK(after.find("_adjoint") != std::string::npos);
    }
  }
}

TEST_CASE("in a Python file every command keeps what it does not write") {
  check_texts("nb.py", 6, random_notebook, 100);
}
TEST_CASE("in a script every command keeps what it does not write") {
  check_texts("s.relish", 6, random_script, 200);
}
TEST_CASE("in many files every command keeps what it does not write", "[full]") {
  check_texts("nb.py", 60, random_notebook, 10'000);
  check_texts("s.relish", 60, random_script, 20'000);
}

// --- Killed at any moment.

void check_kills(int rounds) {
  TemporaryFolder folder;
  Random random(7);
  Notebook notebook = random_notebook(random);
  while (notebook.text.find("class M0") == std::string::npos) notebook = random_notebook(random);
  const std::vector<std::vector<std::string>> commands = writing_commands("M0.main");
  int untouched = 0, written = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::vector<std::string>& words = random.pick(commands);
    const std::string path = folder.put("nb.py", notebook.text);
    // What the whole run writes, and how long it takes, are known from one that is left alone.
    Trial trial{in_place(words, "nb.py"), folder.path()};
    const auto start = std::chrono::steady_clock::now();
    REQUIRE(run_trial(trial).exit_code == 0);
    const auto duration =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start)
            .count();
    const std::string whole = bytes_of(path);
    REQUIRE(missing(whole, notebook.kept).empty());
    folder.put("nb.py", notebook.text);
    // At any moment, and as often near the end, where it writes.
    trial.kill_after_us = random.chance(0.5) ? random.below(duration) : duration / 2 + random.below(duration);
    run_trial(trial);
    const std::string after = bytes_of(path);
    INFO(words.front() << ", killed after " << trial.kill_after_us << " us");
    CHECK((after == notebook.text || after == whole));
    CHECK(missing(after, notebook.kept).empty());
    (after == whole ? written : untouched) += 1;
  }
  CHECK(untouched > 0);
  CHECK(written > 0);
}

TEST_CASE("a command that is killed leaves the old text or the new one") { check_kills(25); }
TEST_CASE("a command that is killed in many moments leaves the old text or the new one", "[full]") {
  check_kills(1000);
}

// --- No room.

TEST_CASE("without room for the new text the old one stays") {
  TemporaryFolder folder;
  Random random(3);
  const Notebook notebook = random_notebook(random);
  const std::string path = folder.put("nb.py", notebook.text);
  for (const std::vector<std::string>& words : writing_commands("M0.main")) {
    if (words.front() == "dce" || words.front() == "bind-params") continue;  // their text is no longer
    INFO(words.front());
    const auto limit = static_cast<std::int64_t>(notebook.text.size() / 2);
    const TrialResult result = run_trial({in_place(words, "nb.py"), folder.path(), -1, limit});
    INFO(result.messages);
    CHECK(result.exit_code == 7);
    CHECK(result.messages.find("File too large") != std::string::npos);
    CHECK(bytes_of(path) == notebook.text);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  }
}

TEST_CASE("on a full disk the old text stays") {
  TemporaryFolder folder;
  constexpr std::size_t page = 4096, pages_of_text = 3;
  Random random(5);
  Notebook notebook = random_notebook(random);
  if (!notebook.text.ends_with('\n')) notebook.text += '\n';
  while (notebook.text.size() < pages_of_text * page - 100)
    notebook.text += "# a long file, of several pages\n";
  // Without a page for the new text, and with room for a part of it.
  for (std::size_t free_pages = 0; free_pages < pages_of_text; ++free_pages) {
    SmallDisk disk(folder.path(), (pages_of_text + 1 + free_pages) * page);
    if (!disk.available()) {
      WARN("skipped: a small disk needs the right to mount one");
      return;
    }
    const std::string path = folder.put("nb.py", notebook.text);
    folder.put("filler", std::string(page, 'x'));
    REQUIRE(bytes_of(path) == notebook.text);
    for (const std::vector<std::string>& words : writing_commands("M0.main")) {
      INFO(words.front() << " with " << free_pages << " pages");
      const TrialResult result = run_trial({in_place(words, "nb.py"), folder.path()});
      INFO(result.messages);
      CHECK(result.exit_code == 7);
      CHECK(bytes_of(path) == notebook.text);
      CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
    }
  }
}

// --- Where the text goes.

TEST_CASE("behind a symlink the file itself is changed, and the link stays") {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("real"));
  Random random(11);
  const Notebook notebook = random_notebook(random);
  const std::string path = folder.put("real/nb.py", notebook.text);
  std::filesystem::create_symlink("real/nb.py", folder.file("nb.py"));
  const TrialResult result = run_trial({{"fmt", "nb.py", "-o", "nb.py"}, folder.path()});
  INFO(result.messages);
  REQUIRE(result.exit_code == 0);
  CHECK(std::filesystem::is_symlink(folder.file("nb.py")));
  CHECK(bytes_of(path) != notebook.text);
  CHECK(missing(bytes_of(path), notebook.kept).empty());
}

TEST_CASE("a program with statements is not replaced by modules alone") {
  TemporaryFolder folder;
  folder.put("m.relish", "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    return R.sum(x)\n");
  for (const char* name : {"nb.py", "script.relish"}) {
    const std::string path = folder.put(name, "import os\nx = 1\n");
    if (std::string(name).ends_with(".relish")) folder.put(name, "x = 1\nprint(x)\n");
    const std::string before = bytes_of(path);
    for (const char* command : {"fmt", "gradient"}) {
      const TrialResult result = run_trial({{command, "m.relish", "-o", name}, folder.path()});
      INFO(result.messages);
      CHECK(result.exit_code == 2);
      CHECK(result.messages.find("[program.lost]") != std::string::npos);
      CHECK(bytes_of(path) == before);
    }
    folder.put("saves.relish", "lib = load(\"m.relish\")\nsave(lib, \"" + std::string(name) + "\")\n");
    const TrialResult saved = run_trial({{"run", "saves.relish"}, folder.path()});
    INFO(saved.messages);
    CHECK(saved.exit_code == 2);
    CHECK(bytes_of(path) == before);
    // What was made of declarations may be made again.
    CHECK(run_trial({{"gradient", "m.relish", "-o", "made.py"}, folder.path()}).exit_code == 0);
    CHECK(run_trial({{"gradient", "m.relish", "-o", "made.py"}, folder.path()}).exit_code == 0);
  }
}

}  // namespace
}  // namespace relish::testing
