// What a session wants to know of the statements that run, and what only it can answer: values of other
// states.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/value.h"
#include "shell/script/script_value.h"
#include "support/source.h"

namespace relish {

// A call of a command that makes a module of another.
struct TransformCall {
  std::string command;
  std::string function;                // that it worked on; empty of a whole module
  bool whole_module = false;           // it takes a module
  bool keeps_meaning = false;          // what it replaces means the same
  std::optional<std::string> options;  // as written behind the subject; none: they came by ** or *
  ModulePtr before, after;
};

class ScriptObserver {
 public:
  virtual ~ScriptObserver() = default;

  // Whether somebody may ask later for the value that a name had before it was bound anew.
  virtual bool keeps_values() const { return true; }
  // A statement at top level has finished, up to that place of its text.
  virtual void finished(std::uint32_t end) { static_cast<void>(end); }
  // A bare expression has shown its value.
  virtual void shown(const ScriptValue& value) { static_cast<void>(value); }
  // `donate` takes the value of a name: who else holds it and can make it again should let go.
  virtual void donated(const std::string& name, const ScriptValue& value) {
    static_cast<void>(name), static_cast<void>(value);
  }
  // The module that the call gives: `call.after`, or one whose functions say where they come from.
  virtual ModulePtr transformed(const TransformCall& call) { return call.after; }
  // A function of a module is called with these arguments, one a parameter.
  virtual void called(const FunctionReference& function, const std::vector<Value>& arguments) {
    static_cast<void>(function), static_cast<void>(arguments);
  }
  // The call was refused, since its arguments do not fit.
  virtual void refused(const FunctionReference& function) { static_cast<void>(function); }
  // Those of its last call; nothing when there was none.
  virtual std::optional<std::vector<Value>> last_arguments(const FunctionReference& function) {
    return static_cast<void>(function), std::nullopt;
  }

  // Whether states go by that name, as in M@NAME.
  virtual bool knows_state(const std::string& state) const { return static_cast<void>(state), false; }
  // NAME@STATE. UsageError at `span` for what is not there.
  virtual ScriptValue value_at(const std::string& name, const std::string& state, Span span) = 0;
  // A name that nothing is bound to and that means something all the same: `_`, `_12`.
  virtual std::optional<ScriptValue> unbound(const std::string& name, Span span) = 0;
};

}  // namespace relish
