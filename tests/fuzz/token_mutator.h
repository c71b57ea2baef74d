// Mutations of source texts that keep tokens whole: a token or a line is left out, doubled, exchanged with
// another one, or replaced by a word of the language. Random bytes rarely come past the scanner; these reach
// the parser, the resolution of names and the inference of types.
#pragma once

#include <cctype>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace relish::fuzzing {

struct Piece {
  std::size_t begin = 0, size = 0;
};

// Names with their dots, numbers, strings, runs of blanks, line ends, and single signs.
inline std::vector<Piece> tokens_of(std::string_view text) {
  std::vector<Piece> tokens;
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
  };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    const char c = text[at];
    if (is_word(c)) {
      while (end < text.size() && is_word(text[end])) ++end;
    } else if (c == ' ') {
      while (end < text.size() && text[end] == ' ') ++end;
    } else if (c == '"' || c == '\'') {
      while (end < text.size() && text[end] != c && text[end] != '\n') ++end;
      if (end < text.size() && text[end] == c) ++end;
    }
    tokens.push_back({at, end - at});
    at = end;
  }
  return tokens;
}

inline std::vector<Piece> lines_of(std::string_view text) {
  std::vector<Piece> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::size_t next = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back({at, next - at});
    at = next;
  }
  return lines;
}

// Words of the language and numbers at the ends of their ranges.
inline constexpr std::string_view words[] = {
    "R.Tensor",
    "R.Tuple",
    "R.Shape",
    "R.Prim",
    "R.Callable",
    "R.Any",
    "R.Stack",
    "R.call_tir",
    "R.add",
    "R.matmul",
    "R.sum",
    "R.const",
    "R.shape",
    "R.match_cast",
    "R.output",
    "R.func_attr",
    "R.dataflow",
    "R.function",
    "T.prim_func",
    "I.ir_module",
    "I.module_attrs",
    "T.Buffer",
    "T.sblock",
    "T.block",
    "T.grid",
    "T.serial",
    "T.axis.remap",
    "T.axis.spatial",
    "T.reads",
    "T.writes",
    "T.init",
    "T.where",
    "T.match_buffer",
    "T.alloc_buffer",
    "T.let",
    "T.int64",
    "T.int32",
    "T.float32",
    "T.var",
    "T.Cast",
    "T.Select",
    "T.if_then_else",
    "T.floordiv",
    "T.Ramp",
    "T.Broadcast",
    "T.evaluate",
    "T.func_attr",
    "T.thread_binding",
    "T.launch_thread",
    "if",
    "else",
    "elif",
    "while",
    "for",
    "in",
    "range",
    "def",
    "class",
    "return",
    "with",
    "as",
    "assert",
    "break",
    "continue",
    "pass",
    "lambda",
    "not",
    "and",
    "or",
    "True",
    "False",
    "None",
    "cls",
    "n",
    "m",
    "x",
    "0",
    "1",
    "-1",
    "9223372036854775807",
    "1e308",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "=",
    "->",
    "**",
    "//",
    "%",
    "@",
    "*",
    "    ",
    "\n",
    "\"n\"",
    "\"float32\"",
    "\"int64\"",
    "\"SR\"",
    "out_ty",
    "axis",
    "import",
    "from",
    "R.stack.push",
    "R.print",
    "private",
    "pure",
    "dtype",
    "T.parallel",
    "T.vectorized",
    "T.unroll",
    "T.sblock_attr",
    "T.max",
    "R.zeros",
    "R.make_closure",
    "\"relish.recursive\"",
    "\"relish.function_name\"",
    "\"relish.owns_results\"",
    "\"relish.captures_behind\"",
    "\"relish.blocks\"",
    "\"relish.jam\"",
    "\"relish.stack\"",
    "\"relish.params\"",
    "\"relish.gradient_of\"",
    "\"relish.\"",
    "\"local\"",
    "\"shared\"",
    "\"wmma.matrix_a\"",
    "scope=\"relish.stack\"",
    "scope=\"local\"",
    "annotations={\"relish.blocks\": 4}",
    "annotations={\"relish.jam\": -1}",
    "annotations={\"a\": {\"relish.b\": [1, 2.5]}}",
    "R.func_attr({\"relish.recursive\": 3})",
    "R.func_attr({\"relish.function_name\": 3})",
    "R.func_attr({\"relish.params\": 3})",
    "T.func_attr({\"relish.stack\": \"x\"})",
    "T.sblock_attr({\"relish.jam\": 2})",
    "I.module_attrs({\"relish.owns_results\": True})",
    "-9223372036854775808",
    "9223372036854775808",
    "4294967296",
    "2147483648",
    "1000000007",
    "255",
    "1e39",
    "1e-46",
    "-0.0",
    "3.4028235e38",
    "65504.0",
    "0.1",
    "1e-320",
    "1.7976931348623157e308",
    "float(\"nan\")",
    "T.float16(1e5)",
    "T.uint64(18446744073709551615)",
    "T.int8(127)",
};

inline std::string_view random_word(std::mt19937& random) { return words[random() % std::size(words)]; }

// One mutation.
inline std::string mutated(std::string text, std::mt19937& random) {
  const bool by_line = random() % 3 == 0;
  const std::vector<Piece> pieces = by_line ? lines_of(text) : tokens_of(text);
  if (pieces.empty()) return std::string(random_word(random));
  const Piece one = pieces[random() % pieces.size()];
  const Piece other = pieces[random() % pieces.size()];
  const std::string content = text.substr(other.begin, other.size);
  switch (random() % 6) {
    case 0:
      return text.erase(one.begin, one.size);
    case 1:
      return text.insert(one.begin, text.substr(one.begin, one.size));
    case 2:
      return text.replace(one.begin, one.size, content);
    case 3:
      return text.insert(one.begin, content);
    case 4: {
      const Piece first = one.begin < other.begin ? one : other,
                  second = one.begin < other.begin ? other : one;
      if (first.begin == second.begin) return text;
      const std::string a = text.substr(first.begin, first.size), b = text.substr(second.begin, second.size);
      text.replace(second.begin, second.size, a);
      return text.replace(first.begin, first.size, b);
    }
    default:
      return text.replace(one.begin, by_line ? 0 : one.size, random_word(random));
  }
}

}  // namespace relish::fuzzing
