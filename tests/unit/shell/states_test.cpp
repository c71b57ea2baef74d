// States of a session: going back and forth gives the very same values, an error leaves everything as it was,
// and values of other states stand in expressions.
#include <catch2/catch.hpp>

#include <chrono>
#include <random>
#include <thread>

#include "shell/script/builtins.h"
#include "support/interrupt.h"
#include "tests/unit/shell/session_harness.h"

using namespace relish;
using relish::testing::content_of;
using relish::testing::SessionHarness;

namespace {

const std::string small_module =
    "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((2,), \"float32\"), w: R.Tensor((2,), "
    "\"float32\")):\n        y = R.sum(R.multiply(x, w))\n        return y\n";

const std::string& pick(const std::vector<std::string>& texts, std::mt19937& random) {
  return texts[random() % texts.size()];
}

// Inputs that work, in any order, whatever ran before.
const std::vector<std::string> good_inputs = {
    "a = rand((3,))",
    "b = [1, 2]",
    "b = (2, 1.5)",
    "b = 'text'",
    "c = 1",
    "c = rand((2, 2)) @ rand((2, 2))",
    "rand((1,))",
    "print(1)",
    "for i in range(3): d = i * 0.1",
    small_module,
    small_module + "M = gradient(M.main, wrt=[\"w\"])\n",
    "@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n    return R.exp(x)\n",
    "@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n    return R.negative(x)\n",
    "@R.function\ndef g(x: R.Tensor((2,), \"float32\")):\n    return R.abs(x)\n",
    "c = 2; del c",
    "import tvm.relax as rx",
    ":set threads 2",
    ":set seed 3",
    "c = 3\nc = c + nothing\n",
    "e = ones((2,)); e = donate(e) + 1",
    "b = 5; b",
};

// Inputs that fail and leave nothing, whatever ran before.
const std::vector<std::string> bad_inputs = {
    "a = nothing",
    "a = 1 +",
    "a = b = c = 1 // 0",
    "a, (b, c) = 1, (rand((2,)), 3, 4)",
    "x, y = 1, 2, 3",
    "a = (rand((2,)), 1 // 0)",
    "a = rand((2,)) @ rand((3,))",
    "del nowhere",
    "M = gradient(5)",
    ":gradient Nowhere.main",
    ":goto 99999",
    ":goto nowhere",
    ":snapshot 12",
    ":set threads 0",
    ":set speed 3",
    ":tier fast",
    "assert 1 == 2",
    "load(\"no-such-file.npz\")",
    "@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n    return R.nothing(x)\n",
    "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((2,), \"float32\")):\n        return "
    "z\n",
    "n = nowhere@3",
    "n = a@9999999",
    "rand((2,)) + 'a'",
    "if nothing: a = 1\n",
    "import tvm.relax as rr\na = nothing(rr)\n:typo",
};

std::size_t states(const SessionHarness& session) {
  return const_cast<SessionHarness&>(session).workspace().log().size();
}

// One that fails: as it stands, behind what only shows, in a block, or cut somewhere.
std::string failing_input(std::mt19937& random) {
  const std::string& bad = pick(bad_inputs, random);
  const bool plain = bad.find(':') == std::string::npos && bad.find('@') == std::string::npos &&
                     bad.find('\n') == std::string::npos;
  switch (random() % 4) {
    case 0:
      return "# " + std::to_string(random()) + "\n" + bad;
    case 1:
      return plain ? "if True:\n    " + bad + "\n" : bad;
    case 2:
      return plain ? fmt::format("v{} = [0, (nothing{}, {})]", random() % 9, random(), random() % 99) : bad;
    default:
      return bad;
  }
}

// What fails when it runs, behind what is read without a fault.
const std::vector<std::string> late_faults = {"zz = 1 // 0\nlate = 5\n", "zz = nothing\nlate = rand((2,))\n",
                                              "assert 1 == 2\n:set seed 9\n", ":goto nowhere\nlate = 1\n"};

// The state's text before and behind each of them is the same; behind a paste that fails half way it is that
// of what stood in front of the fault, and what would be saved comes to it.
void check_failing_inputs(int count_of_inputs, unsigned seed) {
  std::mt19937 random(seed);
  SessionHarness session, twin;
  for (int i = 0; i < count_of_inputs; ++i) {
    if (i % 20 == 0) {
      std::string good = pick(good_inputs, random);
      // What fails itself is no beginning of another one.
      if (good.find("nothing") != std::string::npos) good = "a = 2.5";
      const std::string told = session(good + "\n" + pick(late_faults, random));
      twin(good);
      INFO(good << "\n" << told);
      REQUIRE(told.find("Error") != std::string::npos);
      REQUIRE(content_of(session.workspace().state()) == content_of(twin.workspace().state()));
      // A new seed begins its numbers anew, which no statement says.
      if (i % 200 != 0 || twin.workspace().state().options.seed != 0) continue;
      SessionHarness again;
      again.inputs().run_text("<again>", *session.workspace().statements().plain());
      std::string expected = content_of(twin.workspace().state());
      // The heading of the file has the options.
      const auto without_options = [](const std::string& text) {
        return text.substr(0, text.rfind("interp "));
      };
      REQUIRE(without_options(content_of(again.workspace().state())) == without_options(expected));
      continue;
    }
    const std::string before = content_of(session.workspace().state());
    const std::size_t count = states(session);
    const std::string input = failing_input(random);
    const std::string told = session(input);
    INFO(input << "\n" << told);
    REQUIRE(told.find("Error") != std::string::npos);
    REQUIRE(content_of(session.workspace().state()) == before);
    REQUIRE(states(session) == count);
  }
}

void check_logs(int rounds, unsigned seed) {
  std::mt19937 random(seed);
  for (int round = 0; round < rounds; ++round) {
    SessionHarness session;
    // Now and then nothing but the present state may be held.
    if (round % 3 == 0) session.workspace().set_budget(0);
    std::string inputs;
    for (int step = 0; step < 12; ++step) {
      std::string input;
      switch (random() % 6) {
        case 0:
          input = ":undo " + std::to_string(1 + random() % 3);
          break;
        case 1:
          input = ":redo";
          break;
        case 2:
          input = ":goto " + std::to_string(random() % session.workspace().next_input());
          break;
        default:
          input = pick(good_inputs, random);
      }
      session(input);
      inputs += input + "\n---\n";
    }
    INFO(inputs);
    const Workspace& workspace = session.workspace();
    const auto text = workspace.statements().plain();
    REQUIRE(text);
    SessionHarness fresh;
    fresh.inputs().run_text("<again>", *text);
    std::string expected = content_of(fresh.workspace().state());
    const StateOptions& options = workspace.state().options;
    // A saved session begins with the options that it ended with; a new seed begins its numbers anew.
    if (options.seed != 0) continue;
    expected.replace(expected.rfind("interp "), 8, fmt::format("interp {}", options.threads));
    REQUIRE(content_of(workspace.state()) == expected);
  }
}

}  // namespace

TEST_CASE("a loop that was stopped is a state that says so") {
  SessionHarness session;
  std::thread signal([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    interrupt_flag.store(2);  // SIGINT
  });
  CHECK(session("n = 0\nwhile True:\n    n = n + 1\n").find("Interrupted") != std::string::npos);
  signal.join();
  clear_interrupt();
  const Log& log = session.workspace().log();
  CHECK(log.node(log.present()).stopped);
  session("m = 1");
  CHECK_FALSE(log.node(log.present()).stopped);
}

TEST_CASE("an input that fails changes nothing and makes no state") { check_failing_inputs(3000, 1); }
TEST_CASE("of 10,000 inputs that fail none changes anything", "[.][full]") {
  check_failing_inputs(10'000, 11);
}

TEST_CASE("a paste that fails half way keeps what ran before, also when saved") {
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    SessionHarness pasted, typed;
    std::string paste;
    const std::size_t parts = 1 + random() % 3;
    for (std::size_t part = 0; part < parts; ++part) {
      // Its own functions may call each other, so a text with two of a name is cut at the second.
      const std::string& input = good_inputs[random() % 7];
      paste += input + "\n";
      typed(input);
    }
    pasted(paste + "zz = 1 // 0\nlate = 5\n");
    INFO(paste);
    REQUIRE(content_of(pasted.workspace().state()) == content_of(typed.workspace().state()));
    SessionHarness again;
    again(*pasted.workspace().statements().plain());
    REQUIRE(content_of(again.workspace().state()) == content_of(typed.workspace().state()));
  }
}

TEST_CASE("what a failing text would have declared or imported behind the fault is not there") {
  SessionHarness session;
  session(
      "@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n    return R.exp(x)\nq = nothing\nimport "
      "tvm.relax as rx\n@R.function\ndef "
      "g(x: R.Tensor((2,), \"float32\")):\n    return R.abs(x)\n");
  CHECK(session.workspace().state().free_functions->names() == std::vector<std::string>{"f"});
  CHECK(session("rx.op.exp(ones((1,)))").starts_with("TypeError"));
  SessionHarness again;
  again(*session.workspace().statements().plain());
  CHECK(content_of(again.workspace().state()) == content_of(session.workspace().state()));
}

TEST_CASE("undo, redo and goto come to what a fresh replay comes to, bit for bit") { check_logs(200, 3); }
TEST_CASE("undo, redo and goto over 1,000 logs", "[.][full]") { check_logs(1000, 33); }

TEST_CASE("every state of a log can be gone to again, held or not") {
  std::mt19937 random(4);
  for (const std::uint64_t budget : {std::uint64_t{0}, std::uint64_t{200}, std::uint64_t{1} << 30}) {
    SessionHarness session;
    session.workspace().set_budget(budget);
    std::vector<std::string> contents;
    for (int i = 0; i < 60; ++i) {
      session(pick(good_inputs, random));
      contents.push_back(content_of(session.workspace().state()));
    }
    const Log& log = session.workspace().log();
    std::size_t dropped = 0;
    for (std::size_t id = 1; id < log.size(); ++id) dropped += log.node(id).state ? 0 : 1;
    CHECK((dropped > 0) == (budget < 1000));
    for (int i = 0; i < 60; ++i) {
      const std::size_t input = 1 + random() % contents.size();
      INFO("input " << input);
      REQUIRE(session(":goto " + std::to_string(input)).starts_with("now at "));
      REQUIRE(content_of(session.workspace().state()) == contents[input - 1]);
    }
  }
}

TEST_CASE("what only shows makes no state; what is stopped half way does") {
  SessionHarness session;
  session("x = 1");
  CHECK(states(session) == 2);
  session("print(x)");
  session("x");
  session(":history");
  session("x = 1");
  CHECK(states(session) == 2);
  session("x = 2\ny = nothing\n");
  CHECK(states(session) == 3);
  CHECK(session(":undo") == "now at state 1: x = 1\n");
  CHECK(session("x") == "1\n");
  CHECK(session("for i in range(3):\n    x = x + 1\n    y = 1 // (1 - i)\n").starts_with("RuntimeError"));
  CHECK(session("x") == "3\n");
  CHECK(session(":undo") == "now at state 1: x = 1\n");
}

TEST_CASE("beyond the ends nothing changes") {
  SessionHarness session;
  CHECK(session(":undo") == "nothing to undo: this is the start\n");
  CHECK(session(":redo") == "nothing to redo: no undo came before, or something was run since\n");
  session("x = 1");
  session("x = 2");
  CHECK(session(":undo 3") == "nothing undone: 2 states lie before this one\n");
  CHECK(session("x") == "2\n");
  CHECK(session(":undo 2") == "now at the start\n");
  CHECK(session(":redo") == "now at state 3: x = 1\n");
  CHECK(session("x") == "1\n");
  session("y = 1");
  CHECK(session(":redo").starts_with("nothing to redo"));
  CHECK(session(":undo 0").starts_with("UsageError"));
}

TEST_CASE("branches and snapshots") {
  SessionHarness session;
  session("x = 1");
  session("x = 2");
  CHECK(session(":snapshot before") == "before is state 2: x = 2\n");
  CHECK(session(":branch before").starts_with("UsageError"));
  session(":goto 1");
  session("x = 30");
  CHECK(session.workspace().log().branch() == "in6");
  session(":goto main");
  CHECK(session("x") == "2\n");
  CHECK(session.workspace().log().branch() == "main");
  session("x = 3");
  CHECK(session("(x@1, x@before, x@in6, x@main, x)") == "(1, 2, 30, 3, 3)\n");
  CHECK(session(":branch try") == "branch try begins at state 9: x = 3\n");
  session("x = 4");
  CHECK(session("(x@main, x@try)") == "(3, 4)\n");
  // By its number one comes to the end of a branch as well.
  session(":goto 6");
  CHECK(session.workspace().log().branch() == "in6");
  session(":goto 2");
  CHECK(session.workspace().log().branch().empty());
}

TEST_CASE("what was undone and left is still listed") {
  SessionHarness session;
  session("x = 1");
  session("x = 2");
  session("x = 3");
  session(":undo 2");
  // It can be redone.
  CHECK(session(":branches").find(" left ") == std::string::npos);
  session("x = 4");
  CHECK(session(":branches") ==
        "* main         branch   state 6: x = 4\n  -            left     state 3: x = 3\n");
  CHECK(session(":goto 3") == "now at state 3: x = 3\n");
  session("x = 5");
  CHECK(session(":branches").find(" left ") == std::string::npos);
  // A name for a state on the way to an end names not the end.
  session(":goto main");
  session(":snapshot here");
  session("x = 6");
  session(":undo");
  session("x = 7");
  CHECK(session(":branches").find("left     state 13: x = 6") != std::string::npos);
}

TEST_CASE("commands take values of other states") {
  SessionHarness session;
  session(small_module + "w = ones((2,))\n");
  session(":snapshot before");
  session("L = M; del M");
  CHECK(session(":info M@before").find("bound by [1] class M:") != std::string::npos);
  CHECK(session(":where M@1.main").find("<in>:4:9") != std::string::npos);
  CHECK(session(":uses M@1.main").find("unknown name") == std::string::npos);
  CHECK(session(":time L.main --arg x=w --arg w=w --vs M@before.main --runs 2").find("ratio") !=
        std::string::npos);
  CHECK(session(":time L.main --arg x=w --arg w=w --vs nope --runs 2").find("the word 'nope'") !=
        std::string::npos);
  CHECK(session(":bind-params M@1.main --params {\"w\": w} --as N").starts_with("N = bind_params(M@1.main"));
  CHECK(session(":edit M@1").find("is of another state") != std::string::npos);
  CHECK(session(":info M@99").starts_with("UsageError: there is no state behind input 99"));
  // Of a binding its type is told.
  CHECK(session(":type L.main.y") == "y: R.Tensor((), dtype=\"float32\")\n");
  CHECK(session(":info L.main.y").starts_with("y: R.Tensor((), dtype=\"float32\")\nwritten at <in>:5:"));
  CHECK(session(":type L.main.z").starts_with("TypeError: 'L.main' has no binding 'z'"));
}

TEST_CASE("values of other states in expressions") {
  SessionHarness session;
  session(small_module + "x = ones((2,))\nf = M.main\n");
  session(":snapshot old");
  session("x = x * 3; M = gradient(M.main, wrt=[\"w\"]); f = 5");
  CHECK(session("M@1.main(x, x@1)") == "float32 () 6\n");
  CHECK(session("M@old.main(x@old, x@old)") == "float32 () 2\n");
  CHECK(session("f@old(x@1, x)") == "float32 () 6\n");
  CHECK(session("[2 * x@old[0], x@old @ x]") == "[float32 () 2, float32 () 6]\n");
  // A name that is bound means its value: this is a product.
  session("old = ones((2,))");
  CHECK(session("x@old") == "float32 () 6\n");
  session("del old");
  CHECK(session("M@old.main_adjoint(x, x)").starts_with("TypeError"));
  CHECK(session(":gradient M@old.main --wrt x") == "M = gradient(M@old.main, wrt=[\"x\"])\n");
  CHECK(session("len(M.main_adjoint(x, x)[1])") == "1\n");
  CHECK(session("y@1").starts_with("TypeError: 'y' is not bound in the state 1"));
  CHECK(session("x@77").starts_with("UsageError: there is no state behind input 77"));
}

TEST_CASE("values that were shown") {
  SessionHarness session;
  CHECK(session("_").starts_with("TypeError"));
  session("1 + 1");
  session("ones((2,)) * 4");
  CHECK(session("_ + 1") == "float32 (2,)\n[5, 5]\n");
  CHECK(session("_2 * 10") == "20\n");
  CHECK(session("_1").starts_with("TypeError"));
  CHECK(session("_ab").starts_with("TypeError: unknown name"));
  session("k = _");
  CHECK(session("k") == "20\n");
  // In the file of the session stands the value.
  SessionHarness again;
  again(*session.workspace().statements().plain());
  CHECK(again("k") == "20\n");
  session("_ = 'mine'");
  CHECK(session("_") == "mine\n");
}

TEST_CASE("what is given away is not held by the log") {
  SessionHarness session;
  session("p = ones((4,)) * 2");
  session("q = p");
  session("del q");
  session("p = donate(p) + 1");
  CHECK_FALSE(session.workspace().log().node(1).state);
  CHECK(session(":undo") == "now at state 3: del q (made again from its statements)\n");
  CHECK(session("p") == "float32 (4,)\n[2, 2, 2, 2]\n");
  session(":redo");
  CHECK(session("p") == "float32 (4,)\n[3, 3, 3, 3]\n");
  // What refuses the operands before it computes has taken nothing.
  CHECK(session("p = donate(p) + 'a'").starts_with("TypeError"));
  CHECK(session("p") == "float32 (4,)\n[3, 3, 3, 3]\n");
}

TEST_CASE("a name is unbound, and a free function with it") {
  SessionHarness session;
  session("x, y, z = 1, 2, 3\ndel x, y\n");
  CHECK(session("x").starts_with("TypeError"));
  CHECK(session("z") == "3\n");
  session(
      "@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n    return R.exp(x)\n@R.function\ndef g(x: "
      "R.Tensor((2,), "
      "\"float32\")):\n    y = f(x)\n    return y\n");
  CHECK(session("del f").find("'f' is called by 'g'") != std::string::npos);
  CHECK(session("f(zeros((2,)))") == "float32 (2,)\n[1, 1]\n");
  CHECK(session("del g\ndel f\n") == "");
  CHECK_FALSE(session.workspace().state().free_functions);
  CHECK(session("del z.a").find("cannot unbind") != std::string::npos);
}

TEST_CASE("a function that is declared anew is the one name that changes") {
  SessionHarness session;
  const auto function = [](const std::string& name, const std::string& value) {
    return "@R.function\ndef " + name + "(x: R.Tensor((2,), \"float32\")):\n    y = " + value +
           "\n    return y\n";
  };
  session(function("inner", "R.exp(x)") + function("outer", "inner(x)") + function("other", "R.abs(x)"));
  session("kept = outer");
  session(function("inner", "R.negative(x)"));
  CHECK(session(":history").find("~inner\n") != std::string::npos);
  CHECK(session(":vars").find("other") != std::string::npos);
  // Each state has its own callees.
  CHECK(session("outer(ones((2,)))") == "float32 (2,)\n[-1, -1]\n");
  CHECK(session("outer@1(zeros((2,)))") == "float32 (2,)\n[1, 1]\n");
  CHECK(session("kept(zeros((2,)))") == "float32 (2,)\n[1, 1]\n");
  CHECK(session("old = outer@1\nold(zeros((2,)))\n") == "float32 (2,)\n[1, 1]\n");
  session(":goto 1");
  CHECK(session("outer(zeros((2,)))") == "float32 (2,)\n[1, 1]\n");
  session("inner = inner@3");
  CHECK(session("inner(ones((2,)))") == "float32 (2,)\n[-1, -1]\n");
  CHECK(session("outer(zeros((2,)))") == "float32 (2,)\n[1, 1]\n");
  session(":undo");
  session(":redo");
  CHECK(session("inner(ones((2,)))") == "float32 (2,)\n[-1, -1]\n");
  session(":goto 3");
  CHECK(session("outer(ones((2,)))") == "float32 (2,)\n[-1, -1]\n");
}

TEST_CASE("statements of a text that nobody types are inputs of their own") {
  SessionHarness session;
  session.inputs().run_text("<stdin>", "a = 1; b = 2\nif True:\n    c = 3\n:undo\nd = 4  # end\n");
  CHECK(session.workspace().next_input() == 6);
  CHECK(session("(a, b, d)") == "(1, 2, 4)\n");
  CHECK(session("c").starts_with("TypeError"));
  CHECK(*session.workspace().statements().plain() == "a = 1\nb = 2\nd = 4\n(a, b, d)\n");
}

TEST_CASE("a map of names") {
  std::mt19937 random(5);
  NameMap map;
  std::map<std::string, std::int64_t> model;
  NameMap before;
  std::map<std::string, std::int64_t> model_before;
  for (int i = 0; i < 3000; ++i) {
    if (random() % 500 == 0) {
      before = map;
      model_before = model;
    }
    const std::string name = "n" + std::to_string(random() % 200);
    if (random() % 3 == 0) {
      map = map.without(name);
      model.erase(name);
    } else {
      map = map.with(name, ScriptValue(i));
      model[name] = i;
    }
  }
  CHECK(map.size() == model.size());
  std::map<std::string, std::int64_t> found;
  map.for_each([&](const std::string& name, const ScriptValue& value) {
    found[name] = *value.as<std::int64_t>();
    CHECK(map.find(name) == &value);
  });
  CHECK(found == model);
  std::map<std::string, int> expected, told;
  for (const auto& [name, value] : model)
    if (!model_before.contains(name) || model_before[name] != value) expected[name] |= 1;
  for (const auto& [name, value] : model_before)
    if (!model.contains(name) || model[name] != value) expected[name] |= 2;
  map.for_each_difference(before,
                          [&](const std::string& name, const ScriptValue* here, const ScriptValue* there) {
                            told[name] = (here ? 1 : 0) | (there ? 2 : 0);
                          });
  CHECK(told == expected);
}
