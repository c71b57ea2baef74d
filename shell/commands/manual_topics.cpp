// The table of subjects. A test holds it to the headings of the pages.
#include "shell/commands/manual_topics.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/render.h"

namespace relish {
namespace {

constexpr ManualTopic topics[] = {
    {"statement script starlark python", "statements.md", "Statements and Starlark"},
    {"alias sharing mutation", "statements.md", "Two names for one list"},
    {"statement text syntax indentation comment", "language.md", "Text"},
    {"value literal", "language.md", "Values"},
    {"number tensor arithmetic slicing indexing", "language.md", "Numbers and tensors"},
    {"slicing assignment mutation changing", "language.md", "Changing values"},
    {"condition comparison branch", "language.md", "Conditions"},
    {"loop iteration comprehension generator", "language.md", "Loops"},
    {"loop", "language.md", "The two meanings of `for`"},
    {"loop", "language.md", "Loops in functions"},
    {"loop nest primfunc", "language.md", "Loop nests"},
    {"function recursion closure", "language.md", "Functions of the script"},
    {"function", "language.md", "Functions"},
    {"module class cls", "language.md", "Modules"},
    {"import library", "language.md", "Modules of other files"},
    {"fstring formatting", "language.md", "Text in braces"},
    {"builtin", "language.md", "Built-ins"},
    {"method", "language.md", "Methods"},
    {"name scope variable", "language.md", "Names"},
    {"constant", "language.md", "Constants"},
    {"file", "language.md", "Files"},
    {"hole", "language.md", "Holes"},
    {"dialect", "language.md", "Dialects"},
    {"argument", "language.md", "Arguments of a script"},
    {"random randomness key seed", "random.md", "Keys"},
    {"state branching", "session.md", "States"},
    {"missing", "data.md", "Missing cells"},
    {"column data", "data.md", "Columns"},
    {"training", "training.md", "From an empty file"},
    {"checkpoint", "training.md", "Checkpoints"},
};

std::string plain(std::string_view word) {
  std::string result;
  for (const char c : word) {
    if (c == '-' || c == '_') continue;
    result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

// Of the words themselves or of one of them in plural.
bool is_of(std::string_view words, std::string_view wanted) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    const std::string_view ending = wanted.starts_with(word) ? wanted.substr(word.size()) : "?";
    if (ending.empty() || ending == "s" || ending == "es") return true;
  }
  return false;
}

}  // namespace

std::span<const ManualTopic> manual_topics() { return topics; }

std::optional<std::string> manual_topic(std::string_view word) {
  const std::string wanted = plain(word);
  std::string text;
  for (const ManualTopic& topic : topics)
    if (is_of(topic.words, wanted)) text += fmt::format("\n  docs/{}, {}", topic.page, topic.section);
  if (text.empty()) return std::nullopt;
  return fmt::format("of {} speaks the manual in{}", printable(word), text);
}

}  // namespace relish
