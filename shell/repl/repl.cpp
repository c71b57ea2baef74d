// The loop of the interactive session.
#include "shell/repl/repl.h"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <new>
#include <utility>

#include "frontend/scanner.h"
#include "shell/command.h"
#include "shell/program/program_file.h"
#include "shell/repl/colon_command.h"
#include "shell/repl/completion.h"
#include "shell/repl/history_file.h"
#include "shell/repl/line_editor.h"
#include "shell/script/script.h"
#include "shell/version.h"
#include "support/atomic_file.h"
#include "support/interrupt.h"
#include "support/limits.h"

namespace relish {
namespace {

constexpr int interrupt_exit_code = 128 + SIGINT;

class Repl {
 public:
  explicit Repl(Session& session)
      : session_(session),
        script_(session, {"", false, true}),
        history_(history_path()),
        editor_([this](std::string_view text) { return complete(script_, text); }) {
    for (const std::string& input : history_.read()) editor_.remember(input);
  }

  void run_file(const std::string& path) {
    attempt([&] {
      std::string text = read_file(path, limits().max_source_bytes, "--max-source-size");
      script_.run_text(path, text);
      if (!text.ends_with('\n')) text += '\n';
      statements_.push_back(std::move(text));
    });
  }

  int run() {
    session_.print(version_text() + "; :help lists the commands, :quit leaves");
    session_.output().flush();
    std::string input;
    while (true) {
      std::string line;
      LineEditor::Event event = editor_.read(input.empty() ? ">>> " : "... ", line);
      if (event == LineEditor::Event::Interrupt) {
        // Ctrl-C drops the input; other signals end the session.
        if (interrupt_flag.load() != SIGINT) poll_interrupt();
        clear_interrupt();
        session_.output().write("\n");
        session_.output().flush();
        input.clear();
        comments_.clear();
        continue;
      }
      if (event == LineEditor::Event::EndOfInput) {
        session_.output().write("\n");
        session_.output().flush();
        return 0;
      }
      bool first_line = input.empty();
      if (first_line && line.find_first_not_of(" \t\n") == std::string::npos) continue;
      if (first_line && line[line.find_first_not_of(" \t")] == '#' && line.find('\n') == std::string::npos) {
        comments_ += line + "\n";
        continue;
      }
      if (first_line && line.starts_with(':')) {
        keep(line);
        if (!run_colon_command(line)) return 0;
        continue;
      }
      input += line + "\n";
      if (missing_input(input) != Missing::Nothing) continue;
      std::string text = std::move(input);
      input.clear();
      while (text.ends_with('\n')) text.pop_back();
      keep(text);
      run_input(std::exchange(comments_, {}) + text);
    }
  }

 private:
  void keep(const std::string& input) {
    editor_.remember(input);
    history_.append(input);
  }

  // Runs `work`; whatever it throws is reported and the session goes on. Signals other than Ctrl-C pass.
  bool attempt(const std::function<void()>& work) {
    bool done = false;
    try {
      work();
      done = true;
    } catch (const Failure& failure) {
      bool leave =
          failure.error_class() == ErrorClass::Interrupted && failure.exit_code() != interrupt_exit_code;
      bool closed = failure.diagnostics().front().id == closed_output_id;
      if (leave || closed) throw;
      session_.output().flush();
      session_.report(failure.diagnostics());
    } catch (const std::bad_alloc&) {
      session_.output().flush();
      write_error_text("relish: error[ResourceLimit]: the memory of the process is used up\n");
    } catch (const std::exception& error) {
      session_.output().flush();
      write_error_text(fmt::format("relish: error[InternalError]: {}\n", error.what()));
    }
    clear_interrupt();
    session_.output().flush();
    return done;
  }

  void run_input(const std::string& text) {
    std::uint32_t file = Sources::instance().add(fmt::format("<in {}>", ++inputs_), text + "\n");
    if (attempt([&] { script_.run(file); })) statements_.push_back(text + "\n");
  }

  // False when the session ends.
  bool run_colon_command(const std::string& line) {
    std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
    std::string name = line.substr(1, blank - 1);
    std::string rest = line.substr(std::min(line.find_first_not_of(" \t", blank), line.size()));
    while (rest.ends_with(' ')) rest.pop_back();
    if (name == "quit" || name == "q" || name == "exit") return false;
    if (name == "save") {
      attempt([&] { save(rest); });
      return true;
    }
    if (name == "help" && rest.empty()) {
      attempt([&] { session_.print(session_help()); });
      return true;
    }
    attempt([&] {
      std::string text = statement_of(script_, line);
      // A command that assigns is shown as the assignment it is.
      if (text.find(" = ") < text.find('(')) {
        session_.print(text);
        session_.output().flush();
      }
      std::uint32_t file = Sources::instance().add(fmt::format("<in {}>", ++inputs_), text + "\n");
      script_.run(file);
      statements_.push_back(std::exchange(comments_, {}) + text + "\n");
    });
    return true;
  }

  void save(std::string path) {
    if (path.size() >= 2 && (path.front() == '"' || path.front() == '\'') && path.back() == path.front()) {
      path = path.substr(1, path.size() - 2);
    }
    if (path.empty()) fail(ErrorClass::Usage, {}, "save.path", ":save takes a file: :save session.relish");
    std::string text = "# relish: 1\n";
    for (const std::string& statement : statements_) text += statement;
    write_file_atomically(path, text);
    session_.print(fmt::format("saved {} inputs in {}", statements_.size(), path));
  }

  static std::string session_help() {
    std::string text =
        "Statements are run as they are typed; an empty line ends a block, two end a class.\n"
        "Ctrl-C drops the input or stops the running statement, Ctrl-D leaves.\n\n"
        "  :help [NAME]     this, or the page of a command, operator or built-in\n"
        "  :save FILE       writes the session's statements\n"
        "  :quit            leaves\n";
    for (const Command* command : all_commands()) {
      bool own = command->name == "help" || command->name == "save";
      if ((command->surfaces & in_scripts) && !own) {
        text += fmt::format("  {:<16} {}\n", ":" + shell_name(command->name), command->summary);
      }
    }
    text.pop_back();
    return text;
  }

  Session& session_;
  Script script_;
  HistoryFile history_;
  LineEditor editor_;
  std::string comments_;  // typed alone; they belong to the statement that follows
  std::vector<std::string> statements_;
  std::size_t inputs_ = 0;
};

}  // namespace

int run_repl(Session& session, const std::vector<std::string>& files) {
  if (!isatty(STDIN_FILENO)) {
    ScriptOptions options;
    options.confined = true;
    Script script(session, options);
    for (const std::string& path : files) {
      script.run_text(path, read_file(path, limits().max_source_bytes, "--max-source-size"));
    }
    script.run_text("<stdin>", read_file("-", limits().max_source_bytes, "--max-source-size"));
    return 0;
  }
  Repl repl(session);
  for (const std::string& path : files) repl.run_file(path);
  return repl.run();
}

}  // namespace relish
