// A value that stands in a file and is read when somebody wants it: a session that was restored begins with
// these, whatever its tensors weigh.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "shell/script/script_value.h"

namespace relish {

class UnreadValue {
 public:
  // `kind` as kind_name says it, and a short text of what it is.
  UnreadValue(std::string kind, std::string overview)
      : kind_(std::move(kind)), overview_(std::move(overview)) {}
  UnreadValue(const UnreadValue&) = delete;
  virtual ~UnreadValue() = default;

  const std::string& kind() const { return kind_; }
  const std::string& overview() const { return overview_; }
  // Read at the first call and held from then on. DataError when the file does not have it as it was written.
  const ScriptValue& value() const {
    if (!value_) value_ = read();
    return *value_;
  }
  // Null before it was read.
  const ScriptValue* known() const { return value_ ? &*value_ : nullptr; }

 protected:
  virtual ScriptValue read() const = 0;

 private:
  std::string kind_, overview_;
  mutable std::optional<ScriptValue> value_;
};

// The value itself, read when it was not.
inline const ScriptValue& read_value(const ScriptValue& value) {
  const auto* unread = value.as<UnreadValuePtr>();
  return unread ? (*unread)->value() : value;
}
// The same as far as it is known.
inline const ScriptValue& known_value(const ScriptValue& value) {
  const auto* unread = value.as<UnreadValuePtr>();
  const ScriptValue* known = unread ? (*unread)->known() : nullptr;
  return known ? *known : value;
}

}  // namespace relish
