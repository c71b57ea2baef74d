// The tokens of one logical line, as the lexer grammar defines them, in the slim form that the parser walks:
// a kind and a byte range each. The words and signs come from the grammar's vocabulary; only names, numbers
// and strings are recognised by hand, because the generated lexer takes more time than all the rest of
// reading. Internal to frontend/: ANTLR types.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "antlr4-runtime.h"
#include "frontend/text/scanner.h"

namespace relish {

// A slice of a source to parse.
struct Slice {
  std::uint32_t file = 0;
  std::string_view text;  // of the whole source: token positions are offsets into it
  std::size_t begin = 0, end = 0;
  std::span<const NumberRange> number_lists;
};

// Characters of the grammar are bytes of the source, so positions are byte offsets. Bytes beyond ASCII occur
// in strings and comments only; the scanner has checked them.
class LineToken final : public antlr4::Token {
 public:
  LineToken(std::size_t type, std::size_t begin, std::size_t end, std::size_t index)
      : type_(type == EOF ? end_type : static_cast<std::uint32_t>(type)),
        begin_(static_cast<std::uint32_t>(begin)),
        end_(static_cast<std::uint32_t>(end)),
        index_(static_cast<std::uint32_t>(index)) {}

  std::size_t getType() const override { return type_ == end_type ? static_cast<std::size_t>(EOF) : type_; }
  std::size_t getStartIndex() const override { return begin_; }
  std::size_t getStopIndex() const override { return std::size_t{end_} - 1; }
  std::size_t getTokenIndex() const override { return index_; }
  std::size_t getChannel() const override { return DEFAULT_CHANNEL; }
  std::size_t getLine() const override { return 1; }
  std::size_t getCharPositionInLine() const override { return begin_; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  antlr4::CharStream* getInputStream() const override { return nullptr; }
  std::string getText() const override { return {}; }
  std::string toString() const override { return {}; }

 private:
  static constexpr std::uint32_t end_type = UINT32_MAX;
  std::uint32_t type_, begin_, end_, index_;
};

class LineTokens final : public antlr4::TokenStream {
 public:
  // Cuts the slice into tokens and stands before the first; what was read before is dropped.
  void read(const Slice& slice);

  antlr4::Token* LT(ssize_t k) override;
  std::size_t LA(ssize_t k) override { return LT(k)->getType(); }
  antlr4::Token* get(std::size_t index) const override { return const_cast<LineToken*>(&tokens_[index]); }
  void consume() override {
    if (at_ + 1 < tokens_.size()) ++at_;
  }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  std::size_t index() override { return at_; }
  void seek(std::size_t index) override { at_ = tokens_.empty() ? 0 : std::min(index, tokens_.size() - 1); }
  std::size_t size() override { return tokens_.size(); }
  std::string getSourceName() const override { return "text"; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext*) override { return {}; }
  std::string getText(antlr4::Token*, antlr4::Token*) override { return {}; }

 private:
  std::vector<LineToken> tokens_;  // the last is the end of the line
  std::size_t at_ = 0;
};

}  // namespace relish
