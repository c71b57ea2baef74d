// The loop of the interactive session.
#include "shell/repl/repl.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <new>
#include <utility>

#include "shell/program/pager.h"
#include "shell/repl/completion/completion.h"
#include "shell/repl/completion/hole_completion.h"
#include "shell/repl/editor/line_editor.h"
#include "shell/repl/editor/screen_editor.h"
#include "shell/repl/editor/status_line.h"
#include "shell/repl/editor/terminal_keys.h"
#include "shell/repl/inputs/history_file.h"
#include "shell/repl/inputs/input_parts.h"
#include "shell/repl/inputs/session_inputs.h"
#include "shell/repl/inputs/session_saving.h"
#include "shell/version.h"
#include "shell/workspace/state_words.h"
#include "support/atomic_file.h"
#include "support/input_waits.h"
#include "support/interrupt.h"
#include "support/limits.h"

namespace relish {
namespace {

constexpr int interrupt_exit_code = 128 + SIGINT;

std::unique_ptr<Editor> editor_for(EditorQuestions questions, bool colors) {
  if (terminal_can_draw()) return std::make_unique<ScreenEditor>(std::move(questions), colors);
  return std::make_unique<LineEditor>(std::move(questions));
}

// An answer for the editor, which no fault may pass through: then there is none.
template <class Work>
auto answered(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception&) {
    return {};
  }
}

class Repl {
 public:
  explicit Repl(Session& session)
      : session_(session), inputs_(session, {"", false, true}), history_(history_path()) {
    inputs_.set_summaries(true);
    Workspace& workspace = inputs_.workspace();
    editor_ =
        editor_for({[&workspace](std::string_view text) {
                      return answered([&] {
                        auto hole = complete_hole(workspace, text);
                        return hole ? std::move(*hole) : complete(workspace, text);
                      });
                    },
                    [](std::string_view text) { return answered([&] { return missing_in_input(text); }); },
                    [&workspace](std::string_view text) {
                      return answered([&] { return status_line(workspace, text); });
                    },
                    [&workspace](std::string_view text, const std::function<bool()>& goes_on) {
                      return answered([&] { return std::optional(input_faults(workspace, text, goes_on)); });
                    },
                    [this] { return answered([&] { return inputs_.files_changed(); }); }},
                   session.settings().color);
    for (const std::string& input : history_.read()) editor_->remember(input);
  }

  // False when a command of the file ends the session.
  bool run_file(const std::string& path) {
    return attempt([&] { return inputs_.run_file(path); });
  }

  int run() {
    try {
      const int code = read_and_run();
      tell_left();
      return code;
    } catch (...) {
      tell_left();
      throw;
    }
  }

 private:
  int read_and_run() {
    session_.print(version_text() + "; :help lists the commands, :quit leaves");
    session_.output().flush();
    while (true) {
      try {
        if (const auto text = next_input(); !text)
          return 0;
        else if (!text->empty() && !run_input(*text))
          return 0;
      } catch (const Failure& failure) {
        // A Ctrl-C between two keys drops what was typed.
        if (failure.error_class() != ErrorClass::Interrupted || failure.exit_code() != interrupt_exit_code)
          throw;
        drop();
      }
    }
  }

  // Who leaves loses nothing, and hears once where it is.
  void tell_left() noexcept {
    try {
      const std::string line = keep_left_session(inputs_.workspace());
      session_.output().flush();
      if (!line.empty()) write_error_text("note: " + line + "\n");
    } catch (const std::exception&) {
      return;  // nobody listens
    }
  }

  // What is typed up to its end; an empty text where nothing is to run, none at the end of the session.
  std::optional<std::string> next_input() {
    const InputWaits waits;
    std::string line;
    const Editor::Event event =
        editor_->read(prompt_of(inputs_.workspace(), !input_.empty()), line, !input_.empty());
    switch (event) {
      case Editor::Event::Interrupt:
      case Editor::Event::Drop:
        // Ctrl-C and Ctrl-D drop the input; other signals end the session.
        if (interrupt_flag.load() != SIGINT) poll_interrupt();
        drop();
        return "";
      case Editor::Event::Woken:
        attempt([&] { return inputs_.reload_changed(); });
        return "";
      case Editor::Event::EndOfInput:
        end_line();
        return std::nullopt;
      case Editor::Event::Line:
        break;
    }
    if (input_.empty()) {
      if (!editor_->reads_whole_inputs()) line = without_prompts(line);
      if (line.find_first_not_of(" \t\n") == std::string::npos) return "";
      const bool comment = line[line.find_first_not_of(" \t")] == '#';
      if (comment && line.find('\n') == std::string::npos) {
        comments_ += line + "\n";
        return "";
      }
    }
    input_ += line + "\n";
    if (!editor_->reads_whole_inputs() && missing_in_input(input_) != Missing::Nothing) return "";
    std::string text = std::exchange(input_, {});
    text.erase(text.find_last_not_of(" \n") + 1);  // the empty line that ended a block
    return text;
  }

  // False when it ends the session.
  bool run_input(std::string text) {
    // A copy of a session is remembered by what runs.
    const std::string remembered = without_prompts(text);
    editor_->remember(remembered);
    if (!is_leaving_command(remembered)) history_.append(remembered);
    text = std::exchange(comments_, {}) + text + "\n";
    if (inputs_.files_changed()) attempt([&] { return inputs_.reload_changed(); });
    if (!attempt([&] { return inputs_.run(fmt::format("<in {}>", inputs_.workspace().next_input()), text); }))
      return false;
    if (auto corrected = inputs_.take_corrected()) editor_->prefill(*corrected);
    return true;
  }

  void drop() {
    clear_interrupt();
    end_line();
    input_.clear();
    comments_.clear();
  }

  void end_line() {
    session_.output().write("\n");
    session_.output().flush();
  }

  static bool is_leaving_command(std::string_view text) {
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text == ":quit" || text == ":q" || text == ":exit";
  }

  // Runs `work`; whatever it throws is reported and the session goes on. Signals other than Ctrl-C pass.
  // False when the work says that the session ends.
  bool attempt(const std::function<bool()>& work) {
    bool goes_on = true;
    const auto began = std::chrono::steady_clock::now();
    const std::size_t before = inputs_.workspace().log().present();
    try {
      goes_on = work();
    } catch (const Failure& failure) {
      bool leave =
          failure.error_class() == ErrorClass::Interrupted && failure.exit_code() != interrupt_exit_code;
      bool closed = failure.diagnostics().front().id == closed_output_id;
      if (leave || closed) throw;
      session_.output().flush();
      session_.report(failure.diagnostics());
      if (failure.error_class() == ErrorClass::Interrupted) tell_stop(began, before);
    } catch (const std::bad_alloc&) {
      session_.output().flush();
      write_error_text(fmt::format("relish: error[ResourceLimit]: {} [limit.memory]\n", memory_used_up));
    } catch (const std::exception& error) {
      session_.output().flush();
      write_error_text(fmt::format("relish: error[InternalError]: {}\n", error.what()));
    }
    clear_interrupt();
    session_.output().flush();
    return goes_on;
  }

  // How long it ran, and whether what finished of it stays.
  void tell_stop(std::chrono::steady_clock::time_point began, std::size_t before) {
    const Log& log = inputs_.workspace().log();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
    write_error_text(fmt::format(
        "note: it ran for {:.1f} s; {}\n", seconds.count(),
        log.present() == before ? "nothing of it stays"
                                : fmt::format("what finished is state {}", log.node(log.present()).input)));
  }

  Session& session_;
  SessionInputs inputs_;
  HistoryFile history_;
  std::unique_ptr<Editor> editor_;
  std::string input_;     // its lines so far
  std::string comments_;  // typed alone; they belong to the statement that follows
};

}  // namespace

int run_repl(Session& session, const std::vector<std::string>& files) {
  if (!isatty(STDIN_FILENO)) {
    ScriptOptions options;
    options.confined = true;
    SessionInputs inputs(session, options);
    for (const std::string& path : files) {
      if (!inputs.run_file(path)) return 0;
    }
    inputs.run_text("<stdin>", read_file("-", limits().max_source_bytes, "--max-source-size"));
    return 0;
  }
  // Ctrl-C stops a statement, not the session.
  signals_end_process(false);
  session.settings().color_programs = session.settings().color && terminal_can_draw();
  if (terminal_can_draw()) begin_paging(static_cast<unsigned>(terminal_size().rows));
  Repl repl(session);
  for (const std::string& path : files) {
    if (!repl.run_file(path)) return 0;
  }
  return repl.run();
}

}  // namespace relish
