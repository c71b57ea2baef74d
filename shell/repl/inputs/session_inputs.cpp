// Running of inputs.
#include "shell/repl/inputs/session_inputs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "frontend/names/top_level_names.h"
#include "frontend/text/syntax_check.h"
#include "shell/commands/inspect/asking.h"
#include "shell/program/literal_text.h"
#include "shell/program/module_files.h"
#include "shell/program/program_file.h"
#include "shell/program/reading.h"
#include "shell/program/text_units.h"
#include "shell/program/told_table.h"
#include "shell/repl/inputs/colon_command.h"
#include "shell/repl/inputs/long_texts.h"
#include "shell/repl/inputs/session_help.h"
#include "shell/repl/inputs/session_saving.h"
#include "shell/repl/inputs/text_end.h"
#include "shell/script/unfinished_modules.h"
#include "shell/workspace/saved/archive_lines.h"
#include "shell/workspace/transform_summary.h"
#include "support/atomic_file.h"
#include "support/counted.h"
#include "support/file_access.h"
#include "support/limits.h"
#include "support/render.h"
#include "support/unquoted.h"
#include "support/value_text.h"

namespace relish {
namespace {

struct ColonLine {
  std::string name, rest;
};

// A comment behind a command: a `#` behind a blank, outside quotes and brackets.
std::size_t comment_begin(std::string_view line) {
  int open = 0;
  return find_unquoted(line, [&](std::size_t at) {
    const char c = line[at];
    open += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    return c == '#' && open <= 0 && at > 0 && (line[at - 1] == ' ' || line[at - 1] == '\t');
  });
}

ColonLine colon_line(std::string line) {
  line.resize(comment_begin(line));
  while (line.ends_with('\n') || line.ends_with(' ') || line.ends_with('\t') || line.ends_with('\r'))
    line.pop_back();
  const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
  return {line.substr(1, blank - 1),
          line.substr(std::min(line.find_first_not_of(" \t", blank), line.size()))};
}

// Where a `:` line of a text is wrong: at the word that the message quotes, where the line has it.
Span place_of_line(const std::string& name, const InputPart& part, const Diagnostic& told) {
  const std::uint32_t source = Sources::instance().add(name, part.text, part.line);
  const std::string_view line = without_blanks(part.text);
  const auto begin = static_cast<std::size_t>(line.data() - part.text.data());
  const std::size_t quote = told.message.find('\'');
  const std::size_t end = quote == std::string::npos ? quote : told.message.find('\'', quote + 1);
  std::size_t at = begin, size = line.size();
  if (end != std::string::npos) {
    const std::string_view word = std::string_view(told.message).substr(quote + 1, end - quote - 1);
    const std::size_t found = word.empty() ? std::string::npos : part.text.find(word, begin);
    if (found != std::string::npos) at = found, size = word.size();
  }
  return {source, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + size)};
}

// Who typed the line sees it above the message; in a text that was read somebody has to find it.
template <class Work>
auto placed(const std::string& name, const InputPart& part, const Work& work) {
  try {
    return work();
  } catch (Failure& failure) {
    const Diagnostic& told = failure.diagnostics().front();
    const bool elsewhere = told.span.known() || !told.place.empty();
    if (!elsewhere && !name.starts_with("<in ")) failure.at(place_of_line(name, part, told));
    throw;
  }
}

bool is_literal_text(std::string_view text) {
  try {
    parse_literal(text, "");
    return true;
  } catch (const Failure&) {
    return false;
  }
}

// What a text declares that has more than one module: classes, or a class and free functions. No value is all
// of it. Nothing for other texts.
std::vector<std::string> several_modules(const std::string& text) {
  std::vector<std::string> names;
  std::size_t classes = 0;
  for (const TextUnit& unit : text_units(text)) {
    if (!unit.owner.empty() || !is_declaration(text, unit)) continue;
    classes += unit.kind == TextUnit::Kind::Class;
    names.emplace_back(unit.name);
  }
  const bool free_functions = names.size() > classes;
  if (classes + free_functions < 2) names.clear();
  return names;
}

// Whether statements stand in the text that are more than declarations, constants and loads.
bool has_statements(const std::string& path, const std::string& text) {
  const std::uint32_t source = Sources::instance().add(path, text);
  for (const Span other : top_level_of(source, text).others) {
    const std::string_view words = std::string_view(text).substr(other.begin, other.end - other.begin);
    const std::size_t sign = words.find('=');
    const std::string_view value = without_blanks(words.substr(std::min(sign + 1, words.size())));
    const bool named = sign != std::string_view::npos && is_plain_name(without_blanks(words.substr(0, sign)));
    if (words.starts_with("def ") || (named && (value.starts_with("load(") || is_literal_text(value))))
      continue;
    return true;
  }
  return false;
}

bool leaves(const std::string& name) { return name == "quit" || name == "q" || name == "exit"; }

// Words that other shells take without a colon; a name of the session that is bound means its value. False:
// it is no such word.
bool run_plain_word(Session& session, const Script& script, const std::string& text, bool& goes_on) {
  if (!is_plain_word(text) || script.environment().find(text.substr(0, text.find_first_of("( \t\r\n"))))
    return false;
  goes_on = text.starts_with("help");
  if (goes_on) session.print(session_help());
  return true;
}

ModulePtr module_bound_to(const Script& script, const std::string& name) {
  const ScriptValue* value = script.environment().find(name);
  const auto* module = value ? value->as<ModulePtr>() : nullptr;
  return module ? *module : nullptr;
}

}  // namespace

SessionInputs::SessionInputs(Session& session, ScriptOptions options)
    : session_(session), workspace_(session, std::move(options)) {}

// An input of several parts could fail for its syntax after some have run; one part is read whole anyway.
void SessionInputs::check_syntax(const std::string& name, const std::vector<InputPart>& parts) {
  if (parts.size() < 2) return;
  Diagnostics diagnostics;
  for (const InputPart& part : parts) {
    const ColonLine line = part.command ? colon_line(part.text) : ColonLine{};
    if (!part.command) {
      check_syntax_of(Sources::instance().add(name, part.text, part.line), diagnostics);
    } else if (!leaves(line.name) && line.name != "save" && line.name != "help") {
      placed(name, part, [&] {
        const Command& command = session_command(line.name);
        if (command.surfaces & in_session) {
          command_words(command, line.name, line.rest);
        } else {
          static_cast<void>(statement_of(script(), ":" + line.name + " " + line.rest));
        }
      });
    }
  }
  throw_if_errors(diagnostics);
}

bool SessionInputs::run(const std::string& name, const std::string& text) {
  if (const auto copied = inputs_of_copy(text); !copied.empty()) return run_copy(copied);
  const auto propose = [&](const std::vector<Diagnostic>& diagnostics) {
    std::string input = text;
    while (input.ends_with('\n')) input.pop_back();
    // Without anything to correct it is what the next input may begin with all the same.
    std::string proposed = corrected_input(input, diagnostics).value_or(input);
    for (; lines_done_ > 0; --lines_done_) proposed.erase(0, proposed.find('\n') + 1);
    if (!input.starts_with(":fix")) workspace_.proposal().corrected = std::move(proposed);
  };
  try {
    const bool goes_on = run_inputs(name, text);
    const std::vector<Diagnostic>& holes = unfinished_modules().told();
    if (text.starts_with('@') && !holes.empty()) propose(holes);
    return goes_on;
  } catch (const Failure& failure) {
    propose(failure.diagnostics());
    throw;
  }
}

bool SessionInputs::run_copy(const std::vector<std::string>& inputs) {
  for (std::size_t at = 0; at < inputs.size(); ++at) {
    try {
      if (!run(fmt::format("<in {}>", workspace_.next_input()), inputs[at])) return false;
    } catch (Failure& failure) {
      if (at + 1 < inputs.size())
        failure.note({}, fmt::format("it is input {} of {} that were pasted; {} behind it did not run",
                                     at + 1, inputs.size(), counted(inputs.size() - at - 1, "input")));
      throw;
    }
  }
  return true;
}

bool SessionInputs::run_inputs(const std::string& name, const std::string& text) {
  const std::vector<InputPart> parts = input_parts(text);
  bool checked = false;
  lines_done_ = 0;
  for (std::size_t at = 0; at < std::max<std::size_t>(parts.size(), 1); ++at) {
    try {
      const bool goes_on = as_input([&] {
        if (!std::exchange(checked, true)) check_syntax(name, parts);
        return parts.empty() || run_part(name, parts[at]);
      });
      if (!goes_on) return false;
    } catch (Failure& failure) {
      lines_done_ = at > 0 ? parts[at].line - 1 : 0;
      const std::size_t behind = parts.size() - std::min(at + 1, parts.size());
      if (behind > 0 && at > 0)
        failure.note(
            {}, fmt::format("what stands in front of it ran; {} behind it did not", counted(behind, "part")));
      throw;
    }
  }
  return true;
}

std::optional<std::string> SessionInputs::take_corrected() {
  Proposal& proposal = workspace_.proposal();
  if (auto text = std::exchange(proposal.to_mend, std::nullopt)) {
    while (text->ends_with('\n')) text->pop_back();
    return text;
  }
  if (!proposal.corrected_wanted) return std::nullopt;
  proposal.corrected_wanted = false;
  return std::exchange(proposal.corrected, std::nullopt);
}

// What of it was done is a state also when it fails.
bool SessionInputs::as_input(const std::function<bool()>& work) {
  workspace_.begin_input();
  bool goes_on = true;
  try {
    goes_on = work();
  } catch (...) {
    workspace_.end_input();
    throw;
  }
  workspace_.end_input();
  if (summaries_) {
    for (const auto& [name, call] : workspace_.transforms())
      session_.print("     " + transform_summary(call));
  }
  return goes_on;
}

// Of a copy that nobody types all inputs are one text.
bool SessionInputs::run_text(const std::string& name, const std::string& written) {
  std::vector<InputPart> parts = input_parts(without_prompts(written));
  // A value of --set is refused that no arg() of the text asks for, so it stays whole.
  if (session_.settings().sets.empty()) parts = cut_long_parts(std::move(parts));
  try {
    check_syntax(name, parts);
  } catch (Failure& failure) {
    note_unread(failure, parts);
    throw;
  }
  bool goes_on = true;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const InputPart& part = parts[at];
    const std::size_t before = workspace_.next_input();
    try {
      goes_on = as_input([&] {
        if (part.command) return run_command(name, part);
        if (run_plain_word(session_, script(), part.text, goes_on)) return goes_on;
        workspace_.run_each(name, part.text, part.line);
        return true;
      });
    } catch (Failure& failure) {
      note_end(failure, parts, at, workspace_.next_input() - before - 1);
      throw;
    }
    if (!goes_on) return false;
  }
  return true;
}

bool SessionInputs::run_parts(const std::string& name, const std::string& text) {
  const std::vector<InputPart> parts = input_parts(text);
  check_syntax(name, parts);
  return std::all_of(parts.begin(), parts.end(), [&](const InputPart& part) { return run_part(name, part); });
}

// False when it ends the session.
bool SessionInputs::run_part(const std::string& name, const InputPart& part) {
  if (part.command) return run_command(name, part);
  bool goes_on = true;
  if (!run_plain_word(session_, script(), part.text, goes_on)) workspace_.run(name, part.text, part.line);
  return goes_on;
}

void SessionInputs::restore(const std::string& path) {
  const Command& command = session_command("restore");
  Invocation invocation(session_, command, Surface::Shell, {});
  invocation.workspace = &workspace_;
  invocation.files = {path};
  session_.print(*command.run(invocation).string());
}

bool SessionInputs::files_changed() {
  FileChanges& files = workspace_.files();
  return files.watches() && files.changed();
}

bool SessionInputs::reload_changed() {
  FileChanges& files = workspace_.files();
  return as_input([&] {
    // A fault in one file is no reason to leave another as it was.
    std::vector<Diagnostic> faults;
    for (const auto& name : files.watched()) {
      try {
        for (const std::string& line : files.reload(name)) session_.print(line);
      } catch (const Failure& failure) {
        if (failure.error_class() == ErrorClass::Interrupted) throw;
        faults.insert(faults.end(), failure.diagnostics().begin(), failure.diagnostics().end());
      }
    }
    if (!faults.empty()) throw Failure(std::move(faults));
    return true;
  });
}

// `:load FILE` of a script, or of several modules: it runs as if typed. Nothing for other files; else whether
// the session goes on.
std::optional<bool> SessionInputs::run_loaded(const std::string& words) {
  const CommandWords given = command_words(session_command("load"), "load", words);
  if (given.subjects.size() != 1 || !given.options.empty() || !given.target.empty()) return std::nullopt;
  const std::string path = session_path(without_quotes(given.subjects.front()), {".relish", archive_ending});
  if (!file_exists(path)) return std::nullopt;
  if (holds_states(path)) {
    fail(ErrorClass::Usage, {}, "restore.path",
         fmt::format("'{0}' holds the states of a session; :restore {0} goes on there", printable(path)));
  }
  const bool python = is_python_file(path);
  if (!path.ends_with(".relish") && !python && !holds_statements(path)) return std::nullopt;
  const std::string text =
      python ? text_of_program(path) : read_file(path, limits().max_source_bytes, "--max-source-size");
  const bool statements_of_script =
      text.starts_with(session_heading) || (!python && has_statements(path, text));
  const std::vector<std::string> declared =
      statements_of_script ? std::vector<std::string>() : several_modules(text);
  if (!statements_of_script && declared.empty()) return std::nullopt;
  refuse_cycle(path, loading_, "load.cycle", "load", {});
  struct Loading {
    std::vector<std::string>& files;
    ~Loading() { files.pop_back(); }
  } scope{loading_};
  loading_.push_back(path);
  return beside(path, text, [&](const std::string& statements) {
    workspace_.files().note_run(path, text);
    const bool goes_on = run_parts(path, statements);
    // The state is called by the command, not by the first of its many statements.
    workspace_.rebind_modules({}, ":load " + path);
    if (!declared.empty()) session_.print(fmt::format("     + {}", fmt::join(declared, ", ")));
    return goes_on;
  });
}

bool SessionInputs::run_file(const std::string& written) {
  const std::string path = session_path(written, {archive_ending, ".relish"});
  if (path.ends_with(archive_ending)) {
    return as_input([&] {
      restore(path);
      return true;
    });
  }
  const std::string text = text_of_program(path);
  return beside(path, text, [&](const std::string& statements) {
    workspace_.files().note_run(path, text);
    return run_text(path, statements);
  });
}

// A saved session finds its values beside it, and has the options of its first line.
bool SessionInputs::beside(const std::string& path, std::string text,
                           const std::function<bool(const std::string&)>& work) {
  if (!text.starts_with(session_heading)) return work(text);
  struct FolderScope {
    Script& script;
    std::string before;
    ~FolderScope() { script.set_folder(std::move(before)); }
  } scope{script(), script().options().folder};
  script().set_folder(std::filesystem::path(path).parent_path().string());
  const std::size_t end = std::min(text.find('\n'), text.size());
  apply_heading(std::string_view(text).substr(0, end));
  // The next one that is saved has a heading of its own.
  text.erase(0, end);
  return work(text);
}

// The options that a saved session names in its first line.
void SessionInputs::apply_heading(std::string_view line) {
  const std::vector<std::string_view> words = split_at_blanks(line.substr(session_heading.size()));
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string value(words[i + 1]);
    const Command& set = session_command("set");
    Invocation invocation(session_, set, Surface::Shell, {});
    invocation.workspace = &workspace_;
    invocation.files = {std::string(words[i].substr(words[i].find_first_not_of('-'))), value};
    set.run(invocation);
  }
}

bool SessionInputs::run_command(const std::string& name, const InputPart& part) {
  return placed(name, part, [&] { return run_command_line(name, part); });
}

bool SessionInputs::run_command_line(const std::string& name, const InputPart& part) {
  const ColonLine line = colon_line(part.text);
  if (leaves(line.name)) return false;
  if (line.name == "save") {
    save_session(session_, workspace_, line.rest);
    return true;
  }
  if (line.name == "help" && line.rest.empty()) {
    session_.print(session_help());
    return true;
  }
  if (line.rest == "--help" || line.rest == "-h")
    return run_command(name, {true, ":help " + line.name, part.line});
  const Command& command = session_command(line.name);
  if (command.name == "load") {
    if (const auto goes_on = run_loaded(line.rest)) return *goes_on;
  }
  if (command.surfaces & in_session) {
    run_session_command(command, line.name, line.rest);
    // What an editor gave back is the input now.
    const auto edited = std::exchange(workspace_.proposal().to_run, std::nullopt);
    if (!edited) return true;
    try {
      const std::string root = line.rest.substr(0, line.rest.find('.'));
      const auto before = module_bound_to(script(), root);
      const bool goes_on = run_parts(name, *edited);
      if (const auto after = module_bound_to(script(), root); before && after && summaries_) {
        workspace_.settle();
        session_.print("     " + transform_summary({"edit", "", true, false, std::nullopt, before, after}));
      }
      return goes_on;
    } catch (const Failure&) {
      workspace_.proposal().to_mend = *edited;
      throw;
    }
  }
  if (command.name == "type") {
    if (const auto type = type_of_binding(workspace_, line.rest)) {
      session_.print(*type);
      return true;
    }
  }
  const std::string text =
      statement_of(script(), ":" + line.name + (line.rest.empty() ? "" : " " + line.rest));
  // A command that assigns is shown as the assignment it is.
  if (text.find(" = ") < text.find('(')) {
    session_.print(text);
    session_.output().flush();
  }
  const AskedByPerson asked;
  workspace_.run(name, text + "\n", part.line);
  return true;
}

// What it asks is the state that the input has come to so far.
void SessionInputs::run_session_command(const Command& command, const std::string& written,
                                        const std::string& words) {
  workspace_.settle();
  CommandWords given = command_words(command, written, words);
  Invocation invocation(session_, command, Surface::Shell, {});
  invocation.workspace = &workspace_;
  invocation.files = std::move(given.subjects);
  for (const auto& [option, texts] : given.options) {
    if (texts.size() > 1) {
      fail(ErrorClass::Usage, {}, "option.twice",
           fmt::format("{}: --{} is given twice", written, shell_name(option->name)));
    }
    invocation.set(option->name,
                   option->kind == OptionKind::Flag ? ScriptValue(true) : ScriptValue(texts.front()));
  }
  const ScriptValue result = command.run(invocation);
  if (result.string()) {
    if (!result.string()->empty()) session_.print(*result.string());
  } else if (!result.is_none()) {
    session_.print(shown_text(result));
  }
}

}  // namespace relish
