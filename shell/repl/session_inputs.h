// The inputs of a session, typed, pasted or read from a file: each is read whole before any of it runs, then
// its statements and `:` commands run in order up to the first that fails.
#pragma once

#include <string>
#include <vector>

#include "shell/repl/input_parts.h"
#include "shell/repl/session_file.h"
#include "shell/script/script.h"

namespace relish {

class SessionInputs {
 public:
  SessionInputs(Session& session, ScriptOptions options);

  Script& script() { return script_; }
  // Runs a text under the name that its diagnostics show. False when a command ends the session. Throws what
  // a statement throws; the parts before it keep their effect.
  bool run(const std::string& name, const std::string& text);
  // The same of a file. One that :save wrote finds its values beside it, from wherever it is run.
  bool run_file(const std::string& path);

 private:
  bool run_command(const std::string& name, const InputPart& part);
  void check_syntax(const std::string& name, const std::vector<InputPart>& parts);
  void run_statements(const std::string& name, const InputPart& part);
  void save(std::string path);

  Session& session_;
  Script script_;
  SessionStatements statements_;  // that ran, for :save
};

// The page of `help` in a session.
std::string session_help();

}  // namespace relish
