// Comments and literals taken out of a C++ text, and its brackets.
#include "tests/sizes/blanked.h"

#include <algorithm>
#include <cctype>

namespace relish::sizes {

bool of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string blanked(std::string_view text) {
  std::string out(text);
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, out.size()); ++i)
      if (out[i] != '\n') out[i] = ' ';
  };
  bool line_begins = true;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    std::size_t end = at + 1;
    if (line_begins && c == '#') {
      do end = std::min(text.find('\n', end), text.size());
      while (end < text.size() && text[end++ - 1] == '\\');
    } else if (text.substr(at).starts_with("//")) {
      end = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at).starts_with("/*")) {
      end = std::min(text.find("*/", at), text.size() - 2) + 2;
    } else if (text.substr(at).starts_with("R\"")) {
      const std::size_t open = std::min(text.find('(', at), text.size());
      const std::string close = ")" + std::string(text.substr(at + 2, open - at - 2)) + "\"";
      end = std::min(text.find(close, open), text.size() - close.size()) + close.size();
    } else if (c == '"' || (c == '\'' && (at == 0 || !of_word(text[at - 1])))) {  // 1'000 is a number
      while (end < text.size() && text[end] != c) end += text[end] == '\\' ? 2 : 1;
      ++end;
    }
    line_begins = c == '\n' || (line_begins && c == ' ');
    if (end > at + 1) {
      blank(at, end);
      line_begins = end <= text.size() && text[end - 1] == '\n';
    }
    at = end;
  }
  return out;
}

std::size_t behind(std::string_view text, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (std::string_view("([{").find(text[at]) != std::string_view::npos) ++depth;
    if (std::string_view(")]}").find(text[at]) != std::string_view::npos && --depth == 0) return at + 1;
  }
  return text.size();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

}  // namespace relish::sizes
