// The table of pages.
#include "shell/commands/word_pages.h"

#include <algorithm>
#include <vector>

namespace relish {
namespace {

constexpr WordPage constructs[] = {
    {"if elif else",
     "if CONDITION: … elif CONDITION: … else: …\n"
     "  In statements as in Python; the condition is a bool, a number, a str, a list, a dict, None or a tensor of one\n"
     "  truth value. Beside it A if CONDITION else B.\n"
     "  In an R.function the condition is a tensor of rank 0 of bool, both branches bind the same names, and it is\n"
     "  differentiable.\n"
     "  manual: docs/language.md, Conditions"},
    {"for",
     "for NAME in VALUES: …\n"
     "  In statements over a range, list, tuple, dict, str, zip, enumerate or the rows of a tensor; the names stay\n"
     "  visible, break and continue are as in Python.\n"
     "  In an R.function for i in range(n) is a loop of the program: names that were bound before it and are assigned\n"
     "  in it are carried from round to round; it is differentiable, and has no break.\n"
     "  manual: docs/language.md, Loops; The two meanings of for"},
    {"while",
     "while CONDITION: …\n"
     "  In statements as in Python. In an R.function the condition is a tensor of rank 0 of bool, and names that were\n"
     "  bound before it are carried; it is differentiable.\n"
     "  manual: docs/language.md, Loops in functions"},
    {"break continue pass",
     "break · continue · pass\n"
     "  As in Python in the loops of statements; the loops of an R.function have none of them.\n"
     "  manual: docs/language.md, Loops"},
    {"def return",
     "def NAME(a, b=1, *rest, **named): …\n"
     "  A function of the script: any statements, values of any kind. With @R.function above it a function of tensors,\n"
     "  which is checked, compiled and differentiated; with @T.prim_func a loop nest.\n"
     "  manual: docs/language.md, Functions of the script; Functions; Loop nests"},
    {"lambda",
     "lambda a, b=1: EXPRESSION\n"
     "  A function of one expression, a value of the script.\n"
     "  manual: docs/language.md, Functions of the script"},
    {"comprehension listcomp",
     "[EXPRESSION for NAME in VALUES if CONDITION] · {KEY: VALUE for NAME in VALUES}\n"
     "  Lists and dicts as in Python.\n"
     "  manual: docs/language.md, Loops"},
    {"assert",
     "assert CONDITION, MESSAGE\n"
     "  Ends the run with exit code 1 where the condition does not hold. In an R.function: R.assert_op.\n"
     "  manual: docs/language.md, Conditions"},
    {"f-string format",
     "f\"{VALUE!r:SPEC}\" · \"…\".format(…) · \"%d\" % (…)\n"
     "  Python's formats, with nested specs and {name=}.\n"
     "  manual: docs/language.md, Text in braces"},
    {"in is not and or",
     "a in b · a not in b · a is None · a is not None · not a · a and b · a or b\n"
     "  As in Python; of tensors R.logical_and, R.logical_or and R.logical_not go element by element.\n"
     "  manual: docs/language.md, Conditions"},
    {"del",
     "del NAME · del d[KEY] · del xs[i]\n"
     "  Takes a name away, or an entry out of what the name holds.\n"
     "  manual: docs/language.md, Changing values"},
    {"slice index subscript mask",
     "t[i] · t[a:b:s] · t[..., 0] · t[None] · t[mask] · t[indices]\n"
     "  Of tensors in statements, as in NumPy; t[i] = v changes what the name holds. In an R.function [] takes fields\n"
     "  of tuples; elements are taken by R.take, R.strided_slice, R.expand_dims and R.where.\n"
     "  manual: docs/language.md, Numbers and tensors"},
    {"class module I.ir_module",
     "@I.ir_module\nclass M: …\n"
     "  A module: functions that see each other, a value of the script. M.main(x) calls one; transforms take M.main and\n"
     "  give a new module.\n"
     "  manual: docs/language.md, Modules"},
    {"import from",
     "from tvm.script import ir as I, relax as R, tir as T\n"
     "  Only TVM's namespaces are imported; I, R and T are known without it. Other files: load(\"layers.relish\").\n"
     "  manual: docs/language.md, Modules of other files"},
    {"R.function",
     "@R.function\ndef main(x: R.Tensor((n, 4), \"float32\")) -> R.Tensor((n, 2), \"float32\"): …\n"
     "  A function of tensors, whose types are checked when it is read. Sizes may be names (n = T.int64(), or a str in\n"
     "  the shape). It runs interpreted or compiled, and gradient makes its derivative.\n"
     "  manual: docs/language.md, Functions"},
    {"R.Tensor",
     "R.Tensor((n, 4), \"float32\") · R.Tensor(ndim=2) · R.Tensor\n"
     "  The type of a tensor: its shape, with numbers, names and arithmetic, and its dtype.\n"
     "  manual: docs/language.md, Functions"},
    {"R.Shape R.Prim R.Tuple R.Object R.Callable R.Any",
     "R.Shape([n, 4]) · R.Prim(\"int64\") · R.Tuple(A, B) · R.Callable((A,), B) · R.Object · R.Any\n"
     "  Types of values that are no tensors: shapes, numbers, tuples, functions, and anything.\n"
     "  manual: docs/language.md, Functions"},
    {"R.func_attr func_attr attributes",
     "R.func_attr({\"relish.params\": [\"w\", \"b\"]})\n"
     "  What a function says of itself, as its first statement: which parameters are trained, of which function it is\n"
     "  the gradient.\n"
     "  manual: docs/language.md, Names of the language"},
    {"try except raise with yield async global nonlocal set",
     "try, with, yield, async, global, nonlocal, set(…)\n"
     "  Not in the language. An error ends the run; fail(\"…\") makes one. A function returns what it changed. A dict\n"
     "  holds names once.\n"
     "  manual: docs/statements.md, What there is not"},
    {"True False None int bool str list dict tuple",
     "True · False · None · 5 · 0.5 · \"text\" · [1, 2] · (1, 2) · {\"a\": 1}\n"
     "  Values of the script as in Python; ints have 64 bits, and no value ever changes under another name.\n"
     "  manual: docs/language.md, Values"},
    {"R.dataflow R.output dataflow",
     "with R.dataflow(): … R.output(y)\n"
     "  A block of bindings without effects; what it gives to the rest stands in R.output. A function may be written\n"
     "  without any.\n"
     "  manual: docs/language.md, Functions"},
    {"R.match_cast match_cast",
     "y = R.match_cast(x, R.Tensor((n, m), \"float32\"))\n"
     "  Checks the type of a value when the program runs, and binds the names of its sizes.\n"
     "  manual: docs/language.md, Functions"},
    {"R.const const",
     "R.const(1.5) · R.const([[1, 2], [3, 4]], \"int64\")\n"
     "  A constant of a function; a number alone is float32.\n"
     "  manual: docs/language.md, Numbers and tensors"},
    {"R.call_tir call_tir",
     "y = R.call_tir(cls.f, (x,), out_ty=R.Tensor((n,), \"float32\"))\n"
     "  Calls a prim_func; the result is made before the call and handed to it behind the arguments.\n"
     "  manual: docs/language.md, Loop nests"},
    {"T.prim_func prim_func T.grid T.sblock T.block T.serial T.parallel T.vectorized T.unroll",
     "@T.prim_func\ndef f(x: T.Buffer((4,), \"float32\"), y: T.Buffer((4,), \"float32\")): …\n"
     "  A loop nest over buffers: for in T.grid, T.serial, T.parallel, T.vectorized or T.unroll, blocks, stores.\n"
     "  manual: docs/language.md, Loop nests"},
};

constexpr WordPage metrics[] = {
    {"accuracy",
     "metrics=[\"accuracy\"] · metrics=[\"accuracy(threshold=0.5)\"]\n"
     "  The share of the rows that are judged right: the largest of the outputs is at the label; of one output, whether\n"
     "  it lies above the threshold. Greater is better."},
    {"loss", "metrics=[\"loss\"]\n  The mean of the loss function over the rows. Less is better."},
    {"mae", "metrics=[\"mae\"]\n  The mean of the magnitudes of all differences. Less is better."},
    {"mse", "metrics=[\"mse\"]\n  The mean of the squares of all differences. Less is better. Also a loss."},
    {"perplexity",
     "metrics=[\"perplexity\"]\n  e to the mean of the negative log-likelihood of the labels. Less is better."},
    {"r2",
     "metrics=[\"r2\"]\n  1 less the share of the targets' variance that is left: 1 is perfect, 0 the mean as a guess."},
    {"top_k",
     "metrics=[\"top_k\"] · metrics=[\"top_k(k=3)\"]\n  The share of the labels among the k largest outputs. Greater is "
     "better."},
};
constexpr std::string_view of_metrics =
    "\n  A metric of train, setup_trainer and evaluate; M.f is one of your own.\n"
    "  manual: docs/training.md, Metrics";

constexpr WordPage formats[] = {
    {"npy .npy", "a file .npy: one tensor, as NumPy writes it\n  load gives the tensor, save writes one."},
    {"npz .npz",
     "a file .npz: several tensors with names, as NumPy writes it\n  load gives a dict; save takes trees of dicts, lists "
     "and tuples. \"m.npz:w\" is one of them."},
    {"safetensors .safetensors",
     "a file .safetensors: several tensors with names, as PyTorch's users keep weights\n"
     "  load gives a dict; save takes trees of dicts, lists and tuples. \"m.safetensors:w\" is one of them."},
    {"csv .csv tsv .tsv",
     "a file .csv, .tsv, .dat or .data: a table; so is a .txt of rows of numbers\n"
     "  load gives a dict of its columns, with target=, columns=, fill=, dtype=, matrix=, sep=, decimal=, header=;\n"
     "  \"houses.csv:price\" is one column. Words become codes. save takes a dict of columns or a matrix.\n"
     "  In the shell: --data houses.csv:price --fill mean --sep \";\" --decimal , --columns size,rooms."},
    {"json .json", "a file .json\n  load and save: dicts, lists, strs, numbers, bools and None."},
    {"idx .gz mnist", "an IDX file, as those of MNIST, also with .gz\n  load gives a tensor."},
    {"txt text .txt",
     "any other text\n  load gives a str, load(path, bytes=True) its bytes as a tensor of uint8; save writes a str."},
    {"ipynb .ipynb notebook",
     "a notebook: its code cells, one behind the other, are read as a .py file\n"
     "  load(\"m.ipynb\") gives its decorated classes and functions as a module; it is read only."},
    {"pt .pt .pth pickle",
     "a file of PyTorch, which is a pickle: not read\n"
     "  Write it as safetensors in Python: safetensors.torch.save_file(model.state_dict(), \"m.safetensors\")."},
};
constexpr std::string_view of_formats =
    "\n  A file is known by its first bytes and its ending.\n  manual: docs/data.md";

bool has_word(std::string_view words, std::string_view wanted) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == wanted) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

std::vector<WordPage> all_pages() {
  std::vector<WordPage> pages(std::begin(constructs), std::end(constructs));
  pages.insert(pages.end(), std::begin(metrics), std::end(metrics));
  pages.insert(pages.end(), std::begin(formats), std::end(formats));
  return pages;
}

}  // namespace

std::span<const WordPage> word_pages() {
  static const std::vector<WordPage> pages = all_pages();
  return pages;
}

std::optional<std::string> word_page(std::string_view word) {
  if (word.empty()) return std::nullopt;
  const auto find_in = [&](std::span<const WordPage> table,
                           std::string_view tail) -> std::optional<std::string> {
    for (const WordPage& page : table)
      if (has_word(page.words, word)) return std::string(page.text) + std::string(tail);
    return std::nullopt;
  };
  if (auto page = find_in(constructs, "")) return page;
  if (auto page = find_in(metrics, of_metrics)) return page;
  return find_in(formats, of_formats);
}

}  // namespace relish
