// The inputs of a session, typed, pasted or read from a file: each is read whole before any of it runs, then
// its statements and `:` commands run in order up to the first that fails.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shell/repl/inputs/input_parts.h"
#include "shell/workspace/workspace.h"

namespace relish {

class SessionInputs {
 public:
  SessionInputs(Session& session, ScriptOptions options);

  Workspace& workspace() { return workspace_; }
  Script& script() { return workspace_.script(); }
  // Runs a text under the name that its diagnostics show: as one input, where `:` commands stand in it those
  // and what is between them one each, so that :undo goes back over what stands in front of it; of a copy of
  // a session each input is one. False when a command ends the session. Throws what a statement throws; what
  // ran before it keeps its effect.
  bool run(const std::string& name, const std::string& text);
  // A text that nobody types: each of its statements is an input. It may be a copy of a session.
  bool run_text(const std::string& name, const std::string& written);
  // The same of a file. One that :save wrote finds its values beside it, from wherever it is run.
  // The endings of sessions may be left out.
  bool run_file(const std::string& written);
  // Whether a file that is watched is another one than when this was asked last.
  bool files_changed();
  // Reads what changed in the files that are watched, as an input of its own.
  bool reload_changed();
  // What :fix proposes as the next input, or what came from an editor and failed, once.
  std::optional<std::string> take_corrected();
  // On a terminal: what transforms changed is told behind each input.
  void set_summaries(bool tell) { summaries_ = tell; }

 private:
  bool as_input(const std::function<bool()>& work);
  bool run_inputs(const std::string& name, const std::string& text);
  bool run_copy(const std::vector<std::string>& inputs);
  bool run_part(const std::string& name, const InputPart& part);
  bool run_parts(const std::string& name, const std::string& text);
  bool run_command(const std::string& name, const InputPart& part);
  bool run_command_line(const std::string& name, const InputPart& part);
  void run_session_command(const Command& command, const std::string& written, const std::string& words);
  void check_syntax(const std::string& name, const std::vector<InputPart>& parts);
  void restore(const std::string& path);
  std::optional<bool> run_loaded(const std::string& words);
  bool beside(const std::string& path, std::string text, const std::function<bool(const std::string&)>& work);
  void apply_heading(std::string_view line);

  Session& session_;
  Workspace workspace_;
  std::vector<std::string> loading_;  // files whose statements run, outermost first
  std::size_t lines_done_ = 0;        // of an input of several parts, those in front of the one that failed
  bool summaries_ = false;
};

}  // namespace relish
