// Wrong uses of data, options and names, a hundred of them: each message stands at the place that is wrong in
// what the user wrote, names the value, and says what to write or what there is.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "shell/script/script.h"
#include "support/render.h"
#include "tests/unit/shell/script_harness.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {
namespace {

struct WrongUse {
  std::string_view statement;
  std::string_view marked;   // what the message points at; empty: the call of the command as a whole
  std::string_view message;  // a part of it: the value, and what to write
};

constexpr std::string_view model = R"(@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 2), "float32"), w: R.Tensor((2, 1), "float32")):
        return R.matmul(x, w)
x = rand((8, 2), seed=1)
y = rand((8, 1), seed=2)
)";

constexpr std::string_view trained =
    "train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=0.1, epochs=1, ";

// Of these the statement is train(…, with the text behind it.
constexpr WrongUse options_of_train[] = {
    {"epochs=0)", "0", "epochs: found 0; expected at least 1"},
    {"batch_size=0)", "0", "batch_size: found 0; expected at least 1"},
    {"batchsize=4)", "4", "unknown option 'batchsize'"},
    {"momentum=0.9)", "0.9", "write optimizer=\"momentum(momentum=0.9)\""},
    {"weight_decay=0.1)", "0.1", "write optimizer=\"adamw(weight_decay=0.01)\""},
    {"learning_rate=0.1)", "0.1", "write lr=0.1"},
    {"patience=3)", "3", "write early_stopping=\"loss(patience=5)\""},
    {"validation_split=0.2)", "0.2", "write validation=0.2"},
    {"max_epochs=3)", "3", "write epochs=3"},
    {"random_state=3)", "3", "write seed=3"},
    {"shuffle=\"no\")", "\"no\"", "shuffle: found 'no'; expected True or False"},
    {"verbose=1)", "1", "write log_every=1000"},
    {"callbacks=[])", "[]", "write early_stopping="},
    {"metrics=[\"acuracy\"])", "[\"acuracy\"]",
     "unknown metric 'acuracy'; metrics are accuracy, loss, mae, mse, perplexity, r2, top_k; did you mean 'accuracy'?"},
    {"metrics=\"accuracy\")", "\"accuracy\"", "expected accuracy(threshold=0.5)"},
    {"schedule=\"cosin\")", "\"cosin\"", "did you mean 'cosine'?"},
    {"init=\"glorot\")", "\"glorot\"", "initialisers are constant, glorot_normal"},
    {"wrt=[\"v\"])", "[\"v\"]", "main has no parameter 'v'"},
    {"early_stopping=5)", "5", "found an int; expected a str"},
    {"early_stopping=\"loss(patience=2)\")", "\"loss(patience=2)\"", "give them by validation"},
    {"validation=x)", "x", "found a tensor float32 (8, 2); expected a tuple (inputs…, targets)"},
    {"params={\"v\": x})", "{\"v\": x}", "no parameter 'v'"},
    {"params={\"w\": x})", "{\"w\": x}", "w has float32 (8, 2); parameter is R.Tensor((2, 1)"},
    {"resume=\"\")", "\"\"", "resume: found an empty text; expected auto, or the path"},
    {"init_missing=\"yes\")", "\"yes\"", "init_missing: found a str; expected True or False"},
    {"ignore_extra=1)", "1", "ignore_extra: found an int; expected True or False"},
    {"keep=2.5)", "2.5", "keep: found '2.5'; expected an int of at least 2"},
    {"clip_norm=-1)", "-1", "sgd: clip_norm is -1, expected more than 0"},
    {"init={\"w\": \"normal(std=-1)\"})", "{\"w\": \"normal(std=-1)\"}", "normal: std is -1"},
    {"init={\"w\": \"narmal\"})", "{\"w\": \"narmal\"}", "did you mean 'normal'?"},
    {"schedule=\"step(step_size=1.5)\")", "\"step(step_size=1.5)\"", "step_size is 1.5, expected an int"},
    {"schedule=\"cosine(warmup=0.5)\")", "\"cosine(warmup=0.5)\"", "warmup is 0.5, expected an int"},
    {"metrics=[\"top_k(k=0)\"])", "[\"top_k(k=0)\"]", "top_k(k=N) with an int N of at least 1"},
};

constexpr WrongUse uses[] = {
    // Files.
    {"load(\"nothing.csv\")", "", "cannot open: No such file or directory"},
    {"load(\"ok.csv\")[\"prize\"]", "\"prize\"", "the dict has no key 'prize'; did you mean 'price'?"},
    {"load(\"ok.csv\")[\"rooms\"]", "\"rooms\"", "the dict has no key 'rooms'; there are area, price"},
    {"load(\"okk.csv\")", "", "did you mean 'ok.csv'?"},
    {"load(\"missing.csv\", fill=\"average\")", "",
     "fill: 'average' stands for the missing cells of 'area', a column of numbers; expected a number, mean or median"},
    {"load(\"missing.csv\")", "", "line 3, column 1: missing value of 'area'; fill= says"},
    {"load(\"ragged.csv\")", "", "line 3: 1 columns; expected 2 as in the first row"},
    {"load(\"words.csv\", target=\"area\")", "", "line 2, column 2: 'a' in 'town'"},
    {"load(\"ok.csv\", target=\"prize\")", "", "no column 'prize'; did you mean 'price'?"},
    {"load(\"bad.json\")", "", "line 1, column 8"},
    {"load(\"model.pt\")", "", "this is a pickle file"},
    {"load(\"bad.npy\")", "", "truncated: 2 more bytes were expected"},
    {"load(\"ok.cvs\")", "", "did you mean 'ok.csv'?"},
    {"run(\"okk.csv\")", "", "did you mean 'ok.csv'?"},
    {"save({\"a\": [1, None]}, \"a.csv\")", "save({\"a\": [1, None]}, \"a.csv\")",
     "found None at item 1 of 'a'; expected a number: float(\"nan\") is one that is missing"},
    {"save({\"a\": [\"b\", 2]}, \"a.csv\")", "save({\"a\": [\"b\", 2]}, \"a.csv\")",
     "found a str at item 0 of 'a'; expected numbers in all of the column, or strs in all of it"},
    {"load(5)", "load(5)", "found an int; expected a path"},
    {"load(\"ok.csv\", heading=True)", "True", "unknown option 'heading'; it takes target, columns"},
    {"load(\"ok.csv\", header=5)", "5", "header: found an int; expected True or False"},
    {"load(\"ok.csv\", dtype=\"float31\")", "\"float31\"", "did you mean 'float32'?"},
    {"load(\"words.txt\")[\"a\"]", "\"a\"", "found a str as an index; expected an int"},
    {"save(x, \"out.pt\")", "",
     "has no known extension for a tensor float32 (8, 2); expected .npz, .safetensors, .npy, .csv or .tsv for tensors"},
    {"save(x, \"weights.pth\")", "", "PyTorch reads .safetensors too"},
    {"save(x, \"none/out.npy\")", "", "cannot open its folder"},
    {"save({\"a\": \"text\"}, \"out.npz\")", "save({\"a\": \"text\"}, \"out.npz\")",
     "found a str at a; expected tensors"},
    {"save(M, \"out.npy\")", "save(M, \"out.npy\")", "expected a path such as \"model.relish\" for a text"},
    // Data of a training.
    {"train(M.main, data=x, loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "x",
     "expected a tuple (inputs…, targets)"},
    {"train(M.main, data=(x, y[:4]), loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "(x, y[:4])",
     "found tensors of 8 and 4 rows"},
    {"train(M.main, data=(x, rand((24,))), loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "(x, rand((24,)))",
     "the same number of rows in all; y.reshape((8, 3)) of the other has one for each row"},
    {"train(M.main, dim={\"m\": 3}, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "{\"m\": 3}",
     "'m'"},
    {"M.main(x, *{\"w\": y})", "{\"w\": y}",
     "*{\"w\": y} gives the names of a dict, found 'w'; **{\"w\": y} gives what they hold, by name"},
    {"train(M.main, data=\"ok.csv:price\", loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "\"ok.csv:price\"",
     "such as load(\"ok.csv\", target=\"price\")"},
    {"train(M.main, data=(rand((8, 3)), y), loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "(rand((8, 3)), y)",
     "x has float32 (8, 3); parameter is R.Tensor((n, 2)"},
    {"train(M.main, data=(x, rand((8,))), loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "(x, rand((8,)))",
     "targets has float32 (8,); parameter is R.Tensor((n, 1)"},
    {"train(M.main, data=(x, y), loss=\"msee\", optimizer=\"sgd\", lr=0.1)", "\"msee\"",
     "did you mean 'mse'?"},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sdg\", lr=0.1)", "\"sdg\"", "did you mean 'sgd'?"},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sgd(lrr=0.1)\")", "\"sgd(lrr=0.1)\"",
     "did you mean 'lr'?"},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"adam(betas=0.9)\", lr=0.1)", "\"adam(betas=0.9)\"",
     "betas must be two numbers (a, b)"},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"adam(\", lr=0.1)", "\"adam(\"",
     "found the end of 'adam('"},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=\"a\")", "\"a\"",
     "lr: found 'a', a str; expected a number"},
    {"train(M.mian, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "mian", "did you mean 'main'?"},
    {"train(x, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "x",
     "expected a function such as M.main"},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sgd\")", "", "write sgd(lr=0.1)"},
    {"evaluate(M.main, data=(x, y))", "(x, y)",
     "expected 2 for the parameters of main that have no value: x, w"},
    {"predict(M.main, data=x, params={\"v\": rand((2, 1))})", "{\"v\": rand((2, 1))}", "no parameter 'v'"},
    {"evaluate(M.main, data=(x, y), params={\"w\": rand((2, 1)), \"v\": rand((2, 1))}, metrics=\"mse\")",
     "{\"w\": rand((2, 1)), \"v\": rand((2, 1))}", "ignore_extra leaves such values out"},
    // Transforms.
    {"gradient(M.main, wrt=[\"v\"])", "[\"v\"]", "main has no variable 'v'; there are x, w"},
    {"gradient(M.main, wrt=\"w\", dryrun=True)", "True", "did you mean 'dry_run'?"},
    {"append_loss(M.main, loss=\"mse\", outputs=5)", "5", "the loss shall consume 5 outputs; main returns 1"},
    {"append_loss(M.main, los=\"mse\")", "\"mse\"", "did you mean 'loss'?"},
    {"append_loss(M.main)", "append_loss(M.main)", "the option 'loss' is missing"},
    {"setup_trainer(M.main, loss=\"mse\", optimizer=\"momentum\", lr=0.1)", "\"momentum\"",
     "write momentum(momentum=…)"},
    {"setup_trainer(M.main, loss=\"huber(delta=-1)\", optimizer=\"sgd\", lr=0.1)", "\"huber(delta=-1)\"",
     "delta is -1, expected more than 0"},
    {"bind_params(M.main, params={\"v\": x})", "{\"v\": x}", "'v' is no parameter of main"},
    {"bind_params(M.main, w=x)", "x", "unknown option 'w'; it takes params, set"},
    {"bind_symbols(M.main, dim={\"k\": 3})", "{\"k\": 3}", "has a size 'k'"},
    {"optimizer(M.main, optimizer=\"adamm\")", "\"adamm\"", "did you mean 'adam'?"},
    {"passes(M, \"foldd\")", "\"foldd\"", "it takes passes, print_each"},
    {"doc(\"softmx\")", "doc(\"softmx\")", "did you mean 'nn.softmax'?"},
    {"sweep(M.main)", "sweep", "it is a command of the shell: relish sweep"},
    // Calls.
    {"M.main(x)", "M.main(x)", "the argument 'w' is missing; it takes 2: x, w"},
    {"M.main(x, w=y)", "y", "w has float32 (8, 1); parameter is R.Tensor((2, 1)"},
    {"M.main(x, rand((2, 1)), y)", "y", "found 3 arguments; expected 2: x, w"},
    {"M.main(x, weights=y)", "y", "unknown argument 'weights'; there are x, w"},
    {"M.main(x, \"w\")", "\"w\"", "found a str, expected R.Tensor((2, 1)"},
    {"M.main(x, [1, 2])", "[1, 2]", "w has float32 (2,); parameter is R.Tensor((2, 1)"},
    {"M.mian(x, y)", "mian", "did you mean 'main'?"},
    {"m.main(x, y)", "m", "did you mean 'M'?"},
    {"arg(\"lr\", type=\"floot\")", "arg(\"lr\", type=\"floot\")", "expected str, int, float, bool or list"},
    {"key(\"a\")", "\"a\"", "found a str as the seed; expected an int"},
    {"rand(3, 4, \"float33\")", "\"float33\"", "did you mean 'float32'?"},
    {"rand((2, 2), sed=1)", "1", "did you mean 'seed'?"},
    {"tensor(\"abc\")", "\"abc\"", "found a str in a tensor; expected numbers"},
    {"tensor([1, 2], \"int\")", "\"int\"", "did you mean 'int64'?"},
    {"tensor([[1, 2], [3]])", "[[1, 2], [3]]", "expected equal lengths"},
    {"tensor([1.5], \"int32\")", "[1.5]", "found the float 1.5 in a tensor of int32"},
    {"full((2, 2))", "full((2, 2))", "the argument 'value' is missing"},
    {"arange(\"a\")", "\"a\"", "found a str; expected a number"},
    {"zeros(\"a\")", "\"a\"", "expected a shape such as (2, 3)"},
    {"allclose(x, y)", "allclose(x, y)", "expected equal shapes"},
    {"donate(x + 1)", "donate(x + 1)", "donate takes one name"},
    {"exit(\"a\")", "\"a\"", "expected an int from 0 to 255"},
    // Names, methods and values.
    {"x.astype(\"single\")", "\"single\"", "did you mean 'float32'?"},
    {"x.sum(axes=1)", "1", "did you mean 'axis'?"},
    {"x.sum(axis=5)", "x.sum(axis=5)", "axis 5 is out of range for a tensor of rank 2"},
    {"x.reshape((3, 3))", "x.reshape((3, 3))", "x of shape (8, 2) does not reshape to (3, 3)"},
    {"x.clamp(min=0)", "clamp", "write R.maximum(x, 0)"},
    {"x.view(4, 4)", "view", "write R.reshape(x, (4, 4))"},
    {"np.sum(x)", "np.sum", "write x.sum()"},
    {"print(np.pi)", "np.pi", "write 3.141592653589793"},
    {"torch.randn(2, 3)", "torch.randn", "write randn((2, 3))"},
    {"R.zeros((2, 3))", "R.zeros((2, 3))", "write dtype=\"float32\""},
    {"R.one_hot(tensor([1]), 3)", "R.one_hot(tensor([1]), 3)", "write R.one_hot(indices, 1, 0, depth)"},
    {"R.nn.dropout(x, p=0.5)", "0.5", "did you mean 'rate'?"},
    {"R.softmx(x)", "R.softmx(x)", "did you mean 'R.nn.softmax'?"},
    {"x[9]", "9", "index 9 is out of range for a dimension of length 8"},
    {"x[\"area\"]", "\"area\"", "found a str as an index; expected an int"},
    {"x @ y", "x @ y", "do not multiply: 2 columns against 8 rows"},
    {"x + \"a\"", "x + \"a\"", "'+' is not defined for a tensor float32 (8, 2) and a str"},
    {"x + y[:3]", "x + y[:3]", "do not broadcast: dimension 0 is 8 and 3"},
    {"if x: print(1)", "x", "say which with .any(), .all()"},
    {"print(X)", "X", "did you mean 'x'?"},
    {"len(5)", "5", "an int has no length"},
    {"int(\"a\")", "\"a\"", "'a' is no int"},
    {"sorted([1, \"a\"])", "[1, \"a\"]", "cannot compare an int and a str"},
    {"for i in 5: print(i)", "5", "expected a range, list, tuple, dict, str or the rows of a tensor"},
    {"x.append(1)", "append", "relish doc append says what is written here"},
    {"print(\"n: \" + 1)", "\"n: \" + 1", "write str(…) of the number, or an f-string"},
    {"[1] + (2,)", "[1] + (2,)", "write list(…)"},
    {"2 in x", "2 in x", "write (x == value).any()"},
    {"x == None", "x == None", "write 'is None' or 'is not None'"},
    {"{\"a\": 1}.a", "a", "write d[\"a\"]"},
    {"{\"a\": 1}.has_key(\"a\")", "has_key", "write key in d"},
    {"[1, 2].length", "length", "write len(xs)"},
    {"\"a\".contains(\"a\")", "contains", "write part in s"},
    {"print(null)", "null", "write None"},
    {"time.time()", "time", "clock() gives seconds"},
    {"os.path.exists(\"a\")", "os", "load(path) and save(value, path) read and write files"},
    {"random.random()", "random", "rand(3), randn(3)"},
    {"print(inf)", "inf", "write float(\"inf\")"},
    {"math.floor(2.5)", "math.floor", "write int(R.floor(tensor(2.5, \"float64\")))"},
    {"math.sqrt(2.5)", "math.sqrt", "write float(R.sqrt(tensor(2.5, \"float64\")))"},
    {"math.pow(2, 3)", "math.pow", "write float(2) ** (3)"},
    {"math.log(8, 2)", "math.log",
     "write float(R.log(tensor(8, \"float64\")) / R.log(tensor(2, \"float64\")))"},
    {"math.isnan(1.0)", "math.isnan", "write bool(R.isnan(tensor(1.0, \"float64\")))"},
    {"np.kron(x, y)", "np.kron", "nothing here does what it does"},
    {"np.nothing_such(x)", "np.nothing_such", "nothing here is called so"},
    {"for i in 5: print(i)", "5", "range(n) counts to a number"},
    {"{x.sum(): 1}", "", "t.item() is its number"},
    {"x.sum() in [6]", "", "numbers by t.item()"},
    {"tensor([1]) + 1.5", "tensor([1]) + 1.5", "expected an integer, or the tensor cast by astype"},
    {"2 ** tensor([1])", "", "expected a floating dtype; cast it with astype"},
    {"tensor([1]) + x", "", "expected the same; cast one with astype"},
    {"L = append_loss(M.main, loss=\"mse\")\nG = gradient(L.main_loss, wrt=\"w\")\nG(x, y)", "G",
     "here it is G.main_loss_adjoint"},
    {"print(1, flush=1)", "1", "print: found an int; expected True or False"},
    {"print(1, file=2)", "2", "it takes full, sep, end, flush"},
    {"x.name = 1", "x.name", "expected a name, or an item such as xs[i]"},
    {"M.main({\"x\": x, \"w\": x})", "", "** before a dict gives its entries by name"},
    {"tensor(range(3))", "range(3)", "arange(begin, end, step)"},
    {"tensor([x, x])", "[x, x]", "R.stack([a, b]) is one of several tensors"},
    {"zeros(-1)", "-1", "found the dimension -1; expected at least 0"},
    {"ones((2, 3, 4))[[0, 1], :, [1, 2]]", "", "bring their axes side by side with R.permute_dims"},
    {"ones((2, 3, 4))[[0, 1], :, 1]", "", "index twice, as x[i][:, j]"},
    {"g = {}\ng.setdefault(1, []).append(2)", "g.setdefault(1, [])",
     "write g.setdefault(1, []), then g[1].append(2)"},
    {"def other(a, b): return a\ngradient(other)", "other",
     "one of the script; expected an @R.function, whose parameters have types"},
    {"import os", "os", "load(path) and save(value, path) read and write files"},
    {"from math import sqrt", "sqrt", "write R.sqrt(x), x ** 0.5"},
    {"import foo", "foo", "and reads files with load"},
    {"class Config:\n    lr = 0.1\n", "Config", "expected a dict of its values"},
    {"with open(\"a\") as f:\n    pass\n", "", "files are read by load(path), written by save(value, path)"},
};

// Files of a training that are damaged, or are others than the words say. The job of "done" has two
// checkpoints: of step 2, with a bit changed, and of step 4, cut in the middle.
constexpr WrongUse uses_of_files[] = {
    {"train(M.main, data=(\"gone.npy\", y), loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "",
     "cannot open: No such file or directory"},
    {"train(M.main, data=(\"bad.npy\", y), loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "",
     "truncated: 2 more bytes were expected"},
    {"train(M.main, data=(\"cut.npy\", y), loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "",
     "the header announces 64 bytes of elements, the file has 63"},
    {"train(M.main, data=(\"long.npy\", y), loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "",
     "the header announces 64 bytes of elements, the file has 65"},
    {"train(M.main, data=(\"object.npy\", y), loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "", "pickle"},
    {"train(M.main, data=(\"words.txt\", y), loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "", "words.txt"},
    {"train(M.main, data=(\"model.pt\", y), loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "",
     "this is a pickle file"},
    {"train(M.main, data=(\"bad.safetensors\", y), loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "", "header"},
    {"train(M.main, data=(\".\", y), loss=\"mse\", optimizer=\"sgd\", lr=0.1)", "", "is not a regular file"},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=0.1, params=\"bad.safetensors\")", "",
     "header"},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=0.1, params=\"words.txt\")", "",
     "words.txt"},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=0.1, params=\"one.npy\")", "",
     "one.npy holds one tensor, which has no name; expected named tensors, as of .npz and .safetensors"},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=0.1, params=\"empty\")", "",
     "expected a file of tensors, or a run folder"},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=0.1, run_dir=\"words.txt\")", "",
     "cannot use as a run folder"},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=0.1, run_dir=\"done\")", "",
     "--resume auto"},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=0.1, run_dir=\"empty\")", "",
     "which no job wrote"},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=0.1, resume=\"words.txt\")", "",
     "words.txt"},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=0.1, resume=\"weights.safetensors\")",
     "", "the file is no checkpoint"},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=0.1, batch_size=4, steps=4, "
     "resume=\"done/checkpoints/step-000000004.safetensors\")",
     "", "the checkpoint is damaged: "},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=0.1, batch_size=4, steps=4, "
     "resume=\"copy.safetensors\")",
     "", "the checkpoint is damaged: "},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=0.2, batch_size=4, steps=4, "
     "resume=\"whole.safetensors\")",
     "", "option lr is 0.2, the checkpoint has 0.1"},
    {"train(M.main, data=(x, y + 1), loss=\"mse\", optimizer=\"sgd\", lr=0.1, batch_size=4, steps=4, "
     "resume=\"whole.safetensors\")",
     "", "option data is "},
    {"train(M.main, data=(x, y), loss=\"l1\", optimizer=\"sgd\", lr=0.1, batch_size=4, steps=4, "
     "resume=\"whole.safetensors\")",
     "", "the function main_loss has another text"},
    {"train(M.main, data=(x, y), loss=\"mse\", optimizer=\"adam\", lr=0.1, batch_size=4, steps=4, "
     "resume=\"whole.safetensors\")",
     "", "optimizer"},
};

void write(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void check_use(Harness& harness, const std::string& statement, const WrongUse& use) {
  INFO(statement);
  try {
    harness.script().run_text("<use>", statement);
    FAIL("is accepted");
  } catch (const Failure& failure) {
    const Diagnostic& first = failure.diagnostics().front();
    INFO(first.message);
    CHECK(first.message.find(use.message) != std::string::npos);
    // The place is in what was written here: the first, or where a file is at fault, that of a note.
    Span at = first.span;
    if (!first.place.empty()) {
      REQUIRE(!first.notes.empty());
      at = first.notes.back().span;
    }
    const SourceFile* source = Sources::instance().find(at.file);
    REQUIRE(source);
    const std::string marked(source->text().substr(at.begin, at.end - at.begin));
    CHECK(source->name() == "<use>");
    if (!use.marked.empty()) CHECK(marked == use.marked);
  }
}

std::string npy_of(std::string_view type, std::size_t bytes) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (8, 2), }}", type);
  header.resize(117, ' ');
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size() + 1) + '\0' + header + "\n" +
         std::string(bytes, '\0');
}

}  // namespace

TEST_CASE("files of a training that are damaged or others are refused before its first step", "[shell]") {
  TemporaryFolder folder;
  write(folder.file("bad.npy"), std::string_view("\x93NUMPY\x01\x00", 8));
  write(folder.file("cut.npy"), npy_of("<f4", 63));
  write(folder.file("long.npy"), npy_of("<f4", 65));
  write(folder.file("object.npy"), npy_of("|O", 64));
  write(folder.file("words.txt"), "hello");
  write(folder.file("model.pt"), std::string_view("\x80\x02}q\x00.", 6));
  write(folder.file("bad.safetensors"), std::string_view("\xff\xff\xff\xff\xff\xff\xff\x7f{", 9));
  std::filesystem::create_directory(folder.file("empty"));
  write(folder.file("empty/notes.txt"), "mine");
  ScriptOptions options;
  options.folder = folder.path();
  Settings settings = Harness::interpreter();
  settings.roots = {folder.path()};
  Harness harness(settings, options);
  REQUIRE(harness.run(std::string(model)).error.empty());
  const auto job = [&](const std::string& run_dir) {
    return fmt::format(
        "train(M.main, data=(x, y), loss=\"mse\", optimizer=\"sgd\", lr=0.1, batch_size=4, steps=4, "
        "checkpoint_every=2, run_dir=\"{}\")",
        folder.file(run_dir));
  };
  REQUIRE(harness.run(job("done")).error.empty());
  REQUIRE(harness.run("save({\"w\": ones((2, 1))}, \"weights.safetensors\")").error.empty());
  REQUIRE(harness.run("save(ones((2, 1)), \"one.npy\")").error.empty());
  const std::string newest = folder.file("done/checkpoints/step-000000004.safetensors");
  std::string bytes = bytes_of(newest);
  write(folder.file("whole.safetensors"), bytes);
  write(newest, bytes.substr(0, bytes.size() / 2));
  bytes[bytes.size() / 2] ^= 1;
  write(folder.file("copy.safetensors"), bytes);
  for (const WrongUse& use : uses_of_files) {
    INFO(use.statement);
    try {
      harness.script().run_text("<use>", std::string(use.statement));
      FAIL("is accepted");
    } catch (const Failure& failure) {
      const Diagnostic& first = failure.diagnostics().front();
      const std::string told = first.place + ": " + first.message;
      INFO(told);
      CHECK(told.find(use.message) != std::string::npos);
      CHECK(first.error_class != ErrorClass::Internal);
    }
  }
  // What stood there is as it was.
  CHECK(bytes_of(folder.file("empty/notes.txt")) == "mine");
  CHECK(bytes_of(folder.file("words.txt")) == "hello");
}

TEST_CASE("the transcript of wrong uses of training has a hundred, each with class, place and rule",
          "[shell]") {
  std::istringstream lines(bytes_of(RELISH_SOURCE_DIR "/tests/golden/repl/wrong-uses-of-training.session"));
  std::size_t refused = 0;
  bool told = true;
  const std::regex message(".*error\\[(Usage|Type|Data|IO|Syntax)(Error)?\\]: .+ \\[[a-z_]+\\.[a-z_]+\\]");
  for (std::string line; std::getline(lines, line);) {
    CHECK_FALSE(line.starts_with("step 1 "));
    if (line.starts_with(">>> train(") || line.starts_with(">>> evaluate(")) {
      INFO(line);
      CHECK(told);
      told = false;
    } else if (line.find("error[") != std::string::npos) {
      INFO(line);
      CHECK(std::regex_match(line, message));
      told = true;
      ++refused;
    }
  }
  CHECK(refused >= 100);
}

TEST_CASE("a hundred wrong uses are told at their place, with the value and what to write", "[shell]") {
  TemporaryFolder folder;
  const std::string at = folder.path() + "/";
  write(at + "ok.csv", "area,price\n1.0,10\n2.0,20\n3.5,30\n");
  write(at + "missing.csv", "area,price\n1.0,10\n,20\n3.5,30\n");
  write(at + "ragged.csv", "area,price\n1.0,10\n2.0\n");
  write(at + "words.csv", "area,town\n1.0,a\n2.0,b\n");
  write(at + "bad.json", "{\"a\": 1");
  write(at + "words.txt", "hello");
  write(at + "model.pt", std::string_view("\x80\x02}q\x00.", 6));
  write(at + "bad.npy", std::string_view("\x93NUMPY\x01\x00", 8));
  ScriptOptions options;
  options.folder = folder.path();
  Harness harness(Harness::interpreter(), options);
  REQUIRE(harness.run(std::string(model)).error.empty());
  CHECK(std::size(uses) + std::size(options_of_train) >= 100);
  for (const WrongUse& use : uses) check_use(harness, std::string(use.statement), use);
  for (const WrongUse& use : options_of_train)
    check_use(harness,
              std::string(use.statement.starts_with("epochs") ? trained.substr(0, trained.find("epochs"))
                                                              : trained) +
                  std::string(use.statement),
              use);
}

}  // namespace relish::testing
