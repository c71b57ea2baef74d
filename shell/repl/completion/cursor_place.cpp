// One walk over brackets, strings and comments up to the cursor.
#include "shell/repl/completion/cursor_place.h"

#include <algorithm>
#include <unordered_set>

#include "frontend/text/scanner.h"
#include "shell/repl/inputs/input_parts.h"
#include "support/lines.h"
#include "support/value_text.h"

namespace relish {
namespace {

bool in_dotted_name(char c) { return is_name_part(c) || c == '.'; }

// The dotted name that ends there; it begins with no digit.
std::string_view name_ending_at(std::string_view text, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && in_dotted_name(text[begin - 1])) --begin;
  while (begin < end && is_digit(text[begin])) ++begin;
  return text.substr(begin, end - begin);
}

struct OpenBracket {
  char kind = '(';
  std::size_t begin = 0;     // of its content
  std::string_view callee;   // of a call
  std::size_t argument = 0;  // how many stand in front
  std::size_t argument_begin = 0;
  std::string_view first, keyword;
  std::vector<std::string_view> given;
};

// Whether what stands in front wants a value behind it, in the same line.
bool is_value_wanted(std::string_view before) {
  before = before.substr(line_begin(before, before.size()));
  const std::size_t last = before.find_last_not_of(" \t");
  if (last == std::string_view::npos) return false;
  constexpr std::string_view signs = "=([{,+-*/%<>|&^@";
  if (signs.find(before[last]) != std::string_view::npos) return true;
  const std::string_view word = name_ending_at(before, last + 1);
  for (const std::string_view each :
       {"del", "return", "in", "if", "elif", "while", "not", "and", "or", "assert", "else"})
    if (word == each && last + 1 < before.size()) return true;
  return false;
}

// "M.main", or "M@12.main" of another state.
std::string_view callee_ending_at(std::string_view text, std::size_t end) {
  const std::string_view name = name_ending_at(text, end);
  std::size_t at = end - name.size();
  while (at > 0 && is_digit(text[at - 1])) --at;
  if (at == 0 || text[at - 1] != '@') return name;
  const std::string_view bound = name_ending_at(text, at - 1);
  return bound.empty() ? name : text.substr(at - 1 - bound.size(), end - (at - 1 - bound.size()));
}

class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  CursorPlace place() {
    for (at_ = 0; at_ < text_.size(); ++at_) step();
    CursorPlace place;
    place.in_comment = comment_;
    place.in_string = quote_ != 0;
    std::size_t begin = text_.size();
    if (place.in_string) {
      begin = string_begin_;
    } else {
      begin -= name_ending_at(text_, begin).size();
      // The number of a state: M@12.main.
      std::size_t digits = begin;
      while (digits > 0 && is_digit(text_[digits - 1])) --digits;
      if (digits < begin && digits > 0 && text_[digits - 1] == '@') begin = digits;
    }
    place.begin = begin;
    place.word = text_.substr(begin);
    if (!place.in_string && begin > 0 && text_[begin - 1] == '@') {
      place.behind_at = begin > 1 && (is_name_part(text_[begin - 2]));
      place.decorator = !place.behind_at;
    }
    if (place.in_string) {
      // optimizer="adam(lr: the name in front of the sign.
      const std::string_view before = without_blanks(text_.substr(0, begin - 1));
      if (before.ends_with('=')) place.keyword = name_ending_at(before, before.size() - 1);
      if (!open_.empty() && open_.back().kind == '[')
        place.subscripted = name_ending_at(text_, open_.back().begin - 1);
    }
    place.in_dict = !open_.empty() && open_.back().kind == '{';
    place.wants_value = is_value_wanted(text_.substr(0, begin));
    // The call whose argument this is, behind a list or dict that is one of its arguments.
    for (auto bracket = open_.rbegin(); bracket != open_.rend(); ++bracket) {
      if (bracket->callee.empty()) continue;
      place.callee = bracket->callee;
      place.argument = bracket->argument;
      place.subject = bracket->argument == 0 ? std::string_view() : bracket->first;
      if (!bracket->keyword.empty()) place.keyword = bracket->keyword;
      place.given = bracket->given;
      break;
    }
    return place;
  }

 private:
  void step() {
    const char c = text_[at_];
    if (comment_) {
      comment_ = c != '\n';
      return;
    }
    if (quote_ != 0) return inside_string(c);
    if (c == '#') {
      comment_ = true;
    } else if (c == '"' || c == '\'') {
      quote_ = c;
      triple_ = text_.substr(at_).starts_with(std::string(3, c));
      if (triple_) at_ += 2;
      string_begin_ = at_ + 1;
    } else if (c == '(' || c == '[' || c == '{') {
      OpenBracket bracket;
      bracket.kind = c;
      bracket.begin = bracket.argument_begin = at_ + 1;
      if (c == '(') bracket.callee = callee_ending_at(text_, at_);
      open_.push_back(std::move(bracket));
    } else if (c == ')' || c == ']' || c == '}') {
      if (!open_.empty()) open_.pop_back();
    } else if (!open_.empty()) {
      inside_bracket(open_.back(), c);
    }
  }

  void inside_string(char c) {
    if (c == '\\') {
      ++at_;
      return;
    }
    if (c == '\n' && !triple_) quote_ = 0;
    if (c != quote_ || (triple_ && !text_.substr(at_).starts_with(std::string(3, c)))) return;
    if (triple_) at_ += 2;
    quote_ = 0;
  }

  void inside_bracket(OpenBracket& bracket, char c) {
    if (c == '=' && bracket.kind == '(' && bracket.keyword.empty()) {
      const bool compares = (at_ + 1 < text_.size() && text_[at_ + 1] == '=') ||
                            (at_ > 0 && std::string_view("=<>!").find(text_[at_ - 1]) != std::string::npos);
      const std::string_view name = name_ending_at(text_, at_);
      if (!compares && is_plain_name(name)) {
        bracket.keyword = name;
        bracket.given.push_back(name);
      }
    }
    if (c != ',') return;
    if (bracket.argument == 0)
      bracket.first = without_blanks(text_.substr(bracket.begin, at_ - bracket.begin));
    ++bracket.argument;
    bracket.argument_begin = at_ + 1;
    bracket.keyword = {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<OpenBracket> open_;
  bool comment_ = false;
  char quote_ = 0;
  bool triple_ = false;
  std::size_t string_begin_ = 0;
};

// The `:` line that the text ends in; empty when it ends in statements.
std::string_view command_line_of(std::string_view text) {
  const std::size_t begin = line_begin(text, text.size());
  const std::string_view line = text.substr(begin);
  if (!line.starts_with(':')) return {};
  const std::string_view before = text.substr(0, begin);
  const Missing missing = missing_in_input(before);
  const bool free = before.empty() || missing == Missing::Nothing || missing == Missing::BlankLine;
  return free ? line : std::string_view();
}

bool is_word_gap(char c) { return c == ' ' || c == '\t'; }

void read_command_line(std::string_view line, CursorPlace& place) {
  place.command_line = true;
  std::vector<std::string_view> words = split_at_blanks(line.substr(1));
  const bool open_word = !line.empty() && !is_word_gap(line.back());
  std::string_view last;
  if (open_word && !words.empty()) {
    last = words.back();
    words.pop_back();
  }
  if (!words.empty()) {
    place.command = words.front();
    words.erase(words.begin());
  }
  place.words = words;
  if (!words.empty() && words.back().find('=') == std::string_view::npos) {
    const std::string_view before = words.back();
    if (before.starts_with("--")) place.option = before.substr(2);
    if (before.size() == 2 && before[0] == '-' && !is_digit(before[1])) place.option = before.substr(1);
  }
  if (place.in_string || !place.callee.empty()) return;
  // Words of commands hold what names do not: --wrt, data/w.npz. What stands behind a comma or '=' counts.
  const std::size_t cut = last.starts_with("--") && last.find('=') == std::string_view::npos
                              ? std::string_view::npos
                              : last.find_last_of(",=@[");
  if (cut != std::string_view::npos) last.remove_prefix(cut + 1);
  if (open_word && words.empty() && place.command.empty()) last = line;
  place.word = last;
}

}  // namespace

CursorPlace cursor_place(std::string_view text) {
  const std::string_view line = command_line_of(text);
  CursorPlace place = Walk(line.empty() ? text : line).place();
  place.begin += text.size() - (line.empty() ? text.size() : line.size());
  if (line.empty()) return place;
  read_command_line(line, place);
  place.begin = text.size() - place.word.size();
  return place;
}

std::vector<std::string> names_bound_in(std::string_view text) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (is_plain_name(name)) names.emplace_back(name);
  };
  // The names of a list in front of a sign, as targets and parameters stand: "a, b", "x: T, y: T = 1".
  const auto add_list = [&](std::string_view list) {
    for (const std::string_view part : split_at_commas(list)) {
      const std::string_view name = without_blanks(part);
      add(name.substr(0, std::min(name.find_first_of(": ="), name.size())));
    }
  };
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = without_blanks(line);
    const auto behind = [&](std::string_view word) { return line.substr(word.size()); };
    if (line.starts_with("def ")) {
      const std::string_view rest = behind("def ");
      const std::size_t open = std::min(rest.find('('), rest.size());
      add(rest.substr(0, open));
      const std::size_t close = rest.rfind(')');
      if (close != std::string_view::npos && close > open) add_list(rest.substr(open + 1, close - open - 1));
    } else if (line.starts_with("class ")) {
      const std::string_view rest = behind("class ");
      add(rest.substr(0, std::min(rest.find_first_of("(:"), rest.size())));
    } else if (line.starts_with("for ")) {
      const std::string_view rest = behind("for ");
      add_list(rest.substr(0, rest.find(" in ")));
    } else if (const std::size_t as = line.rfind(" as "); as != std::string_view::npos) {
      const std::string_view rest = line.substr(as + 4);
      add_list(rest.substr(0, rest.find(':')));
    } else if (const std::size_t sign = line.find('='); sign != std::string_view::npos && sign > 0) {
      const bool compares = sign + 1 < line.size() && line[sign + 1] == '=';
      if (!compares) add_list(line.substr(0, sign));
    }
  }
  std::reverse(names.begin(), names.end());
  std::unordered_set<std::string> seen;
  std::erase_if(names, [&](const std::string& name) { return !seen.insert(name).second; });
  return names;
}

}  // namespace relish
