// Mutations of ifs, loops, nested functions, calls and modules, in programs that are generated as text.
#include <algorithm>

#include "tests/generate/mutation.h"

namespace relish::generate {
namespace {

using Kind = SourceLine::Kind;

bool has(const SourceLine& line, std::string_view text) { return line.text.find(text) != std::string::npos; }
std::string margin_of(const SourceLine& line) {
  return std::string(static_cast<std::size_t>(line.indent), ' ');
}

MaybeLine header(Draft& draft, Kind kind, bool graph, std::string_view word = "") {
  return draft.some_line([&](const SourceLine& line) {
    return line.kind == kind && (graph ? line.graph : line.loop) && has(line, word);
  });
}

MaybeLine replace_text(Draft& draft, MaybeLine at, std::string_view from, const std::string& to) {
  if (!at) return std::nullopt;
  std::string& text = draft.text(*at);
  text.replace(text.find(from), from.size(), to);
  return at;
}

MaybeLine some_with(Draft& draft, std::string_view text) {
  return draft.some_line(
      [&](const SourceLine& line) { return line.kind != Kind::Comment && has(line, text); });
}

// A word that stands behind what `follows` is, misspelt.
MaybeLine misspell_word(Draft& draft, std::string_view word,
                        const std::function<bool(const SourceLine&)>& holds) {
  const auto place =
      some_token(draft, holds, [&](const std::string& text, const Tokens& tokens, std::size_t i) {
        return tokens[i].kind == Token::Name && text_of(text, tokens[i]) == word;
      });
  if (!place) return std::nullopt;
  draft.replace(place->line, place->token, draft.misspelt(std::string(word)));
  return place->line;
}
bool anywhere(const SourceLine&) { return true; }
bool in_graph(const SourceLine& line) { return line.graph; }

MaybeLine word_call_tir_inplace(Draft& d) { return misspell_word(d, "call_tir_inplace", in_graph); }
MaybeLine word_call_tir_with_grad(Draft& d) { return misspell_word(d, "call_tir_with_grad", in_graph); }
MaybeLine word_dps(Draft& d) { return misspell_word(d, "call_dps_packed", in_graph); }
MaybeLine word_pure_packed(Draft& d) { return misspell_word(d, "call_pure_packed", in_graph); }
MaybeLine word_inplace_indices(Draft& d) { return misspell_word(d, "inplace_indices", in_graph); }
MaybeLine word_private(Draft& d) { return misspell_word(d, "private", anywhere); }
MaybeLine word_module_attrs(Draft& d) { return misspell_word(d, "module_attrs", anywhere); }
MaybeLine word_global_infos(Draft& d) { return misspell_word(d, "module_global_infos", anywhere); }
MaybeLine word_extern(Draft& d) { return misspell_word(d, "ExternFunc", anywhere); }
MaybeLine word_decl_buffer(Draft& d) { return misspell_word(d, "decl_buffer", anywhere); }
MaybeLine word_thread(Draft& d) { return misspell_word(d, "thread_binding", anywhere); }
MaybeLine word_func_attr(Draft& d) { return misspell_word(d, "func_attr", in_graph); }
MaybeLine word_shape(Draft& d) {
  return misspell_word(d, "shape",
                       [](const SourceLine& line) { return line.graph && line.kind == Kind::Binding; });
}

MaybeLine word_range(Draft& d) {
  return misspell_word(d, "range",
                       [](const SourceLine& line) { return line.graph && line.kind == Kind::For; });
}

MaybeLine word_scalar_type(Draft& draft) {
  const auto place = some_token(
      draft, [](const SourceLine& line) { return line.graph && line.kind == Kind::Def; },
      [](const std::string& text, const Tokens& tokens, std::size_t i) {
        return i > 2 && is_sign(text, tokens, i - 1, '.') && text_of(text, tokens[i - 2]) == "T";
      });
  if (!place) return std::nullopt;
  draft.replace(place->line, place->token, draft.misspelt(text_of(draft.text(place->line), place->token)));
  return place->line;
}

// A variable in the header of an if or while.
MaybeLine name_in_condition(Draft& draft) {
  const auto place = some_token(
      draft,
      [](const SourceLine& line) {
        return line.graph && (line.kind == Kind::If || line.kind == Kind::While) && !has(line, "else");
      },
      [](const std::string& text, const Tokens& tokens, std::size_t i) {
        const std::string word = text_of(text, tokens[i]);
        return i > 0 && tokens[i].kind == Token::Name && !is_sign(text, tokens, i - 1, '.') &&
               !is_sign(text, tokens, i + 1, '.') && word != "and" && word != "or" && word != "not";
      });
  if (!place) return std::nullopt;
  draft.replace(place->line, place->token, draft.misspelt(text_of(draft.text(place->line), place->token)));
  return place->line;
}

// A nested function is called by a wrong name.
MaybeLine name_of_nested(Draft& draft) {
  const auto place = some_token(
      draft, [](const SourceLine& line) { return line.graph && line.kind == Kind::Binding; },
      [](const std::string& text, const Tokens& tokens, std::size_t i) {
        return tokens[i].kind == Token::Name && tokens[i].begin == value_begin(text) &&
               is_sign(text, tokens, i + 1, '(');
      });
  if (!place) return std::nullopt;
  draft.replace(place->line, place->token, draft.misspelt(text_of(draft.text(place->line), place->token)));
  return place->line;
}

MaybeLine condition_of_if(Draft& draft) {
  const MaybeLine at = header(draft, Kind::If, true, "if ");
  if (!at) return std::nullopt;
  std::string& text = draft.text(*at);
  const bool chained = has(draft.line(*at), "elif ");
  text = margin_of(draft.line(*at)) + (chained ? "elif " : "if ") + "R.const(1, \"int64\"):";
  return at;
}

MaybeLine condition_of_while(Draft& draft) {
  const MaybeLine at = header(draft, Kind::While, true);
  if (at) draft.text(*at) = margin_of(draft.line(*at)) + "while R.const(1.0, \"float32\"):";
  return at;
}

MaybeLine loop_range(Draft& draft, const std::string& range) {
  const MaybeLine at = header(draft, Kind::For, true);
  if (!at) return std::nullopt;
  std::string& text = draft.text(*at);
  text = text.substr(0, text.find(" in ")) + " in " + range + ":";
  return at;
}
MaybeLine float_bound(Draft& draft) { return loop_range(draft, "range(0, 2.5)"); }
MaybeLine step_of_zero(Draft& draft) { return loop_range(draft, "range(0, 3, 0)"); }
MaybeLine range_of_nothing(Draft& draft) { return loop_range(draft, "range()"); }
MaybeLine loop_of_prim_func(Draft& draft) { return loop_range(draft, "T.serial(3)"); }
MaybeLine loop_over_tensor(Draft& draft) { return loop_range(draft, "R.const([1, 2], \"int64\")"); }

MaybeLine loop_in_dataflow(Draft& draft) {
  const MaybeLine at =
      draft.some_line([](const SourceLine& line) { return line.in_dataflow && line.kind == Kind::Binding; });
  if (!at) return std::nullopt;
  draft.text(*at).insert(0, "    ");
  return insert_above(
      draft, at, draft.random.chance(0.5) ? "for i_of_loop in range(3):" : "if R.const(True, \"bool\"):");
}

// A line that a branch or a loop cannot have, behind its header.
MaybeLine first_in(Draft& draft, bool loop, const std::string& text) {
  const MaybeLine at = draft.some_line([&](const SourceLine& line) {
    const bool is_loop = line.kind == Kind::For || line.kind == Kind::While;
    return line.graph && (loop ? is_loop : line.kind == Kind::If);
  });
  if (!at || *at + 1 >= draft.source.lines.size()) return std::nullopt;
  return insert_above(draft, *at + 1, text);
}
MaybeLine return_in_branch(Draft& draft) { return first_in(draft, false, "return R.const(1, \"int64\")"); }
MaybeLine return_in_loop(Draft& draft) { return first_in(draft, true, "return R.const(1, \"int64\")"); }
MaybeLine break_in_function(Draft& draft) {
  return first_in(draft, true, draft.random.chance(0.5) ? "break" : "continue");
}

MaybeLine behind_return(Draft& draft) {
  const MaybeLine at = header(draft, Kind::Return, true);
  if (!at) return std::nullopt;
  SourceLine line = draft.line(*at);
  line.text = margin_of(line) + "too_late = R.const(1, \"int64\")";
  draft.source.lines.insert(draft.source.lines.begin() + static_cast<std::ptrdiff_t>(*at) + 1, line);
  return *at + 1;
}

MaybeLine plain_binding(Draft& draft) {
  return draft.some_line([](const SourceLine& line) {
    return line.graph && line.kind == Kind::Binding && !line.in_dataflow && !has(line, "T.int64()") &&
           !has(line, "cls = ");
  });
}
MaybeLine output_outside(Draft& draft) { return insert_above(draft, plain_binding(draft), "R.output()"); }
MaybeLine unpack_of_a_tensor(Draft& draft) {
  return insert_above(draft, plain_binding(draft), "one, two, three = R.const([1, 2], \"int64\")");
}
MaybeLine call_of_a_tensor(Draft& draft) {
  const MaybeLine at = plain_binding(draft);
  if (!insert_above(draft, at, "no_function = R.const(1, \"int64\")")) return std::nullopt;
  insert_above(draft, *at + 1, "called = no_function(no_function)");
  return *at + 1;
}
MaybeLine chained_targets(Draft& draft) {
  return insert_above(draft, plain_binding(draft), "one = two = R.const(1, \"int64\")");
}
MaybeLine element_assigned(Draft& draft) {
  const MaybeLine at = plain_binding(draft);
  if (!insert_above(draft, at, "pair_of = (R.const(1, \"int64\"), R.const(2, \"int64\"))"))
    return std::nullopt;
  insert_above(draft, *at + 1, "pair_of[0] = R.const(3, \"int64\")");
  return *at + 1;
}
MaybeLine cast_to_a_number(Draft& draft) {
  return insert_above(draft, plain_binding(draft), "was_cast = R.match_cast(R.const(1, \"int64\"), 3)");
}

// Bound in one way only, read behind.
MaybeLine bound_in_one_branch(Draft& draft) {
  const MaybeLine at = plain_binding(draft);
  if (!insert_above(draft, at, "if R.const(True, \"bool\"):")) return std::nullopt;
  insert_above(draft, *at + 1, "    half_bound = R.const(1, \"int64\")");
  insert_above(draft, *at + 2, "else:");
  insert_above(draft, *at + 3, "    other_name = R.const(1, \"int64\")");
  insert_above(draft, *at + 4, "read_behind = R.negative(half_bound)");
  return *at + 4;
}
MaybeLine index_behind_loop(Draft& draft) {
  const MaybeLine at = plain_binding(draft);
  if (!insert_above(draft, at, "for own_index in range(3):")) return std::nullopt;
  insert_above(draft, *at + 1, "    in_loop = R.const(1, \"int64\")");
  insert_above(draft, *at + 2, "if own_index > 1:");
  insert_above(draft, *at + 3, "    read_behind = R.const(1, \"int64\")");
  insert_above(draft, *at + 4, "else:");
  insert_above(draft, *at + 5, "    read_behind = R.const(2, \"int64\")");
  return *at + 2;
}
MaybeLine bound_in_loop(Draft& draft) {
  const MaybeLine at = plain_binding(draft);
  if (!insert_above(draft, at, "for own_index in range(3):")) return std::nullopt;
  insert_above(draft, *at + 1, "    in_loop = R.const(1, \"int64\")");
  insert_above(draft, *at + 2, "read_behind = R.negative(in_loop)");
  return *at + 2;
}

MaybeLine inplace_index(Draft& draft) {
  return replace_text(draft, some_with(draft, "inplace_indices=[0]"), "inplace_indices=[0]",
                      "inplace_indices=[7]");
}
MaybeLine call_tir_of_function(Draft& draft) {
  const MaybeLine at = some_with(draft, "R.call_tir(cls.");
  if (!at) return std::nullopt;
  std::string& text = draft.text(*at);
  const std::size_t begin = text.find("R.call_tir(cls.") + 15, end = text.find(',', begin);
  text.replace(begin, end - begin, "main");
  return at;
}

MaybeLine surplus_argument(Draft& draft) {
  const auto place = some_token(
      draft,
      [](const SourceLine& line) { return line.graph && line.kind == Kind::Binding && !has(line, "cls."); },
      [](const std::string& text, const Tokens& tokens, std::size_t i) {
        return tokens[i].kind == Token::Name && tokens[i].begin == value_begin(text) &&
               is_sign(text, tokens, i + 1, '(') && !is_sign(text, tokens, i + 2, ')');
      });
  if (!place) return std::nullopt;
  draft.text(place->line).insert(place->token.end + 1, "R.const(1, \"int64\"), ");
  return place->line;
}

MaybeLine attributes_of_module(Draft& draft) {
  const MaybeLine at = some_with(draft, "I.module_attrs(");
  if (!at) return std::nullopt;
  draft.text(*at) = margin_of(draft.line(*at)) + "I.module_attrs(3)";
  return at;
}
MaybeLine extern_of_number(Draft& draft) {
  return replace_text(draft, some_with(draft, "R.ExternFunc(\"lib.ext\")"), "\"lib.ext\"", "3");
}

MaybeLine without_decorator(Draft& draft, std::string_view decorator) {
  const MaybeLine at = draft.some_line(
      [&](const SourceLine& line) { return line.kind == Kind::Decorator && has(line, decorator); });
  if (!at) return std::nullopt;
  draft.source.lines.erase(draft.source.lines.begin() + static_cast<std::ptrdiff_t>(*at));
  return at;
}
MaybeLine class_without_decorator(Draft& draft) { return without_decorator(draft, "@I.ir_module"); }
MaybeLine foreign_import(Draft& draft) {
  SourceLine line;
  line.kind = Kind::Other;
  line.text = "import numpy as np";
  draft.source.lines.insert(draft.source.lines.begin(), line);
  return 0;
}

// --- Of prim_funcs.

// A line at the level of a prim_func's body, where a loop or block begins.
MaybeLine top_of_loop(Draft& draft) {
  return draft.some_line([](const SourceLine& line) {
    return line.loop && line.kind == Kind::For && (line.indent == 4 || line.indent == 8);
  });
}
MaybeLine break_outside(Draft& draft) {
  const MaybeLine at = top_of_loop(draft);
  if (!at) return std::nullopt;
  // Not in a loop: the nearest line with less indentation is the definition.
  for (std::size_t i = *at; i-- > 0;) {
    if (draft.line(i).indent >= draft.line(*at).indent || draft.line(i).text.empty()) continue;
    if (draft.line(i).kind != Kind::Def) return std::nullopt;
    break;
  }
  return insert_above(draft, at, draft.random.chance(0.5) ? "break" : "continue");
}
MaybeLine where_outside(Draft& draft) { return insert_above(draft, top_of_loop(draft), "T.where(1 < 2)"); }
MaybeLine device_statement(Draft& draft) {
  return insert_above(draft, top_of_loop(draft), "T.tvm_storage_sync(\"shared\")");
}
MaybeLine let_assigned(Draft& draft) {
  const MaybeLine at = top_of_loop(draft);
  if (!insert_above(draft, at, "fixed_one: T.let[T.int32] = 1")) return std::nullopt;
  insert_above(draft, *at + 1, "fixed_one = 2");
  return *at + 1;
}
MaybeLine scalar_without_value(Draft& draft) {
  return insert_above(draft, top_of_loop(draft), "fixed_one: T.let[T.int32]");
}
MaybeLine view_of_a_number(Draft& draft) {
  return insert_above(draft, top_of_loop(draft), "view_of = T.decl_buffer((2,), \"int32\", data=3)");
}
MaybeLine thread_without_name(Draft& draft) {
  return replace_text(draft, some_with(draft, ", thread=\"blockIdx.x\""), ", thread=\"blockIdx.x\"", "");
}
MaybeLine step_of_zero_in_prim_func(Draft& draft) {
  const MaybeLine at = top_of_loop(draft);
  if (!at) return std::nullopt;
  SourceLine line = draft.line(*at);
  insert_above(draft, at, "for own_index in range(0, 4, 0):");
  insert_above(draft, *at + 1, "    T.evaluate(own_index)");
  return at;
}
MaybeLine grid_of_floats(Draft& draft) {
  const MaybeLine at = top_of_loop(draft);
  if (!insert_above(draft, at, "for own_index in range(T.float32(2.0)):")) return std::nullopt;
  insert_above(draft, *at + 1, "    T.evaluate(0)");
  return at;
}
MaybeLine assert_message(Draft& draft) {
  return insert_above(draft, top_of_loop(draft), "assert T.int32(1) > 0, 3");
}
MaybeLine pointer_as_value(Draft& draft) {
  return insert_above(draft, top_of_loop(draft),
                      "T.evaluate(T.call_extern(\"handle\", \"system\", 1) + T.uint64(1))");
}
MaybeLine nested_in_prim_func(Draft& draft) {
  const MaybeLine at = top_of_loop(draft);
  if (!insert_above(draft, at, "@T.prim_func")) return std::nullopt;
  insert_above(draft, *at + 1, "def own_inner(n: T.int32) -> T.int32:");
  insert_above(draft, *at + 2, "    return n");
  return *at + 1;
}
MaybeLine init_outside(Draft& draft) {
  const MaybeLine at = top_of_loop(draft);
  if (!insert_above(draft, at, "with T.init():")) return std::nullopt;
  insert_above(draft, *at + 1, "    T.evaluate(0)");
  return at;
}
MaybeLine missing_result(Draft& draft) {
  const MaybeLine def = draft.some_line(
      [](const SourceLine& line) { return line.loop && line.kind == Kind::Def && has(line, " -> T."); });
  if (!def) return std::nullopt;
  const int indent = draft.line(*def).indent + 4;
  std::size_t last = *def;
  for (std::size_t i = *def + 1;
       i < draft.source.lines.size() && (draft.text(i).empty() || draft.line(i).indent >= indent); ++i) {
    if (!draft.text(i).empty()) last = i;
  }
  if (draft.line(last).kind != Kind::Return || draft.line(last).indent != indent) return std::nullopt;
  draft.text(last) = margin_of(draft.line(last)) + "T.evaluate(0)";
  return def;
}

}  // namespace

std::span<const MutationRule> control_mutations() {
  static constexpr MutationRule rules[] = {
      {"misspelt call_tir_inplace", ErrorClass::Type, word_call_tir_inplace, true},
      {"misspelt call_tir_with_grad", ErrorClass::Type, word_call_tir_with_grad, true},
      {"misspelt call_dps_packed", ErrorClass::Type, word_dps, true},
      {"misspelt call_pure_packed", ErrorClass::Type, word_pure_packed, true},
      {"misspelt inplace_indices", ErrorClass::Type, word_inplace_indices, true},
      {"misspelt option of a decorator", ErrorClass::Type, word_private, true},
      {"misspelt module_attrs", ErrorClass::Type, word_module_attrs, true},
      {"misspelt module_global_infos", ErrorClass::Type, word_global_infos, true},
      {"misspelt ExternFunc", ErrorClass::Type, word_extern, true},
      {"misspelt decl_buffer", ErrorClass::Type, word_decl_buffer, true},
      {"misspelt thread_binding", ErrorClass::Type, word_thread, true},
      {"misspelt func_attr", ErrorClass::Type, word_func_attr, true},
      {"misspelt shape", ErrorClass::Type, word_shape, true},
      {"misspelt range of a function", ErrorClass::Type, word_range, true},
      {"misspelt scalar type", ErrorClass::Type, word_scalar_type, true},
      {"undefined name in a condition", ErrorClass::Type, name_in_condition, true},
      {"undefined nested function", ErrorClass::Type, name_of_nested, true},
      {"if on a number", ErrorClass::Type, condition_of_if, true},
      {"while on a number", ErrorClass::Type, condition_of_while, true},
      {"float as bound of a loop", ErrorClass::Type, float_bound, true},
      {"step of 0", ErrorClass::Type, step_of_zero, true},
      {"range of nothing", ErrorClass::Type, range_of_nothing, true},
      {"loop of a prim_func in a function", ErrorClass::Type, loop_of_prim_func, true},
      {"loop over a tensor", ErrorClass::Type, loop_over_tensor, true},
      {"control flow in a dataflow block", ErrorClass::Type, loop_in_dataflow, true},
      {"return in a branch", ErrorClass::Type, return_in_branch, true},
      {"return in a loop", ErrorClass::Type, return_in_loop, true},
      {"break in a function", ErrorClass::Type, break_in_function, true},
      {"statement behind the return", ErrorClass::Type, behind_return, true},
      {"R.output outside a block", ErrorClass::Type, output_outside, true},
      {"unpacking of a tensor", ErrorClass::Type, unpack_of_a_tensor, true},
      {"call of a tensor", ErrorClass::Type, call_of_a_tensor, true},
      {"several targets", ErrorClass::Type, chained_targets, true},
      {"assignment to a field", ErrorClass::Type, element_assigned, true},
      {"match_cast to a number", ErrorClass::Type, cast_to_a_number, true},
      {"name of one branch behind the if", ErrorClass::Type, bound_in_one_branch, true},
      {"index behind its loop", ErrorClass::Type, index_behind_loop, true},
      {"name of a loop behind it", ErrorClass::Type, bound_in_loop, true},
      {"inplace index out of range", ErrorClass::Type, inplace_index, true},
      {"call_tir of a function", ErrorClass::Type, call_tir_of_function, true},
      {"surplus argument of a nested function", ErrorClass::Type, surplus_argument, true},
      {"module attributes that are none", ErrorClass::Type, attributes_of_module, true},
      {"extern function without symbol", ErrorClass::Type, extern_of_number, true},
      {"class without decorator", ErrorClass::Syntax, class_without_decorator, true},
      {"foreign import", ErrorClass::Syntax, foreign_import, true},
      {"break outside a loop", ErrorClass::Type, break_outside, true},
      {"T.where outside a block", ErrorClass::Type, where_outside, true},
      {"statement for devices", ErrorClass::Type, device_statement, true},
      {"assignment to a let", ErrorClass::Type, let_assigned, true},
      {"let without a value", ErrorClass::Type, scalar_without_value, true},
      {"view of a number", ErrorClass::Type, view_of_a_number, true},
      {"thread without a name", ErrorClass::Type, thread_without_name, true},
      {"step of 0 in a prim_func", ErrorClass::Type, step_of_zero_in_prim_func, true},
      {"float as extent of a loop", ErrorClass::Type, grid_of_floats, true},
      {"assertion whose message is no text", ErrorClass::Type, assert_message, true},
      {"pointer as a value", ErrorClass::Type, pointer_as_value, true},
      {"function in a prim_func", ErrorClass::Type, nested_in_prim_func, true},
      {"init outside a block", ErrorClass::Type, init_outside, true},
      {"way without a result", ErrorClass::Type, missing_result, true},
  };
  return rules;
}

}  // namespace relish::generate
