// Time and memory over size: every command on every kind of text at 1, 4 and 16 times a size, as exponents
// between the last two. Processor time and the peak of memory of the program itself, the best of several
// runs, less those of an empty text: a busy machine changes them little.
//
//   scale_growth PROGRAM [--most EXPONENT] [--runs N] [--divide N] [WORD]...
//
// Words choose among the commands and kinds. Fails when an exponent is above the most.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace {

struct Kind {
  std::string name;
  std::size_t size;  // of the smallest text
  std::function<std::string(std::size_t)> make;
  bool script = false;   // statements, which `run` takes
  bool bounded = false;  // by a limit of the language
  bool python = false;   // what cannot be read is left out
};

std::string function_of(const std::string& params, const std::string& body) {
  return fmt::format("@R.function\ndef main({}):\n{}", params, body);
}

const std::string x_alone = "x: R.Tensor((4, 4), \"float32\")";

std::string listed(std::size_t n, const std::function<std::string(std::size_t)>& item, const char* between) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) text += (i ? between : "") + item(i);
  return text;
}

// A binding of each number, which `value` says by the one before and its own.
std::string bindings(std::size_t n, const std::function<std::string(std::size_t)>& value) {
  return listed(n, [&](std::size_t i) { return fmt::format("    lv{} = {}", i, value(i)); }, "\n") + "\n";
}

std::string chain(std::size_t n) {
  const auto before = [](std::size_t i) { return i ? fmt::format("lv{}", i - 1) : std::string("x"); };
  return function_of(x_alone, bindings(n, [&](std::size_t i) {
                                return fmt::format("R.add({}, x)", before(i));
                              }) + fmt::format("    return R.sum(lv{})\n", n - 1));
}

// All values are there at once.
std::string wide(std::size_t n) {
  std::string text =
      bindings(n, [](std::size_t) { return std::string("R.multiply(x, x)"); }) + "    sum0 = lv0\n";
  for (std::size_t i = 1; i < n; ++i) text += fmt::format("    sum{} = R.add(sum{}, lv{})\n", i, i - 1, i);
  return function_of(x_alone, text + fmt::format("    return R.sum(sum{})\n", n - 1));
}

std::string long_expression(std::size_t n) {
  return function_of(
      x_alone, "    return R.sum(" + listed(n, [](std::size_t) { return std::string("x"); }, " + ") + ")\n");
}

std::string many_arguments(std::size_t n) {
  return function_of(x_alone, "    lv = R.concat([" +
                                  listed(
                                      n, [](std::size_t) { return std::string("x"); }, ", ") +
                                  "], axis=0)\n    return R.sum(lv)\n");
}

std::string many_parameters(std::size_t n) {
  return function_of(listed(
                         n,
                         [](std::size_t i) {
                           return fmt::format("{}: R.Tensor((2,), \"float32\")",
                                              i ? fmt::format("p{}", i) : "x");
                         },
                         ", "),
                     "    return R.sum(x)\n");
}

// The same with a call, which compiles it.
std::string call_of_many_parameters(std::size_t n) {
  return many_parameters(n) + "\nx = ones((2,))\nprint(main(" +
         listed(n, [](std::size_t) { return std::string("x"); }, ", ") + "))\n";
}

std::string many_kernels(std::size_t n) {
  return function_of("x: R.Tensor((1, 1), \"float32\")",
                     bindings(n, [](std::size_t i) {
                       return fmt::format("R.sum(R.broadcast_to(x, R.shape([{}, 2])))", i + 2);
                     }) + fmt::format("    return lv{}\n", n - 1));
}

std::string many_results(std::size_t n) {
  return function_of(
      fmt::format("x: R.Tensor(({}, 2), \"float32\")", n),
      fmt::format("    lv = R.split(x, {}, axis=0)\n    return R.sum(R.add(lv[0], lv[{}]))\n", n, n - 1));
}

std::string loops_of_a_function(std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i)
    fmt::format_to(std::back_inserter(text), "    for i{} in range(3):\n        x = x * 2 + R.sin(x)\n", i);
  return function_of(x_alone, text + "    return R.sum(x)\n");
}

std::string inner_functions(std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) {
    fmt::format_to(std::back_inserter(text),
                   "    @R.function\n    def f{0}(y: R.Tensor((4, 4), \"float32\")):\n"
                   "        return y * 2 + 1\n    x = f{0}(x)\n",
                   i);
  }
  return function_of(x_alone, text + "    return R.sum(x)\n");
}

std::string deep_nesting(std::size_t n) {
  std::string text = "    return R.sum(";
  for (std::size_t i = 0; i < n; ++i) text += "R.sin(";
  return function_of(x_alone, text + "x" + std::string(n + 1, ')') + "\n");
}

// Each function calls the next.
std::string callers(std::size_t n) {
  std::string text = "@I.ir_module\nclass Module:\n";
  for (std::size_t i = 0; i < n; ++i) {
    text += fmt::format(
        "    @R.function\n    def {}(x: R.Tensor((2,), \"float32\")) -> R.Tensor({}, \"float32\"):\n"
        "        return {}\n",
        i ? fmt::format("f{}", i) : std::string("main"), i ? "(2,)" : "()",
        i       ? i + 1 < n ? fmt::format("Module.f{}(x)", i + 1) : std::string("R.sin(x)")
              : n > 1 ? std::string("R.sum(Module.f1(x))")
                : std::string("R.sum(x)"));
  }
  return text;
}

// The last function of a chain of callers cannot be read: all are left out, each with a note.
std::string unread_callers(std::size_t n) {
  std::string text =
      "import tvm\n\n@I.ir_module\nclass Module:\n    @R.function\n"
      "    def main(x: R.Tensor((2,), \"float32\")):\n        return R.sum(x)\n\n";
  for (std::size_t i = 0; i < n; ++i) {
    text += fmt::format(
        "    @R.function\n    def f{}(x: R.Tensor((2,), \"float32\")) -> R.Tensor((2,), \"float32\"):\n"
        "        return {}\n",
        i, i + 1 < n ? fmt::format("Module.f{}(x)", i + 1) : std::string("R.dist.annotate_sharding(x)"));
  }
  return text;
}

// Each function waits for the one below, the last for what a statement makes.
std::string waiting_functions(std::size_t n) {
  std::string text =
      "@R.function\ndef loss(x: R.Tensor((2,), \"float32\")) -> R.Tensor((), \"float32\"):\n"
      "    return R.sum(x)\nG = gradient(loss)\n";
  for (std::size_t i = 0; i < n; ++i) {
    text += fmt::format(
        "@R.function\ndef f{}(x: R.Tensor((2,), \"float32\")) -> R.Tensor((), \"float32\"):\n    return {}(x)\n",
        i, i + 1 < n ? fmt::format("f{}", i + 1) : std::string("G.loss"));
  }
  return text + "print(f0([1, 2]))\n";
}

std::string growing_list(std::size_t n) {
  return fmt::format("items = []\nfor i in range({}):\n    items += [i]\nprint(len(items))\n", n);
}

std::string growing_text(std::size_t n) {
  return fmt::format("text = \"\"\nfor i in range({}):\n    text += \"ab\"\nprint(len(text))\n", n);
}

std::string growing_sum_of_lists(std::size_t n) {
  return fmt::format("items = []\nfor i in range({}):\n    items = items + [i]\nprint(len(items))\n", n);
}

std::string growing_sum_of_texts(std::size_t n) {
  return fmt::format("text = \"\"\nfor i in range({}):\n    text = text + \"a\" + str(i)\nprint(len(text))\n",
                     n);
}

std::string nested_loops(std::size_t n) {
  return fmt::format(
      "count = 0\nfor i in range({}):\n    for j in range(10):\n        count += 1\n"
      "print(count)\n",
      n);
}

struct Command {
  std::string name;
  std::vector<std::string> words;  // before the file
  std::vector<std::string> rest;   // behind it
  std::size_t larger = 1;          // quick commands get larger texts
  bool script = false;
};

struct Measured {
  double seconds = 0, megabytes = 0;
  bool good = false;
};

// Memory in huge pages comes in steps that hide what a small text takes, so it is measured in small ones.
enum class Pages : std::uint8_t { AsIs, Small };

Measured run_once(const std::string& program, const Command& command, const std::string& file, Pages pages) {
  std::vector<std::string> words{program};
  words.insert(words.end(), command.words.begin(), command.words.end());
  words.push_back(file);
  words.insert(words.end(), command.rest.begin(), command.rest.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0) _exit(126);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    if (pages == Pages::Small) setenv("MALLOC_CONF", "thp:never", 1);
    execv(program.c_str(), arguments.data());
    _exit(127);
  }
  int status = 0;
  rusage usage = {};
  wait4(child, &status, 0, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), static_cast<double>(usage.ru_maxrss) / 1024,
          WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

Measured best_of(int runs, const std::string& program, const Command& command, const Kind& kind,
                 std::size_t size) {
  const std::string ending = kind.python ? ".py" : ".relish";
  std::string file = "/tmp/relish_growth_XXXXXX" + ending;
  const int descriptor = mkstemps(file.data(), static_cast<int>(ending.size()));
  if (descriptor < 0) {
    std::perror("scale_growth");
    std::exit(1);
  }
  close(descriptor);
  std::ofstream(file) << kind.make(size);
  Measured best = run_once(program, command, file, Pages::Small);
  const Measured first = run_once(program, command, file, Pages::AsIs);
  best.seconds = first.seconds;
  for (int i = 1; i < runs && first.good; ++i)
    best.seconds = std::min(best.seconds, run_once(program, command, file, Pages::AsIs).seconds);
  unlink(file.c_str());
  return best;
}

// What is too little to be told from noise has no exponent.
double exponent(double small, double large, double least) {
  if (large < least) return 0;
  return std::log(large / std::max(small, least / 4)) / std::log(4.0);
}

struct Growth {
  Measured at[3];  // 1, 4 and 16 times the size, less an empty text
  double time = 0, memory = 0;
  bool good = false;
};

Growth growth_of(int runs, const std::string& program, const Command& command, const Kind& kind,
                 std::size_t size) {
  Growth grown;
  const Measured none = best_of(runs, program, command, kind, kind.name == "many results" ? 2 : 1);
  grown.good = none.good;
  for (int i = 0; i < 3 && grown.good; ++i) {
    Measured& at = grown.at[i] = best_of(runs, program, command, kind, size << (2 * i));
    grown.good = at.good;
    at.seconds = std::max(at.seconds - none.seconds, 0.0);
    at.megabytes = std::max(at.megabytes - none.megabytes, 0.0);
  }
  grown.time = exponent(grown.at[1].seconds, grown.at[2].seconds, 0.05);
  grown.memory = exponent(grown.at[1].megabytes, grown.at[2].megabytes, 8);
  return grown;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Kind> kinds{
      {"chain", 1000, chain},
      {"wide", 1000, wide},
      {"long expression", 1000, long_expression},
      {"many arguments", 250, many_arguments},
      {"many parameters", 1000, many_parameters},
      {"many kernels", 60, many_kernels},
      {"many results", 500, many_results},
      {"function loops", 500, loops_of_a_function},
      {"inner functions", 500, inner_functions},
      {"deep nesting", 60, deep_nesting, false, true},
      {"callers", 200, callers},
      {"unread callers", 400, unread_callers, false, false, true},
      {"functions that wait", 100, waiting_functions, true},
      {"growing list", 10000, growing_list, true},
      {"list sum", 10000, growing_sum_of_lists, true},
      {"text sum", 10000, growing_sum_of_texts, true},
      {"nested loops", 2000, nested_loops, true},
      {"growing text", 10000, growing_text, true},
      {"parameters given", 1000, call_of_many_parameters, true},
  };
  const std::vector<Command> commands{
      {"check", {"check"}, {}, 8},
      {"fmt", {"fmt"}, {}, 8},
      {"gradient", {"gradient"}, {"-f", "main"}, 2},
      {"legalize", {"legalize"}, {}, 2},
      {"compile", {"call"}, {"main", "--arg", "x=ones()", "--cache", "off"}},
      {"interpret", {"call"}, {"main", "--arg", "x=ones()", "--tier", "interp"}, 2},
      {"run", {"run"}, {}, 1, true},
      {"run jit", {"run"}, {"--tier", "jit"}, 1, true},
  };
  if (argc < 2) {
    fmt::print(stderr, "scale_growth PROGRAM [--most EXPONENT] [--runs N] [--divide N] [WORD]...\n");
    return 2;
  }
  const std::string program = argv[1];
  double most = 1.15;
  int runs = 3;
  std::size_t divide = 1;
  std::vector<std::string> wanted;
  for (int i = 2; i < argc; ++i) {
    const bool option = i + 1 < argc && std::strncmp(argv[i], "--", 2) == 0;
    if (!option) {
      wanted.emplace_back(argv[i]);
      continue;
    }
    const std::string name = argv[i++];
    if (name == "--most") most = std::strtod(argv[i], nullptr);
    if (name == "--runs") runs = std::atoi(argv[i]);
    if (name == "--divide") divide = std::strtoull(argv[i], nullptr, 10);
  }
  const auto chosen = [&](const std::string& command, const std::string& kind) {
    return wanted.empty() || std::all_of(wanted.begin(), wanted.end(), [&](const std::string& word) {
             return command == word || kind == word;
           });
  };
  fmt::print("{:<10} {:<16} {:>8} {:>9} {:>9} {:>9} {:>9} {:>10} {:>9}\n", "command", "text", "16x", "1x, s",
             "4x, s", "16x, s", "exponent", "16x, MiB", "exponent");
  bool failed = false;
  for (const Command& command : commands) {
    for (const Kind& kind : kinds) {
      if (kind.script != command.script || !chosen(command.name, kind.name)) continue;
      // Every parameter but x would need a value.
      if (kind.name == "many parameters" && (command.name == "compile" || command.name == "interpret"))
        continue;
      const std::size_t size =
          std::max<std::size_t>(kind.size * (kind.bounded ? 1 : command.larger) / divide, 4);
      const Growth grown = growth_of(runs, program, command, kind, size);
      if (!grown.good) {
        fmt::print("{:<10} {:<16} failed\n", command.name, kind.name);
        failed = true;
        continue;
      }
      // Once above may be noise of the machine: what is said is the least of twice as many runs.
      const bool again = grown.time > most || grown.memory > most;
      const Growth second = again ? growth_of(2 * runs, program, command, kind, size) : grown;
      const double time = std::min(grown.time, second.time);
      const double memory = std::min(grown.memory, second.memory);
      const Measured* at = grown.at;
      const bool bad = time > most || memory > most;
      failed = failed || bad;
      fmt::print("{:<10} {:<16} {:>8} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.2f} {:>10.1f} {:>9.2f}{}\n",
                 command.name, kind.name, size << 4, at[0].seconds, at[1].seconds, at[2].seconds, time,
                 at[2].megabytes, memory, bad ? "  above" : "");
      std::fflush(stdout);
    }
  }
  return failed ? 1 : 0;
}
