// Mutations of what types must agree on: shapes, dtypes, ranks, counts of arguments, values of attributes.
#include <algorithm>

#include "ir/operators/op.h"
#include "tests/generate/mutation.h"

namespace relish::generate {
namespace {

bool is_graph_binding(const SourceLine& line) { return line.graph && line.kind == SourceLine::Binding; }
// A binding with a tensor type between its name and its value.
bool has_tensor_annotation(const SourceLine& line) {
  if (!is_graph_binding(line)) return false;
  const std::size_t at = line.text.find(": R.Tensor(");
  return at != std::string::npos && at < value_begin(line.text);
}
bool is_dtype(const std::string& word) {
  return word.find("\"float") == 0 || word.find("\"int") == 0 || word.find("\"uint") == 0 ||
         word == "\"bool\"" || word.find("\"bfloat") == 0;
}
std::string other_dtype(const std::string& word) { return word == "\"int32\"" ? "\"float32\"" : "\"int32\""; }

// A plain number that stands alone as a dim of an annotation.
bool is_plain_dim(const std::string& text, const Tokens& tokens, std::size_t i) {
  if (tokens[i].kind != Token::Number || i < 2) return false;
  const bool before = is_sign(text, tokens, i - 1, '(') || is_sign(text, tokens, i - 1, ',');
  const bool after = is_sign(text, tokens, i + 1, ')') || is_sign(text, tokens, i + 1, ',');
  return before && after;
}

MaybeLine wrong_dim(Draft& draft) {
  const auto place = some_token(draft, has_tensor_annotation,
                                [](const std::string& text, const Tokens& tokens, std::size_t i) {
                                  return tokens[i].begin < value_begin(text) && is_plain_dim(text, tokens, i);
                                });
  if (!place) return std::nullopt;
  draft.replace(place->line, place->token,
                std::to_string(std::stoll(text_of(draft.text(place->line), place->token)) + 7));
  return place->line;
}

MaybeLine wrong_dtype(Draft& draft) {
  const auto place = some_token(
      draft, has_tensor_annotation, [](const std::string& text, const Tokens& tokens, std::size_t i) {
        return tokens[i].begin < value_begin(text) && tokens[i].kind == Token::String &&
               is_dtype(text_of(text, tokens[i]));
      });
  if (!place) return std::nullopt;
  draft.replace(place->line, place->token, other_dtype(text_of(draft.text(place->line), place->token)));
  return place->line;
}

MaybeLine wrong_rank(Draft& draft) {
  const MaybeLine at = draft.some_line([](const SourceLine& line) {
    return has_tensor_annotation(line) && line.text.find(": R.Tensor((") != std::string::npos;
  });
  if (!at) return std::nullopt;
  std::string& text = draft.text(*at);
  const std::size_t dims = text.find(": R.Tensor((") + std::string(": R.Tensor((").size();
  text.insert(dims, text[dims] == ')' ? "5," : "5, ");
  return at;
}

MaybeLine tuple_for_tensor(Draft& draft) {
  const MaybeLine at = draft.some_line(has_tensor_annotation);
  if (!at) return std::nullopt;
  std::string& text = draft.text(*at);
  const std::size_t begin = text.find(": R.Tensor(") + 2, end = value_begin(text) - 3;
  text.insert(end, ")");
  text.insert(begin, "R.Tuple(");
  return at;
}

// The operator that is called by the name before the bracket, such as relu of R.nn.relu(x); null when it is
// none.
const Op* op_called(const std::string& text, const Tokens& tokens, std::size_t name) {
  if (tokens[name].kind != Token::Name || !is_sign(text, tokens, name + 1, '(') ||
      tokens[name].begin < value_begin(text))
    return nullptr;
  std::size_t first = name;
  while (first >= 2 && is_sign(text, tokens, first - 1, '.')) first -= 2;
  if (text_of(text, tokens[first]) != "R" || first == name) return nullptr;
  return find_op(text.substr(tokens[first + 2].begin, tokens[name].end - tokens[first + 2].begin));
}

// The operator calls of values, as the index of the name before the bracket.
std::optional<Place> some_call(Draft& draft, const std::function<bool(const Op&)>& holds) {
  return some_token(draft, is_graph_binding,
                    [&](const std::string& text, const Tokens& tokens, std::size_t i) {
                      const Op* op = op_called(text, tokens, i);
                      return op && holds(*op);
                    });
}

// The attribute of an operator whose value the token is, after `name=`; null when it is none.
const Param* attribute_given(const std::string& text, const Tokens& tokens, std::size_t value) {
  if (value < 4 || !is_sign(text, tokens, value - 1, '=')) return nullptr;
  int depth = 0;
  std::size_t open = value - 2;
  for (;; --open) {
    const char sign = tokens[open].kind == Token::Sign ? text[tokens[open].begin] : ' ';
    if (sign == '(' && depth == 0) break;
    if (sign == ')' || sign == ']') ++depth;
    if (sign == '(' || sign == '[') --depth;
    if (open == 1 || depth < 0) return nullptr;
  }
  const Op* op = op_called(text, tokens, open - 1);
  if (!op) return nullptr;
  const std::string name = text_of(text, tokens[value - 2]);
  const auto param =
      std::find_if(op->params.begin(), op->params.end(), [&](const Param& one) { return one.name == name; });
  return param == op->params.end() || param->kind != ParamKind::Attribute ? nullptr : &*param;
}

// The end of the first argument behind the bracket at `open`.
std::size_t first_argument_end(const std::string& text, std::size_t open) {
  int depth = 0;
  for (const Token& token : tokens_of(text)) {
    if (token.begin <= open || token.kind != Token::Sign) continue;
    const char sign = text[token.begin];
    if (sign == '(' || sign == '[') ++depth;
    if ((sign == ',' || sign == ')') && depth == 0) return token.begin;
    if (sign == ')' || sign == ']') --depth;
  }
  return std::string::npos;
}

// The end of the last argument without a name behind the bracket at `open`.
std::size_t last_positional_end(const std::string& text, std::size_t open) {
  std::size_t last = std::string::npos, begin = open + 1;
  int depth = 0;
  for (const Token& token : tokens_of(text)) {
    if (token.begin <= open || token.kind != Token::Sign) continue;
    const char sign = text[token.begin];
    if ((sign == ',' || sign == ')') && depth == 0) {
      const bool named = text.substr(begin, token.begin - begin).find('=') != std::string::npos;
      if (!named && token.begin > begin) last = token.begin;
      if (sign == ')') return last;
      begin = token.end;
    }
    if (sign == '(' || sign == '[') ++depth;
    if (sign == ')' || sign == ']') --depth;
  }
  return std::string::npos;
}

MaybeLine missing_argument(Draft& draft) {
  const auto place = some_call(draft, [](const Op& op) { return op.params[0].kind == ParamKind::Tensor; });
  if (!place) return std::nullopt;
  std::string& text = draft.text(place->line);
  const std::size_t open = place->token.end, end = first_argument_end(text, open);
  text.erase(open + 1, end - open - 1 + (text[end] == ',' ? 2 : 0));
  return place->line;
}

MaybeLine surplus_operand(Draft& draft) {
  const auto place = some_call(draft, [](const Op& op) {
    return std::all_of(op.params.begin(), op.params.end(), [](const Param& param) {
      return param.kind == ParamKind::Tensor || param.kind == ParamKind::Attribute;
    });
  });
  if (!place) return std::nullopt;
  std::string& text = draft.text(place->line);
  const std::size_t open = place->token.end, end = first_argument_end(text, open);
  const std::string argument = text.substr(open + 1, end - open - 1);
  if (argument.find('=') != std::string::npos) return std::nullopt;
  text.insert(last_positional_end(text, open), ", " + argument);
  return place->line;
}

MaybeLine attribute_value(Draft& draft) {
  // Any number is a class to ignore, a depth, a bound or a device, any word a device or a part of a message.
  constexpr std::string_view free[] = {"ignore_index", "depth",       "offset",      "index", "low",
                                       "high",         "device_type", "dst_vdevice", "format"};
  const auto place =
      some_token(draft, is_graph_binding, [&](const std::string& text, const Tokens& tokens, std::size_t i) {
        const Param* attribute = attribute_given(text, tokens, i);
        if (!attribute || std::find(std::begin(free), std::end(free), attribute->name) != std::end(free))
          return false;
        const std::string value = text_of(text, tokens[i]);
        return tokens[i].kind == Token::Number || tokens[i].kind == Token::String || value == "True" ||
               value == "False";
      });
  if (!place) return std::nullopt;
  const std::string& text = draft.text(place->line);
  const Tokens tokens = tokens_of(text);
  const std::string value = text_of(text, place->token);
  std::string wrong;
  if (place->token.kind == Token::Number) {
    std::size_t at = 0;
    while (tokens[at].begin != place->token.begin) ++at;
    // Most floating attributes take any number.
    const bool floating = attribute_given(text, tokens, at)->type.find("float") != std::string_view::npos;
    wrong = floating ? "\"much\"" : "97";
  } else if (place->token.kind == Token::String) {
    const std::string word = value.substr(1, value.size() - 2), other = draft.misspelt(word);
    // A layout of the same letters is another layout.
    const bool same_letters = std::is_permutation(word.begin(), word.end(), other.begin(), other.end());
    wrong = "\"" + (same_letters ? word + word.front() : other) + "\"";
  } else {
    wrong = "\"maybe\"";
  }
  draft.replace(place->line, place->token, wrong);
  return place->line;
}

MaybeLine tuple_index(Draft& draft) {
  const auto place =
      some_token(draft, is_graph_binding, [](const std::string& text, const Tokens& tokens, std::size_t i) {
        return tokens[i].kind == Token::Number && i > 2 && i + 2 == tokens.size() &&
               is_sign(text, tokens, i - 1, '[') && tokens[i - 2].begin == value_begin(text);
      });
  if (!place) return std::nullopt;
  draft.replace(place->line, place->token, "99");
  return place->line;
}

MaybeLine cast_of_wrong_rank(Draft& draft) {
  const MaybeLine at = draft.some_line([](const SourceLine& line) {
    return is_graph_binding(line) && line.text.find("R.match_cast(") != std::string::npos &&
           line.text.find("R.Tensor((", line.text.find("R.match_cast(")) != std::string::npos;
  });
  if (!at) return std::nullopt;
  std::string& text = draft.text(*at);
  const std::size_t dims =
      text.find("R.Tensor((", text.find("R.match_cast(")) + std::string("R.Tensor((").size();
  text.insert(dims, text[dims] == ')' ? "5," : "5, ");
  return at;
}

MaybeLine ragged_constant(Draft& draft) {
  const auto place =
      some_token(draft, is_graph_binding, [](const std::string& text, const Tokens& tokens, std::size_t i) {
        // The first of several numbers in one list.
        return tokens[i].kind == Token::Number && i > 3 && is_sign(text, tokens, i - 1, '[') &&
               is_sign(text, tokens, i + 1, ',') &&
               text.rfind("R.const(", tokens[i].begin) != std::string::npos &&
               text.rfind("R.const(", tokens[i].begin) > text.rfind(')', tokens[i].begin) + 1 &&
               tokens[i].begin - text.rfind("R.const(", tokens[i].begin) < 14;
      });
  if (!place) return std::nullopt;
  draft.replace(place->line, place->token, "[1]");
  return place->line;
}

MaybeLine constant_out_of_range(Draft& draft) {
  const auto place =
      some_token(draft, is_graph_binding, [](const std::string& text, const Tokens& tokens, std::size_t i) {
        if (tokens[i].kind != Token::Number || i < 2 || i + 2 >= tokens.size()) return false;
        const std::string dtype = text_of(text, tokens[i + 2]);
        return is_sign(text, tokens, i - 1, '(') && text_of(text, tokens[i - 2]) == "const" &&
               (dtype == "\"int8\"" || dtype == "\"uint8\"" || dtype == "\"int16\"" || dtype == "\"uint16\"");
      });
  if (!place) return std::nullopt;
  draft.replace(place->line, place->token, "500000");
  return place->line;
}

MaybeLine return_type(Draft& draft) {
  // The annotation of the result of a function that returns one tensor.
  const MaybeLine at = draft.some_line([](const SourceLine& line) {
    // Of main, which nothing calls.
    return line.graph && line.text.find("def main(") != std::string::npos &&
           line.text.find(" -> R.Tensor(") != std::string::npos;
  });
  if (!at) return std::nullopt;
  std::string& text = draft.text(*at);
  const std::size_t arrow = text.find(" -> ");
  // What is told is the return that does not agree, with the annotation in a note.
  std::size_t result = *at;
  while (draft.line(result).kind != SourceLine::Return) ++result;
  for (const Token& token : tokens_of(text)) {
    if (token.begin < arrow || token.kind != Token::String || !is_dtype(text_of(text, token))) continue;
    draft.replace(*at, token, other_dtype(text_of(text, token)));
    return result;
  }
  return std::nullopt;
}

MaybeLine missing_return(Draft& draft) {
  const MaybeLine at =
      draft.some_line([](const SourceLine& line) { return line.graph && line.kind == SourceLine::Return; });
  if (!at) return std::nullopt;
  const int function = draft.line(*at).function;
  std::size_t def = *at;
  while (draft.line(def).kind != SourceLine::Def) --def;
  draft.source.lines.erase(draft.source.lines.begin() + static_cast<std::ptrdiff_t>(*at));
  static_cast<void>(function);
  // A function without any line left is a fault of another rule.
  if (*at == def + 1) return std::nullopt;
  return def;
}

MaybeLine parameter_without_type(Draft& draft) {
  const MaybeLine at = draft.some_line([](const SourceLine& line) {
    return line.graph && line.kind == SourceLine::Def && line.text.find('(') + 2 < line.text.size() &&
           line.text.find("()") == std::string::npos;
  });
  if (!at) return std::nullopt;
  std::string& text = draft.text(*at);
  const std::size_t open = text.find('('), colon = text.find(':', open), end = first_argument_end(text, open);
  if (colon == std::string::npos || end == std::string::npos || colon > end) return std::nullopt;
  text.erase(colon, end - colon);
  return at;
}

MaybeLine call_of_wrong_arity(Draft& draft) {
  const auto place =
      some_token(draft, is_graph_binding, [](const std::string& text, const Tokens& tokens, std::size_t i) {
        return tokens[i].kind == Token::Name && i > 1 && is_sign(text, tokens, i + 1, '(') &&
               is_sign(text, tokens, i - 1, '.') && text_of(text, tokens[i - 2]) == "cls" &&
               !is_sign(text, tokens, i + 2, ')');
      });
  if (!place) return std::nullopt;
  std::string& text = draft.text(place->line);
  const std::size_t open = place->token.end, end = first_argument_end(text, open);
  text.insert(last_positional_end(text, open), ", " + text.substr(open + 1, end - open - 1));
  return place->line;
}

MaybeLine result_type_of_call_tir(Draft& draft) {
  const auto place =
      some_token(draft, is_graph_binding, [](const std::string& text, const Tokens& tokens, std::size_t i) {
        const std::size_t types = std::min(text.find("out_ty="), text.find("out_sinfo="));
        return types != std::string::npos && tokens[i].begin > types && tokens[i].kind == Token::String &&
               is_dtype(text_of(text, tokens[i]));
      });
  if (!place) return std::nullopt;
  draft.replace(place->line, place->token, other_dtype(text_of(draft.text(place->line), place->token)));
  return place->line;
}

MaybeLine python_in_a_function(Draft& draft) {
  const MaybeLine at = draft.some_line(is_graph_binding);
  if (!at) return std::nullopt;
  std::string& text = draft.text(*at);
  constexpr const char* values[] = {"lambda q: q", "[q for q in range(3)]", "{1, 2}", "f\"{x}\"",
                                    "x if x else x"};
  text = text.substr(0, value_begin(text)) + draft.random.pick(values);
  return at;
}

MaybeLine statement_of_scripts(Draft& draft) {
  const MaybeLine at = draft.some_line([](const SourceLine& line) {
    return line.graph && line.kind == SourceLine::Binding && !line.in_dataflow;
  });
  if (!at) return std::nullopt;
  constexpr const char* statements[] = {"import os", "assert True", "x += 1"};
  return insert_above(draft, at, draft.random.pick(statements));
}

}  // namespace

std::span<const MutationRule> type_mutations() {
  static constexpr MutationRule rules[] = {
      {"wrong dimension in an annotation", ErrorClass::Type, wrong_dim},
      {"wrong dtype in an annotation", ErrorClass::Type, wrong_dtype},
      {"wrong rank in an annotation", ErrorClass::Type, wrong_rank},
      {"tuple type for a tensor", ErrorClass::Type, tuple_for_tensor},
      {"missing argument of an operator", ErrorClass::Type, missing_argument},
      {"surplus argument of an operator", ErrorClass::Type, surplus_operand},
      {"wrong value of an attribute", ErrorClass::Type, attribute_value},
      {"tuple index out of range", ErrorClass::Type, tuple_index},
      {"match_cast to another rank", ErrorClass::Type, cast_of_wrong_rank},
      {"ragged constant", ErrorClass::Type, ragged_constant},
      {"constant out of range", ErrorClass::Type, constant_out_of_range},
      {"wrong type of the result", ErrorClass::Type, return_type},
      {"missing return", ErrorClass::Type, missing_return},
      {"parameter without a type", ErrorClass::Type, parameter_without_type},
      {"wrong number of arguments of a call", ErrorClass::Type, call_of_wrong_arity},
      {"wrong result type of call_tir", ErrorClass::Type, result_type_of_call_tir},
      {"expression of Python", ErrorClass::Type, python_in_a_function},
      {"statement of Python", ErrorClass::Type, statement_of_scripts},
  };
  return rules;
}

}  // namespace relish::generate
