// What stops and what stays: loops that fail or are interrupted, values that are endless when gone through,
// containers that grow.
#include <catch2/catch.hpp>

#include <chrono>
#include <ctime>
#include <thread>

#include "shell/progress.h"
#include "support/interrupt.h"
#include "tests/unit/shell/script_harness.h"
#include "tests/unit/temporary_folder.h"

using namespace relish;
using relish::testing::Harness;
using relish::testing::Ran;
using relish::testing::run_alone;

namespace {

// The outcome of a text that is interrupted after a while.
Ran interrupted(Harness& harness, const std::string& text) {
  std::thread signal([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    interrupt_flag.store(2);  // SIGINT
  });
  Ran ran = harness.run(text);
  signal.join();
  clear_interrupt();
  return ran;
}

std::string shared_list(const std::string& name) {
  return name + " = 1\nfor i in range(60):\n    " + name + " = [" + name + ", " + name + "]\n";
}

// Of the processor: the machine may be busy with other things.
double seconds_of(const std::string& text) {
  const std::clock_t start = std::clock();
  CHECK(run_alone(text) == "");
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

}  // namespace

TEST_CASE("what a loop has done stays when it fails") {
  Harness harness;
  Ran ran = harness.run("n = 0\nfor i in range(5):\n    n = n + 1\n    k = [10, 20][i]\n");
  CHECK(ran.error_class == "RuntimeError");
  CHECK(ran.line == 4);
  CHECK(harness.run("print(n, k, i)").output == "3 20 2\n");
  CHECK(harness.run("while True:\n    n = n + 1\n    if n > 9:\n        m = n\n        m, k = 1, 2, 3\n")
            .error_class == "RuntimeError");
  CHECK(harness.run("print(n, m, k)").output == "10 10 20\n");
  // A simple statement is all or nothing, and so is the name of a round.
  CHECK(harness.run("a, b = 1, nothing").error_class == "TypeError");
  CHECK(harness.run("a").error_class == "TypeError");
  CHECK(harness.run("for p, q in [(1, 2), (3, 4, 5)]:\n    r = p").error_class == "RuntimeError");
  CHECK(harness.run("print(p, q, r)").output == "1 2 1\n");
}

TEST_CASE("an interrupt tells the round of each loop, and what is done stays") {
  Harness harness;
  Ran ran = interrupted(harness, "n = 0\nfor i in range(3):\n    while True:\n        n = n + 1\n");
  CHECK(ran.exit_code == 130);
  CHECK(ran.error.starts_with("stopped by SIGINT, in round "));
  CHECK(ran.error.ends_with(" of the loop at line 3, in round 1 of the loop at line 2"));
  Ran after = harness.run("print(n > 0, i)");
  CHECK(after.output == "True 0\n");
  const std::string round = ran.error.substr(std::string("stopped by SIGINT, in round ").size());
  const std::int64_t number = std::stoll(round);
  CHECK(harness.run("print(" + std::to_string(number) + " - n in [0, 1])").output == "True\n");
  CHECK(run_alone("for i in range(2):\n    x = [1][i]") ==
        "RuntimeError: index 1 is out of range for list of length 1");
}

TEST_CASE("values that share their parts end") {
  // 2^60 leaves: none of these may go through them all.
  CHECK(run_alone(shared_list("x") + shared_list("y") + "print(x == y, x != y, x < y, [x] == [x, 1])") ==
        "True False False False\n");
  CHECK(run_alone("x = 1\ny = 1\nfor i in range(20):\n    x = {'a': x, 'b': x}\n    y = {'b': y, 'a': "
                  "y}\nprint(x == y)") == "True\n");
  CHECK(
      run_alone(shared_list("x") +
                "y = 2\nfor i in range(60):\n    y = [y, y]\nprint(x == y, x < y, sorted([y, x])[0] == x)") ==
      "False True True\n");
  const std::string shown = run_alone(shared_list("x") + "x");
  CHECK(shown.starts_with("[[[["));
  CHECK(shown.ends_with("]\n"));
  CHECK(shown.size() < 110'000);
  CHECK(shown.find("...") != std::string::npos);
  CHECK(run_alone(shared_list("x") + "s = str(x)").starts_with("ResourceLimit"));
  CHECK(run_alone(shared_list("x") + "s = f'{x}'").starts_with("ResourceLimit"));
  CHECK(run_alone(shared_list("x") + "assert x == 3").size() < 200);
  CHECK(run_alone(shared_list("x") + "{x: 1}").size() < 200);
  CHECK(run_alone(shared_list("x") + "t = tensor(x)").starts_with("ResourceLimit"));
  // A tensor inside is refused however the list is shared.
  CHECK(run_alone("x = [tensor([1.0])]\nprint([x, x] == [x, x])").starts_with("TypeError"));
}

TEST_CASE("long containers are shown with their ends, texts of them are whole") {
  CHECK(run_alone("print([1] * 5 + [2])") == "[1, 1, 1, 1, 1, 2]\n");
  CHECK(run_alone("print(sorted(range(1001)))") == "[0, 1, 2, ..., 998, 999, 1000]\n");
  CHECK(run_alone("print(len(str(sorted(range(1001)))))") == "4896\n");
  CHECK(run_alone("print(sorted(range(1000)))").size() == 4891);
  CHECK(run_alone("print(sorted(range(1001)), full=True)").size() == 4897);
}

TEST_CASE("host code stops where it stands") {
  Harness harness;
  for (const char* text :
       {"t = rand((40000000,), dtype='float64')", "while True:\n    n = sorted(range(100000))",
        "while True:\n    t = tensor([1.0] * 100000)",
        "x = [1.0] * 4000000\nfor i in range(1000):\n    t = tensor(x)",
        "t = ones((2000000,))\nwhile True:\n    b = allclose(t, t)",
        "while True:\n    x = zip(range(100000), range(100000))"}) {
    INFO(text);
    const auto start = std::chrono::steady_clock::now();
    CHECK(interrupted(harness, text).exit_code == 130);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1000));
  }
}

TEST_CASE("what grows by += keeps its value semantics") {
  Harness harness;
  CHECK(harness.run("x = [1]\ny = x\nx += [2]\nx += x\nprint(x, y)").output == "[1, 2, 1, 2] [1]\n");
  CHECK(harness.run("s = 'a'\nr = s\ns += 'b'\ns += s\nprint(s, r)").output == "abab a\n");
  CHECK(harness.run("p = (1,)\nq = [p]\np += (2,)\nprint(p, q)").output == "(1, 2) [(1,)]\n");
  CHECK(harness.run("d = {'k': x}\nx += [3]\nprint(len(d['k']), len(x))").output == "4 5\n");
  CHECK(harness.run("x += 1").error_class == "TypeError");
  CHECK(harness.run("s += 1").error_class == "TypeError");
  CHECK(harness.run("x += [nothing]").error_class == "TypeError");
  CHECK(harness.run("print(x, s)").output == "[1, 2, 1, 2, 3] abab\n");
  // The operand sees the value as it was.
  CHECK(harness.run("x += [len(x)]\nprint(x[-1])").output == "5\n");
  CHECK(harness.run("z = 0\nfor i in range(1000):\n    z = [z]").error == "");
  CHECK(harness.run("w = [1]\nw += [z]").error == "lists and dicts nest deeper than 1000");
  CHECK(run_alone("s = 'a' * 16000000\ns += s").starts_with("ResourceLimit"));
}

TEST_CASE("growing costs the length, not its square") {
  const auto text = [](int count) {
    return "xs = []\ns = ''\nfor i in range(" + std::to_string(count) +
           "):\n    xs += [i]\n    s += 'abcdefgh'\n";
  };
  double least = 1e9;
  for (int attempt = 0; attempt < 3 && least > 8; ++attempt)
    least = std::min(least, seconds_of(text(160'000)) / seconds_of(text(40'000)));
  CHECK(least <= 8);  // four times as much; the square is sixteen
}

TEST_CASE("files that run each other are refused") {
  const testing::TemporaryFolder folder;
  folder.put("a.relish", "run(\"b.relish\")\n");
  folder.put("b.relish", "run(\"a.relish\")\n");
  folder.put("c.relish", "x = 1\n");
  ScriptOptions options;
  options.folder = folder.path();
  options.confined = true;
  Harness harness(Harness::interpreter(), options);
  Ran ran = harness.run("run(\"a.relish\")");
  CHECK(ran.error_class == "TypeError");
  CHECK(ran.error.find("run each other") != std::string::npos);
  CHECK(harness.run("run(\"c.relish\")\nrun(\"c.relish\")").error.empty());
}

namespace {

std::size_t lines_of_job(std::int64_t steps, std::int64_t steps_per_epoch, std::optional<Every> asked) {
  auto output = std::make_unique<StringOutput>();
  const StringOutput& text = *output;
  Session session(Harness::interpreter(), std::move(output));
  TrainingProgress progress(session, asked);
  for (std::int64_t step = 1; step <= steps; ++step) {
    StepReport report;
    report.step = step;
    report.total_steps = steps;
    report.epoch = (step - 1) / steps_per_epoch + 1;
    report.logged = true;
    progress.on_step(report);
    if (step % steps_per_epoch == 0) progress.on_epoch({report, 0.5, {}});
  }
  return static_cast<std::size_t>(std::count(text.text().begin(), text.text().end(), '\n'));
}

}  // namespace

TEST_CASE("a job prints so many lines as one may read, or as are asked for") {
  CHECK(lines_of_job(20, 10, std::nullopt) == 22);
  const std::size_t limited = lines_of_job(20'000, 2, std::nullopt);
  CHECK(limited >= static_cast<std::size_t>(most_lines_at_once));
  CHECK(limited < static_cast<std::size_t>(most_lines_at_once) + 20);
  CHECK(lines_of_job(100, 10, Every{1, 0}) == 110);
  // The first step, and each of both kinds for 50 steps.
  CHECK(lines_of_job(100, 10, Every{50, 0}) == 5);
  CHECK(lines_of_job(20'000, 2, Every{10'000, 0}) == 5);
}
