// Names with an undo list.
#include "shell/script/environment.h"

#include <algorithm>
#include <atomic>

#include "shell/script/unread_value.h"
#include "support/failure.h"

namespace relish {

Environment::Environment() {
  static std::atomic<std::uint32_t> count = 0;
  number_ = ++count;
}

std::uint32_t Environment::place_of(std::string_view name) {
  const auto found = places_.find(name);
  if (found != places_.end()) return found->second;
  const auto place = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({std::string(name)});
  places_.emplace(entries_.back().name, place);
  return place;
}

const ScriptValue* Environment::find(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : at(found->second);
}

const ScriptValue* Environment::peek(std::string_view name) const {
  const auto found = places_.find(name);
  const Entry* entry = found == places_.end() ? nullptr : &entries_[found->second];
  return entry && entry->bound ? &entry->value : nullptr;
}

// To have read it is no change of the name.
void Environment::read(const Entry& entry) {
  const ScriptValue value = read_value(entry.value);
  entry.value = value;
}

ScriptValue* Environment::to_change(std::uint32_t place) {
  Entry& entry = entries_[place];
  if (!entry.bound) return nullptr;
  if (entry.value.is_unread()) read(entry);
  if (!recording_) {
    note_touched(place);
  } else if (!entry.changing) {
    entry.changing = true;
    changes_.push_back({place, std::nullopt, true});
  }
  return &entry.value;
}

void Environment::set_at(std::uint32_t place, ScriptValue value) {
  Entry& entry = entries_[place];
  if (!recording_) {
    note_touched(place);
  } else {
    // Of several values only the first is brought back: changes are taken back from the last to the first.
    entry.changing = true;
    std::optional<ScriptValue> before;
    if (entry.bound) before = std::move(entry.value);
    changes_.push_back({place, std::move(before)});
  }
  entry.value = std::move(value);
  entry.bound = true;
}

ScriptValue Environment::take(std::string_view name) {
  const std::uint32_t place = place_of(name);
  ScriptValue value = hand_over(place);
  entries_[place].bound = false;
  return value;
}

ScriptValue Environment::hand_over(std::uint32_t place) {
  Entry& entry = entries_[place];
  RELISH_CHECK(entry.bound);
  if (entry.value.is_unread()) read(entry);
  // What the statement bound here before goes with it.
  std::erase_if(changes_, [&](const Change& change) { return change.place == place; });
  if (recording_) changes_.push_back({place, std::nullopt});
  if (!entry.touched) note_touched(place);
  return std::exchange(entry.value, {});
}

void Environment::give_back(std::string_view name, ScriptValue value, bool touched) {
  const std::uint32_t place = place_of(name);
  Entry& entry = entries_[place];
  std::erase_if(changes_, [&](const Change& change) { return change.place == place; });
  entry.value = std::move(value);
  entry.bound = true;
  if (touched) return;
  entry.touched = false;
  std::erase(touched_, place);
}

bool Environment::is_touched(std::string_view name) const {
  const auto found = places_.find(name);
  return found != places_.end() && entries_[found->second].touched;
}

void Environment::remove(std::string_view name) {
  const std::uint32_t place = place_of(name);
  Entry& entry = entries_[place];
  RELISH_CHECK(entry.bound);
  if (recording_) {
    entry.changing = true;
    changes_.push_back({place, std::move(entry.value)});
  } else {
    note_touched(place);
  }
  entry.value = {};
  entry.bound = false;
}

std::vector<std::string> Environment::names() const {
  std::vector<std::string> result;
  for (const Entry& entry : entries_)
    if (entry.bound) result.push_back(entry.name);
  std::sort(result.begin(), result.end());
  return result;
}

void Environment::note_touched(std::uint32_t place) {
  Entry& entry = entries_[place];
  if (entry.touched) return;
  entry.touched = true;
  touched_.push_back(place);
}

std::vector<std::string> Environment::touched() const {
  std::vector<std::string> result;
  for (const std::uint32_t place : touched_) result.push_back(entries_[place].name);
  std::sort(result.begin(), result.end());
  return result;
}

void Environment::forget_touched() {
  for (const std::uint32_t place : touched_) {
    Entry& entry = entries_[place];
    entry.touched = false;
    if (!entry.changed) changed_.push_back(place);
    entry.changed = true;
  }
  touched_.clear();
}

std::set<std::string> Environment::take_changed() {
  forget_touched();
  std::set<std::string> result;
  for (const std::uint32_t place : changed_) {
    entries_[place].changed = false;
    result.insert(entries_[place].name);
  }
  changed_.clear();
  return result;
}

void Environment::begin() {
  end_recording();
  recording_ = true;
}

void Environment::end_recording() {
  for (const Change& change : changes_) entries_[change.place].changing = false;
  changes_.clear();
  undo_.clear();
  recording_ = false;
}

void Environment::commit() {
  for (const Change& change : changes_) note_touched(change.place);
  end_recording();
}

void Environment::undo_by(std::function<void()> undo) {
  if (recording_) undo_.push_back(std::move(undo));
}

void Environment::roll_back() {
  // First what stands in the values themselves, then which values the names have.
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) (*undo)();
  for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
    if (change->in_place) continue;
    Entry& entry = entries_[change->place];
    entry.bound = change->before.has_value();
    entry.value = entry.bound ? std::move(*change->before) : ScriptValue();
  }
  end_recording();
}

}  // namespace relish
