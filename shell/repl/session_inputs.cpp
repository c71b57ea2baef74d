// Running of inputs.
#include "shell/repl/session_inputs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "frontend/text/syntax_check.h"
#include "shell/repl/colon_command.h"
#include "support/atomic_file.h"
#include "support/limits.h"
#include "support/render.h"

namespace relish {
namespace {

struct ColonLine {
  std::string name, rest;
};

ColonLine colon_line(std::string line) {
  while (line.ends_with('\n') || line.ends_with(' ') || line.ends_with('\t') || line.ends_with('\r'))
    line.pop_back();
  const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
  return {line.substr(1, blank - 1),
          line.substr(std::min(line.find_first_not_of(" \t", blank), line.size()))};
}

bool leaves(const std::string& name) { return name == "quit" || name == "q" || name == "exit"; }

// Words that other shells take without a colon; a name of the session that is bound means its value.
bool run_plain_word(Session& session, const Script& script, std::string text, bool& goes_on) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (script.environment().find(text.substr(0, text.find('(')))) return false;
  if (text == "quit" || text == "exit" || text == "quit()" || text == "exit()") {
    goes_on = false;
    return true;
  }
  if (text != "help" && text != "help()" && text != "?") return false;
  session.print(session_help());
  return true;
}

}  // namespace

std::string session_help() {
  std::string text =
      "Statements are run as they are typed; an empty line ends a block, two end a class.\n"
      "Ctrl-C drops the input or stops the running statement, Ctrl-D leaves.\n\n"
      "  :help [NAME]     this, or the page of a command, operator or built-in\n"
      "  :save FILE       writes the session's statements; with --overwrite over any file\n"
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

SessionInputs::SessionInputs(Session& session, ScriptOptions options)
    : session_(session), script_(session, std::move(options)) {}

// An input of several parts could fail for its syntax after some have run; one part is read whole anyway.
void SessionInputs::check_syntax(const std::string& name, const std::vector<InputPart>& parts) {
  if (parts.size() < 2) return;
  Diagnostics diagnostics;
  for (const InputPart& part : parts) {
    const ColonLine line = part.command ? colon_line(part.text) : ColonLine{};
    if (!part.command) {
      check_syntax_of(Sources::instance().add(name, at_its_line(part)), diagnostics);
    } else if (!leaves(line.name) && line.name != "save" && line.name != "help") {
      static_cast<void>(statement_of(script_, ":" + line.name + " " + line.rest));
    }
  }
  throw_if_errors(diagnostics);
}

bool SessionInputs::run(const std::string& name, const std::string& text) {
  bool goes_on = true;
  if (run_plain_word(session_, script_, text, goes_on)) return goes_on;
  const std::vector<InputPart> parts = input_parts(text);
  check_syntax(name, parts);
  for (const InputPart& part : parts) {
    if (part.command) {
      if (!run_command(name, part)) return false;
      continue;
    }
    run_statements(name, part);
  }
  return true;
}

bool SessionInputs::run_file(const std::string& path) {
  const std::string text = read_file(path, limits().max_source_bytes, "--max-source-size");
  if (!text.starts_with(session_heading)) return run(path, text);
  struct FolderScope {
    Script& script;
    std::string before;
    ~FolderScope() { script.set_folder(std::move(before)); }
  } scope{script_, script_.options().folder};
  script_.set_folder(std::filesystem::path(path).parent_path().string());
  return run(path, text);
}

// Runs a part and keeps what of it finished.
void SessionInputs::run_statements(const std::string& name, const InputPart& part) {
  const std::string text = at_its_line(part);
  try {
    script_.run_text(name, text);
  } catch (...) {
    Script::Progress progress = script_.progress();
    // The lines before it are no part of it.
    const auto before = static_cast<std::uint32_t>(text.size() - part.text.size());
    progress.end -= std::min(progress.end, before);
    if (progress.stopped.known()) {
      progress.stopped.begin -= before;
      progress.stopped.end -= before;
    }
    statements_.add_part(part.text, progress, script_);
    throw;
  }
  statements_.add(part.text);
}

bool SessionInputs::run_command(const std::string& name, const InputPart& part) {
  const ColonLine line = colon_line(part.text);
  if (leaves(line.name)) return false;
  if (line.name == "save") {
    save(line.rest);
    return true;
  }
  if (line.name == "help" && line.rest.empty()) {
    session_.print(session_help());
    return true;
  }
  const std::string text =
      statement_of(script_, ":" + line.name + (line.rest.empty() ? "" : " " + line.rest));
  // A command that assigns is shown as the assignment it is.
  if (text.find(" = ") < text.find('(')) {
    session_.print(text);
    session_.output().flush();
  }
  script_.run_text(name, at_its_line({false, text + "\n", part.line}));
  statements_.add(text);
  return true;
}

// `:save FILE [--overwrite]`.
void SessionInputs::save(std::string path) {
  constexpr std::string_view flag = "--overwrite";
  bool overwrite = false;
  if (path == flag || path.ends_with(" " + std::string(flag))) {
    path.resize(path.size() - flag.size());
    overwrite = true;
  } else if (path.starts_with(std::string(flag) + " ")) {
    path.erase(0, flag.size());
    overwrite = true;
  }
  while (path.starts_with(' ')) path.erase(0, 1);
  while (path.ends_with(' ')) path.pop_back();
  if (path.size() >= 2 && (path.front() == '"' || path.front() == '\'') && path.back() == path.front()) {
    path = path.substr(1, path.size() - 2);
  } else if (path.find_first_of(" \t") != std::string::npos || path.starts_with("--")) {
    fail(ErrorClass::Usage, {}, "save.path",
         fmt::format("found '{}'; :save takes a file and perhaps --overwrite; a name with blanks stands in "
                     "quotes",
                     printable(path)));
  }
  if (path.empty()) fail(ErrorClass::Usage, {}, "save.path", ":save takes a file: :save session.relish");
  statements_.save(path, overwrite);
  session_.print(fmt::format("saved {} inputs in {}", statements_.inputs(), path));
  if (statements_.has_stopped()) {
    session_.print(
        "a statement that stopped in the middle stands there as a comment, and behind it the values that it "
        "left");
  }
  if (!statements_.unwritten().empty()) {
    session_.print(fmt::format("no text says the values of {}, which are left out",
                               fmt::join(statements_.unwritten(), ", ")));
  }
}

}  // namespace relish
