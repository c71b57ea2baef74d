// A program's text cut into lines and tokens, with what a mutation must know of each line.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace relish::generate {

struct Token {
  enum Kind { Name, Number, String, Sign } kind;
  std::size_t begin, end;  // in the line
};

struct SourceLine {
  std::string text;
  enum Kind {
    Other,
    Comment,
    Decorator,
    Class,
    Def,
    With,
    For,
    While,
    If,
    Return,
    Output,
    Binding,
    Store,
    Call
  } kind;
  bool graph = false, loop = false;  // inside a Relax function, a prim_func
  int function = -1;                 // which function of the file
  int indent = 0;
  bool in_dataflow = false;
};

class SourceText {
 public:
  explicit SourceText(const std::string& text);

  std::string joined() const;
  std::vector<SourceLine> lines;
  // Every name that occurs in the text.
  std::set<std::string> names() const;
};

// Whether the token is the '=' of an assignment or keyword, and no part of a comparison.
bool is_assignment_sign(const std::string& line, const Token& token);
std::vector<Token> tokens_of(const std::string& line);
inline std::string text_of(const std::string& line, const Token& token) {
  return line.substr(token.begin, token.end - token.begin);
}
using Tokens = std::vector<Token>;
// Whether there is a token `i`, and it is this sign.
inline bool is_sign(const std::string& line, const Tokens& tokens, std::size_t i, char sign) {
  return i < tokens.size() && tokens[i].kind == Token::Sign && line[tokens[i].begin] == sign;
}

}  // namespace relish::generate
