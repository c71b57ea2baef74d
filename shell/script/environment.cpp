// Names with an undo list.
#include "shell/script/environment.h"

#include <algorithm>

namespace relish {

const ScriptValue* Environment::find(std::string_view name) const {
  auto found = values_.find(std::string(name));
  return found == values_.end() ? nullptr : &found->second;
}

ScriptValue* Environment::find_to_change(std::string_view name) {
  auto found = values_.find(std::string(name));
  if (found == values_.end()) return nullptr;
  if (!touched_.contains(found->first)) touched_.insert(found->first);
  return &found->second;
}

void Environment::set(const std::string& name, ScriptValue value) {
  auto found = values_.find(name);
  if (!recording_) {
    touched_.insert(name);
  } else {
    // Only the value before the statement matters, so a loop keeps one change a name.
    if (!changes_.contains(name)) {
      changes_.emplace(name,
                       found == values_.end() ? std::nullopt : std::optional<ScriptValue>(found->second));
    }
  }
  if (found == values_.end()) {
    values_.emplace(name, std::move(value));
  } else {
    found->second = std::move(value);
  }
}

ScriptValue Environment::take(const std::string& name) {
  auto found = values_.find(name);
  RELISH_CHECK(found != values_.end());
  touched_.insert(name);
  ScriptValue value = std::move(found->second);
  values_.erase(found);
  if (recording_) changes_.insert_or_assign(name, std::nullopt);
  return value;
}

void Environment::remove(const std::string& name) {
  auto found = values_.find(name);
  RELISH_CHECK(found != values_.end());
  if (recording_) {
    changes_.try_emplace(name, found->second);
  } else {
    touched_.insert(name);
  }
  values_.erase(found);
}

std::set<std::string> Environment::take_changed() {
  forget_touched();
  return std::exchange(changed_, {});
}

std::vector<std::string> Environment::names() const {
  std::vector<std::string> result;
  for (const auto& [name, value] : values_) result.push_back(name);
  std::sort(result.begin(), result.end());
  return result;
}

void Environment::begin() {
  changes_.clear();
  recording_ = true;
}

void Environment::commit() {
  for (const auto& [name, before] : changes_) touched_.insert(name);
  changes_.clear();
  recording_ = false;
}

void Environment::roll_back() {
  for (auto& [name, before] : changes_) {
    if (before) {
      values_[name] = std::move(*before);
    } else {
      values_.erase(name);
    }
  }
  changes_.clear();
  recording_ = false;
}

}  // namespace relish
