// What the manual says is what the program does: `manual_examples [--update | --diagnostics | --coverage]`.
// Its table of diagnostics is complete (tests/manual/diagnostics.h; --diagnostics prints it), so is that of
// constructs (tests/manual/coverage.h; --coverage prints it), and its examples are run. In docs/language.md,
// docs/training.md, docs/gradients.md, examples/README.md and the other pages that `main` names
//
//   ```relish                 is a script of its own, run in both tiers;
//   ```relish again           goes on where the script before it stopped;
//   ```relish layers.relish   is a file that the scripts behind it may load, checked but not run;
//   ```python model.py        the same, a Python file;
//   ```text houses.csv        a data file of any kind, which they load;
//   ```output                 behind a script: what it prints, exactly;
//   ```error                  behind a script: the diagnostics with which it ends, as the program shows them;
//                             … stands for what differs by processor.
//
// A script without a block of output prints nothing, and one without a block of error succeeds. --update
// writes what was found in the place of what is there.
//
// In docs/training.md and examples/README.md the commands are run too, in a folder that holds the files of
// the page, and examples/, docs/ and tests/ as the repository has them: those of fences of the kind `sh`,
// which succeed unless a block of error stands behind, and whose blocks of output may leave out what differs
// from run to run by …; and each command of one line between backquotes in the text, which succeeds.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ir/verify/verify.h"
#include "shell/program/program_file.h"
#include "shell/script/script.h"
#include "shell/session.h"
#include "support/big_stack.h"
#include "support/failure.h"
#include "support/render.h"
#include "tests/golden/captured_errors.h"
#include "tests/manual/coverage.h"
#include "tests/manual/diagnostics.h"
#include "tests/manual/page_commands.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {
namespace {

struct Fence {
  std::size_t line;  // of the opening fence
  std::string kind;  // "relish", "output", …
  std::string rest;  // what stands behind it
  std::string text;
  std::size_t begin, end;  // of the text in the page
};

std::vector<Fence> fences_of(const std::string& page) {
  std::vector<Fence> fences;
  bool open = false;
  std::size_t line = 0;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = std::min(page.find('\n', at), page.size() - 1);
    const std::string text = page.substr(at, end - at);
    ++line;
    if (text.starts_with("```")) {
      if (!open) {
        const std::string info = text.substr(3);
        const std::size_t blank = std::min(info.find(' '), info.size());
        const std::string rest = blank < info.size() ? info.substr(blank + 1) : "";
        fences.push_back({line, info.substr(0, blank), rest, "", end + 1, end + 1});
      } else {
        fences.back().end = at;
        fences.back().text = page.substr(fences.back().begin, at - fences.back().begin);
      }
      open = !open;
    }
    at = end + 1;
  }
  return fences;
}

struct Ending {
  std::string output, errors;
};

// What a training job says of itself beside its output names folders and times.
std::string without_job_lines(const std::string& text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string line = text.substr(at, end - at);
    const bool of_job =
        line.starts_with("trains ") || line.starts_with("trained ") || line.starts_with("stopped early: ");
    if (!of_job) kept += line;
    at = end;
  }
  return kept;
}

// A script of the manual in one tier; blocks that go on share it.
class Example {
 public:
  Example(const char* tier, const std::string& folder)
      : output_(new StringOutput),
        session_(settings(tier), std::unique_ptr<Output>(output_)),
        script_(session_, options(folder)),
        folder_(folder) {}

  Ending run(const std::string& text) {
    const std::size_t before = output_->text().size();
    CapturedErrors notes;
    Ending ending;
    with_big_stack([&] {
      try {
        script_.run_text("example.relish", text);
      } catch (const Failure& failure) {
        ending.errors = render(failure.diagnostics(), Sources::instance(), {});
      }
    });
    ending.output = output_->text().substr(before);
    ending.errors = without_folder(without_job_lines(notes.take()) + ending.errors);
    return ending;
  }

 private:
  // Files are told as the page names them.
  std::string without_folder(std::string text) const {
    const std::string folder = folder_ + "/";
    for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at))
      text.erase(at, folder.size());
    return text;
  }

  static Settings settings(const char* tier) {
    Settings settings;
    settings.tier = tier;
    return settings;
  }
  static ScriptOptions options(const std::string& folder) {
    ScriptOptions options;
    options.folder = folder;
    options.confined = true;
    return options;
  }

  StringOutput* output_;
  Session session_;
  Script script_;
  std::string folder_;
};

class Page {
 public:
  Page(std::string path, bool runs_commands)
      : path_(std::move(path)),
        text_(bytes_of(path_)),
        fences_(fences_of(text_)),
        runs_commands_(runs_commands) {
    if (!runs_commands) return;
    for (const char* name : {"docs", "examples", "tests"})
      std::filesystem::create_directory_symlink(std::string(RELISH_SOURCE_DIR) + "/" + name,
                                                folder_.file(name));
  }

  // How many examples ran, and how many are not as the page says.
  int examples() const { return examples_; }
  int failures() const { return failures_; }

  // In the folder of the page, where its jobs leave what they leave.
  void run() {
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder_.path());
    run_fences();
    std::filesystem::current_path(before);
  }

  void update() {
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change)
      text_.replace(change->begin, change->end - change->begin, change->text);
    if (!changes_.empty()) std::ofstream(path_, std::ios::binary) << text_;
  }

 private:
  void run_fences() {
    std::size_t behind = 0, line = 1;  // the fence before
    for (std::size_t i = 0; i < fences_.size(); ++i) {
      const Fence& fence = fences_[i];
      if (runs_commands_) run_inline_commands(behind, fence.begin, line);
      behind = fence.end;
      line =
          fence.line + 1 + static_cast<std::size_t>(std::count(fence.text.begin(), fence.text.end(), '\n'));
      if (fence.kind == "text" && !fence.rest.empty()) folder_.put(fence.rest, fence.text);
      if (runs_commands_ && fence.kind == "sh") run_commands(i);
      const bool program = fence.kind == "relish" || fence.kind == "python";
      if (!program) continue;
      ++examples_;
      const bool file = !fence.rest.empty() && fence.rest != "again";
      if (file) {
        check_file(fence);
      } else {
        run_script(i);
      }
    }
    if (runs_commands_) run_inline_commands(behind, text_.size(), line);
    if (examples_ == 0) complain(0, "the page has no examples");
  }

  void complain(std::size_t line, const std::string& what) {
    ++failures_;
    std::cout << fmt::format("{}:{}: {}\n", path_, line, what);
  }

  void check_file(const Fence& fence) {
    const std::string path = folder_.put(fence.rest, fence.text);
    Session session({}, std::make_unique<StringOutput>());
    CapturedErrors notes;
    try {
      const ProgramFile program = read_program(path, path_rules_beside(session, path));
      for (const ModulePtr& module : program.modules()) {
        Diagnostics diagnostics;
        verify(*module, diagnostics);
        throw_if_errors(diagnostics);
      }
    } catch (const Failure& failure) {
      complain(fence.line, render(failure.diagnostics(), Sources::instance(), {}));
    }
  }

  void run_inline_commands(std::size_t begin, std::size_t end, std::size_t first_line) {
    for (const InlineCommand& command : inline_commands(text_.substr(begin, end - begin), first_line)) {
      ++examples_;
      Ending ending;
      if (const int code = run_command(command.text, command.line, ending); code != 0)
        complain(command.line, fmt::format("exit code {}:\n{}", code, ending.errors));
    }
  }

  // What it printed is added to an ending; the exit code.
  int run_command(const std::string& text, std::size_t line, Ending& ending) {
    try {
      const ProcessResult result = run_command_line(text, folder_.path());
      ending.output += result.output;
      ending.errors += without_job_lines(result.error_output);
      return result.exit_code;
    } catch (const std::runtime_error& error) {
      complain(line, error.what());
      return 0;
    }
  }

  void run_commands(std::size_t position) {
    const Fence& fence = fences_[position];
    ++examples_;
    Ending found;
    int code = 0;
    for (const std::string& command : commands_of_fence(fence.text))
      code = run_command(command, fence.line, found);
    bool output_shown = false, errors_shown = false;
    for (std::size_t i = position + 1; i < fences_.size(); ++i) {
      const Fence& behind = fences_[i];
      const bool output = behind.kind == "output";
      if (!output && behind.kind != "error") break;
      (output ? output_shown : errors_shown) = true;
      const std::string& printed = output ? found.output : found.errors;
      if (!matches_shown(behind.text, printed)) compare(behind, printed);
    }
    if (!output_shown && !found.output.empty())
      complain(fence.line, "the command prints what the page does not show:\n" + found.output);
    if (errors_shown != (code != 0))
      complain(fence.line, fmt::format("exit code {}:\n{}", code, found.errors));
  }

  void run_script(std::size_t position) {
    const Fence& fence = fences_[position];
    if (fence.rest != "again") {
      interpreted_ = std::make_unique<Example>("interp", folder_.path());
      compiled_ = std::make_unique<Example>("jit", folder_.path());
    }
    const Ending found = interpreted_->run(fence.text);
    const Ending again = compiled_->run(fence.text);
    if (found.output != again.output || found.errors != again.errors) {
      complain(fence.line, fmt::format("the tiers differ:\n{}{}\nand\n{}{}", found.output, found.errors,
                                       again.output, again.errors));
    }
    bool output_shown = false, errors_shown = false;
    for (std::size_t i = position + 1; i < fences_.size(); ++i) {
      const Fence& behind = fences_[i];
      if (behind.kind == "output") {
        output_shown = true;
        compare(behind, found.output);
      } else if (behind.kind == "error") {
        errors_shown = true;
        if (!matches_shown(behind.text, found.errors)) compare(behind, found.errors);
      } else {
        break;
      }
    }
    if (!output_shown && !found.output.empty())
      complain(fence.line, "the example prints what the page does not show:\n" + found.output);
    if (!errors_shown && !found.errors.empty())
      complain(fence.line, "the example is refused, and the page does not say so:\n" + found.errors);
  }

  void compare(const Fence& shown, const std::string& found) {
    if (shown.text == found) return;
    complain(shown.line, fmt::format("found\n{}", found));
    changes_.push_back({shown.begin, shown.end, found});
  }

  struct Change {
    std::size_t begin, end;
    std::string text;
  };

  std::string path_;
  std::string text_;
  std::vector<Fence> fences_;
  TemporaryFolder folder_;
  std::unique_ptr<Example> interpreted_, compiled_;
  std::vector<Change> changes_;
  bool runs_commands_;
  int examples_ = 0, failures_ = 0;
};

// The page of coverage on standard output; what is wrong with it on standard error.
int print_coverage() {
  const Coverage coverage = coverage_of(RELISH_SOURCE_DIR);
  for (const std::string& problem : coverage.problems) std::cerr << problem << "\n";
  std::cout << coverage.page;
  return coverage.problems.empty() ? 0 : 1;
}

// How many rules are not shown, and whether the page of them is stale.
int check_diagnostics() {
  const DiagnosticTable table;
  const std::vector<std::string> faults = table.faults();
  for (const std::string& fault : faults) std::cout << fault << "\n";
  const bool stale = table.page() != bytes_of(std::string(RELISH_SOURCE_DIR) + "/docs/diagnostics.md");
  if (stale) std::cout << "docs/diagnostics.md is stale: run ./dev docs and commit it\n";
  std::cout << table.size() << " rules, " << faults.size() << " faults\n";
  return static_cast<int>(faults.size()) + (stale ? 1 : 0);
}

}  // namespace
}  // namespace relish::testing

namespace {

int run(const std::string& option) {
  using namespace relish::testing;
  if (option == "--diagnostics") {
    std::cout << DiagnosticTable().page();
    return 0;
  }
  int examples = 0, failures = 0;
  for (const std::string name :
       {"docs/language.md", "docs/data.md", "docs/passes.md", "docs/training.md", "docs/gradients.md",
        "docs/coming-from.md", "docs/performance.md", "docs/random.md", "docs/own-training.md",
        "docs/errors.md", "examples/README.md"}) {
    const bool runs_commands = name == "docs/training.md" || name == "examples/README.md";
    Page page(std::string(RELISH_SOURCE_DIR) + "/" + name, runs_commands);
    page.run();
    if (option == "--update") page.update();
    examples += page.examples();
    failures += page.failures();
  }
  std::cout << examples << " examples, " << failures << " not as the page says\n";
  return failures + check_diagnostics() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--coverage") return relish::testing::print_coverage();
  relish::start_language();
  try {
    return run(argc > 1 ? argv[1] : "");
  } catch (const relish::Failure& failure) {  // a golden file that cannot be read
    for (const relish::Diagnostic& diagnostic : failure.diagnostics())
      std::cerr << diagnostic.place << ": " << diagnostic.message << "\n";
    return 1;
  }
}
