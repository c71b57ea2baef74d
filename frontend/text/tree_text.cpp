// Places and words of ANTLR's nodes.
#include "frontend/text/tree_text.h"

#include <algorithm>
#include <utility>

namespace relish {

Span TreeText::span_of(antlr4::ParserRuleContext* tree) const {
  std::size_t begin = tree->start->getStartIndex();
  std::size_t end = tree->stop ? tree->stop->getStopIndex() + 1 : begin;
  return {slice_.file, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(std::max(begin, end))};
}

Span TreeText::span_of(antlr4::Token* token) const {
  return {slice_.file, static_cast<std::uint32_t>(token->getStartIndex()),
          static_cast<std::uint32_t>(token->getStopIndex() + 1)};
}

std::string_view TreeText::text_of(antlr4::Token* token) const {
  return slice_.text.substr(token->getStartIndex(), token->getStopIndex() + 1 - token->getStartIndex());
}

void TreeText::refuse(Span span, std::string_view id, std::string message) const {
  diagnostics_.error(ErrorClass::Syntax, span, id, std::move(message));
  throw Refused{};
}

}  // namespace relish
