// One walk over a text by its logical lines: those that begin outside of strings and brackets.
#include "shell/program/text_units.h"

#include <algorithm>
#include <array>

namespace relish {
namespace {

struct LogicalLine {
  std::size_t begin = 0, end = 0;
  std::size_t blanks = 0;  // in front of its first sign
};

// Signs that change how a line goes on; asked for each character of the text.
constexpr std::array<bool, 256> signs_of_lines = [] {
  std::array<bool, 256> signs{};
  for (const char c : std::string_view("\n#\"'([{)]}\\")) signs[static_cast<unsigned char>(c)] = true;
  return signs;
}();
bool is_sign(char c) { return signs_of_lines[static_cast<unsigned char>(c)]; }

class LogicalLines {
 public:
  explicit LogicalLines(std::string_view text) : text_(text) {}

  // False at the end. Lines of blanks and comments are passed over.
  bool next(LogicalLine& line) {
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      const std::size_t first = text_.find_first_not_of(" \t\r", begin);
      if (first == std::string_view::npos) break;
      if (text_[first] == '\n' || text_[first] == '#') {
        at_ = behind_line(first);
        continue;
      }
      line = {begin, 0, first - begin};
      pass_statement();
      line.end = at_;
      return true;
    }
    at_ = text_.size();
    return false;
  }

 private:
  std::size_t behind_line(std::size_t from) const {
    return std::min(text_.find('\n', from), text_.size() - 1) + 1;
  }

  // To the line end that no bracket, string or backslash goes over.
  void pass_statement() {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      while (at_ < text_.size() && !is_sign(text_[at_])) ++at_;
      if (at_ == text_.size()) return;
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        pass_string(c);
      } else {
        ++at_;
        if (c == '(' || c == '[' || c == '{') ++depth;
        if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
        if (c == '\\' && at_ < text_.size()) ++at_;
        if (c == '\n' && depth == 0) return;
      }
    }
  }

  void pass_string(char quote) {
    const bool triple = text_.substr(at_).starts_with(std::string(3, quote));
    const std::string end(triple ? 3 : 1, quote);
    at_ += end.size();
    while (at_ < text_.size()) {
      if (text_[at_] == '\\') {
        at_ += 2;
      } else if (text_.substr(at_).starts_with(end)) {
        at_ += end.size();
        return;
      } else if (!triple && text_[at_] == '\n') {
        return;
      } else {
        ++at_;
      }
    }
    at_ = text_.size();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// The name behind the word, when the line begins with it.
std::string_view name_behind(std::string_view line, std::string_view word) {
  if (!line.starts_with(word)) return {};
  line.remove_prefix(word.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line.substr(0, line.find_first_of("(: \t\r\n"));
}

}  // namespace

std::vector<TextUnit> text_units(std::string_view text) {
  std::vector<TextUnit> units;
  LogicalLines lines(text);
  LogicalLine line;
  std::string_view owner;
  std::size_t indentation = 0;  // of what stands in the class; 0: not known yet
  bool decorated = false;       // the unit is the decorators so far
  // What stands between two units belongs to the one below: comments are written above.
  std::size_t behind = 0;
  while (lines.next(line)) {
    const std::string_view words = text.substr(line.begin + line.blanks, line.end - line.begin - line.blanks);
    if (line.blanks == 0) owner = {};
    if (!owner.empty() && indentation == 0) indentation = line.blanks;
    const bool begins = line.blanks == 0 || (!owner.empty() && line.blanks == indentation);
    if (units.empty() || (begins && !decorated)) {
      units.push_back({TextUnit::Kind::Other, owner, {}, behind, 0});
    }
    units.back().end = line.end;
    behind = line.end;
    if (!begins) continue;
    TextUnit& unit = units.back();
    decorated = words.starts_with('@');
    unit.decorated |= decorated;
    if (const auto function = name_behind(words, "def "); !function.empty()) {
      unit.kind = TextUnit::Kind::Function;
      unit.name = function;
    } else if (const auto name = name_behind(words, "class "); !name.empty() && line.blanks == 0) {
      unit.kind = TextUnit::Kind::Class;
      unit.name = owner = name;
      indentation = 0;
    }
  }
  if (!units.empty()) units.back().end = text.size();
  return units;
}

std::string text_of_units(std::string_view text, const std::vector<TextUnit>& units,
                          const std::vector<bool>& wanted) {
  std::string result;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const std::string_view part = text.substr(units[i].begin, units[i].end - units[i].begin);
    if (wanted[i]) {
      result += part;
    } else {
      result.append(static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n')), '\n');
    }
  }
  return result;
}

bool is_declaration(std::string_view text, const TextUnit& unit) {
  if (!unit.decorated || unit.kind == TextUnit::Kind::Other) return false;
  std::string_view above = text.substr(unit.begin, unit.end - unit.begin);
  above = above.substr(0, static_cast<std::size_t>(unit.name.data() - above.data()));
  for (std::size_t at = above.find('@'); at != std::string_view::npos; at = above.find('@', at + 1)) {
    const std::size_t begin = above.rfind('\n', at) + 1;
    if (above.find_first_not_of(' ', begin) != at) continue;  // in a comment
    const std::string_view line = above.substr(at, above.find('\n', at) - at);
    const auto names = [&](std::string_view word) { return line.find(word) != std::string_view::npos; };
    if (unit.kind == TextUnit::Kind::Class ? names("ir_module") : names("function") || names("prim_func"))
      return true;
  }
  return false;
}

}  // namespace relish
