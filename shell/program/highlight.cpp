// Tokens by their first character.
#include "shell/program/highlight.h"

#include <algorithm>

#include "frontend/text/scanner.h"
#include "ir/operators/op.h"
#include "shell/command.h"

namespace relish {
namespace {

constexpr std::string_view colored_words[] = {
    "False", "None", "True", "and",    "as",   "assert", "break", "class",  "continue",
    "def",   "del",  "elif", "else",   "for",  "from",   "if",    "import", "in",
    "is",    "not",  "or",   "lambda", "pass", "return", "while", "with"};

bool is_colored_word(std::string_view word) {
  return std::find(std::begin(colored_words), std::end(colored_words), word) != std::end(colored_words);
}

// Whether R has names that begin so: a lower-case word is an operator or the folder of some.
bool may_be_relax(std::string_view name) {
  const std::string_view rest = name.substr(2);
  if (rest.empty() || find_op(rest) || (rest[0] >= 'A' && rest[0] <= 'Z')) return true;
  static const std::vector<std::string> known = op_names();
  for (const std::string& each : known)
    if (each.starts_with(rest)) return true;
  for (const std::string_view word :
       {"const", "dataflow", "dtype", "func_attr", "function", "match_cast", "null_value", "output",
        "prim_value", "shape", "str", "tuple", "gradient", "call_packed", "print", "assert_op", "stack"})
    if (word.starts_with(rest) || rest.starts_with(word)) return true;
  return false;
}

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  std::vector<TokenSpan> run() {
    while (at_ < text_.size()) step();
    return std::move(spans_);
  }

 private:
  void add(std::size_t begin, TokenKind kind) { spans_.push_back({begin, at_, kind}); }

  void step() {
    const std::size_t begin = at_;
    const char c = text_[at_];
    const bool line_begins = begin == 0 || text_[begin - 1] == '\n';
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
      add(begin, TokenKind::Comment);
    } else if (c == '"' || c == '\'') {
      string(c);
    } else if (c == ':' && line_begins && brackets_.empty()) {
      command();
    } else if (c == '@' && blank_before(begin)) {
      ++at_;
      while (at_ < text_.size() && (is_name_part(text_[at_]) || text_[at_] == '.')) ++at_;
      add(begin, TokenKind::Decorator);
    } else if (is_digit(c) && (begin == 0 || !is_name_part(text_[begin - 1]))) {
      while (at_ < text_.size() && (is_name_part(text_[at_]) || text_[at_] == '.')) ++at_;
      add(begin, TokenKind::Number);
    } else if (is_name_start(c)) {
      name();
    } else {
      bracket(c);
      ++at_;
    }
  }

  bool blank_before(std::size_t at) const {
    while (at > 0 && text_[at - 1] == ' ') --at;
    return at == 0 || text_[at - 1] == '\n';
  }

  void string(char quote) {
    const std::size_t begin = at_;
    const bool triple = text_.substr(at_).starts_with(std::string(3, quote));
    const std::string end(triple ? 3 : 1, quote);
    at_ += end.size();
    bool closed = false;
    while (at_ < text_.size() && !closed) {
      if (text_[at_] == '\n' && !triple) break;
      if (text_[at_] == '\\') {
        at_ = std::min(at_ + 2, text_.size());
      } else if (text_.substr(at_).starts_with(end)) {
        at_ += end.size();
        closed = true;
      } else {
        ++at_;
      }
    }
    // One that is being written has no end yet.
    add(begin, closed || at_ == text_.size() ? TokenKind::String : TokenKind::Fault);
  }

  void command() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && (is_name_part(text_[at_]) || text_[at_] == '-')) ++at_;
    const std::string_view name = text_.substr(begin + 1, at_ - begin - 1);
    const Command* known = find_command(name);
    const bool being_written = at_ == text_.size();
    const bool leaves = name == "quit" || name == "q" || name == "exit";
    const bool is_one = leaves || being_written || (known && is_session_command(*known));
    add(begin, is_one ? TokenKind::Command : TokenKind::Fault);
  }

  void name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_name_part(text_[at_]) || text_[at_] == '.')) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const bool member = begin > 0 && text_[begin - 1] == '.';
    if (is_colored_word(word)) {
      add(begin, TokenKind::Keyword);
    } else if (!member && word.starts_with("R.")) {
      const bool being_written = at_ == text_.size();
      add(begin, being_written || may_be_relax(word) ? TokenKind::Name : TokenKind::Fault);
    } else if (!member && (word.starts_with("T.") || word.starts_with("I."))) {
      add(begin, TokenKind::Name);
    }
  }

  void bracket(char c) {
    constexpr std::string_view opens = "([{", closes = ")]}";
    if (opens.find(c) != std::string_view::npos) brackets_ += c;
    const std::size_t kind = closes.find(c);
    if (kind == std::string_view::npos) return;
    if (!brackets_.empty() && brackets_.back() == opens[kind]) {
      brackets_.pop_back();
      return;
    }
    spans_.push_back({at_, at_ + 1, TokenKind::Fault});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string brackets_;
  std::vector<TokenSpan> spans_;
};

}  // namespace

std::vector<TokenSpan> token_spans(std::string_view text) { return Tokens(text).run(); }

std::string_view color_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::Keyword:
      return "\x1b[35m";
    case TokenKind::String:
      return "\x1b[32m";
    case TokenKind::Number:
      return "\x1b[36m";
    case TokenKind::Comment:
      return "\x1b[2m";
    case TokenKind::Name:
      return "\x1b[34m";
    case TokenKind::Decorator:
      return "\x1b[33m";
    case TokenKind::Command:
      return "\x1b[1m";
    case TokenKind::Fault:
      return "\x1b[4;31m";
  }
  return "";
}

std::string in_colors(std::string_view text) {
  std::string colored;
  std::size_t at = 0;
  for (const TokenSpan& span : token_spans(text)) {
    colored += text.substr(at, span.begin - at);
    colored += color_of(span.kind);
    colored += text.substr(span.begin, span.end - span.begin);
    colored += color_end;
    at = span.end;
  }
  colored += text.substr(at);
  return colored;
}

}  // namespace relish
