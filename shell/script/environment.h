// The names of a script, with undo: a statement binds all its names or, when it fails, none. A name has one
// place for as long as the script lives, so that statements find it without looking for its text.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
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
  Environment();

  // Of this one among all: places of another one say nothing here.
  std::uint32_t number() const { return number_; }
  // The place of a name, which it gets when it has none.
  std::uint32_t place_of(std::string_view name);

  // Null when nothing is bound there. What was not read yet is read: DataError.
  const ScriptValue* at(std::uint32_t place) const {
    const Entry& entry = entries_[place];
    if (entry.bound && entry.value.is_unread()) read(entry);
    return entry.bound ? &entry.value : nullptr;
  }
  // Functions of the script see the name, so any call may read it.
  void note_seen_by_functions(std::uint32_t place) { entries_[place].seen_by_functions = true; }
  bool is_seen_by_functions(std::uint32_t place) const { return entries_[place].seen_by_functions; }
  bool is_bound(std::uint32_t place) const { return entries_[place].bound; }
  const ScriptValue* find(std::string_view name) const;
  // The same as it is, read or not.
  const ScriptValue* peek(std::string_view name) const;
  // The value itself, to be changed in place; see `undo_by`. Null when nothing is bound there.
  ScriptValue* to_change(std::uint32_t place);

  void set(std::string_view name, ScriptValue value) { set_at(place_of(name), std::move(value)); }
  void set_at(std::uint32_t place, ScriptValue value);
  // Unbinds the name and hands its value over, as the only holder if nobody else has it. Undo does not bring
  // it back.
  ScriptValue take(std::string_view name);
  // The same of a bound name that the statement binds anew: until it does the name stands for nothing.
  ScriptValue hand_over(std::uint32_t place);
  // Takes `take` back, of a name that was touched before or not.
  void give_back(std::string_view name, ScriptValue value, bool touched);
  bool is_touched(std::string_view name) const;
  // Unbinds a name that is bound.
  void remove(std::string_view name);
  std::vector<std::string> names() const;  // sorted

  // Names that were bound, changed or unbound since `forget_touched`, by what was not rolled back; sorted.
  std::vector<std::string> touched() const;
  void forget_touched();
  // The same since it was asked last.
  std::set<std::string> take_changed();

  // A statement: `begin`, then `commit` or `roll_back`. Not nested.
  void begin();
  void commit();
  void roll_back();
  bool recording() const { return recording_; }
  // How the statement takes back what it changed in place.
  void undo_by(std::function<void()> undo);

 private:
  struct Entry {
    std::string name;
    mutable ScriptValue value = {};
    bool bound = false;
    bool changing = false;  // by the statement that is recorded
    bool touched = false;
    bool changed = false;
    bool seen_by_functions = false;
  };
  struct Change {
    std::uint32_t place;
    std::optional<ScriptValue> before;
    bool in_place = false;
  };
  static void read(const Entry& entry);
  void note_touched(std::uint32_t place);
  void end_recording();

  std::uint32_t number_;
  std::deque<Entry> entries_;
  std::unordered_map<std::string_view, std::uint32_t> places_;  // the texts are those of the entries
  std::vector<Change> changes_;                                 // of the statement that is recorded
  std::vector<std::function<void()>> undo_;
  std::vector<std::uint32_t> touched_, changed_;
  bool recording_ = false;
};

}  // namespace relish
