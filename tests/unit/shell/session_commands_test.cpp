// What commands of a session know of it: the arguments of calls, users of functions, functions that are
// edited elsewhere; and what is longer than the screen.
#include <catch2/catch.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "shell/program/external_editor.h"
#include "shell/program/pager.h"
#include "shell/repl/inputs/input_parts.h"
#include "shell/repl/inputs/session_saving.h"
#include "shell/workspace/origins.h"
#include "tests/unit/changed_variable.h"
#include "tests/unit/shell/session_harness.h"
#include "tests/unit/temporary_folder.h"

using namespace relish;
using relish::testing::SessionHarness;
using relish::testing::two_layers;

TEST_CASE("the arguments of a function's last call serve commands") {
  SessionHarness session;
  session(two_layers);
  CHECK(session(":call M.main").starts_with("UsageError"));
  session("x = ones((2, 3))\nw = ones((3, 4)) * 2\n");
  session("h = M.main(x, w)");
  CHECK(session("call(M.main) == h").find("True") != std::string::npos);
  CHECK(session("t = time(M.main, runs=2, vs=M.main)\nprint(t['vs']['runs'], t['ratio'] > 0)") == "2 True\n");
  // Those of the function under another form that takes the same.
  session(two_layers.substr(0, two_layers.find("h = ")) +
          "h = R.negative(R.matmul(x, w))\n        return h\n");
  CHECK(session("call(M.main)[0, 0]") == "float32 () -6\n");
  // A saved session has no last calls: what used them stands there as values.
  session("k = call(M.main)");
  SessionHarness again;
  again(*session.workspace().statements().plain());
  CHECK(again("k[0, 0]") == "float32 () -6\n");
  // What is given away is not held.
  session("M.main(donate(x), w)");
  session("x = ones((2, 3)) * 5");
  CHECK(session(":call M.main").find("no value for") != std::string::npos);
}

TEST_CASE("functions are timed beside each other with the same arguments") {
  SessionHarness session;
  session(two_layers);
  session("x = ones((2, 3)); w = ones((3, 4)) * 2");
  session("h = M.main(x, w)");
  session(":bind-params M.main --set w=w");
  // The call of the function with two parameters says what the one that is left is.
  CHECK(session(":call M.main") == session("h"));
  const auto timed = [&](const std::string& line) {
    const std::string told = session(line);
    return told.find("\nratio ") != std::string::npos ? std::string("timed") : told;
  };
  CHECK(timed(":time M.main --vs M@1.main --runs 2") == "timed");
  CHECK(timed(":time M@1.main --vs M.main --runs 2") == "timed");
  CHECK(timed(":time M.main --vs M@1.main --arg x=x --arg w=w --runs 2") == "timed");
  CHECK(timed(":time M@1.main --vs M.main --arg x=rand --arg w=w --runs 2") == "timed");
  CHECK(session(":time M.main --vs M@1.main --arg x=x --arg v=w --runs 2")
            .find("'v' is no parameter of main") != std::string::npos);
  CHECK(session(":time M.main --vs M@1.main --arg x=x --runs 2").find("main: no value for w") !=
        std::string::npos);
  // Parameters of one name get one value, wherever they stand; others go by their places.
  session(
      "@R.function\ndef f(a: R.Tensor((2,), \"float32\"), b: R.Tensor((3,), \"float32\")):\n    return "
      "R.exp(a)\n");
  session(
      "@R.function\ndef g(b: R.Tensor((3,), \"float32\"), a: R.Tensor((2,), \"float32\")):\n    return "
      "R.exp(b)\n");
  session(
      "@R.function\ndef h(p: R.Tensor((2,), \"float32\"), q: R.Tensor((3,), \"float32\")):\n    return "
      "R.exp(q)\n");
  session("f(ones((2,)), ones((3,)))");
  CHECK(timed(":time f --vs g --runs 2") == "timed");
  CHECK(timed(":time f --vs h --runs 2") == "timed");
}

TEST_CASE("who uses a function is told, wherever it is") {
  SessionHarness session;
  session(
      "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((2,), \"float32\")):\n        return "
      "R.sum(R.exp(x))\n");
  session("G = gradient(M.main)");
  CHECK(session(":uses G.main_adjoint") == "nothing calls G.main_adjoint\n");
  session("J = jvp(G.main_adjoint)");
  session("G.main_adjoint(ones((2,)))");
  session("def twice(x):\n    return G.main_adjoint(x), G.main_adjoint(x)\n");
  const std::string used = session(":uses G.main_adjoint");
  INFO(used);
  CHECK(used.find("source of J.main_adjoint_jvp\n") != std::string::npos);
  CHECK(used.find("[4] J = jvp(G.main_adjoint)\n") != std::string::npos);
  CHECK(used.find("behind [4] G.main_adjoint(ones((2,)))\n") != std::string::npos);
  CHECK(used.find("[6] def twice(x):\n") != std::string::npos);
  CHECK(used.find("called by") == std::string::npos);
  CHECK(session(":uses M.main").starts_with("source of G.main_adjoint, J.main_adjoint\n"));
  // By a copy in a free function.
  session("@R.function\ndef outer(x: R.Tensor((2,), \"float32\")):\n    y = G.main(x)\n    return y\n");
  CHECK(session(":uses G.main").find("called by outer\n") != std::string::npos);
  CHECK(session(":uses main_adjoint").starts_with("TypeError"));
  // A parameter by the name of a tensor is not the tensor; a constant of functions is one.
  SessionHarness other;
  other("x = ones((2,)); n = 2");
  other("@R.function\ndef f(x: R.Tensor((n,), \"float32\")):\n    y = x + x\n    return y\ny = f(x)");
  other("@R.function\ndef g(x: R.Tensor((n,), \"float32\")):\n    return x");
  CHECK(other(":uses x").find("[3]") == std::string::npos);
  CHECK(other(":uses x").find("[2] ") != std::string::npos);
  CHECK(other(":uses n").find("[3] ") != std::string::npos);
}

TEST_CASE("a function is edited elsewhere and comes back into its module") {
  SessionHarness session;
  session(
      "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((2,), \"float32\")):\n        y = "
      "R.sum(R.exp(x))\n        return y\n\n    @R.function\n    def other(x: R.Tensor((2,), \"float32\")):\n     "
      "   y = R.exp(x)\n        return y\n");
  session("M = gradient(M.main)");
  ::setenv("VISUAL", "sed -i s/exp/sin/", 1);
  CHECK(session(":edit M.main").empty());
  CHECK(session("M.other(zeros((2,)))") == "float32 (2,)\n[1, 1]\n");
  CHECK(session("M.main(zeros((2,)))") == "float32 () 0\n");
  // The others are the very same functions, so it is known what was made from the old one.
  const auto& module = *session.workspace().script().environment().find("M")->as<ModulePtr>();
  const std::vector<GlobalFunction> stale = stale_functions(*module);
  REQUIRE(stale.size() == 1);
  CHECK(name_of(stale.front()) == "main_adjoint");
  session(":undo");
  CHECK(session("M.main(zeros((2,)))") == "float32 () 2\n");
  CHECK(session(":edit M.other").empty());
  CHECK(session("M.other(zeros((2,)))") == "float32 (2,)\n[0, 0]\n");
  // What fails is not lost: it stands in the line.
  ::setenv("VISUAL", "sed -i s/exp/nothing/", 1);
  session("q = 'exp'");
  session(":edit M.main");
  const auto kept = session.inputs().take_corrected();
  REQUIRE(kept);
  CHECK(kept->find("R.nothing") != std::string::npos);
  CHECK_FALSE(session.inputs().take_corrected());
  session("k = 3");
  ::setenv("VISUAL", "sed -i s/3/4/", 1);
  session(":edit");
  CHECK(session("k") == "4\n");
  ::setenv("VISUAL", "true", 1);
  CHECK(session(":edit M") == "nothing changed\n");
  ::setenv("VISUAL", "false", 1);
  CHECK(session(":edit M").starts_with("IOError: the editor 'false' failed"));
  CHECK(session(":edit nowhere").starts_with("UsageError"));
  CHECK(session(":edit 99").starts_with("UsageError"));
  ::unsetenv("VISUAL");
}

TEST_CASE("a copy of a session runs wherever inputs are read") {
  SessionHarness session;
  session.inputs().run_text(
      "<stdin>", "[1] >>> a = 1\n[2] >>> a\n1\n[3] >>> for i in range(2):\n    ...     a = a + i\n");
  CHECK(session("a") == "2\n");
}

TEST_CASE("what is longer than the screen goes to the pager, which is less unless another is named") {
  ::signal(SIGPIPE, SIG_IGN);  // as the program does: a pager may end before it has read all
  const testing::TemporaryFolder folder;
  const std::string file = folder.file("paged");
  ::setenv("PAGER", ("cat >" + file).c_str(), 1);
  begin_paging(10);
  SessionHarness session;
  CHECK(session("print('a\\n' * 4)") == "a\na\na\na\n\n");
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(session("print('b\\n' * 20)").empty());
  CHECK(testing::bytes_of(file).substr(0, 4) == "b\nb\n");
  // One that is not there shows nothing, so the session does.
  ::setenv("PAGER", "no-such-pager-anywhere 2>/dev/null", 1);
  CHECK(session("print('c\\n' * 20)").starts_with("c\nc\n"));
  begin_paging(0);
  ::setenv("PAGER", ("cat >" + file).c_str(), 1);
  CHECK(session("print('d\\n' * 20)").starts_with("d\nd\n"));
  // Nothing is asked for by nothing; else less is taken, where there is one.
  begin_paging(10);
  ::setenv("PAGER", "", 1);
  CHECK(session("print('e\\n' * 20)").starts_with("e\ne\n"));
  ::unsetenv("PAGER");
  const std::string path = std::getenv("PATH");
  const std::string less = folder.put("less", "#!/bin/sh\nexec cat >" + file + "\n");
  std::filesystem::permissions(less, std::filesystem::perms::owner_all);
  ::setenv("PATH", (folder.path() + ":" + path).c_str(), 1);
  CHECK(session("print('f\\n' * 20)").empty());
  CHECK(testing::bytes_of(file).substr(0, 4) == "f\nf\n");
  ::setenv("PATH", "/nowhere", 1);
  CHECK(session("print('g\\n' * 20)").starts_with("g\ng\n"));
  ::setenv("PATH", path.c_str(), 1);
  // Ctrl-C in it comes to the session as well, which goes on.
  ::setenv("PAGER", ("kill -INT $PPID; kill -QUIT $PPID; cat >" + file).c_str(), 1);
  CHECK(session("print('h\\n' * 20)").empty());
  CHECK(testing::bytes_of(file).substr(0, 4) == "h\nh\n");
  ::unsetenv("PAGER");
  begin_paging(0);
}

TEST_CASE("the keys that interrupt are the editor's while it runs") {
  const char* before = std::getenv("VISUAL");
  const std::string kept = before ? before : "";
  ::setenv("VISUAL", "kill -INT $PPID; kill -QUIT $PPID; true", 1);
  CHECK(edited_by_user("x = 1\n") == "x = 1\n");
  if (before)
    ::setenv("VISUAL", kept.c_str(), 1);
  else
    ::unsetenv("VISUAL");
}

TEST_CASE("a large tensor says what all of it is like, and a job what it came to") {
  SessionHarness session;
  CHECK(session("arange(1000)").starts_with("int64 (1000,)\n[  0,"));
  CHECK(session("arange(2000)").starts_with("int64 (2000,)  mean 999.5  std 577.35  min 0  max 1999  |"));
  CHECK(session("print(arange(2000))").starts_with("int64 (2000,)\n"));
  session(
      "@I.ir_module\nclass Line:\n    @R.function\n    def main(x: R.Tensor((4, 2), \"float32\"), w: "
      "R.Tensor((2, 1), \"float32\")):\n        y = R.matmul(x, w)\n        return y\n"
      "x = ones((8, 2)); y = ones((8, 1))");
  const testing::TemporaryFolder folder;
  const std::string told =
      session(":train Line.main --data (x,y) --loss mse --optimizer sgd(lr=0.1) --epochs 1 --run-dir " +
              folder.file("run"));
  INFO(told);
  CHECK(told.find("params      w float32 (2, 1)\n") != std::string::npos);
  CHECK(told.find("status      'finished'") != std::string::npos);
  CHECK(told.find("[[") == std::string::npos);
  CHECK(session("_[\"params\"][\"w\"].shape") == "(2, 1)\n");
}

TEST_CASE("what a session has in no file is there for the next one") {
  const testing::TemporaryFolder folder;
  const testing::ChangedVariable home("XDG_STATE_HOME", folder.path());
  {
    SessionHarness session;
    CHECK(keep_left_session(session.workspace()).empty());
    session("1 + 1");
    CHECK(keep_left_session(session.workspace()).empty());
    CHECK(session(":restore") ==
          "UsageError: no session left states behind; restore takes a file: :restore session.rxs");
    session("x = tensor([1.0, 2.0])");
    session(":snapshot start");
    session("x = x * 3");
    session(":save " + folder.file("s.relish"));
    CHECK(keep_left_session(session.workspace()).empty());
    session("y = x + 1");
    CHECK(keep_left_session(session.workspace()) ==
          "1 state is not in any file; :restore in the next session goes on with them");
    const auto mode = std::filesystem::status(folder.file("relish/left.rxs")).permissions();
    CHECK((mode & std::filesystem::perms::others_read) == std::filesystem::perms::none);
  }
  SessionHarness next;
  CHECK(next(":restore").starts_with("restored 3 states; now at state 7: y = x + 1"));
  CHECK(next("y - x@start") == "float32 (2,)\n[3, 5]\n");
  CHECK(keep_left_session(next.workspace()).empty());
  // Large values are made again.
  SessionHarness large;
  large("t = zeros((20000000,))");
  const std::string told = keep_left_session(large.workspace());
  CHECK(told.find("left.relish runs their statements again") != std::string::npos);
  CHECK(testing::bytes_of(folder.file("relish/left.relish")).ends_with("t = zeros((20000000,))\n"));
  // Of a loop that failed in the middle no statements alone come to what it left.
  SessionHarness stopped;
  stopped("for i in range(2):\n    t = zeros((20000000,))\n    u = 1 // (1 - i)\n");
  CHECK(keep_left_session(stopped.workspace())
            .ends_with("values of more than 64 MiB are kept by :save FILE.rxs alone"));
}
