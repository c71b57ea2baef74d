// The runner of golden files: `golden [--update] [--filter TEXT] [--list] [FILE…]`. Every file below
// tests/golden is run by the command in its head and compared with what it expects; --update writes what was
// found instead.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <iterator>
#include <map>
#include <semaphore>

#include "shell/session.h"
#include "support/failure.h"
#include "support/render.h"
#include "tests/golden/commands.h"
#include "tests/golden/reading.h"
#include "tests/golden/tolerance.h"

namespace relish::testing {
namespace {

namespace fs = std::filesystem;

struct Options {
  bool update = false;
  bool list = false;
  bool times = false;
  std::string filter;
  std::vector<std::string> files;
};

const std::map<std::string, Outcome (*)(const GoldenFile&)> commands = {
    {"parse", run_parse}, {"print", run_print},    {"check", run_check},  {"pass", run_pass},
    {"run", run_script},  {"train", run_training}, {"repl", run_session}, {"cli", run_command_line},
    {"steps", run_steps}, {"screen", run_screen},  {"loops", run_loops},
};

fs::path root() { return fs::path(RELISH_SOURCE_DIR) / "tests/golden"; }

std::vector<std::pair<std::string, std::string>> golden_files(const Options& options) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& path : options.files) {
    files.emplace_back(fs::absolute(path).string(), fs::relative(fs::absolute(path), root()).string());
  }
  if (options.files.empty()) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root())) {
      const std::string extension = entry.path().extension().string();
      if (!entry.is_regular_file() ||
          (extension != ".relish" && extension != ".py" && extension != ".session"))
        continue;
      files.emplace_back(entry.path().string(), fs::relative(entry.path(), root()).string());
    }
  }
  std::erase_if(files,
                [&](const auto& file) { return file.second.find(options.filter) == std::string::npos; });
  std::sort(files.begin(), files.end());
  return files;
}

bool meets(const Told& told, const Expectation& wanted) {
  return told.line == wanted.line && told.severity == wanted.severity &&
         (wanted.column == 0 || wanted.column == told.column) &&
         (wanted.error_class.empty() || wanted.error_class == told.error_class) &&
         told.with_rule().find(wanted.text) != std::string::npos;
}

void check_diagnostics(const GoldenFile& file, const Outcome& outcome, std::vector<std::string>& problems) {
  const std::vector<Told> all = told_by(file, outcome.diagnostics);
  std::vector<bool> expected(all.size(), false);
  for (const Expectation& wanted : file.expectations) {
    bool met = false;
    for (std::size_t i = 0; i < all.size() && !met; ++i) {
      if (!expected[i] && meets(all[i], wanted)) expected[i] = met = true;
    }
    if (!met) problems.push_back(fmt::format("line {}: nobody said '{}'", wanted.line, wanted.text));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Told& told = all[i];
    if (expected[i] || told.severity == Severity::Note) continue;
    problems.push_back(fmt::format("line {}: unexpected {}@{}: {}", told.line, told.error_class, told.column,
                                   told.with_rule()));
  }
}

std::string difference(std::string_view what, const std::string& found, const std::string& wanted) {
  std::size_t line = 1, i = 0;
  std::size_t line_start = 0;
  while (i < found.size() && i < wanted.size() && found[i] == wanted[i]) {
    if (found[i] == '\n') ++line, line_start = i + 1;
    ++i;
  }
  const auto line_of = [&](const std::string& text) {
    return line_start >= text.size() ? std::string("<end>")
                                     : text.substr(line_start, text.find('\n', line_start) - line_start);
  };
  return fmt::format("{} differs in line {}\n      found    {}\n      expected {}", what, line,
                     line_of(found), line_of(wanted));
}

std::vector<std::string> problems_of(const GoldenFile& file, const Outcome& outcome) {
  std::vector<std::string> problems = outcome.problems;
  const bool in_process = file.command != "cli" && file.command != "repl" && file.command != "screen";
  if (in_process && file.command != "print") check_diagnostics(file, outcome, problems);
  if (in_process && file.command == "print" && !file.expectations.empty())
    check_diagnostics(file, outcome, problems);
  for (const Diagnostic& diagnostic : outcome.diagnostics) {
    if (diagnostic.error_class == ErrorClass::Internal)
      problems.push_back("internal error: " + diagnostic.message);
  }
  if (outcome.exit_code == 70) problems.push_back("ends with 70, an internal error");

  // Numbers of a run are compared by the table; all other texts exactly.
  if (file.output && outcome.output != *file.output) {
    const bool numeric = file.command == "run" || file.command == "train" || !file.tolerance.empty();
    const int agreement_class = !file.tolerance.empty()   ? std::stoi(file.tolerance)
                                : file.command == "train" ? class_of_training
                                                          : class_of_models;
    const std::string found =
        numeric ? text_disagreement(outcome.output, *file.output, agreement_class) : "different";
    if (!found.empty()) problems.push_back(difference("the output", outcome.output, *file.output));
  } else if (!file.output && !outcome.output.empty() && !outcome.transcript && file.command != "check") {
    if (file.expectations.empty() && outcome.exit_code == 0)
      problems.push_back("has output and no '# expect' block");
  }
  if (file.error_output && outcome.error_output != *file.error_output) {
    problems.push_back(difference("standard error", outcome.error_output, *file.error_output));
  }
  if (outcome.transcript) {
    const std::string wanted = file.source.substr(file.source.find_first_not_of('\n'));
    if (*outcome.transcript != wanted)
      problems.push_back(difference("the transcript", *outcome.transcript, wanted));
  }
  const bool fails = std::any_of(file.expectations.begin(), file.expectations.end(),
                                 [](const Expectation& e) { return e.severity == Severity::Error; });
  if (file.exit_code ? outcome.exit_code != *file.exit_code : !fails && outcome.exit_code != 0) {
    problems.push_back(
        fmt::format("exit code is {}, expected {}", outcome.exit_code, file.exit_code.value_or(0)));
  }
  for (const Told& told : told_by(file, outcome.diagnostics)) {
    if (told.severity != Severity::Note && told.rule.find('.') == std::string::npos)
      problems.push_back(
          fmt::format("line {}: '{}' names no rule such as 'theme.rule'", told.line, told.text));
  }
  return problems;
}

// Compiled code is writable or executable, never both.
std::vector<std::string> mapping_problems() {
  std::vector<std::string> problems;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" rwx") != std::string::npos)
      problems.push_back("a mapping is writable and executable: " + line);
  }
  return problems;
}

// The round-trip law on the programs that are not golden files: examples, the standard library's texts, the
// models.
std::vector<std::pair<std::string, std::vector<std::string>>> law_on_other_programs(const Options& options) {
  std::vector<std::pair<std::string, std::vector<std::string>>> verdicts;
  const fs::path source = RELISH_SOURCE_DIR;
  for (const char* folder : {"examples", "stdlib", "tests/models"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source / folder)) {
      const std::string extension = entry.path().extension().string();
      const std::string name = fs::relative(entry.path(), source).string();
      if (!entry.is_regular_file() || (extension != ".relish" && extension != ".py")) continue;
      if (name.find(options.filter) == std::string::npos) continue;
      GoldenFile file;
      file.path = entry.path().string();
      file.name = name;
      std::ifstream stream(file.path, std::ios::binary);
      file.source.assign(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
      std::vector<std::string> problems = round_trip_problems(file);
      if (printed_source(file).empty()) problems.push_back("is not accepted");
      verdicts.emplace_back(name, std::move(problems));
    }
  }
  return verdicts;
}

enum class Verdict { Passed, Failed, Skipped, Updated };

// Programs on terminals wait for keys most of the time: their files run beside each other and all others.
class ScreensAhead {
 public:
  explicit ScreensAhead(const std::vector<std::pair<std::string, std::string>>& files) {
    for (const auto& [path, name] : files) {
      if (!name.starts_with("screen/")) continue;
      outcomes_[name] = std::async(std::launch::async, [this, path = path, name = name] {
        room_.acquire();
        struct Leave {
          std::counting_semaphore<>& room;
          ~Leave() { room.release(); }
        } leave{room_};
        return run_screen(read_golden_file(path, name));
      });
    }
  }
  Outcome take(const GoldenFile& file) {
    const auto ahead = outcomes_.find(file.name);
    return ahead == outcomes_.end() ? commands.at(file.command)(file) : ahead->second.get();
  }

 private:
  std::counting_semaphore<> room_{6};
  std::map<std::string, std::future<Outcome>> outcomes_;
};

Verdict run_one(const std::string& path, const std::string& name, const Options& options,
                ScreensAhead& screens) {
  std::vector<std::string> problems;
  try {
    const GoldenFile file = read_golden_file(path, name);
    const auto command = commands.find(file.command);
    if (command == commands.end()) {
      fail_at(ErrorClass::Usage, path, "golden.command", fmt::format("unknown command '{}'", file.command));
    }
    const Outcome outcome = screens.take(file);
    problems = problems_of(file, outcome);
    // An update also completes expectations that name no rule.
    const bool complete = std::all_of(file.expectations.begin(), file.expectations.end(),
                                      [](const Expectation& each) { return each.text.ends_with(']'); });
    if (problems.empty() && (complete || !options.update)) return Verdict::Passed;
    if (options.update && outcome.problems.empty()) {
      const std::string text = updated_text(file, outcome);  // reads the file before it is opened for writing
      std::ofstream(path, std::ios::binary) << text;
      return Verdict::Updated;
    }
  } catch (const Unavailable& unavailable) {
    std::cout << "skipped " << name << ": " << unavailable.what << "\n";
    return Verdict::Skipped;
  } catch (const Failure& failure) {
    problems.push_back(render(failure.diagnostics(), Sources::instance(), {}));
  } catch (const std::exception& error) {
    problems.push_back(fmt::format("exception: {}", error.what()));
  }
  std::cout << "FAILED " << name << "\n";
  for (const std::string& problem : problems) std::cout << "    " << problem << "\n";
  return Verdict::Failed;
}

int run(const Options& options) {
  start_language();
  int passed = 0, failed = 0, updated = 0, skipped = 0;
  const auto files = golden_files(options);
  ScreensAhead screens(options.list ? decltype(files)() : files);
  for (const auto& [path, name] : files) {
    if (options.list) {
      std::cout << name << "\n";
      continue;
    }
    const auto start = std::chrono::steady_clock::now();
    switch (run_one(path, name, options, screens)) {
      case Verdict::Passed:
        ++passed;
        break;
      case Verdict::Failed:
        ++failed;
        break;
      case Verdict::Skipped:
        ++skipped;
        break;
      case Verdict::Updated:
        ++updated;
        std::cout << "updated " << name << "\n";
        break;
    }
    if (options.times) {
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
      std::cout << fmt::format("{:8.1f} ms {}\n", took.count(), name);
    }
    std::cout.flush();
  }
  if (options.files.empty() && !options.list) {
    for (const auto& [name, problems] : law_on_other_programs(options)) {
      ++(problems.empty() ? passed : failed);
      if (!problems.empty()) std::cout << "FAILED " << name << "\n";
      for (const std::string& problem : problems) std::cout << "    " << problem << "\n";
    }
  }
  for (const std::string& problem : mapping_problems()) {
    std::cout << "FAILED " << problem << "\n";
    ++failed;
  }
  std::cout << passed << " passed, " << failed << " failed";
  if (skipped > 0) std::cout << ", " << skipped << " skipped";
  if (updated > 0) std::cout << ", " << updated << " updated: read the difference";
  std::cout << std::endl;
  return failed == 0 && (passed > 0 || updated > 0 || options.list) ? 0 : 1;
}

}  // namespace
}  // namespace relish::testing

int main(int argc, char** argv) {
  relish::testing::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--update")
      options.update = true;
    else if (word == "--list")
      options.list = true;
    else if (word == "--times")
      options.times = true;
    else if (word == "--filter" && i + 1 < argc)
      options.filter = argv[++i];
    else if (!word.starts_with("-"))
      options.files.push_back(word);
    else {
      std::cerr << "usage: golden [--update] [--filter TEXT] [--times] [--list] [FILE...]\n";
      return 2;
    }
  }
  return relish::testing::run(options);
}
