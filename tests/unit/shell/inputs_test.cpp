// Inputs of a session: their parts, prompts in pasted text, and that one is read whole before it runs.
#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "runtime/files.h"
#include "shell/repl/inputs/long_texts.h"
#include "shell/repl/inputs/session_inputs.h"
#include "support/interrupt.h"
#include "tests/unit/shell/session_harness.h"
#include "tests/unit/temporary_folder.h"

using namespace relish;

namespace {

std::vector<std::string> texts(std::string_view input) {
  std::vector<std::string> result;
  for (const InputPart& part : input_parts(input))
    result.push_back((part.command ? "command " : "") + std::to_string(part.line) + " " + part.text);
  return result;
}

// What inputs print, or the class of the error of the last one.
struct Run {
  std::unique_ptr<Session> session;
  StringOutput* output;
  std::unique_ptr<SessionInputs> inputs;
  bool goes_on = true;

  Run() {
    auto collected = std::make_unique<StringOutput>();
    output = collected.get();
    Settings settings;
    settings.tier = "interp";
    session = std::make_unique<Session>(settings, std::move(collected));
    inputs = std::make_unique<SessionInputs>(*session, ScriptOptions{"", false, true});
  }
  std::string operator()(const std::string& text) {
    const std::size_t before = output->text().size();
    try {
      goes_on = inputs->run("<in>", text);
    } catch (const Failure& failure) {
      const Diagnostic& first = failure.diagnostics().front();
      const SourceFile* source = Sources::instance().find(first.span.file);
      const std::string line = source ? std::to_string(source->position(first.span.begin).line) : "?";
      return std::string(name_of(first.error_class)) + "@" + line;
    }
    return output->text().substr(before);
  }
};

const std::string training_module =
    "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((2,), \"float32\"), w: R.Tensor((2,), "
    "\"float32\")):\n        with R.dataflow():\n            y = R.sum(R.multiply(x, w))\n            "
    "R.output(y)\n"
    "        return y\n";

}  // namespace

TEST_CASE("a long text is cut where something is defined anew, and nothing in front needs what follows") {
  const auto function = [](const std::string& name, const std::string& value) {
    return fmt::format("@R.function\ndef {}(x: R.Tensor((2,), \"float32\")):\n    return {}\n\n", name,
                       value);
  };
  std::string text, other;
  while (text.size() < 3 * long_part) text += function("f", "R.exp(x)") + "y = f(zeros((2,)))\n";
  const std::vector<InputPart> parts = cut_long_parts(input_parts(text));
  REQUIRE(parts.size() == 3);
  std::string all;
  for (const InputPart& part : parts) {
    CHECK(part.text.starts_with("@R.function\ndef f("));
    CHECK(part.line == 1 + std::count(all.begin(), all.end(), '\n'));
    all += part.text;
  }
  CHECK(all == text);
  // What is called in front of its definition is read with it, and names of their own are no reason to cut.
  CHECK(cut_long_parts(input_parts("# later\n" + text + function("later", "R.sin(x)"))).size() == 1);
  CHECK(cut_long_parts(input_parts("# later\n" + text + "later = 1\n")).size() == 1);
  for (int i = 0; other.size() < 3 * long_part; ++i) other += function(fmt::format("f{}", i), "R.exp(x)");
  CHECK(cut_long_parts(input_parts(other)).size() == 1);
  // A fault has the line of the whole; what stands in the parts before has run.
  Run run;
  const std::string faulty = text + "z = f(1)\n" + function("f", "R.sin(x)") + "\ny = 1 // 0\n";
  try {
    run.inputs->run_text("<in>", faulty);
    FAIL("it ran");
  } catch (const Failure& failure) {
    const Span span = failure.diagnostics().front().span;
    const std::uint32_t line = Sources::instance().find(span.file)->position(span.begin).line;
    CHECK(line == 1 + std::count(text.begin(), text.end(), '\n'));
  }
  CHECK(run("y") == "float32 (2,)\n[1, 1]\n");
}

TEST_CASE("commands are cut out where a statement could begin") {
  CHECK(texts("x = 1\n:type x\ny = 2\n") ==
        std::vector<std::string>{"1 x = 1\n", "command 2 :type x\n", "3 y = 2\n"});
  CHECK(texts(":type 1") == std::vector<std::string>{"command 1 :type 1"});
  CHECK(texts("for i in range(2):\n    x = i\n:type x\n") ==
        std::vector<std::string>{"1 for i in range(2):\n    x = i\n", "command 3 :type x\n"});
  // So are lines that ask for a page, and the words that need no colon are statements of their own.
  CHECK(texts("x = 1\n? relu\nhelp train  \nnn.relu?\n?\n") ==
        std::vector<std::string>{"1 x = 1\n", "command 2 :help relu\n", "command 3 :help train\n",
                                 "command 4 :help nn.relu\n", "command 5 :help\n"});
  CHECK(texts("x = 1\nquit\ny = 2\n") == std::vector<std::string>{"1 x = 1\n", "2 quit\n", "3 y = 2\n"});
  CHECK(texts("y = '''\nhelp me\nreally?\nquit\n'''\n").size() == 1);
  for (const std::string_view line :
       {"help -x", "help", "help = 3", "x = 3", "? 3", "help me out", "??relu?"})
    CHECK_FALSE(asked_page(line));
  // Inside brackets and strings it is their text.
  CHECK(texts("y = x[1\n:2]\n").size() == 1);
  CHECK(texts("y = '''\n:type x\n'''\n").size() == 1);
  CHECK(texts("y = 1 + \\\n:type x\n").size() == 1);
  CHECK(missing_in_input("x = 1\n:type x\n") == Missing::Nothing);
  CHECK(missing_in_input(":type x\ny = (1,\n") == Missing::Bracket);
  CHECK(missing_in_input(":type x\nfor i in range(2):\n") == Missing::Body);
}

TEST_CASE("prompts of a copied session are taken off") {
  CHECK(without_prompts(">>> x = 1\n>>> for i in range(2):\n...     x = i\n...\n>>> x\n1\n") ==
        "x = 1\nfor i in range(2):\n    x = i\n\nx\n");
  CHECK(without_prompts("x = 1\n>>> y\n") == "x = 1\n>>> y\n");
  CHECK(without_prompts(">>>x\n") == ">>>x\n");
  CHECK(without_prompts(
            "[1] >>> x = 1\n[2 try] >>> for i in x:\n         ...     x\n         ...\n[3] hm\n5\n") ==
        "x = 1\nfor i in x:\n    x\n\n");
  CHECK(without_prompts("[1] >>> x\n... 4\n    ... 5\nhm\n    ... 6\n[2] >>> y\n") == "x\n4\n5\ny\n");
  CHECK(without_prompts("[1] + [2]\n") == "[1] + [2]\n");
  CHECK(without_prompts("  >>> x\n") == "  >>> x\n");
  CHECK(without_prompts("[x] >>> y\n") == "[x] >>> y\n");
}

TEST_CASE("an input of commands and statements runs in order") {
  Run run;
  CHECK(run(training_module + "x = ones((2,))\n:gradient M.main --wrt w\nM.main(x, x)\n") ==
        "M = gradient(M.main, wrt=[\"w\"])\nfloat32 () 2\n");
  CHECK(run(":gradient M.main --wrt x --as G\nprint(type(G.main))\n").ends_with(")\n"));
  // The statements before the one that fails stay; its line is that of the input.
  CHECK(run("a = 5\n:type a\nb = nothing\nc = 6\n") == "TypeError@3");
  CHECK(run("a") == "5\n");
  CHECK(run("c") == "TypeError@1");
}

TEST_CASE("a fault of syntax anywhere and nothing runs") {
  Run run;
  CHECK(run("a = 5\n:type a\nb = (1\n") == "SyntaxError@3");
  CHECK(run("a") == "TypeError@1");
  CHECK(run("a = 5\n:typo a\n") == "UsageError@2");
  CHECK(run("a") == "TypeError@1");
}

TEST_CASE("words that need no colon, unless they are names") {
  Run run;
  CHECK(run("help").find(":quit") != std::string::npos);
  CHECK(run("?\n") == run("help"));
  CHECK(run("help = 3\nhelp\n") == "3\n");
  CHECK(run("help") == "3\n");
  CHECK(run.goes_on);
  run("quit");
  CHECK_FALSE(run.goes_on);
  for (const std::string word : {":quit", "quit", "exit()"}) {
    run("x = 1\n" + word + "\nx = 2\n");
    CHECK_FALSE(run.goes_on);
    CHECK(run("x") == "1\n");
  }
  run("quit = 5\nx = 1\nquit\nx = 2\n");
  CHECK(run.goes_on);
  CHECK(run("x") == "2\n");
}

TEST_CASE("help shows what a value is") {
  Run run;
  run(training_module);
  const std::string page = run("help(M)");
  CHECK(page.find("main(x: R.Tensor((2,), dtype=\"float32\")") != std::string::npos);
  CHECK(page.find("R.multiply") == std::string::npos);
  CHECK(run("help(M.main)").find("main(x") != std::string::npos);
  CHECK(run("help(3)").find("int") != std::string::npos);
  CHECK(run("help(\"gradient\")").find("--wrt") != std::string::npos);
}

TEST_CASE("what a stopped loop or job left is saved as values, and the session that was saved runs again") {
  relish::testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/kept.relish";
  const auto interrupted = [](Run& run, const std::string& text, int milliseconds) {
    clear_interrupt();
    std::thread signal([milliseconds] {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      interrupt_flag.store(SIGINT);
    });
    const std::string found = run(text);
    signal.join();
    clear_interrupt();
    return found;
  };
  Run first;
  CHECK(first(training_module) == "");
  CHECK(interrupted(first,
                    "for i in range(1000000000):\n    rows = i + 1\n    drawn = rand(3)\n    kind = "
                    "M.main\n    ends = [float(\"inf\"), -0.0, (1,), \"a'b\\n\", range(3), zeros(0, 2)]\n",
                    100)
            .starts_with("Interrupted@"));
  CHECK(first("more = rand(2)\nagain = kind(ones(2), ones(2))\n") == "");
  // A job that is interrupted is bound with what it has learned.
  CHECK(
      first("@I.ir_module\nclass L:\n    @R.function\n    def main(x: R.Tensor((\"n\", 2), \"float32\"), w: "
            "R.Tensor((2, 20), \"float32\")):\n        y = R.matmul(x, w)\n        return y\n") == "");
  CHECK(interrupted(
            first,
            "job = train(L.main, data=(ones(64, 2), ones(64, 20)), loss=\"mse\", optimizer=\"sgd(lr=0.1)\", "
            "steps=100000000, log_every=\"1000s\", run_dir=\"" +
                folder.path() + "/job\")\n",
            1500) == "Interrupted@1");
  const std::string shown =
      "print(rows, drawn, more, again, ends[:5], ends[5].shape, job[\"steps\"], job[\"params\"])\n";
  const std::string before = first(shown);
  CHECK(before.find("inf") != std::string::npos);
  CHECK(first(":save " + path + "\n").find("saved ") == 0);

  Run second;
  CHECK(second.inputs->run_file(path));
  CHECK(second(shown) == before);
}

TEST_CASE("a paste with commands is an input for each of them and for what stands between") {
  SessionHarness session;
  CHECK(session("x = 1\ny = x\n:type x\nx = 2\n:undo\nx\n") == "int\nnow at state 1: x = 1\n1\n");
  CHECK(session.workspace().next_input() == 6);
  // A paste of statements alone is one.
  session("x = 3\ny = 4\n");
  CHECK(session.workspace().next_input() == 7);
  CHECK(session(":undo") == "now at state 1: x = 1\n");
  const std::string told = session.with_errors("a = 1\n:type a\nb = nothing\n:type a\n");
  CHECK(told.find("what stands in front of it ran; 1 part behind it did not") != std::string::npos);
  CHECK(session("a") == "1\n");
  // And what did not run is proposed.
  session("b = nothing\n:type x\n");
  session(":fix");
  CHECK(session.inputs().take_corrected() == "b = nothing\n:type x");
  session("c = 1\n:type c\nprint(abz(c))\n:type x\n");
  session(":fix");
  CHECK(session.inputs().take_corrected() == "print(abs(c))\n:type x");
}

TEST_CASE("each input of a copied session is one") {
  SessionHarness session;
  CHECK(
      session(
          "[1] >>> w = 1\n[2] >>> for i in range(2):\n    ...     w = w + 2\n    ...\n[3] >>> w - w@1\n4\n[4] "
          ">>> :undo\nnow at state 1: w = 1\n[5] >>> w\n1\n") == "4\nnow at state 1: w = 1\n1\n");
  const std::string told = session.with_errors(">>> v = w + 1\n>>> v = nothing\n>>> v = 7\n>>> v = 8\n");
  CHECK(told.find("it is input 2 of 4 that were pasted; 2 inputs behind it did not run") !=
        std::string::npos);
  CHECK(session("v") == "2\n");
  // Open brackets in answers open nothing.
  CHECK(missing_in_input("[1] >>> x = 1\n[2] >>> x\n  [1,\n") == Missing::Nothing);
  CHECK(missing_in_input("[1] >>> x = (1,\n") == Missing::Bracket);
}

TEST_CASE("commands with comments, pages, beginnings, options that are given twice") {
  SessionHarness session("jit");
  session(training_module);
  session("x = ones((2,))\n");
  CHECK(session(":undo # back") == "now at state 1: class M:\n");
  CHECK(session(":redo\t# on") == "now at state 2: x = ones((2,))\n");
  // Inside quotes and brackets, or within a word, it is part of the command.
  CHECK(session(":type \"a # b\"") == "str\n");
  CHECK(session(":type [1, # two\n2]") == "list\n");
  CHECK(session(":gradient --help") == session(":help gradient"));
  CHECK(session(":grad M.main").find("unknown command ':grad'; did you mean 'gradient'?") !=
        std::string::npos);
  CHECK(session(":s x").find("unknown command ':s'") != std::string::npos);
  CHECK(session(":passes M.main -p gradient -p legalize") == "UsageError: passes: --passes is given twice");
  CHECK(session(":gradient M.main --wrt x --wrt w --as G") == "G = gradient(M.main, wrt=[\"x\", \"w\"])\n");
  CHECK(session(":gradient M.main --wrt [x, \"w\"] --as G") == "G = gradient(M.main, wrt=[\"x\", \"w\"])\n");
  CHECK(session(":load with blank.relish").find("stands in quotes") != std::string::npos);
}

TEST_CASE("results of commands go to the module's name, or to the one that is given") {
  SessionHarness session;
  session(training_module + "f = M.main\n");
  CHECK(session(":gradient f") == "M = gradient(f)\n");
  session("M");
  CHECK(session(":legalize _").find("found '_', a value that was shown") != std::string::npos);
  CHECK(session(":legalize _ --as L") == "L = legalize(_)\n");
  CHECK(session(":vjp 3").find("vjp: found an int; expected a function") != std::string::npos);
}

TEST_CASE("who asks by a command is told in words, and the value is that of the call") {
  SessionHarness session("jit");
  session(training_module + "M.main(ones((2,)), ones((2,)))\n");
  CHECK(session(":time M.main --runs 3").starts_with("main: median "));
  CHECK(session("_[\"runs\"]") == "3\n");
  CHECK(session("time(M.main, runs=3)").starts_with("{'compile_ms': "));
  const std::string two = session(":time M.main --runs 3 --vs M.main");
  CHECK(two.find("\nratio ") != std::string::npos);
  CHECK((two.find("the first takes ") != std::string::npos ||
         two.find("the second takes ") != std::string::npos));
  CHECK(session(":profile M.main --runs 2").find("kernel ") != std::string::npos);
  CHECK(session(":memory M.main").find("{'") == std::string::npos);
  // What a statement behind it shows is its own value.
  CHECK(session(":time M.main --runs 3\nprint(1)\n2\n").ends_with("1\n2\n"));
}

TEST_CASE("arguments that are not given are those of the last call") {
  SessionHarness session;
  session(training_module + "M.main(ones((2,)) * 3, ones((2,)))\n");
  CHECK(session(":call M.main") == "float32 () 6\n");
  CHECK(session(":call M.main --arg x=ones") == "float32 () 2\n");
  CHECK(session(":call M.main --arg y=ones").find("'y' is no parameter of main") != std::string::npos);
  SessionHarness fresh;
  fresh(training_module);
  CHECK(fresh(":call M.main --arg x=ones").find("no value for w") != std::string::npos);
}
