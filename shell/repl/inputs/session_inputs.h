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
  // Runs a text under the name that its diagnostics show, as one input. False when a command ends the
  // session. Throws what a statement throws; the parts before it keep their effect.
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
  bool run_parts(const std::string& name, const std::string& text);
  bool run_command(const std::string& name, const InputPart& part);
  void run_session_command(const Command& command, const std::string& written, const std::string& words);
  void check_syntax(const std::string& name, const std::vector<InputPart>& parts);
  void save(std::string path);
  void restore(const std::string& path);
  void save_archive(const std::string& path, bool overwrite);
  std::optional<bool> run_loaded(const std::string& words);
  bool beside(const std::string& path, const std::string& text, const std::function<bool()>& work);
  void apply_heading(std::string_view line);

  Session& session_;
  Workspace workspace_;
  std::vector<std::string> loading_;  // files whose statements run, outermost first
  bool summaries_ = false;
};

}  // namespace relish
