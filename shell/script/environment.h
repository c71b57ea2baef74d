// The names of a script, with undo: a statement binds all its names or, when it fails, none.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "shell/script/script_value.h"

namespace relish {

class Environment {
 public:
  const ScriptValue* find(std::string_view name) const;
  // The value itself, to be changed by what cannot fail afterwards: undo does not know of it. Null when there
  // is none.
  ScriptValue* find_to_change(std::string_view name);
  void set(const std::string& name, ScriptValue value);
  // Unbinds the name and hands its value over, as the only holder if nobody else has it. Undo does not bring
  // it back.
  ScriptValue take(const std::string& name);
  // Unbinds a name that is bound.
  void remove(const std::string& name);
  std::vector<std::string> names() const;  // sorted

  // Names that were bound, changed or unbound since `forget_touched`, by what was not rolled back; sorted.
  std::vector<std::string> touched() const { return {touched_.begin(), touched_.end()}; }
  void forget_touched() { changed_.merge(touched_), touched_.clear(); }
  // The same since it was asked last.
  std::set<std::string> take_changed();

  // A statement: `begin`, then `commit` or `roll_back`. Not nested.
  void begin();
  void commit();
  void roll_back();

 private:
  std::unordered_map<std::string, ScriptValue> values_;
  std::unordered_map<std::string, std::optional<ScriptValue>> changes_;  // what was there before
  std::set<std::string> touched_;
  std::set<std::string> changed_;
  bool recording_ = false;
};

}  // namespace relish
