// Respelling of programs, token by token, so that strings and comments stay as they are.
#include "tests/generate/variants.h"

#include <algorithm>

#include "tests/generate/mutation.h"

namespace relish::generate {
namespace {

bool is_word(const std::string& text, const Tokens& tokens, std::size_t i, std::string_view word) {
  return i < tokens.size() && text_of(text, tokens[i]) == word;
}

// Changes of single tokens, from the last to the first so that places stay right.
template <class F>
void respell(SourceText& source, F&& spelling) {
  for (SourceLine& line : source.lines) {
    if (line.kind == SourceLine::Comment) continue;
    const std::string before = line.text;
    const Tokens tokens = tokens_of(before);
    for (std::size_t i = tokens.size(); i-- > 0;) {
      if (auto text = spelling(line, before, tokens, i))
        line.text.replace(tokens[i].begin, tokens[i].end - tokens[i].begin, *text);
    }
  }
}

using Spelling = std::optional<std::string>;

Spelling older_name(const SourceLine& line, const std::string& text, const Tokens& tokens, std::size_t i) {
  const std::string word = text_of(text, tokens[i]);
  const bool loop_word = i > 1 && is_sign(text, tokens, i - 1, '.') && is_word(text, tokens, i - 2, "T");
  if (loop_word && word == "sblock") return "block";
  if (loop_word && word == "sblock_alloc_buffer") return "alloc_buffer";
  if (loop_word && word == "sblock_attr") return "block_attr";
  if (loop_word && word == "reduce") return "R";
  if (word == "out_ty" && is_sign(text, tokens, i + 1, '=')) return "out_sinfo";
  // A step is a keyword of T.serial.
  const bool bounds = std::count(text.begin(), text.end(), ',') < 2;
  if (word == "range" && line.kind == SourceLine::For && line.loop && bounds) return "T.serial";
  if (word == "\"tirx.noalias\"") return "\"tir.noalias\"";
  if (word == "I" && line.kind == SourceLine::Decorator) return "tvm.script";
  return std::nullopt;
}

Spelling single_quotes(const SourceLine&, const std::string& text, const Tokens& tokens, std::size_t i) {
  const std::string word = text_of(text, tokens[i]);
  if (tokens[i].kind != Token::String || word.find_first_of("'\\") != std::string::npos) return std::nullopt;
  return "'" + word.substr(1, word.size() - 2) + "'";
}

// `R.add(x, y)` as a whole value becomes `x + y`.
void use_operators(SourceText& source) {
  struct Sugar {
    const char *name, *sign;
  };
  constexpr Sugar sugars[] = {{"add", "+"},    {"subtract", "-"},    {"multiply", "*"},      {"divide", "/"},
                              {"less", "<"},   {"greater", ">"},     {"floor_divide", "//"}, {"mod", "%"},
                              {"power", "**"}, {"less_equal", "<="}, {"greater_equal", ">="}};
  for (SourceLine& line : source.lines) {
    if (!line.graph || line.kind != SourceLine::Binding) continue;
    const std::size_t begin = value_begin(line.text);
    Tokens tokens = tokens_of(line.text);
    std::erase_if(tokens, [&](const Token& token) { return token.begin < begin; });
    const std::string& text = line.text;
    const bool whole = tokens.size() == 8 && is_word(text, tokens, 0, "R") && is_sign(text, tokens, 3, '(') &&
                       tokens[4].kind == Token::Name && is_sign(text, tokens, 5, ',') &&
                       tokens[6].kind == Token::Name && is_sign(text, tokens, 7, ')');
    if (!whole) continue;
    for (const Sugar& sugar : sugars) {
      if (!is_word(text, tokens, 2, sugar.name)) continue;
      const std::string value =
          fmt::format("{} {} {}", text_of(text, tokens[4]), sugar.sign, text_of(text, tokens[6]));
      line.text.replace(begin, tokens[7].end - begin, value);
      break;
    }
  }
}

void drop_annotations(SourceText& source, Random& random) {
  for (SourceLine& line : source.lines) {
    if (!line.graph || line.kind != SourceLine::Binding || !random.chance(0.5)) continue;
    const std::size_t type = line.text.find(": R.Tensor("), value = value_begin(line.text);
    if (type == std::string::npos || type > value) continue;
    line.text.replace(type, value - 3 - type, "");
  }
}

void parenthesise_values(SourceText& source, Random& random) {
  for (SourceLine& line : source.lines) {
    if (line.kind != SourceLine::Binding && line.kind != SourceLine::Store) continue;
    const std::size_t begin = value_begin(line.text);
    if (begin == std::string::npos || !random.chance(0.5)) continue;
    line.text.insert(tokens_of(line.text).back().end, ")");
    line.text.insert(begin, "(");
  }
}

// Behind the last argument of a call.
void add_trailing_commas(SourceText& source, Random& random) {
  constexpr std::string_view words[] = {"return", "in",    "not", "and",  "or",    "if",
                                        "elif",   "while", "for", "with", "assert"};
  for (SourceLine& line : source.lines) {
    if (line.kind == SourceLine::Comment || line.kind == SourceLine::Decorator) continue;
    const Tokens tokens = tokens_of(line.text);
    std::vector<bool> calls;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].kind != Token::Sign) continue;
      const char sign = line.text[tokens[i].begin];
      if (sign == '(' || sign == '[' || sign == '{') {
        const bool word = i > 0 && tokens[i - 1].kind == Token::Name &&
                          std::find(std::begin(words), std::end(words), text_of(line.text, tokens[i - 1])) ==
                              std::end(words);
        calls.push_back(sign == '(' && word && !is_sign(line.text, tokens, i + 1, ')'));
      } else if ((sign == ')' || sign == ']' || sign == '}') && !calls.empty()) {
        if (calls.back() && random.chance(0.3)) places.push_back(tokens[i].begin);
        calls.pop_back();
      }
    }
    for (std::size_t i = places.size(); i-- > 0;) line.text.insert(places[i], ",");
  }
}

void break_lines(SourceText& source, Random& random) {
  for (SourceLine& line : source.lines) {
    if (line.kind == SourceLine::Comment) continue;
    const Tokens tokens = tokens_of(line.text);
    std::vector<std::size_t> places;
    int depth = 0;
    for (const Token& token : tokens) {
      if (token.kind != Token::Sign) continue;
      const char sign = line.text[token.begin];
      if (sign == '(' || sign == '[' || sign == '{') ++depth;
      if (sign == ')' || sign == ']' || sign == '}') --depth;
      if (depth > 0 && (sign == ',' || sign == '(') && random.chance(0.15)) places.push_back(token.end);
    }
    const std::string margin(static_cast<std::size_t>(line.indent) + 8, ' ');
    for (std::size_t i = places.size(); i-- > 0;) line.text.insert(places[i], "\n" + margin);
  }
}

void add_lines(SourceText& source, Random& random) {
  std::vector<SourceLine> lines;
  for (const SourceLine& line : source.lines) {
    lines.push_back(line);
    SourceLine extra;
    extra.kind = SourceLine::Other;
    const bool header = line.kind == SourceLine::Def && line.text.back() == ':';
    if (header && random.chance(0.5)) {
      extra.text = std::string(static_cast<std::size_t>(line.indent) + 4, ' ') + "\"\"\"What it does.\"\"\"";
      lines.push_back(extra);
    }
    extra.text = random.chance(0.5) ? "" : "   ";
    if (line.kind != SourceLine::Decorator && random.chance(0.2)) lines.push_back(extra);
  }
  source.lines = std::move(lines);
}

std::string with_tabs(const std::string& text) {
  std::string result;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::size_t spaces = 0;
    while (begin + spaces < end && text[begin + spaces] == ' ') ++spaces;
    result += std::string(spaces / 4, '\t') +
              text.substr(begin + spaces / 4 * 4, end - begin - spaces / 4 * 4) + "\n";
    begin = end + 1;
  }
  return result;
}

std::string with_carriage_returns(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') result += '\r';
    result += c;
  }
  return result;
}

}  // namespace

std::string variant_of(const std::string& text, Random& random, bool exact_types) {
  // The section of large constants is no code.
  const std::size_t section = text.find("\n# relish.constants");
  std::string code = text.substr(0, section), rest = section == std::string::npos ? "" : text.substr(section);
  SourceText source(code);
  if (random.chance(0.5)) respell(source, older_name);
  if (random.chance(0.3)) respell(source, single_quotes);
  if (random.chance(0.3)) use_operators(source);
  if (exact_types && random.chance(0.3)) drop_annotations(source, random);
  if (random.chance(0.3)) parenthesise_values(source, random);
  if (random.chance(0.3)) add_trailing_commas(source, random);
  if (random.chance(0.3)) add_lines(source, random);
  if (random.chance(0.3)) break_lines(source, random);
  std::string result = source.joined();
  if (random.chance(0.2)) result = with_tabs(result);
  result += rest;
  if (random.chance(0.2)) result = with_carriage_returns(result);
  if (random.chance(0.1)) result = "\xef\xbb\xbf" + result;
  return result;
}

}  // namespace relish::generate
