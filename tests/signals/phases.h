// What a signal may meet: programs that are long in one kind of work each. Every built-in of scripts has one.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace relish::testing {

struct Phase {
  std::string name;
  std::vector<std::string> arguments;
  std::string script;                    // text of s.relish
  std::vector<std::string> prepared_by;  // arguments of a run before, which makes files
  std::string output;                    // a file that is old or whole at any moment
  std::string output_to;                 // as in ProcessRequest

  // Whether the script never ends by itself, so that nobody need wait for it.
  bool endless() const { return script.find("while True:") != std::string::npos; }
};

std::vector<Phase> all_phases();
// By the name of the built-in, a script that is long in its calls.
std::map<std::string, std::string> scripts_of_builtins();
// A module M whose function main has `count` bindings.
std::string long_chain(int count);
// A loop nest `spin` that does not end, and a job that does not.
extern const char* const spinning_program;
extern const char* const training_program;
// Built-ins of scripts without a phase: none.
std::vector<std::string> builtins_without_phase();

}  // namespace relish::testing
