// Mutations of names: misspelt, undefined, out of scope, given twice.
#include <algorithm>

#include "tests/generate/mutation.h"

namespace relish::generate {
namespace {

// The variables that the parameters and binding lines of one Relax function name, with their lines.
std::vector<std::pair<std::string, std::size_t>> bound_in(const Draft& draft, int function) {
  std::vector<std::pair<std::string, std::size_t>> bound;
  for (std::size_t i = 0; i < draft.source.lines.size(); ++i) {
    const SourceLine& line = draft.line(i);
    if (line.function != function || !line.graph) continue;
    const Tokens tokens = tokens_of(line.text);
    if (line.kind == SourceLine::Binding) bound.emplace_back(text_of(line.text, tokens.front()), i);
    if (line.kind != SourceLine::Def) continue;
    for (std::size_t t = 3; t + 1 < tokens.size(); ++t) {
      const bool opens = is_sign(line.text, tokens, t - 1, '(') || is_sign(line.text, tokens, t - 1, ',');
      if (tokens[t].kind == Token::Name && opens && is_sign(line.text, tokens, t + 1, ':'))
        bound.emplace_back(text_of(line.text, tokens[t]), i);
    }
  }
  return bound;
}

// Every use of a variable as an operand in values and returns of Relax functions.
std::vector<Place> uses(const Draft& draft) {
  std::vector<Place> result;
  for (std::size_t i = 0; i < draft.source.lines.size(); ++i) {
    const SourceLine& line = draft.line(i);
    const bool is_return = line.kind == SourceLine::Return;
    if (!line.graph || (line.kind != SourceLine::Binding && !is_return)) continue;
    const auto bound = bound_in(draft, line.function);
    const std::size_t begin = is_return ? 0 : value_begin(line.text);
    const Tokens tokens = tokens_of(line.text);
    for (std::size_t t = 1; t < tokens.size(); ++t) {
      if (tokens[t].kind != Token::Name || tokens[t].begin < begin) continue;
      if (is_sign(line.text, tokens, t - 1, '.') || is_sign(line.text, tokens, t + 1, '=') ||
          is_sign(line.text, tokens, t + 1, '.')) {
        continue;
      }
      const std::string name = text_of(line.text, tokens[t]);
      // A declared dimension is a binding line too, but no operand.
      const bool known = std::any_of(bound.begin(), bound.end(), [&](const auto& each) {
        return each.first == name && draft.line(each.second).text.find("= T.int64()") == std::string::npos &&
               draft.line(each.second).text.find("cls = ") == std::string::npos;
      });
      if (known) result.push_back({i, tokens[t]});
    }
  }
  return result;
}

std::optional<Place> some(Draft& draft, const std::vector<Place>& places) {
  if (places.empty()) return std::nullopt;
  return draft.random.pick(places);
}

MaybeLine undefined_variable(Draft& draft) {
  std::vector<Place> places = uses(draft);
  std::erase_if(places,
                [&](const Place& place) { return draft.line(place.line).kind == SourceLine::Return; });
  return misspell(draft, some(draft, places));
}

MaybeLine undefined_result(Draft& draft) {
  std::vector<Place> places = uses(draft);
  std::erase_if(places,
                [&](const Place& place) { return draft.line(place.line).kind != SourceLine::Return; });
  return misspell(draft, some(draft, places));
}

MaybeLine misspelt_operator(Draft& draft) {
  return misspell(
      draft, some_token(
                 draft, [](const SourceLine& line) { return line.graph && line.kind == SourceLine::Binding; },
                 [](const std::string& text, const Tokens& tokens, std::size_t i) {
                   constexpr std::string_view special[] = {"const", "call_tir", "shape", "tuple",
                                                           "match_cast"};
                   const std::string name = text_of(text, tokens[i]);
                   return tokens[i].kind == Token::Name && is_sign(text, tokens, i + 1, '(') && i > 1 &&
                          tokens[i].begin > value_begin(text) && is_sign(text, tokens, i - 1, '.') &&
                          text_of(text, tokens[i - 2]) == "R" &&
                          std::find(std::begin(special), std::end(special), name) == std::end(special);
                 }));
}

MaybeLine misspelt_special_call(Draft& draft) {
  return misspell(
      draft, some_token(
                 draft, [](const SourceLine& line) { return line.graph && line.kind != SourceLine::Def; },
                 [](const std::string& text, const Tokens& tokens, std::size_t i) {
                   constexpr std::string_view special[] = {"const", "call_tir", "match_cast", "output",
                                                           "dataflow"};
                   const std::string name = text_of(text, tokens[i]);
                   return i > 1 && is_sign(text, tokens, i - 1, '.') && text_of(text, tokens[i - 2]) == "R" &&
                          std::find(std::begin(special), std::end(special), name) != std::end(special);
                 }));
}

MaybeLine misspelt_type(Draft& draft) {
  return misspell(draft, some_token(
                             draft, [](const SourceLine& line) { return line.graph; },
                             [](const std::string& text, const Tokens& tokens, std::size_t i) {
                               const std::string name = text_of(text, tokens[i]);
                               return i > 1 && is_sign(text, tokens, i - 1, '.') &&
                                      text_of(text, tokens[i - 2]) == "R" &&
                                      (name == "Tensor" || name == "Tuple" || name == "Shape");
                             }));
}

MaybeLine misspelt_argument(Draft& draft) {
  return misspell(
      draft, some_token(
                 draft, [](const SourceLine& line) { return line.graph && line.kind == SourceLine::Binding; },
                 [](const std::string& text, const Tokens& tokens, std::size_t i) {
                   return tokens[i].kind == Token::Name && is_sign(text, tokens, i + 1, '=') && i > 0 &&
                          (is_sign(text, tokens, i - 1, ',') || is_sign(text, tokens, i - 1, '('));
                 }));
}

MaybeLine misspelt_decorator(Draft& draft) {
  return misspell(draft, some_token(
                             draft, [](const SourceLine& line) { return line.kind == SourceLine::Decorator; },
                             [](const std::string& text, const Tokens& tokens, std::size_t i) {
                               return tokens[i].kind == Token::Name && i > 1 &&
                                      is_sign(text, tokens, i - 1, '.');
                             }));
}

MaybeLine misspelt_namespace(Draft& draft) {
  const auto place = some_token(
      draft, [](const SourceLine& line) { return line.graph && line.kind == SourceLine::Binding; },
      [](const std::string& text, const Tokens& tokens, std::size_t i) {
        return text_of(text, tokens[i]) == "R" && is_sign(text, tokens, i + 1, '.') &&
               tokens[i].begin >= value_begin(text);
      });
  if (!place) return std::nullopt;
  draft.replace(place->line, place->token, "RR");
  return place->line;
}

MaybeLine unknown_output(Draft& draft) {
  return misspell(draft, some_token(
                             draft, [](const SourceLine& line) { return line.kind == SourceLine::Output; },
                             [](const std::string& text, const Tokens& tokens, std::size_t i) {
                               return tokens[i].kind == Token::Name && i > 2 &&
                                      !is_sign(text, tokens, i - 1, '.');
                             }));
}

// The names that R.output lists for the block in which the line stands.
bool is_output(const Draft& draft, std::size_t line, const std::string& name) {
  for (std::size_t i = line; i < draft.source.lines.size(); ++i) {
    if (draft.line(i).kind != SourceLine::Output) continue;
    for (const Token& token : tokens_of(draft.line(i).text)) {
      if (text_of(draft.line(i).text, token) == name) return true;
    }
    return false;
  }
  return true;
}

// The annotation of a name on the line that binds it: between it and its value, or the next parameter.
std::string annotation_of(const std::string& line, const std::string& name) {
  const std::size_t at = line.find(name + ": ");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 2;
  int depth = 0;
  for (std::size_t i = begin; i < line.size(); ++i) {
    if (line[i] == '(') ++depth;
    if (line[i] == ')' && depth-- == 0) return line.substr(begin, i - begin);
    if (depth == 0 && (line[i] == ',' || line[i] == '='))
      return line.substr(begin, i - begin - (line[i] == '='));
  }
  return {};
}

MaybeLine dataflow_variable_outside(Draft& draft) {
  std::vector<std::pair<Place, std::string>> choices;
  for (const Place& use : uses(draft)) {
    if (draft.line(use.line).in_dataflow) continue;
    const auto bound = bound_in(draft, draft.line(use.line).function);
    const std::string used = text_of(draft.text(use.line), use.token);
    std::string wanted;
    for (const auto& [name, at] : bound) {
      if (name == used) wanted = annotation_of(draft.text(at), name);
    }
    for (const auto& [name, at] : bound) {
      // Of the same type, so that no other rule is broken.
      const bool fits = annotation_of(draft.text(at), name) == wanted;
      // A name of several bindings may be seen there all the same.
      if (std::count_if(bound.begin(), bound.end(), [&](const auto& each) { return each.first == name; }) > 1)
        continue;
      if (fits && at < use.line && draft.line(at).in_dataflow && !is_output(draft, at, name))
        choices.emplace_back(use, name);
    }
  }
  if (choices.empty()) return std::nullopt;
  const auto& [use, name] = draft.random.pick(choices);
  draft.replace(use.line, use.token, name);
  return use.line;
}

MaybeLine use_before_binding(Draft& draft) {
  std::vector<std::pair<Place, std::string>> choices;
  for (const Place& use : uses(draft)) {
    // A name may be bound several times: one that stands before the use already is no fault.
    const auto bound = bound_in(draft, draft.line(use.line).function);
    for (const auto& [name, at] : bound) {
      const bool earlier = std::any_of(bound.begin(), bound.end(), [&, &wanted = name](const auto& other) {
        return other.first == wanted && other.second < use.line;
      });
      if (at > use.line && name != "_" && !earlier) choices.emplace_back(use, name);
    }
  }
  if (choices.empty()) return std::nullopt;
  const auto& [use, name] = draft.random.pick(choices);
  draft.replace(use.line, use.token, name);
  return use.line;
}

MaybeLine duplicated_parameter(Draft& draft) {
  std::vector<std::pair<Place, std::string>> choices;
  for (std::size_t i = 0; i < draft.source.lines.size(); ++i) {
    if (draft.line(i).kind != SourceLine::Def) continue;
    const std::string& text = draft.text(i);
    const Tokens tokens = tokens_of(text);
    std::string first;
    for (std::size_t t = 3; t + 1 < tokens.size(); ++t) {
      const bool parameter = tokens[t].kind == Token::Name && is_sign(text, tokens, t + 1, ':') &&
                             (is_sign(text, tokens, t - 1, '(') || is_sign(text, tokens, t - 1, ','));
      if (!parameter) continue;
      if (!first.empty()) choices.push_back({{i, tokens[t]}, first});
      if (first.empty()) first = text_of(text, tokens[t]);
    }
  }
  if (choices.empty()) return std::nullopt;
  const auto& [place, name] = draft.random.pick(choices);
  draft.replace(place.line, place.token, name);
  return place.line;
}

MaybeLine duplicated_function(Draft& draft) {
  std::vector<std::size_t> defs;
  for (std::size_t i = 0; i < draft.source.lines.size(); ++i) {
    if (draft.line(i).kind == SourceLine::Def) defs.push_back(i);
  }
  if (defs.size() < 2) return std::nullopt;
  // A function that nothing calls loses its name.
  std::vector<std::size_t> uncalled;
  const std::string whole = draft.source.joined();
  for (std::size_t i = 1; i < defs.size(); ++i) {
    const std::string name = "cls." + text_of(draft.text(defs[i]), tokens_of(draft.text(defs[i]))[1]);
    if (whole.find(name) == std::string::npos) uncalled.push_back(defs[i]);
  }
  if (uncalled.empty()) return std::nullopt;
  const std::size_t at = draft.random.pick(uncalled);
  const std::string name = text_of(draft.text(defs[0]), tokens_of(draft.text(defs[0]))[1]);
  draft.replace(at, tokens_of(draft.text(at))[1], name);
  return at;
}

MaybeLine unknown_callee(Draft& draft) {
  return misspell(draft, some_token(
                             draft, [](const SourceLine& line) { return line.graph; },
                             [](const std::string& text, const Tokens& tokens, std::size_t i) {
                               return i > 1 && tokens[i].kind == Token::Name &&
                                      is_sign(text, tokens, i - 1, '.') &&
                                      text_of(text, tokens[i - 2]) == "cls";
                             }));
}

MaybeLine misspelt_dtype(Draft& draft) {
  const auto place = some_token(
      draft, [](const SourceLine& line) { return line.graph || line.loop; },
      [](const std::string& text, const Tokens& tokens, std::size_t i) {
        const std::string word = text_of(text, tokens[i]);
        return tokens[i].kind == Token::String && (word.find("float") == 1 || word.find("int") == 1 ||
                                                   word.find("uint") == 1 || word == "\"bool\"");
      });
  if (!place) return std::nullopt;
  const std::string word = text_of(draft.text(place->line), place->token);
  draft.replace(place->line, place->token, "\"" + draft.misspelt(word.substr(1, word.size() - 2)) + "\"");
  return place->line;
}

}  // namespace

std::span<const MutationRule> name_mutations() {
  static constexpr MutationRule rules[] = {
      {"undefined variable", ErrorClass::Type, undefined_variable},
      {"undefined result", ErrorClass::Type, undefined_result},
      {"misspelt operator", ErrorClass::Type, misspelt_operator},
      {"misspelt special call", ErrorClass::Type, misspelt_special_call},
      {"misspelt type", ErrorClass::Type, misspelt_type},
      {"misspelt argument name", ErrorClass::Type, misspelt_argument},
      {"misspelt decorator", ErrorClass::Type, misspelt_decorator},
      {"misspelt namespace", ErrorClass::Type, misspelt_namespace},
      {"output not bound", ErrorClass::Type, unknown_output},
      {"dataflow variable outside its block", ErrorClass::Type, dataflow_variable_outside},
      {"use before binding", ErrorClass::Type, use_before_binding},
      {"duplicated parameter", ErrorClass::Type, duplicated_parameter},
      {"duplicated function", ErrorClass::Type, duplicated_function},
      {"unknown callee", ErrorClass::Type, unknown_callee},
      {"misspelt dtype", ErrorClass::Type, misspelt_dtype},
  };
  return rules;
}

}  // namespace relish::generate
