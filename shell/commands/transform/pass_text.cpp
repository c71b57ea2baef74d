// Pipelines of passes, of what support/value_text.h reads.
#include "shell/commands/transform/pass_text.h"

#include <algorithm>

#include "shell/program/literal_text.h"

namespace relish {

std::vector<PassCall> parse_passes(ValueText& text) {
  constexpr std::string_view expected = "a pass such as gradient(wrt=[w0])";
  std::vector<PassCall> result;
  for (WrittenValue& value : text.values(expected)) {
    const bool call = value.kind == WrittenValue::Kind::Call;
    // As on the command line a name may have '-' where the script has '_'.
    std::string name = value.text;
    std::replace(name.begin(), name.end(), '-', '_');
    if ((!call && value.kind != WrittenValue::Kind::Word) || !is_plain_name(name))
      text.refuse(value, expected);
    result.push_back({std::move(value.text), std::move(value.items)});
  }
  return result;
}

ScriptValue pass_argument(const ValueText& text, OptionKind kind, const WrittenValue& value) {
  using Kind = WrittenValue::Kind;
  const bool number = value.kind == Kind::Int || value.kind == Kind::Real;
  const bool constant = number || value.kind == Kind::Bool;
  switch (kind) {
    case OptionKind::Path:  // 1.0 is field 0 of field 1
      if (number) return std::string(text.source(value));
      break;
    case OptionKind::Text:
    case OptionKind::Spec:
    case OptionKind::InputFile:
    case OptionKind::OutputFile:
    case OptionKind::OutputFolder:
      if (constant) return std::string(text.source(value));
      break;
    case OptionKind::Flag:
    case OptionKind::Integer:
    case OptionKind::Real:
    case OptionKind::Names:
    case OptionKind::Tensors:
    case OptionKind::Assignments:
    case OptionKind::Value:
      break;
  }
  return script_value_of(text, value);
}

}  // namespace relish
