// Mutations below the level of names and types: what the scanner and the grammar refuse.
#include "tests/generate/mutation.h"

namespace relish::generate {
namespace {

bool is_header(const SourceLine& line) {
  return line.kind != SourceLine::Comment && !line.text.empty() && line.text.back() == ':';
}
bool is_body(const SourceLine& line) { return (line.graph || line.loop) && line.kind != SourceLine::Comment; }
bool is_sign(const std::string& text, const Token& token, char sign) {
  return token.kind == Token::Sign && text[token.begin] == sign;
}

MaybeLine missing_colon(Draft& draft) {
  const MaybeLine at = draft.some_line(is_header);
  if (at) draft.text(*at).pop_back();
  return at;
}

MaybeLine missing_closing_bracket(Draft& draft) {
  const MaybeLine at = draft.some_line(
      [](const SourceLine& line) { return is_body(line) && !line.text.empty() && line.text.back() == ')'; });
  if (at) draft.text(*at).pop_back();
  return at;
}

MaybeLine surplus_closing_bracket(Draft& draft) {
  const MaybeLine at = draft.some_line(
      [](const SourceLine& line) { return is_body(line) && !line.text.empty() && line.text.back() == ')'; });
  if (at) draft.text(*at) += draft.random.chance(0.5) ? ")" : "]";
  return at;
}

MaybeLine mismatched_bracket(Draft& draft) {
  const MaybeLine at = draft.some_line(
      [](const SourceLine& line) { return is_body(line) && !line.text.empty() && line.text.back() == ')'; });
  if (at) draft.text(*at).back() = ']';
  return at;
}

MaybeLine unexpected_indent(Draft& draft) {
  // Not the first line of its block, where any deeper indentation is right.
  std::vector<std::size_t> fitting;
  for (std::size_t i = 1; i < draft.source.lines.size(); ++i) {
    const SourceLine &line = draft.line(i), &before = draft.line(i - 1);
    if (is_body(line) && is_body(before) && before.indent == line.indent && !is_header(before) &&
        !is_header(line))
      fitting.push_back(i);
  }
  if (fitting.empty()) return std::nullopt;
  const std::size_t at = draft.random.pick(fitting);
  draft.text(at).insert(0, "  ");
  return at;
}

MaybeLine wrong_unindent(Draft& draft) {
  std::vector<std::size_t> fitting;
  for (std::size_t i = 1; i < draft.source.lines.size(); ++i) {
    const SourceLine &line = draft.line(i), &before = draft.line(i - 1);
    if (is_body(line) && is_body(before) && before.indent == line.indent && line.indent >= 8 &&
        !is_header(line))
      fitting.push_back(i);
  }
  if (fitting.empty()) return std::nullopt;
  const std::size_t at = draft.random.pick(fitting);
  draft.text(at).erase(0, 2);
  return at;
}

MaybeLine unterminated_string(Draft& draft) {
  const auto place =
      some_token(draft, is_body, [](const std::string&, const std::vector<Token>& tokens, std::size_t i) {
        return tokens[i].kind == Token::String;
      });
  if (!place) return std::nullopt;
  draft.text(place->line).erase(place->token.end - 1, 1);
  return place->line;
}

MaybeLine misspelt_keyword(Draft& draft) {
  const MaybeLine at = draft.some_line([](const SourceLine& line) {
    return line.kind == SourceLine::Def || line.kind == SourceLine::Class || line.kind == SourceLine::With ||
           (line.kind == SourceLine::Return && line.text.find("return (") == std::string::npos) ||
           line.kind == SourceLine::For || line.kind == SourceLine::While;
  });
  if (!at) return std::nullopt;
  const Token word = tokens_of(draft.text(*at)).front();
  draft.replace(*at, word, draft.misspelt(text_of(draft.text(*at), word)));
  return at;
}

MaybeLine misspelt_in(Draft& draft) {
  const auto place = some_token(
      draft, [](const SourceLine& line) { return line.kind == SourceLine::For; },
      [](const std::string& text, const std::vector<Token>& tokens, std::size_t i) {
        return text_of(text, tokens[i]) == "in" && i > 0;
      });
  if (!place) return std::nullopt;
  draft.replace(place->line, place->token, draft.random.chance(0.5) ? "ni" : "of");
  return place->line;
}

MaybeLine bad_number(Draft& draft) {
  const auto place =
      some_token(draft, is_body, [](const std::string&, const std::vector<Token>& tokens, std::size_t i) {
        return tokens[i].kind == Token::Number;
      });
  if (!place) return std::nullopt;
  constexpr const char* bad[] = {"1.2.3", "0x", "1__0", "08", "1e", "3a"};
  draft.replace(place->line, place->token, draft.random.pick(bad));
  return place->line;
}

MaybeLine strange_character(Draft& draft) {
  const auto place = some_token(draft, is_body,
                                [](const std::string& text, const std::vector<Token>& tokens, std::size_t i) {
                                  return is_sign(text, tokens[i], ',');
                                });
  if (!place) return std::nullopt;
  constexpr const char* strange[] = {"?", "$", "!", "“", "\x01"};
  draft.replace(place->line, place->token, draft.random.pick(strange));
  return place->line;
}

MaybeLine missing_comma(Draft& draft) {
  const auto place = some_token(
      draft, is_body, [](const std::string& text, const std::vector<Token>& tokens, std::size_t i) {
        // Between two words, so that what remains is no other expression.
        return is_sign(text, tokens[i], ',') && i > 0 && i + 1 < tokens.size() &&
               tokens[i - 1].kind == Token::Name && tokens[i + 1].kind == Token::Name &&
               text_of(text, tokens[i + 1]) != "in";
      });
  if (!place) return std::nullopt;
  draft.replace(place->line, place->token, "");
  return place->line;
}

MaybeLine missing_operand(Draft& draft) {
  const auto place = some_token(draft, is_body,
                                [](const std::string& text, const std::vector<Token>& tokens, std::size_t i) {
                                  return is_sign(text, tokens[i], ',');
                                });
  if (!place) return std::nullopt;
  draft.replace(place->line, place->token, ", ,");
  return place->line;
}

MaybeLine missing_value(Draft& draft) {
  const MaybeLine at = draft.some_line([](const SourceLine& line) {
    return is_body(line) && (line.kind == SourceLine::Binding || line.kind == SourceLine::Store);
  });
  if (!at) return std::nullopt;
  std::string& text = draft.text(*at);
  text.erase(value_begin(text));
  while (text.back() == ' ') text.pop_back();
  return at;
}

MaybeLine number_as_target(Draft& draft) {
  // Of a declaration the parameters that need it would be told of first.
  const MaybeLine at = draft.some_line([](const SourceLine& line) {
    return is_body(line) && line.kind == SourceLine::Binding &&
           line.text.find("T.match_buffer(") == std::string::npos &&
           line.text.find("= T.int64()") == std::string::npos &&
           line.text.find("cls = ") == std::string::npos;
  });
  if (!at) return std::nullopt;
  draft.replace(*at, tokens_of(draft.text(*at)).front(), "3");
  return at;
}

MaybeLine bad_bytes(Draft& draft) {
  const MaybeLine at = draft.some_line(is_body);
  if (at) draft.text(*at) += draft.random.chance(0.5) ? std::string("  # \xff") : std::string(1, '\0');
  return at;
}

MaybeLine else_without_if(Draft& draft) {
  // Of a declaration the parameters that need it would be told of first.
  const MaybeLine at = draft.some_line([](const SourceLine& line) {
    return is_body(line) && (line.kind == SourceLine::Binding || line.kind == SourceLine::Store) &&
           line.text.find("T.match_buffer(") == std::string::npos;
  });
  if (!at) return std::nullopt;
  const std::string margin(static_cast<std::size_t>(draft.line(*at).indent), ' ');
  SourceLine header = draft.line(*at), body = draft.line(*at);
  header.text = margin + "else:";
  body.text = "    " + draft.text(*at);
  const auto place = draft.source.lines.begin() + static_cast<std::ptrdiff_t>(*at);
  *place = header;
  draft.source.lines.insert(place + 1, body);
  return at;
}

MaybeLine header_without_body(Draft& draft) {
  // A block's only line becomes a comment.
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i + 2 < draft.source.lines.size(); ++i) {
    const SourceLine &header = draft.line(i), &body = draft.line(i + 1), &after = draft.line(i + 2);
    if (is_body(header) && is_header(header) && is_body(body) && !is_header(body) &&
        body.indent > header.indent && after.indent <= header.indent && header.kind != SourceLine::Def) {
      fitting.push_back(i);
    }
  }
  if (fitting.empty()) return std::nullopt;
  const std::size_t at = draft.random.pick(fitting);
  draft.text(at + 1).insert(static_cast<std::size_t>(draft.line(at + 1).indent), "# ");
  return at;
}

}  // namespace

std::span<const MutationRule> syntax_mutations() {
  static constexpr MutationRule rules[] = {
      {"missing colon", ErrorClass::Syntax, missing_colon},
      {"missing closing bracket", ErrorClass::Syntax, missing_closing_bracket},
      {"surplus closing bracket", ErrorClass::Syntax, surplus_closing_bracket},
      {"mismatched bracket", ErrorClass::Syntax, mismatched_bracket},
      {"unexpected indentation", ErrorClass::Syntax, unexpected_indent},
      {"wrong unindentation", ErrorClass::Syntax, wrong_unindent},
      {"unterminated string", ErrorClass::Syntax, unterminated_string},
      {"misspelt keyword", ErrorClass::Syntax, misspelt_keyword},
      {"misspelt 'in'", ErrorClass::Syntax, misspelt_in},
      {"bad number", ErrorClass::Syntax, bad_number},
      {"strange character", ErrorClass::Syntax, strange_character},
      {"missing comma", ErrorClass::Syntax, missing_comma},
      {"missing operand", ErrorClass::Syntax, missing_operand},
      {"missing value", ErrorClass::Syntax, missing_value},
      {"number as target", ErrorClass::Type, number_as_target},
      {"bad bytes", ErrorClass::Syntax, bad_bytes},
      {"else without if", ErrorClass::Syntax, else_without_if},
      {"header without body", ErrorClass::Syntax, header_without_body},
  };
  return rules;
}

}  // namespace relish::generate
