// Cutting of printed programs.
#include "tests/generate/source_text.h"

#include <cctype>

namespace relish::generate {
namespace {

bool starts(const std::string& text, const char* word) { return text.rfind(word, 0) == 0; }

SourceLine::Kind kind_of(const std::string& text) {
  if (text.empty() || text.front() == '#') return SourceLine::Comment;
  if (text.front() == '@') return SourceLine::Decorator;
  if (starts(text, "class ")) return SourceLine::Class;
  if (starts(text, "def ")) return SourceLine::Def;
  if (starts(text, "with ")) return SourceLine::With;
  if (starts(text, "for ")) return SourceLine::For;
  if (starts(text, "while ")) return SourceLine::While;
  if (starts(text, "if ") || starts(text, "elif ") || starts(text, "else")) return SourceLine::If;
  if (starts(text, "return ")) return SourceLine::Return;
  if (starts(text, "R.output(")) return SourceLine::Output;
  const std::vector<Token> tokens = tokens_of(text);
  if (tokens.empty() || tokens.front().kind != Token::Name) return SourceLine::Other;
  int depth = 0;
  bool subscript = false;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    const char sign = tokens[i].kind == Token::Sign ? text[tokens[i].begin] : ' ';
    if (sign == '[' && i == 1) subscript = true;
    if (sign == '(' || sign == '[') ++depth;
    if (sign == ')' || sign == ']') --depth;
    if (depth == 0 && is_assignment_sign(text, tokens[i]))
      return subscript ? SourceLine::Store : SourceLine::Binding;
  }
  return text.back() == ')' ? SourceLine::Call : SourceLine::Other;
}

}  // namespace

bool is_assignment_sign(const std::string& line, const Token& token) {
  if (token.kind != Token::Sign || line[token.begin] != '=') return false;
  const bool before = token.begin > 0 && std::string("<>=!").find(line[token.begin - 1]) != std::string::npos;
  return !before && (token.end >= line.size() || line[token.end] != '=');
}

std::vector<Token> tokens_of(const std::string& line) {
  std::vector<Token> tokens;
  std::size_t i = 0;
  while (i < line.size()) {
    const auto c = static_cast<unsigned char>(line[i]);
    const std::size_t begin = i;
    if (std::isspace(c)) {
      ++i;
      continue;
    }
    if (c == '#') break;
    if (std::isalpha(c) || c == '_') {
      while (i < line.size() && (std::isalnum(static_cast<unsigned char>(line[i])) || line[i] == '_')) ++i;
      tokens.push_back({Token::Name, begin, i});
    } else if (std::isdigit(c)) {
      while (i < line.size() && (std::isalnum(static_cast<unsigned char>(line[i])) || line[i] == '.' ||
                                 ((line[i] == '-' || line[i] == '+') && (line[i - 1] == 'e')))) {
        ++i;
      }
      tokens.push_back({Token::Number, begin, i});
    } else if (c == '"' || c == '\'') {
      for (++i; i < line.size() && line[i] != static_cast<char>(c); ++i)
        if (line[i] == '\\') ++i;
      i = std::min(i + 1, line.size());
      tokens.push_back({Token::String, begin, i});
    } else {
      ++i;
      tokens.push_back({Token::Sign, begin, i});
    }
  }
  return tokens;
}

SourceText::SourceText(const std::string& text) {
  std::size_t begin = 0;
  bool graph = false, loop = false;
  int function = -1, dataflow_indent = -1;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    SourceLine line;
    line.text = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t first = line.text.find_first_not_of(' ');
    line.indent = first == std::string::npos ? 0 : static_cast<int>(first);
    const std::string content = first == std::string::npos ? "" : line.text.substr(first);
    line.kind = kind_of(content);
    if (line.kind == SourceLine::Decorator) {
      graph = starts(content, "@R.");
      loop = starts(content, "@T.");
      if (graph || loop) ++function;
    }
    if (line.kind != SourceLine::Comment && line.indent <= dataflow_indent) dataflow_indent = -1;
    line.in_dataflow = dataflow_indent >= 0;
    if (starts(content, "with R.dataflow")) dataflow_indent = line.indent;
    line.graph = graph;
    line.loop = loop;
    line.function = function;
    lines.push_back(std::move(line));
  }
}

std::string SourceText::joined() const {
  std::string text;
  for (const SourceLine& line : lines) text += line.text + "\n";
  return text;
}

std::set<std::string> SourceText::names() const {
  std::set<std::string> result;
  for (const SourceLine& line : lines) {
    for (const Token& token : tokens_of(line.text)) {
      if (token.kind == Token::Name) result.insert(text_of(line.text, token));
    }
  }
  return result;
}

}  // namespace relish::generate
