// The pools of names.
#include "tests/generate/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace relish::generate {
namespace {

constexpr std::string_view plain[] = {"x", "y", "w", "b", "a", "data", "weight", "bias", "lhs", "rhs"};
// What passes and TVM's printer call things, so that fresh names meet old ones.
constexpr std::string_view made_names[] = {"lv",   "lv1",  "lv2",   "lv3",   "gv",        "gv1",
                                           "gv2",  "lv_1", "cls_1", "var_A", "x_1",       "v",
                                           "v_i0", "i0",   "ax0",   "T_add", "x_adjoint", "gv_2"};
// Nearly words of the language.
constexpr std::string_view close[] = {"class_", "lambda_", "None_", "True1", "def_", "R_",      "T_",
                                      "I_",     "Rx",      "Tx",    "ifx",   "inx",  "notx",    "orx",
                                      "_x",     "__x",     "_1",    "_0",    "is_",  "float32", "int64",
                                      "relax",  "tir",     "tvm",   "e1",    "inf",  "nan",     "range_",
                                      "grid",   "self",    "print", "main",  "n",    "m"};
// Words that variables may not have in a text, and hints that are no identifiers.
constexpr std::string_view impossible[] = {
    "R", "T",  "cls", "relish", "float", "class", "lambda", "None", "True",  "if", "in",   "not",
    "",  "3d", "a.b", "größe",  "x y",   "变量",  "-",      "for",  "range", "λ",  "with", "return"};
constexpr std::string_view comments[] = {"a comment",
                                         "TODO: nothing",
                                         "x = R.add(x, y)",
                                         "# twice",
                                         "naïve — ∑ 变量",
                                         "\"quoted\" and 'quoted'",
                                         "trailing backslash \\",
                                         "def f(x):",
                                         "with R.dataflow():",
                                         "(unbalanced [",
                                         "\"\"\"",
                                         "tab\there",
                                         "@R.function"};

template <std::size_t N>
std::string one_of(Random& random, const std::string_view (&pool)[N]) {
  return std::string(random.pick(pool));
}

std::string identifier_name(Random& random) {
  const double choice = random.uniform();
  if (choice < 0.5) return one_of(random, plain);
  if (choice < 0.75) return one_of(random, made_names);
  return one_of(random, close);
}

std::string distinct(std::string name, const std::vector<std::string>& taken) {
  const auto used = [&](const std::string& candidate) {
    return std::find(taken.begin(), taken.end(), candidate) != taken.end();
  };
  if (!used(name)) return name;
  for (int suffix = 1;; ++suffix) {
    std::string candidate = fmt::format("{}_{}", name, suffix);
    if (!used(candidate)) return candidate;
  }
}

}  // namespace

std::string variable_name(Random& random) {
  return random.chance(0.1) ? one_of(random, impossible) : identifier_name(random);
}

std::string parameter_name(Random& random, const std::vector<std::string>& taken) {
  return distinct(identifier_name(random), taken);
}

std::string dimension_name(Random& random) {
  constexpr std::string_view pool[] = {"n", "m", "batch", "seq_len", "k", "n_1", "x", "lv", "T", "n1", "_n"};
  return one_of(random, pool);
}

std::string function_name(Random& random, const std::vector<std::string>& taken) {
  constexpr std::string_view pool[] = {"f",   "g",  "fused_add", "layer",  "main_1", "lambda_",
                                       "R_1", "x",  "add",       "matmul", "_f",     "__f",
                                       "lv",  "gv", "I1",        "relu"};
  return distinct(one_of(random, pool), taken);
}

std::string class_name(Random& random) {
  constexpr std::string_view pool[] = {"Module", "M", "Main", "Model_1", "Rx", "InputModule", "lv", "_M"};
  return one_of(random, pool);
}

std::string block_name(Random& random) {
  constexpr std::string_view pool[] = {"", "B", "T_add", "root_1", "update", "a b", "äö", "quote\"d", "C\\D"};
  return one_of(random, pool);
}

std::string comment_text(Random& random) { return one_of(random, comments); }

}  // namespace relish::generate
