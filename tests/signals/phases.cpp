// The table of phases.
#include "tests/signals/phases.h"

#include <fmt/format.h>

#include <map>

#include "shell/script/builtins.h"

namespace relish::testing {
namespace {

// Lists that share their parts: few in memory, 2^60 when gone through.
std::string shared_list(std::string_view name) {
  return fmt::format("{0} = 1\nfor i in range(60):\n    {0} = [{0}, {0}]\n", name);
}

// One built-in, called again and again.
const std::map<std::string, std::string>& builtin_scripts() {
  const std::string big = "t = rand((3000000,), seed=1)\n";
  static const std::map<std::string, std::string> scripts = {
      {"int", "while True:\n    n = int(\"12345\")\n"},
      {"float", "while True:\n    n = float(\"1.5\")\n"},
      {"bool", "while True:\n    n = bool(1)\n"},
      {"str", shared_list("x") + "s = str(x)\n"},
      {"abs", big + "while True:\n    u = abs(t)\n"},
      {"round", big + "while True:\n    u = round(t)\n"},
      {"print", big + "while True:\n    print(t, full=True)\n"},
      {"arg", "n = arg(\"n\", 5)\nwhile True:\n    n = n + 0\n"},
      {"exit", "n = 0\nwhile True:\n    if n > 0:\n        exit(3)\n"},
      {"range", "for i in range(1000000000000):\n    n = i\n"},
      {"len", "xs = [1] * 1000000\nwhile True:\n    n = len(xs)\n"},
      {"min", "while True:\n    n = min(range(3000000))\n"},
      {"max", "while True:\n    n = max(range(3000000))\n"},
      {"sum", "while True:\n    n = sum(range(3000000))\n"},
      {"zip", "while True:\n    n = zip(range(300000), range(300000))\n"},
      {"enumerate", "while True:\n    n = enumerate(range(300000))\n"},
      {"sorted",
       "xs = []\nfor i in range(200000):\n    xs += [i * 7919 % 100003]\nwhile True:\n    n = sorted(xs)\n"},
      {"zeros", "while True:\n    t = zeros((30000000,))\n"},
      {"ones", "while True:\n    t = ones((30000000,))\n"},
      {"rand", "while True:\n    t = rand((200000000,), seed=1)\n"},
      {"randn", "while True:\n    t = randn((100000000,), seed=1)\n"},
      {"tensor", "xs = [[1.0] * 1000] * 1000\nwhile True:\n    t = tensor(xs)\n"},
      {"full", "while True:\n    t = full((30000000,), 1.5)\n"},
      {"arange", "while True:\n    t = arange(30000000)\n"},
      {"key", "while True:\n    k = key(1)\n"},
      {"list", "while True:\n    xs = list(range(3000000))\n"},
      {"tuple", "while True:\n    xs = tuple(range(3000000))\n"},
      {"dict", "while True:\n    d = dict(zip(range(300000), range(300000)))\n"},
      {"all", "xs = [1] * 3000000\nwhile True:\n    b = all(xs)\n"},
      {"any", "xs = [0] * 3000000\nwhile True:\n    b = any(xs)\n"},
      {"reversed", "while True:\n    xs = reversed(range(3000000))\n"},
      {"map", "xs = map(lambda x: x + 1, range(1000000000))\n"},
      {"filter", "xs = filter(lambda x: x > 5, range(1000000000))\n"},
      {"repr", shared_list("x") + "s = repr(x)\n"},
      {"ord", "while True:\n    n = ord(\"a\")\n"},
      {"chr", "while True:\n    s = chr(97)\n"},
      {"pow", "while True:\n    n = pow(3, 1000000007, 998244353)\n"},
      {"divmod", "while True:\n    n = divmod(17, 5)\n"},
      {"hash", "s = \"a\" * 15000000\nwhile True:\n    n = hash(s)\n"},
      {"dir", "while True:\n    xs = dir(\"a\")\n"},
      {"getattr", "t = ones((3,))\nwhile True:\n    s = getattr(t, \"shape\")\n"},
      {"hasattr", "t = ones((3,))\nwhile True:\n    b = hasattr(t, \"shape\")\n"},
      {"fail", "n = 0\nwhile True:\n    if n > 0:\n        fail(\"no\")\n"},
      {"clock", "while True:\n    s = clock()\n"},
      {"allclose", big + "while True:\n    b = allclose(t, t)\n"},
  };
  return scripts;
}

}  // namespace

std::string long_chain(int count) {
  std::string text =
      "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((64,), \"float32\")):\n"
      "        with R.dataflow():\n            v0 = R.exp(x)\n";
  for (int i = 1; i < count; ++i)
    text += fmt::format("            v{} = R.add(v{}, R.tanh(v{}))\n", i, i - 1, i - 1);
  return text +
         fmt::format("            s = R.sum(v{})\n            R.output(s)\n        return s\n", count - 1);
}

const char* const spinning_program =
    "@T.prim_func\n"
    "def spin(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
    "    for i, j, k, l in T.grid(8, 100000, 100000, 100000):\n"
    "        with T.sblock(\"B\"):\n"
    "            vi, vj, vk, vl = T.axis.remap(\"SRRR\", [i, j, k, l])\n"
    "            with T.init():\n"
    "                B[vi] = T.float32(0)\n"
    "            B[vi] = T.exp(B[vi] * T.float32(0.5)) + A[vi]\n";

const char* const training_program =
    "@I.ir_module\nclass Line:\n    @R.function\n"
    "    def main(x: R.Tensor((16, 8), \"float32\"), w: R.Tensor((8, 1), \"float32\")):\n"
    "        with R.dataflow():\n            y = R.matmul(x, w)\n            R.output(y)\n        return y\n"
    "x = rand((512, 8), seed=1)\n"
    "y = rand((512, 1), seed=2)\n"
    "r = train(Line.main, data=(x, y), loss=\"mse\", optimizer=\"sgd(lr=0.01)\", epochs=1000000, "
    "batch_size=16)\n";

std::map<std::string, std::string> scripts_of_builtins() { return builtin_scripts(); }

std::vector<std::string> builtins_without_phase() {
  std::vector<std::string> missing;
  for (const Builtin& builtin : all_builtins()) {
    if (!builtin_scripts().count(std::string(builtin.name))) missing.emplace_back(builtin.name);
  }
  return missing;
}

std::vector<Phase> all_phases() {
  const std::vector<std::string> run = {"run", "s.relish"};
  const std::string tensors = "t = rand((10000000,), seed=1)\n";
  std::vector<Phase> phases = {
      {"read and check", {"check", "s.relish"}, long_chain(80000), {}, "", ""},
      {"print a module", {"fmt", "s.relish", "-o", "out.relish"}, long_chain(80000), {}, "out.relish", ""},
      {"transform",
       {"gradient", "s.relish", "-f", "main", "-o", "out.relish"},
       long_chain(20000),
       {},
       "out.relish",
       ""},
      {"compile", {"call", "s.relish", "main", "--arg", "x=ones"}, long_chain(12000), {}, "", ""},
      {"run interpreted",
       {"call", "s.relish", "spin", "--arg", "A=ones", "--tier", "interp"},
       spinning_program,
       {},
       "",
       ""},
      {"run compiled", {"call", "s.relish", "spin", "--arg", "A=ones"}, spinning_program, {}, "", ""},
      {"compare", run, shared_list("x") + shared_list("y") + "while True:\n    b = x == y\n", {}, "", ""},
      {"order", run, shared_list("x") + shared_list("y") + "while True:\n    b = x < y\n", {}, "", ""},
      {"show a shared list", run, shared_list("x") + "while True:\n    x\n", {}, "", ""},
      {"print into a pipe that nobody reads",
       run,
       "while True:\n    print(\"a line of text\")\n",
       {},
       "",
       "unread"},
      {"train with a log that nobody reads", run, training_program, {}, "", "unread"},
      {"train", run, training_program, {}, "", ""},
      {"run of a file that runs", run, "run(\"s.relish\")\n", {}, "", ""},
      {"grow",
       run,
       "xs = []\ns = \"\"\nwhile len(xs) < 10000000:\n    xs += [1]\n    s += \"ab\"\n",
       {},
       "",
       ""},
      {"wait for a module", {"check", "fifo.relish"}, "", {}, "", ""},
      {"wait for a reader", run, "save(zeros((100000,)), \"fifo.npy\")\n", {}, "", ""},
      {"load npz",
       run,
       "while True:\n    d = load(\"in.npz\")\n",
       {"-e", tensors + "save({\"t\": t}, \"in.npz\")"},
       "",
       ""},
      {"convert npz to safetensors",
       {"save", "in.npz", "-o", "out.safetensors"},
       "",
       {"-e", tensors + "save({\"t\": t}, \"in.npz\")"},
       "out.safetensors",
       ""},
      {"index and convert a tensor",
       run,
       tensors + "while True:\n    a = t[::2]\n    b = t.astype(\"float64\")\n",
       {},
       "",
       ""},
  };
  for (const char* file : {"out.npy", "out.npz", "out.safetensors"}) {
    phases.push_back({fmt::format("save {}", file),
                      run,
                      tensors + fmt::format("save({}, \"{}\")\n",
                                            std::string(file) == "out.npy" ? "t" : "{\"t\": t}", file),
                      {},
                      file,
                      ""});
  }
  for (const auto& [name, script] : builtin_scripts())
    phases.push_back({name + "()", run, script, {}, "", ""});
  return phases;
}

}  // namespace relish::testing
