// The tokens of a line are those of the lexer grammar: compared with the generated lexer on what is hard to
// cut and on pseudo-random lines.
#include "frontend/text/line_tokens.h"

#include <catch2/catch.hpp>

#include <random>
#include <string>
#include <vector>

#include "grammar/RelishLexer.h"
#include "grammar/RelishParser.h"

namespace relish {
namespace {

struct Seen {
  std::size_t type, begin, end;
  friend bool operator==(const Seen&, const Seen&) = default;
};

std::vector<Seen> by_hand(std::string_view text) {
  LineTokens tokens;
  tokens.read({0, text, 0, text.size(), {}});
  std::vector<Seen> result;
  for (; tokens.LA(1) != antlr4::Token::EOF; tokens.consume()) {
    antlr4::Token* token = tokens.LT(1);
    result.push_back({token->getType(), token->getStartIndex(), token->getStopIndex() + 1});
  }
  return result;
}

std::vector<Seen> by_grammar(const std::string& text) {
  antlr4::ANTLRInputStream stream(text);
  grammar::RelishLexer lexer(&stream);
  std::vector<Seen> result;
  for (auto token = lexer.nextToken(); token->getType() != antlr4::Token::EOF; token = lexer.nextToken())
    result.push_back({token->getType(), token->getStartIndex(), token->getStopIndex() + 1});
  return result;
}

void check_same(const std::string& text) {
  INFO(text);
  bool same = by_hand(text) == by_grammar(text);
  CHECK(same);
}

TEST_CASE("Tokens are those of the lexer grammar") {
  for (const char* text : {"a",
                           "not in",
                           "nota in_",
                           "x **= 2 ** -3",
                           "a//b//=c",
                           "M@12.main",
                           "a@b@3x",
                           "a @12",
                           "del@7",
                           "...",
                           "....5",
                           "..5",
                           ".5",
                           "5.",
                           "5.e3",
                           "5e",
                           "5e+",
                           "5e+1_0",
                           "0x",
                           "0xfg",
                           "0XFF_",
                           "0b12",
                           "0o78",
                           "0_1",
                           "1__2",
                           "1._5",
                           "1.5.5",
                           "a.5",
                           "\"\"",
                           "\"\"\"a\"\"\"",
                           "\"\"\"\"\"\"",
                           "\"\"\"a\"",
                           "''''a'''",
                           "'\\''",
                           "\"\\\\\"",
                           "r'\\'",
                           "rb'a'",
                           "br'a'",
                           "bu'a'",
                           "f'{x}'",
                           "Rf\"a\"",
                           "uu'a'",
                           "'a",
                           "\"a\nb\"",
                           "a # b 'c'\n + d",
                           "a \\\n b",
                           "a \\\r\n b",
                           "a \\ b",
                           "!",
                           "a != b",
                           "a ! b",
                           "->",
                           "- >",
                           ":=",
                           ": =",
                           "<<=",
                           "<< =",
                           "<<<",
                           "@",
                           "$",
                           "?",
                           "a;b",
                           "True False None lambda",
                           "'a' 'b'\"c\"",
                           "\\",
                           "'\\",
                           "\f\t x"})
    check_same(text);
}

TEST_CASE("Tokens of pseudo-random lines are those of the lexer grammar") {
  std::mt19937 random(1);
  constexpr std::string_view pieces[] = {"a",  "not", "in",     "0",  "1", ".",  "e", "E", "x", "b", "_", "'",
                                         "\"", "'''", "\"\"\"", "\\", " ", "\n", "+", "-", "*", "/", "=", "<",
                                         ">",  "!",   "#",      "(",  ")", "r",  "f", "u", ":", ",", "[", "]",
                                         "{",  "}",   "%",      "&",  "|", "^",  "~", "@", ";", "$", "5"};
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::size_t n = random() % 14; n > 0; --n) text += pieces[random() % std::size(pieces)];
    check_same(text);
  }
}

}  // namespace
}  // namespace relish
