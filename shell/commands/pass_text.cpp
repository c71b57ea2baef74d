// Splitting of a pipeline's text at commas outside brackets and quotes.
#include "shell/commands/pass_text.h"

#include "shell/program/literal_text.h"
#include "support/failure.h"
#include "support/render.h"

namespace relish {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t' || text.front() == '\n'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\n'))
    text.remove_suffix(1);
  return text;
}

[[noreturn]] void refuse(std::string_view text, std::string_view expected) {
  fail(ErrorClass::Usage, {}, "passes.text",
       fmt::format("found '{}'; expected {}", printable(text), expected));
}

// The parts between `separator`s at depth 0.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  char quote = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--depth < 0) refuse(text, "balanced brackets");
    } else if (c == separator && depth == 0) {
      parts.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (depth != 0 || quote) refuse(text, "balanced brackets and quotes");
  std::string_view last = trimmed(text.substr(begin));
  if (!last.empty() || !parts.empty()) parts.push_back(last);
  return parts;
}

bool is_name(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (char c : text) {
    bool part =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!part) return false;
  }
  return true;
}

ScriptValue value_of(std::string_view text) {
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    std::vector<ScriptValue> items;
    for (std::string_view item : split(text.substr(1, text.size() - 2), ',')) items.push_back(value_of(item));
    return ScriptValue::list(std::move(items));
  }
  char first = text.empty() ? ' ' : text.front();
  bool literal = first == '"' || first == '\'' || first == '-' || (first >= '0' && first <= '9') ||
                 text == "True" || text == "False" || text == "None";
  if (literal) return parse_literal(text, "-p");
  return std::string(text);
}

}  // namespace

std::vector<PassCall> parse_passes(std::string_view text) {
  std::vector<PassCall> result;
  for (std::string_view part : split(text, ',')) {
    std::size_t open = part.find('(');
    PassCall call;
    call.name = std::string(trimmed(part.substr(0, open)));
    if (!is_name(call.name)) refuse(part, "a pass such as gradient(wrt=[w0])");
    if (open != std::string_view::npos) {
      if (part.back() != ')') refuse(part, "NAME(arguments)");
      for (std::string_view argument : split(part.substr(open + 1, part.size() - open - 2), ',')) {
        if (argument.empty()) refuse(part, "an argument between the commas");
        std::size_t mark = argument.find('=');
        bool named = mark != std::string_view::npos && is_name(trimmed(argument.substr(0, mark)));
        if (named) {
          call.arguments.emplace_back(std::string(trimmed(argument.substr(0, mark))),
                                      value_of(trimmed(argument.substr(mark + 1))));
        } else {
          call.arguments.emplace_back("", value_of(argument));
        }
      }
    }
    result.push_back(std::move(call));
  }
  return result;
}

}  // namespace relish
