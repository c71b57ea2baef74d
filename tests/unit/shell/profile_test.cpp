// The commands that look at compiled code while it runs and at the machine: what they count, and the files
// that they keep.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "frontend/reader.h"
#include "interp/interpreter.h"
#include "shell/program/machine_facts.h"
#include "tests/unit/shell/script_harness.h"

using namespace relish;
using relish::testing::Harness;
using relish::testing::Ran;

namespace {

const char* const model =
    "@I.ir_module\n"
    "class M:\n"
    "    @R.function\n"
    "    def main(x: R.Tensor((\"n\", 4), \"float32\"), w: R.Tensor((4, 8), \"float32\")):\n"
    "        y = R.matmul(x, w)\n"
    "        return R.add(R.exp(y), y)\n"
    "p = profile(M.main, arg={'x': ones((3, 4)), 'w': ones((4, 8))}, runs=4)\n";

// Output of a text in the compiled tier; the error when it fails.
std::string compiled(std::string text) {
  Harness harness{Settings{}};
  const Ran ran = harness.run(std::move(text));
  return ran.error.empty() ? ran.output : ran.error_class + ": " + ran.error;
}

// A folder of its own for what commands keep, while the test lasts.
class CacheFolder {
 public:
  CacheFolder()
      : path_(std::filesystem::temp_directory_path() / ("relish_cache_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
    if (const char* before = std::getenv("XDG_CACHE_HOME")) before_ = before;
    setenv("XDG_CACHE_HOME", path_.c_str(), 1);
  }
  ~CacheFolder() {
    if (before_.empty())
      unsetenv("XDG_CACHE_HOME");
    else
      setenv("XDG_CACHE_HOME", before_.c_str(), 1);
    std::filesystem::remove_all(path_);
  }

 private:
  std::filesystem::path path_;
  std::string before_;
};

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("profile: a row a kernel, with its calls, lines and rates") {
  CHECK(compiled(std::string(model) + "print(p['runs'], len(p['kernels']) >= 1)") == "4 True\n");
  // 2 * 3 * 4 * 8 operations of the product and 24 of exp, whatever kernels they end up in.
  CHECK(
      compiled(std::string(model) +
               "total = 0.0\nlines = ''\nfor k in p['kernels']:\n"
               "    total = total + k['gflops'] * k['ms'] * 1000000.0\n    lines = lines + k['lines'] + ' '\n"
               "    assert k['calls'] == 1.0 and k['share'] > 0.0 and k['gbs'] > 0.0\n"
               "print(round(total), '5' in lines and '6' in lines)") == "240 True\n");
}

TEST_CASE("profile: why a kernel is not part of what reads its result") {
  CHECK(compiled("@R.function\ndef f(x: R.Tensor((64, 64), 'float32')):\n    y = R.matmul(x, x)\n"
                 "    z = R.matmul(y, R.sort(y))\n    return z\n"
                 "p = profile(f, arg={'x': ones((64, 64))}, runs=2)\n"
                 "for k in p['kernels']:\n    print(k['name'], k['apart'])") ==
        "matmul ['line 4: R.sort is no loop nest', 'line 4: it is read before that, too', "
        "'nothing else reads its result']\n");
}

TEST_CASE("profile: a prim_func by itself, and one that runs many times in a call") {
  CHECK(compiled("@T.prim_func\ndef f(A: T.Buffer((6,), 'float32'), B: T.Buffer((6,), 'float32')):\n"
                 "    for i in range(6):\n        B[i] = A[i] * T.float32(2)\n"
                 "p = profile(f, arg={'A': ones((6,))}, runs=2)\n"
                 "print(p['kernels'][0]['name'], p['kernels'][0]['calls'])") == "f 1.0\n");
  CHECK(
      compiled(
          "@R.function\ndef f(x: R.Tensor((3,), 'float32')):\n    for i in range(5):\n        x = R.exp(x)\n"
          "    return x\np = profile(f, arg={'x': ones((3,))}, runs=2)\n"
          "print(p['kernels'][0]['calls'])") == "5.0\n");
}

TEST_CASE("profile: watched code computes the same, and other code is not watched") {
  KernelLog log;
  const auto watched = make_jit({.threads = 2, .log = &log});
  const auto plain = make_jit({.threads = 2});
  const ModulePtr module =
      read_module("test.relish",
                  "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((4,), \"float32\")):\n"
                  "        return R.exp(x)\n");
  const std::vector<Value> args{Value(Tensor::zeros(DType::Float32, {4}))};
  const Tensor a = watched->call(module, "main", args).tensor(),
               b = plain->call(module, "main", args).tensor();
  for (std::int64_t i = 0; i < 4; ++i) CHECK(a.get_double(i) == b.get_double(i));
  REQUIRE(log.runs.size() == 1);
  CHECK(log.runs[0].end_ns >= log.runs[0].begin_ns);
  CHECK(log.runs[0].bytes == 32.0);
  watched->call(module, "main", args);
  CHECK(log.runs.size() == 2);
  CHECK(log.kernels.size() == 1);
}

TEST_CASE("memory: the plan of a call, as a value") {
  const std::string planned =
      std::string(model) + "m = memory(M.main, arg={'x': ones((3, 4)), 'w': ones((4, 8))}, top=2)\n";
  // In lines of 64 bytes: x has one, w two, the result two.
  CHECK(compiled(planned + "print(m['arguments'], m['constants'], m['results'], m['complete'], "
                           "len(m['top']))") == "192 0 128 True 2\n");
  CHECK(compiled(planned + "t = m['top'][0]\nprint(t['bytes'], t['kind'], t['name'], t['shape'], t['line'], "
                           "m['peak_bytes'] >= 320)") == "128 argument w [4, 8] 4 True\n");
  CHECK(compiled(planned + "memory(M.main, arg={'x': ones((3, 4)), 'w': ones((4, 8))}, top=-1)") ==
        "UsageError: memory: top: found -1; expected an int from 0 to 10000");
}

TEST_CASE("time: calls are measured behind a warm-up, and the median has its bounds") {
  const std::string arg = "M.main, arg={'x': ones((3, 4)), 'w': ones((4, 8))}";
  CHECK(compiled(std::string(model) + "t = time(" + arg +
                 ")\nprint(t['min_ms'] <= t['low_ms'], t['low_ms'] <= t['median_ms'], "
                 "t['median_ms'] <= t['high_ms'], t['high_ms'] < 100 * t['low_ms'], t['warm_runs'] >= 10, "
                 "t['min_ms'] < t['mean_ms'])\n"
                 "t = time(" +
                 arg + ", runs=3)\nprint(t['runs'], t['warm_runs'])\n" + "t = time(" + arg +
                 ", runs=2)\nprint(abs(t['mean_ms'] - t['median_ms']) < 1e-9)") ==
        "True True True True True True\n3 0\nTrue\n");
}

TEST_CASE("machine: measured once, kept in a file, and measured again where that is damaged") {
  const CacheFolder folder;
  const MachineDescription machine = describe_machine();
  CHECK(machine.target.vector_bytes >= 8);
  CHECK(machine.threads >= 1);
  keep_speed(machine, {10, 20, 3, 4});
  const auto json = nlohmann::json::parse(contents(machine_file()));
  CHECK(json["version"] == 1);
  CHECK(json.size() == 2);
  REQUIRE(known_speed(machine));
  CHECK(known_speed(machine)->gflops_all == 20);
  std::ofstream(machine_file()) << "{\"version\": 1, ";
  keep_speed(machine, {11, 20, 3, 4});
  CHECK(nlohmann::json::parse(contents(machine_file())).size() == 2);
  CHECK(
      compiled(
          "m = machine(again=True)\nprint(m['gflops_one'] > 0.1, m['gbs_all'] > 0.01, m['threads'] >= 1)") ==
      "True True True\n");
  const MachineSpeed speed = measure_machine(machine);
  CHECK(speed.gflops_one > 0.1);
  CHECK(speed.gbs_one > 0.01);
}

TEST_CASE("llvm and asm: the code of a kernel, or of all") {
  const std::string text(model, std::string(model).find("p = profile"));
  CHECK(compiled(text +
                 "t = llvm(M.main, kernel='fused_exp_add')\n"
                 "print(t.startswith('; kernel fused_exp_add of line 6'), 'define' in t, 'ret' in t)\n") ==
        "True True True\n");
  CHECK(compiled(text + "print(llvm(M.main, unoptimized=True) == llvm(M.main), len(llvm(M.main)) > 0)\n") ==
        "False True\n");
  CHECK(compiled(text + "print(asm(M.main).startswith('# kernel matmul of line 5'))\n") == "True\n");
  CHECK(compiled(text + "asm(M.main, kernel='m')")
            .starts_with("UsageError: asm: kernel: main has no kernel 'm'"));
}

TEST_CASE("llvm: a parallel loop is one chunk where its vectors do little, though it has many elements") {
  // Two iterations, each with so many rounds of that many vectors of 64 elements.
  const auto chunk = [](const std::string& rounds, const std::string& vectors) {
    const std::string shape = ": T.Buffer((2, 16, " + vectors + ", 64), \"float32\")";
    return compiled("@I.ir_module\nclass M:\n    @T.prim_func\n    def f(A" + shape + ", C" + shape +
                    "):\n        for i in T.parallel(2):\n            for j in range(" + rounds +
                    "):\n                for k in range(" + vectors +
                    "):\n                    for lane in T.vectorized(64):\n"
                    "                        C[i, j, k, lane] = A[i, j, k, lane] * A[i, j, k, lane]\n"
                    "t = llvm(M.f)\nprint('i64 2, i64 2, ptr' in t, 'i64 2, i64 1, ptr' in t)\n");
  };
  CHECK(chunk("1", "300") == "True False\n");
  CHECK(chunk("1", "1200") == "False True\n");
  // How many rounds there are is known inside of the loop: as many as in its first iteration counts, and as
  // many as are guessed where that could fail.
  CHECK(chunk("T.min(4, 8 - i)", "100") == "True False\n");
  CHECK(chunk("T.max(4, 8 - i)", "100") == "True False\n");
  CHECK(chunk("T.max(4, 16 - i)", "100") == "False True\n");
  CHECK(chunk("T.max(4, 8 // (i + 1))", "100") == "False True\n");
  CHECK(chunk("T.min(4, 8 // (i + 1))", "100") == "True False\n");
}

TEST_CASE("compare_tiers: True where they agree, else False and the place") {
  const std::string text = std::string(model, std::string(model).find("p = profile")) +
                           "print(compare_tiers(M.main, arg={'x': ones((3, 4)), 'w': ones((4, 8))}))\n";
  CHECK(compiled(text) == "True\n");
  // An interpreter that is wrong everywhere.
  class Wrong final : public Evaluator {
   public:
    std::string_view name() const override { return "interp"; }
    Value call(const ModulePtr& module, std::string_view function, std::vector<Value> args) override {
      return changed(interpreter_->call(module, function, std::move(args)));
    }

   private:
    static Value changed(const Value& value) {
      if (value.is_tensor()) {
        Tensor copy = value.tensor().copy();
        copy.set_double(0, copy.get_double(0) + 1);
        return copy;
      }
      std::vector<Value> fields;
      for (const Value& field : value.fields()) fields.push_back(changed(field));
      return Value::tuple(std::move(fields));
    }
    const std::unique_ptr<Evaluator> interpreter_ = make_interpreter();
  };
  Settings settings;
  settings.make_interpreter = [] { return std::make_unique<Wrong>(); };
  Harness harness{settings};
  CHECK(harness.run(text).output == "False\n");
}

TEST_CASE("memory: parameters that are donated") {
  const std::string text =
      "@R.function\ndef main(w: R.Tensor((64,), 'float32'), g: R.Tensor((64,), 'float32')):\n"
      "    return R.subtract(w, R.multiply(g, g))\n"
      "a = {'w': ones((64,)), 'g': ones((64,))}\n"
      "print([memory(main, arg=a, donate=d)['donated'] for d in [[], ['w'], ['w', 'g']]])\n"
      "print(time(main, arg=a, carry={'out': 'w'}, runs=2)['runs'])\n";
  CHECK(compiled(text) == "[0, 256, 256]\n2\n");
}
