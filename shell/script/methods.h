// Methods of values: text.split(","), xs.append(x), d.get("k"), t.sum(axis=0). The tables are closed, as that
// of the built-ins.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shell/script/call_arguments.h"
#include "shell/script/environment.h"

namespace relish {

class Script;

struct ValueMethod {
  std::string_view name;
  std::string_view synopsis;
  ScriptValue (*call)(Script& script, const ScriptValue& self, CallArguments& arguments) = nullptr;
  // One that changes what the name in front of it holds; `undo` notes the way back, where there is one.
  ScriptValue (*change)(ScriptValue& self, CallArguments& arguments, Environment* undo) = nullptr;
  // One that Python has and that is not here: what to write.
  std::string_view instead = {};
};

// Null when values of its kind have no such method.
const ValueMethod* find_method(const ScriptValue& value, std::string_view name);
// Whether a list or dict has a method of that name that changes it.
bool is_change(std::string_view name);
// Of a value, in the order of the alphabet.
std::vector<std::string> method_names(const ScriptValue& value);
// TypeError with the nearest name, or with `instead`, the end of the message for a call with its arguments.
[[noreturn]] void no_attribute(const ScriptValue& value, std::string_view name, Span span,
                               std::string instead = "");

// The entries that dict(…) and d.update(…) are given: a dict or pairs, and names.
std::vector<std::pair<ScriptValue, ScriptValue>> entries_of(CallArguments& arguments);

// The tables, by file.
std::span<const ValueMethod> text_methods();
std::span<const ValueMethod> list_methods();
std::span<const ValueMethod> tuple_methods();
std::span<const ValueMethod> dict_methods();
std::span<const ValueMethod> tensor_methods();

}  // namespace relish
