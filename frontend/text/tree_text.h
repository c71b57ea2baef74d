// The text behind ANTLR's tree of one line: places and words of its nodes, and refusals at them. Internal to
// frontend/: ANTLR types.
#pragma once

#include <string>
#include <string_view>

#include "frontend/text/grammar_engine.h"
#include "support/diagnostic.h"

namespace relish {

class TreeText {
 public:
  TreeText(const Slice& slice, Diagnostics& diagnostics) : slice_(slice), diagnostics_(diagnostics) {}

  Span span_of(antlr4::ParserRuleContext* tree) const;
  Span span_of(antlr4::Token* token) const;
  std::string_view text_of(antlr4::Token* token) const;
  std::string_view text_of(Span span) const { return slice_.text.substr(span.begin, span.end - span.begin); }
  std::size_t end() const { return slice_.end; }
  Diagnostics& diagnostics() const { return diagnostics_; }

  // What ends the conversion of a line whose fault has been reported.
  struct Refused {};
  [[noreturn]] void refuse(Span span, std::string_view id, std::string message) const;

 private:
  const Slice& slice_;
  Diagnostics& diagnostics_;
};

}  // namespace relish
