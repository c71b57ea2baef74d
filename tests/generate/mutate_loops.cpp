// Mutations of prim_funcs: accesses, scalars, loops, blocks.
#include <algorithm>

#include "ir/nodes/intrinsic.h"
#include "tests/generate/mutation.h"

namespace relish::generate {
namespace {

bool in_loop(const SourceLine& line) { return line.loop; }
bool is_store(const SourceLine& line) { return line.loop && line.kind == SourceLine::Store; }
bool follows_namespace(const std::string& text, const Tokens& tokens, std::size_t i) {
  return i > 1 && is_sign(text, tokens, i - 1, '.') && text_of(text, tokens[i - 2]) == "T";
}

// Words behind "T." that pass.
template <std::size_t N>
MaybeLine misspelt_word(Draft& draft, const std::string_view (&words)[N]) {
  return misspell(
      draft, some_token(draft, in_loop, [&](const std::string& text, const Tokens& tokens, std::size_t i) {
        return follows_namespace(text, tokens, i) &&
               std::find(std::begin(words), std::end(words), text_of(text, tokens[i])) != std::end(words);
      }));
}

MaybeLine misspelt_intrinsic(Draft& draft) {
  return misspell(
      draft, some_token(draft, is_store, [](const std::string& text, const Tokens& tokens, std::size_t i) {
        return follows_namespace(text, tokens, i) && intrinsic_from_name(text_of(text, tokens[i])) &&
               tokens[i].end - tokens[i].begin > 2;
      }));
}
MaybeLine misspelt_function(Draft& draft) {
  static constexpr std::string_view words[] = {"Cast",        "if_then_else", "Select",
                                               "truncmod",    "bitwise_and",  "bitwise_or",
                                               "bitwise_xor", "shift_left",   "shift_right"};
  return misspelt_word(draft, words);
}
MaybeLine misspelt_loop(Draft& draft) {
  static constexpr std::string_view words[] = {"grid", "parallel", "vectorized", "unroll", "serial"};
  return misspelt_word(draft, words);
}
MaybeLine misspelt_block(Draft& draft) {
  static constexpr std::string_view words[] = {"sblock", "block", "init"};
  return misspelt_word(draft, words);
}
MaybeLine misspelt_block_call(Draft& draft) {
  static constexpr std::string_view words[] = {"reads",     "writes",      "where",
                                               "func_attr", "sblock_attr", "block_attr"};
  return misspelt_word(draft, words);
}
MaybeLine misspelt_buffer_call(Draft& draft) {
  static constexpr std::string_view words[] = {"match_buffer", "sblock_alloc_buffer", "alloc_buffer"};
  return misspelt_word(draft, words);
}
MaybeLine misspelt_parameter_type(Draft& draft) {
  static constexpr std::string_view words[] = {"Buffer", "handle"};
  return misspelt_word(draft, words);
}

MaybeLine misspelt_axis(Draft& draft) {
  return misspell(
      draft, some_token(draft, in_loop, [](const std::string& text, const Tokens& tokens, std::size_t i) {
        const std::string word = text_of(text, tokens[i]);
        return i > 3 && is_sign(text, tokens, i - 1, '.') && text_of(text, tokens[i - 2]) == "axis" &&
               (word == "spatial" || word == "reduce" || word == "remap");
      }));
}

MaybeLine undefined_name(Draft& draft) {
  return misspell(
      draft, some_token(draft, is_store, [](const std::string& text, const Tokens& tokens, std::size_t i) {
        if (tokens[i].kind != Token::Name || (i > 0 && is_sign(text, tokens, i - 1, '.'))) return false;
        const std::string word = text_of(text, tokens[i]);
        constexpr std::string_view words[] = {"T", "and", "or", "not", "True", "False"};
        return std::find(std::begin(words), std::end(words), word) == std::end(words);
      }));
}

MaybeLine missing_index(Draft& draft) {
  const auto place =
      some_token(draft, is_store, [](const std::string& text, const Tokens& tokens, std::size_t i) {
        return i == 1 && is_sign(text, tokens, i, '[') && !is_sign(text, tokens, 2, '(') &&
               text.find(',') < text.find(" = ");
      });
  if (!place) return std::nullopt;
  std::string& text = draft.text(place->line);
  // Up to the first comma between the brackets.
  int depth = 0;
  for (const Token& token : tokens_of(text)) {
    if (token.begin <= place->token.begin || token.kind != Token::Sign) continue;
    const char sign = text[token.begin];
    if (depth == 0 && sign == ',') {
      text.erase(place->token.end, token.end + 1 - place->token.end);
      return place->line;
    }
    if (sign == '(' || sign == '[') ++depth;
    if (sign == ')' || sign == ']') --depth;
    if (depth < 0) break;
  }
  return std::nullopt;
}

MaybeLine surplus_index(Draft& draft) {
  const auto place =
      some_token(draft, is_store, [](const std::string& text, const Tokens& tokens, std::size_t i) {
        return i == 1 && is_sign(text, tokens, i, '[') && !is_sign(text, tokens, 2, '(');
      });
  if (!place) return std::nullopt;
  draft.text(place->line).insert(place->token.end, "0, ");
  return place->line;
}

MaybeLine float_index(Draft& draft) {
  const auto place =
      some_token(draft, is_store, [](const std::string& text, const Tokens& tokens, std::size_t i) {
        return i > 0 && i + 1 < tokens.size() && is_sign(text, tokens, i - 1, '[') &&
               tokens[i].kind != Token::Sign &&
               (is_sign(text, tokens, i + 1, ']') || is_sign(text, tokens, i + 1, ','));
      });
  if (!place) return std::nullopt;
  draft.replace(place->line, place->token, draft.random.chance(0.5) ? "0.5" : "T.float32(1.0)");
  return place->line;
}

MaybeLine text_as_value(Draft& draft) {
  const MaybeLine at = draft.some_line(is_store);
  if (!at) return std::nullopt;
  std::string& text = draft.text(*at);
  text = text.substr(0, value_begin(text)) + "\"text\"";
  return at;
}

MaybeLine buffer_as_value(Draft& draft) {
  const MaybeLine at = draft.some_line(is_store);
  if (!at) return std::nullopt;
  std::string& text = draft.text(*at);
  const std::string buffer = text_of(text, tokens_of(text).front());
  text = text.substr(0, value_begin(text)) + buffer;
  return at;
}

MaybeLine intrinsic_arity(Draft& draft) {
  const auto place =
      some_token(draft, is_store, [](const std::string& text, const Tokens& tokens, std::size_t i) {
        return follows_namespace(text, tokens, i) && intrinsic_from_name(text_of(text, tokens[i])) &&
               is_sign(text, tokens, i + 1, '(');
      });
  if (!place) return std::nullopt;
  // Before the bracket that closes the call.
  std::string& text = draft.text(place->line);
  int depth = 0;
  for (const Token& token : tokens_of(text)) {
    if (token.begin < place->token.end || token.kind != Token::Sign) continue;
    const char sign = text[token.begin];
    if (sign == '(' || sign == '[') ++depth;
    if (sign == ')' || sign == ']') --depth;
    if (depth > 0) continue;
    text.insert(token.begin, ", T.float32(1.0), T.float32(1.0)");
    return place->line;
  }
  return std::nullopt;
}

MaybeLine grid_targets(Draft& draft) {
  const MaybeLine at = draft.some_line([](const SourceLine& line) {
    return line.loop && line.kind == SourceLine::For && line.text.find("T.grid(") != std::string::npos;
  });
  if (!at) return std::nullopt;
  std::string& text = draft.text(*at);
  text.insert(text.find("T.grid(") + 7, "2, ");
  return at;
}

MaybeLine remap_letters(Draft& draft) {
  const auto place =
      some_token(draft, in_loop, [](const std::string& text, const Tokens& tokens, std::size_t i) {
        return tokens[i].kind == Token::String && i > 1 && text_of(text, tokens[i - 2]) == "remap";
      });
  if (!place) return std::nullopt;
  std::string& text = draft.text(place->line);
  if (draft.random.chance(0.5))
    text.insert(place->token.end - 1, "S");
  else
    text[place->token.end - 2] = 'X';
  return place->line;
}

MaybeLine axis_outside_block(Draft& draft) {
  const MaybeLine at = draft.some_line([](const SourceLine& line) {
    return line.loop && line.kind == SourceLine::With && line.text.find("block(") != std::string::npos;
  });
  if (!at) return std::nullopt;
  const std::string& next = draft.text(*at + 1);
  if (next.find("T.axis.") == std::string::npos) return std::nullopt;
  std::string& text = draft.text(*at);
  text = text.substr(0, static_cast<std::size_t>(draft.line(*at).indent)) + "if 1 < 2:";
  return *at + 1;
}

MaybeLine condition_not_bool(Draft& draft) {
  const MaybeLine at = draft.some_line([](const SourceLine& line) {
    return line.loop && (line.kind == SourceLine::While || line.text.find(" T.where(") != std::string::npos);
  });
  if (!at) return std::nullopt;
  std::string& text = draft.text(*at);
  const std::size_t margin = static_cast<std::size_t>(draft.line(*at).indent);
  text = text.substr(0, margin) +
         (draft.line(*at).kind == SourceLine::While ? "while T.float32(1.0):" : "T.where(T.float32(1.0))");
  return at;
}

MaybeLine match_of_no_handle(Draft& draft) {
  constexpr std::string_view call = "T.match_buffer(var_";
  const MaybeLine at = draft.some_line(
      [&](const SourceLine& line) { return line.loop && line.text.find(call) != std::string::npos; });
  if (!at) return std::nullopt;
  std::string& text = draft.text(*at);
  text.insert(text.find(',', text.find(call)), "_of_nobody");
  return at;
}

MaybeLine loop_over_nothing(Draft& draft) {
  const MaybeLine at = draft.some_line([](const SourceLine& line) {
    return line.loop && line.kind == SourceLine::For && line.text.find("range(") != std::string::npos;
  });
  if (!at) return std::nullopt;
  std::string& text = draft.text(*at);
  text = text.substr(0, text.find(" in ")) + " in [0, 1, 2]:";
  return at;
}

MaybeLine return_of_nothing(Draft& draft) { return insert_above(draft, draft.some_line(is_store), "return"); }

}  // namespace

std::span<const MutationRule> loop_mutations() {
  static constexpr MutationRule rules[] = {
      {"misspelt intrinsic", ErrorClass::Type, misspelt_intrinsic},
      {"misspelt scalar function", ErrorClass::Type, misspelt_function},
      {"misspelt loop", ErrorClass::Type, misspelt_loop},
      {"misspelt block", ErrorClass::Type, misspelt_block},
      {"misspelt statement of a block", ErrorClass::Type, misspelt_block_call},
      {"misspelt allocation", ErrorClass::Type, misspelt_buffer_call},
      {"misspelt type of a parameter", ErrorClass::Type, misspelt_parameter_type},
      {"misspelt axis", ErrorClass::Type, misspelt_axis},
      {"undefined name in a prim_func", ErrorClass::Type, undefined_name},
      {"missing index", ErrorClass::Type, missing_index},
      {"surplus index", ErrorClass::Type, surplus_index},
      {"float as index", ErrorClass::Type, float_index},
      {"text as value", ErrorClass::Type, text_as_value},
      {"buffer as value", ErrorClass::Type, buffer_as_value},
      {"wrong number of operands of an intrinsic", ErrorClass::Type, intrinsic_arity},
      {"surplus dimension of a grid", ErrorClass::Type, grid_targets},
      {"letters of a remap", ErrorClass::Type, remap_letters},
      {"axis outside a block", ErrorClass::Type, axis_outside_block},
      {"condition that is no bool", ErrorClass::Type, condition_not_bool},
      {"match of a handle that there is not", ErrorClass::Type, match_of_no_handle},
      {"loop over a list", ErrorClass::Type, loop_over_nothing},
      {"return without a value", ErrorClass::Type, return_of_nothing},
  };
  return rules;
}

}  // namespace relish::generate
