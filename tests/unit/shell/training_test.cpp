// Training as a script sees it: what an interrupted job leaves, what is trained and what belongs to the
// result, and the marks of trained parameters behind every transform.
#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "ir/printer/printer.h"
#include "runtime/files.h"
#include "shell/command.h"
#include "support/interrupt.h"
#include "tests/unit/shell/script_harness.h"
#include "tests/unit/temporary_folder.h"
#include "transform/parameter_marks.h"

namespace relish::testing {
namespace {

constexpr const char* line_model = R"(@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 1), "float32"), w: R.Tensor((1, 1), "float32"), b: R.Tensor((1,), "float32")) -> R.Tensor(("n", 1), "float32"):
        y = R.add(R.matmul(x, w), b)
        return y

x = rand((64, 1), seed=1)
)";

Settings settings_for(const char* tier, const TemporaryFolder& folder) {
  Settings settings;
  settings.tier = tier;
  settings.roots = {folder.path()};
  return settings;
}

std::string job(const TemporaryFolder& folder, const std::string& rest) {
  return "train(M.main, data=(x, 2 * x + 1), loss=\"mse\", optimizer=\"sgd(lr=0.1)\", run_dir=\"" +
         folder.path() + "/job\", " + rest + ")";
}

}  // namespace

TEST_CASE(
    "an interrupted job is bound with the weights of its last whole step, and then the interrupt holds") {
  for (const char* tier : {"interp", "jit"}) {
    INFO(tier);
    TemporaryFolder folder;
    Harness harness(settings_for(tier, folder));
    REQUIRE(harness.run(line_model).error == "");
    clear_interrupt();
    std::thread signal([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      interrupt_flag.store(SIGTERM);
    });
    const Ran ran =
        harness.run("t = " + job(folder, "steps=100000000, log_every=\"1000s\"") + "\nprint(\"behind\")\n");
    signal.join();
    CHECK(ran.exit_code == 128 + SIGTERM);
    CHECK(ran.output.find("behind") == std::string::npos);
    CHECK(harness.run("print(t[\"status\"], t[\"steps\"] > 0, len(t[\"params\"]))").output ==
          "interrupted True 2\n");
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.file("job/checkpoints"))) {
      ++files;
      const Ran same = harness.run("saved = load(\"" + entry.path().string() +
                                   "\")\nprint(allclose(saved[\"w\"], t[\"params\"][\"w\"], 0, 0), "
                                   "allclose(saved[\"b\"], t[\"params\"][\"b\"], 0, 0))");
      CHECK(same.error + same.output == "True True\n");
      CHECK(bytes_of(folder.file("job/report.json")).find(entry.path().filename().string()) !=
            std::string::npos);
    }
    CHECK(files == 1);
    CHECK_FALSE(std::filesystem::exists(folder.file("job/final.safetensors")));
    // Its folder is not taken for another job.
    CHECK(harness.run("u = " + job(folder, "steps=1")).error_class == "UsageError");
    CHECK(harness.run("u = " + job(folder, "steps=1, overwrite=True")).error == "");
    CHECK(harness.run("print(u[\"status\"])").output == "finished\n");
    files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.file("job/checkpoints"))) {
      ++files;
      CHECK(entry.path().filename() == "step-000000001.safetensors");
    }
    CHECK(files == 1);
  }
}

TEST_CASE("an interrupted job without a run folder says that nothing was saved") {
  TemporaryFolder folder;
  Harness harness(settings_for("interp", folder));
  REQUIRE(harness.run(line_model).error == "");
  clear_interrupt();
  std::thread signal([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    interrupt_flag.store(SIGTERM);
  });
  const Ran ran = harness.run(
      "t = train(M.main, data=(x, 2 * x + 1), loss=\"mse\", optimizer=\"sgd(lr=0.1)\", steps=100000000, "
      "log_every=0, run_dir=None)\nprint(\"behind\")\n");
  signal.join();
  CHECK(ran.exit_code == 128 + SIGTERM);
  const std::string steps = harness.run("print(t[\"steps\"])").output;
  CHECK(ran.notes == "nothing was saved: the job ended behind step " + steps.substr(0, steps.size() - 1) +
                         " of 100000000 and has no run folder\n");
}

TEST_CASE("parameters that are not trained belong to the result and to its file") {
  TemporaryFolder folder;
  Harness harness(settings_for("interp", folder));
  const Ran ran = harness.run(
      line_model + ("t = " + job(folder, "steps=3, wrt=[\"w\"], params={\"b\": tensor([7.0])}")) +
      "\nprint(len(t[\"params\"]), allclose(t[\"params\"][\"b\"], tensor([7.0]), 0, 0), evaluate(M.main, "
      "params=t[\"params\"], "
      "data=(x, x), metrics=[\"accuracy(threshold=0)\"])[\"accuracy\"] >= 0)\n");
  CHECK(ran.error == "");
  CHECK(ran.output.ends_with("2 True True\n"));
  const NamedTensors saved = read_safetensors(folder.file("job/final.safetensors"));
  REQUIRE(saved.size() == 2);
  for (const auto& [name, tensor] : saved)
    if (name == "b") CHECK(tensor.get_double(0) == 7);
}

namespace {

// Bytes that the process has read from files.
std::int64_t bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string name;
  for (std::int64_t count = 0; file >> name >> count;)
    if (name == "rchar:") return count;
  return -1;
}

}  // namespace

TEST_CASE("data that tell the size of a parameter are read once") {
  TemporaryFolder folder;
  Harness harness(settings_for("interp", folder));
  const std::string table = folder.file("x.csv");
  REQUIRE(
      harness
          .run(
              "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((\"n\", \"d\"), \"float32\"), "
              "w: R.Tensor((\"d\", 1), \"float32\")) -> R.Tensor((\"n\", 1), \"float32\"):\n"
              "        y = R.matmul(x, w)\n        return y\n\nsave(rand((64, 500), seed=1), \"" +
              table + "\")\n")
          .error == "");
  const auto read_by_job = [&](const std::string& rest) {
    const std::int64_t before = bytes_read();
    CHECK(harness
              .run("t = train(M.main, data=(\"" + table +
                   "\", zeros((64, 1))), loss=\"mse\", optimizer=\"sgd(lr=0.1)\", run_dir=None, epochs=1" +
                   rest + ")")
              .error == "");
    return bytes_read() - before;
  };
  read_by_job("");
  const std::int64_t given = read_by_job(", dim={\"d\": 500}"), told = read_by_job("");
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(table));
  CHECK(given >= size);
  CHECK(told < given + size / 2);
}

TEST_CASE("rand without a seed goes on; with one, and in another run, it gives the same") {
  const std::string text =
      "a = rand((3,))\nb = rand((3,))\nc = randn((3,))\nprint(allclose(a, b), allclose(b, c))\nprint(a, b, "
      "c)\n";
  const std::string first = run_alone(text);
  CHECK(first.starts_with("False False\n"));
  CHECK(run_alone(text) == first);
  Settings settings = Harness::interpreter();
  settings.seed = 1;
  CHECK(Harness(settings).run(text).output != first);
  CHECK(
      run_alone("print(allclose(rand((3,), seed=4), rand((3,), seed=4), 0, 0), allclose(randn((3,), seed=4), "
                "randn((3,), seed=4), 0, 0))") == "True True\n");
  // A statement that fails has drawn nothing.
  Harness harness;
  harness.run("x = rand((3,)) + rand((4,))");
  harness.run("a = rand((3,))");
  Harness other;
  other.run("a = rand((3,))");
  CHECK(harness.run("print(a)").output == other.run("print(a)").output);
  CHECK(run_alone("x = randn((2,), \"int32\")") ==
        "TypeError: randn makes floating tensors, found int32; give values, zeros or ones");
  // Mean 0 and deviation 1, as R.random.normal.
  CHECK(run_alone("x = randn((4000,), seed=3)\nprint(-0.06 < float(R.mean(x)) < 0.06, 0.96 < "
                  "float(R.std(x)) < 1.04)") == "True True\n");
}

namespace {

struct Application {
  const char* name;
  const char* call;  // of M, whose function main has the parameters x, mask, w, b
};
constexpr Application applications[] = {
    {"gradient", "gradient(append_loss(M.main, loss=\"mse\").main_loss)"},
    {"vjp", "vjp(M.main)"},
    {"jvp", "jvp(M.main)"},
    {"hvp", "hvp(append_loss(M.main, loss=\"mse\").main_loss)"},
    {"jacobian", "jacobian(M.main)"},
    {"bind_params", "bind_params(M.main, params={\"mask\": ones((4,)), \"b\": ones((2,))})"},
    {"append_loss", "append_loss(M.main, loss=\"mse\")"},
    {"optimizer", "optimizer(M.main, optimizer=\"adam(lr=0.1)\")"},
    {"setup_trainer", "setup_trainer(M.main, loss=\"mse\", optimizer=\"sgd(lr=0.1)\", init=\"he_normal\")"},
    {"dce", "dce(M)"},
    {"fold", "fold(M)"},
    {"simplify", "simplify(M)"},
    {"canonicalize", "canonicalize(M)"},
    {"cse", "cse(M)"},
    {"unroll", "unroll(M)"},
    {"inline", "inline(M)"},
    {"to_dataflow", "to_dataflow(M)"},
    {"lambda_lift", "lambda_lift(M)"},
    {"lift_params", "lift_params(M)"},
    {"expand_tuples", "expand_tuples(M)"},
    {"dead_parameters", "dead_parameters(M)"},
    {"normalize", "normalize(M)"},
    {"topological_sort", "topological_sort(M)"},
    {"bind_symbols", "bind_symbols(M.main, dim={})"},
    {"decompose", "decompose(M.main, mode=\"training\")"},
    {"decompose", "decompose(M.main, mode=\"inference\")"},
    {"legalize", "legalize(M)"},
    {"fuse", "fuse(M)"},
    {"schedule", "schedule(M)"},
    {"lower", "lower(M, to=\"fuse\")"},
    {"passes",
     "passes(bind_params(M.main, params={\"mask\": ones((4,))}).main, "
     "passes=\"append_loss(mse), gradient, legalize\")"},
};

// The modules M, with these further attributes of main, and N, which the application makes of it.
std::pair<ModulePtr, ModulePtr> apply(Harness& harness, const Application& application,
                                      const std::string& attributes) {
  const Ran ran = harness.run(R"(@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((3, 4), "float32"), mask: R.Tensor((4,), "float32"), w: R.Tensor((4, 2), "float32"), b: R.Tensor((2,), "float32")) -> R.Tensor((3, 2), "float32"):
        R.func_attr({)" + attributes +
                              R"(})
        y = R.add(R.matmul(R.multiply(x, mask), w), b)
        return y

    @R.function
    def other(x: R.Tensor((3,), "float32"), flag: R.Tensor((), "bool")):
        if flag:
            y = M.copied(x)
        else:
            y = x
        return y

    @R.function
    def copied(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        with R.dataflow():
            y = R.call_tir(M.copy, (x,), out_ty=R.Tensor((3,), "float32"))
            R.output(y)
        return y

    @T.prim_func
    def copy(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in range(3):
            B[i] = A[i]

N = )" + std::string(application.call) +
                              "\n");
  REQUIRE(ran.error == "");
  const auto module = [&](const char* name) {
    const ScriptValue* made = harness.script().environment().find(name);
    REQUIRE(made != nullptr);
    return *made->as<ModulePtr>();
  };
  return {module("M"), module("N")};
}

}  // namespace

TEST_CASE("every transform keeps what a function says of its parameters") {
  for (const Command* command : all_commands()) {
    if (!command->transforms) continue;
    INFO(command->name);
    CHECK(std::any_of(std::begin(applications), std::end(applications),
                      [&](const Application& application) { return command->name == application.name; }));
  }
  for (const char* mark : {"\"num_input\": 2", "\"relish.params\": [\"w\", \"b\"]"}) {
    for (const Application& application : applications) {
      INFO(mark << " " << application.call);
      Harness harness;
      const ModulePtr module = apply(harness, application, mark).second;
      for (const GlobalFunction& global : module->functions) {
        const auto* function = std::get_if<FunctionPtr>(&global);
        if (!function || !(*function)->name.starts_with("main")) continue;
        INFO((*function)->name);
        std::vector<std::string> wanted;
        for (const Var& param : (*function)->params)
          if (param.name() == "w" || param.name() == "b") wanted.push_back(param.name());
        CHECK(marked_parameters(**function) == wanted);
      }
    }
  }
}

TEST_CASE("every transform hands on the functions that it does not change") {
  for (const Application& application : applications) {
    INFO(application.call);
    Harness harness;
    const auto [before, after] = apply(harness, application, "\"num_input\": 1");
    for (const char* name : {"other", "copied"}) {
      INFO(name);
      const FunctionPtr had = before->function(name), has = after->function(name);
      const bool same_text = print(*had) == print(*has);
      CHECK((had == has) == same_text);
    }
    CHECK(after->prim_func("copy") == before->prim_func("copy"));
  }
}

}  // namespace relish::testing
