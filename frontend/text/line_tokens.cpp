// Recognition of tokens: the longest one that begins at each place, as in the lexer grammar.
#include "frontend/text/line_tokens.h"

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>

#include "grammar/RelishLexer.h"
#include "grammar/RelishParser.h"

namespace relish {
namespace {

using Lexer = grammar::RelishLexer;

// Words and signs of the grammar.
class Vocabulary {
 public:
  static const Vocabulary& instance() {
    static const Vocabulary vocabulary;
    return vocabulary;
  }
  // The kind of a word: its own, or that of names.
  std::size_t word(std::string_view text) const {
    if (text.size() > longest_word_) return Lexer::NAME;
    auto found = words_.find(text);
    return found == words_.end() ? std::size_t{Lexer::NAME} : found->second;
  }
  // The longest sign that `text` begins with and its length; UNKNOWN of one byte when there is none.
  std::pair<std::size_t, std::size_t> sign(std::string_view text) const {
    for (const auto& [sign, kind] : signs_[static_cast<unsigned char>(text[0])]) {
      if (text.starts_with(sign)) return {kind, sign.size()};
    }
    return {Lexer::UNKNOWN, 1};
  }

 private:
  Vocabulary() {
    // The literals are part of the tables that the first parser makes.
    grammar::RelishParser parser(nullptr);
    const antlr4::dfa::Vocabulary& vocabulary = parser.getVocabulary();
    for (std::size_t kind = 1; kind <= vocabulary.getMaxTokenType(); ++kind) {
      std::string literal = vocabulary.getLiteralName(kind);  // 'in', with the quotes
      if (literal.size() < 3 || kind == Lexer::NUMBER_LIST) continue;
      literal = literal.substr(1, literal.size() - 2);
      if (is_name_start(literal[0])) {
        longest_word_ = std::max(longest_word_, literal.size());
        spelled_.push_back(std::move(literal));
        words_.emplace(spelled_.back(), kind);
      } else {
        signs_[static_cast<unsigned char>(literal[0])].emplace_back(literal, kind);
      }
    }
    for (auto& signs : signs_) {
      std::sort(signs.begin(), signs.end(),
                [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
    }
  }

  std::deque<std::string> spelled_;  // what the keys of words_ point into
  std::unordered_map<std::string_view, std::size_t> words_;
  std::size_t longest_word_ = 0;
  std::array<std::vector<std::pair<std::string, std::size_t>>, 256> signs_;
};

// Walks one slice.
class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_(text) {}

  // Each gives the end of what begins at `at`; `at` itself where nothing of the kind does.
  std::size_t blanks(std::size_t at) const;
  std::size_t name(std::size_t at) const {
    while (at < text_.size() && is_name_part(text_[at])) ++at;
    return at;
  }
  // Of the `@12` behind a name.
  std::size_t state(std::size_t at) const {
    if (peek(at) != '@' || !is_digit(peek(at + 1))) return at;
    ++at;
    while (is_digit(peek(at))) ++at;
    return at;
  }
  std::size_t number(std::size_t at) const;
  std::size_t string(std::size_t at) const;

 private:
  char peek(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }
  template <class Digit>
  std::size_t many(std::size_t at, Digit&& digit) const {
    while (at < text_.size() && (digit(text_[at]) || text_[at] == '_')) ++at;
    return at;
  }
  std::size_t digits(std::size_t at) const { return many(at, is_digit); }
  std::size_t quoted(std::size_t at, std::string_view quotes) const;

  std::string_view text_;
};

// Blanks, line ends, continuations and comments.
std::size_t Cutter::blanks(std::size_t at) const {
  while (at < text_.size()) {
    char c = text_[at];
    if (c == ' ' || c == '\t' || c == '\f' || c == '\r' || c == '\n') {
      ++at;
    } else if (c == '\\' && (peek(at + 1) == '\n' || (peek(at + 1) == '\r' && peek(at + 2) == '\n'))) {
      at += peek(at + 1) == '\n' ? 2 : 3;
    } else if (c == '#') {
      while (at < text_.size() && text_[at] != '\n' && text_[at] != '\r') ++at;
    } else {
      break;
    }
  }
  return at;
}

std::size_t Cutter::number(std::size_t at) const {
  if (peek(at) == '.') {
    if (!is_digit(peek(at + 1))) return at;
  } else if (!is_digit(peek(at))) {
    return at;
  }
  if (peek(at) == '0') {
    char base = static_cast<char>(peek(at + 1) | 0x20);
    std::size_t end = at + 2;
    if (base == 'x') {
      end = many(end, [](char c) { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); });
    } else if (base == 'b') {
      end = many(end, [](char c) { return c == '0' || c == '1'; });
    } else if (base == 'o') {
      end = many(end, [](char c) { return c >= '0' && c <= '7'; });
    }
    if (end > at + 2) return end;
  }
  std::size_t end = digits(at);
  if (peek(end) == '.') {
    ++end;
    if (is_digit(peek(end))) end = digits(end);
  }
  if (peek(end) == 'e' || peek(end) == 'E') {
    std::size_t exponent = end + 1;
    if (peek(exponent) == '+' || peek(exponent) == '-') ++exponent;
    if (is_digit(peek(exponent))) end = digits(exponent);
  }
  return end;
}

// The end of a string that `quotes` open at `at`; `at` when they never close.
std::size_t Cutter::quoted(std::size_t at, std::string_view quotes) const {
  if (text_.substr(std::min(at, text_.size()), quotes.size()) != quotes) return at;
  std::size_t end = at + quotes.size();
  while (end < text_.size()) {
    if (text_[end] == '\\') {
      end += 2;
    } else if (text_.substr(end, quotes.size()) == quotes) {
      return end + quotes.size();
    } else {
      ++end;
    }
  }
  return at;
}

std::size_t Cutter::string(std::size_t at) const {
  std::size_t open = at;
  auto prefix = [&](std::string_view letters) {
    if (open < text_.size() && letters.find(text_[open]) != std::string_view::npos) ++open;
  };
  prefix("rRbBuUfF");
  if (open > at) prefix("rRbBfF");
  char quote = peek(open);
  if (quote != '"' && quote != '\'') return at;
  const char quotes[] = {quote, quote, quote};
  std::size_t end = quoted(open, {quotes, 3});
  if (end == open) end = quoted(open, {quotes, 1});
  return end == open ? at : end;
}

}  // namespace

void LineTokens::read(const Slice& slice) {
  constexpr std::size_t kept_capacity = std::size_t{1} << 16;
  if (tokens_.capacity() > kept_capacity) tokens_ = {};
  tokens_.clear();
  at_ = 0;
  const Vocabulary& vocabulary = Vocabulary::instance();
  const std::string_view text = slice.text.substr(0, slice.end);
  const Cutter cut(text);
  auto list = slice.number_lists.begin();
  auto add = [&](std::size_t kind, std::size_t begin, std::size_t end) {
    tokens_.emplace_back(kind, begin, end, tokens_.size());
    return end;
  };
  for (std::size_t at = cut.blanks(slice.begin); at < slice.end; at = cut.blanks(at)) {
    while (list != slice.number_lists.end() && list->begin < at) ++list;
    if (list != slice.number_lists.end() && list->begin == at) {
      at = add(Lexer::NUMBER_LIST, at, std::min<std::size_t>(list->end, slice.end));
      continue;
    }
    if (is_name_start(text[at]) || text[at] == '"' || text[at] == '\'') {
      if (const std::size_t end = cut.string(at); end != at) {
        at = add(Lexer::STRING, at, end);
        continue;
      }
    }
    if (is_name_start(text[at])) {
      const std::size_t end = cut.name(at);
      if (const std::size_t state = cut.state(end); state != end) {
        at = add(Lexer::STATE_NAME, at, state);
        continue;
      }
      at = add(vocabulary.word(text.substr(at, end - at)), at, end);
    } else if (text[at] == '?' && at + 1 < slice.end && is_name_start(text[at + 1])) {
      at = add(Lexer::HOLE, at, cut.name(at + 1));
    } else if (const std::size_t number = cut.number(at); number != at) {
      at = add(Lexer::NUMBER, at, number);
    } else {
      auto [kind, length] = vocabulary.sign(text.substr(at));
      at = add(kind, at, at + length);
    }
  }
  tokens_.emplace_back(antlr4::Token::EOF, slice.end, slice.end, tokens_.size());
}

antlr4::Token* LineTokens::LT(ssize_t k) {
  if (k < 0) {
    auto back = static_cast<std::size_t>(-k);
    return back > at_ ? nullptr : &tokens_[at_ - back];
  }
  std::size_t index = at_ + static_cast<std::size_t>(k) - 1;
  return &tokens_[std::min(index, tokens_.size() - 1)];
}

}  // namespace relish
