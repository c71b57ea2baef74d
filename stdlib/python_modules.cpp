// The table of modules.
#include "stdlib/python_modules.h"

namespace relish {
namespace {

struct PythonModule {
  std::string_view name, instead;
};

constexpr std::string_view operators =
    "operators are here without an import: tensor(…), zeros(…), R.exp(x); "
    "relish doc NAME answers a name of others";
constexpr std::string_view arguments = "arg(\"lr\", 0.1) is an argument, given by --set lr=0.2; exit(n) ends";
constexpr std::string_view files = "load(path) and save(value, path) read and write files; paths are strs";
constexpr std::string_view dicts =
    "dicts are here: d[k] = d.get(k, 0) + 1 counts; d.setdefault(k, []), then d[k].append(x) groups";
constexpr std::string_view seconds = "clock() gives seconds";
constexpr std::string_view draws =
    "rand(3), randn(3), R.random.randint(key(0), (3,), 0, 10) and R.random.permutation(key(0), (8,)) draw";
constexpr std::string_view untyped = "functions of statements have no types";
constexpr std::string_view tables = "load(\"data.csv\") gives a dict of columns";

constexpr PythonModule python_modules[] = {
    {"abc", "a dict holds values and functions by name"},
    {"argparse", arguments},
    {"collections", dicts},
    {"copy", "values never change, so nothing is copied: b = a"},
    {"csv", tables},
    {"dataclasses", "a dict holds values by name"},
    {"datetime", seconds},
    {"enum", "a dict holds values by name"},
    {"functools", "loops and functions of functions are here: lambda f, g: lambda x: f(g(x))"},
    {"glob", files},
    {"itertools", "comprehensions are here: [(a, b) for a in xs for b in ys]"},
    {"jax", operators},
    {"json", "load(\"run.json\") and save(value, \"run.json\") read and write JSON"},
    {"keras", operators},
    {"logging", "print(…) writes a line"},
    {"math", "write R.sqrt(x), x ** 0.5, R.exp(x), 3.141592653589793, float(\"inf\"); floats are given too"},
    {"matplotlib",
     "relish plot draws runs, :plot and :hist of a session values; save(d, \"d.csv\") for others"},
    {"multiprocessing", "operators use all threads by themselves"},
    {"numpy", operators},
    {"operator", "write lambda a, b: a + b"},
    {"os", files},
    {"pandas", tables},
    {"pathlib", files},
    {"pickle", "save(tree, \"tree.npz\") and load(\"tree.npz\", tree=True) write and read trees of tensors"},
    {"pytest", "write assert"},
    {"random", draws},
    {"re", "strs have split, find, partition, replace, startswith"},
    {"scipy", operators},
    {"shutil", files},
    {"sklearn", "models are functions of tensors, trained by train(…)"},
    {"statistics", "write R.mean(x), R.std(x), R.median(x) of a tensor, sum(xs) / len(xs) of a list"},
    {"string", "write the letters as a str"},
    {"sys", arguments},
    {"tensorflow", operators},
    {"time", seconds},
    {"torch", operators},
    {"torchvision", operators},
    {"tqdm", "a loop of more than a second shows its rounds by itself"},
    {"typing", untyped},
    {"unittest", "write assert"},
};

}  // namespace

std::string_view instead_of_python_module(std::string_view name) {
  const std::string_view root = name.substr(0, name.find('.'));
  for (const PythonModule& each : python_modules)
    if (each.name == root) return each.instead;
  return {};
}

}  // namespace relish
