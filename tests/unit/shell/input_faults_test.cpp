// Faults that are told while one types: which there are, what is merely not finished, where they stand when
// the text has changed, and what a hole offers.
#include <catch2/catch.hpp>

#include <chrono>

#include "shell/repl/completion/hole_completion.h"
#include "shell/repl/editor/screen.h"
#include "shell/repl/faults/input_faults.h"
#include "support/failure.h"
#include "tests/unit/shell/session_harness.h"

using namespace relish;
using relish::testing::SessionHarness;

namespace {

const std::string typed_header =
    "@R.function\ndef f(x: R.Tensor((2, 3), \"float32\"), w: R.Tensor((3, 4), \"float32\")):\n";

// The marked parts of the text with the messages.
std::string faults_in(SessionHarness& session, const std::string& text) {
  std::string all;
  for (const InputFault& fault : input_faults(session.workspace(), text))
    all += text.substr(fault.begin, fault.end - fault.begin) + ": " + fault.message + "\n";
  return all;
}

std::string offered(SessionHarness& session, const std::string& text) {
  const auto found = complete_hole(session.workspace(), text);
  if (!found) return "none asked";
  std::string all(found->word);
  for (const Candidate& candidate : found->candidates)
    all += " " + candidate.text + " (" + candidate.kind + ")";
  return all;
}

}  // namespace

TEST_CASE("faults of the reader and of types in what is typed") {
  SessionHarness session;
  session("@R.function\ndef known(x: R.Tensor((2, 3), \"float32\")):\n    return R.exp(x)\n");
  session("n = rand((2,))");
  CHECK(faults_in(session, typed_header + "    y = R.matmul(x, x)\n").find("R.matmul(x, x): ") !=
        std::string::npos);
  CHECK(faults_in(session, typed_header + "    y = R.matmul(x, w)\n") == "");
  CHECK(faults_in(session, typed_header + "    y = known(x)\n    z = known(w)\n    return z\n")
            .find("w: argument of type") != std::string::npos);
  CHECK(faults_in(session, typed_header + "    y = R.exq(x)\n    return y\n").find("R.exq") !=
        std::string::npos);
  CHECK(faults_in(session, typed_header + "    return n\n").find("n: ") == 0);
  CHECK(faults_in(session, typed_header + "    y = ?a\n    return y\n").find("?a: found the hole '?a'") == 0);
  // What waits for its end is no fault; what stands above it may be one.
  CHECK(faults_in(session, typed_header + "    y = R.add(x, ") == "");
  CHECK(faults_in(session, typed_header) == "");
  CHECK(faults_in(session, "x = (1 + ") == "");
  CHECK(faults_in(session, "x = (1 +\n2 + ") == "");
  CHECK(faults_in(session, "x = \"a text") == "");
  CHECK(faults_in(session, "x = \"a text\ny = 1") != "");
  CHECK(faults_in(session, typed_header + "    y = R.add(x, w)\n    z = R.add(y, ").find("R.add(x, w)") !=
        std::string::npos);
  CHECK(faults_in(session, "x = 1)\ny = 2\n").find(")") == 0);
  // Commands are read when they run; a file when it is wanted.
  CHECK(faults_in(session, ":undo ((") == "");
  CHECK(faults_in(session, "x = load(\"none.relish\")\n") == "");
  CHECK(faults_in(session, "   ") == "");
}

TEST_CASE("faults of statements are found before they run") {
  SessionHarness session;
  session(typed_header + "    y = R.matmul(x, w)\n    return y\n");
  session(
      "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((\"n\", 3), \"float32\"), w: "
      "R.Tensor((3, 4), \"float32\")):\n        return R.matmul(x, w)\n");
  session("x = ones((2, 3)); w = ones((3, 4)); count = 5; xs = [1, 2]; d = {'a': 1}");
  session(":snapshot before");
  const std::size_t states = session.workspace().log().size();
  const auto told = [&](const std::string& text) { return faults_in(session, text); };
  // Names.
  CHECK(told("y = xx + 1") == "xx: unknown name 'xx'; did you mean 'x'?\n");
  CHECK(told("print(cout)").starts_with("cout: unknown name 'cout'; did you mean 'count'?"));
  CHECK(told("y = countt.T").starts_with("countt.T: unknown name 'countt'"));
  CHECK(told("coutn(3)").starts_with("coutn: unknown name 'coutn'"));
  CHECK(told("y = np.zeros(3)").starts_with("np.zeros: 'np.zeros' is a name of another library"));
  CHECK(told("y = later\nlater = 1").starts_with("later: unknown name"));
  CHECK(told("del x\ny = x") == "");  // the session has it: the run says it
  CHECK(told("y = 1\nz = y + count\nfor i in xs:\n    k = i\nprint(k, i, z)") == "");
  CHECK(told("def g(a):\n    b = a + later\n    return b\nlater = 2\ng(1)") == "");
  CHECK(told("z = [i + count for i in xs if i > 1]; q = lambda a, b=1: a + b; h = f\"{count:3d} {x}\"") ==
        "");
  CHECK(told("z = [j for i in xs]").starts_with("j: unknown name"));
  CHECK(told("z = x@before + x@1 + M@before.main(x, w)\n_\n_3") == "");
  CHECK(told("import tvm\nhelp(gradient)\ndonate(x)\nz = R.exp(w)\nprint(relish.sum)") == "");
  CHECK(told("main(x, w)") == "");  // as M.main may be called
  // Arguments.
  CHECK(told("gradient(M.main, wtr=[\"x\"])").starts_with("wtr: gradient: unknown option 'wtr'"));
  CHECK(told("def g(a):\n    return gradient(a, wtr=[])").starts_with("wtr: gradient: unknown option"));
  CHECK(told("M.main(x, v=w)").starts_with("w: main: unknown argument 'v'"));
  CHECK(told("M.main(x)").starts_with("M.main(x): main: the argument 'w' is missing"));
  CHECK(told("M.main(x, w, x)").starts_with("x: main: found 3 arguments; expected 2: x, w"));
  CHECK(told("M.mian(x, w)").find("module 'M' has no function 'mian'; did you mean 'main'?") !=
        std::string::npos);
  CHECK(told("y = R.exq(x)").starts_with("R.exq: unknown operator 'R.exq'"));
  CHECK(told("R.sum(unknown_here, axsi=1)").find("axsi") != std::string::npos);
  CHECK(told("M.main(*xs)\nR.add(**d)") == "");
  // Shapes.
  CHECK(told("R.matmul(x, x)").find("R.matmul(x, x): ") == 0);
  CHECK(told("y = x + w").starts_with("x + w: "));
  CHECK(told("y = x @ w\nz = y @ w").starts_with("y @ w: "));
  CHECK(told("y = ones((4, 4))\nM.main(y, w)").starts_with("y: argument 'x' of main"));
  CHECK(told("y = M.main(x, w)\nz = R.matmul(y, w)").starts_with("R.matmul(y, w): "));
  CHECK(told("f(x, zeros(3, 5))").starts_with("zeros(3, 5): argument 'w' of f"));
  CHECK(told("y = tensor([[1.0, 2.0], [3.0]])").find("expected equal lengths") != std::string::npos);
  CHECK(told("n = x.shape[0]\ny = zeros((n + 1, count))\nz = -y @ ones((count, 2))\nz += ones((3, 1))") ==
        "");
  CHECK(told("n = x.shape[0]\ny = zeros((n + 1, count))\nz = y @ ones((4, 2))").starts_with("y @ ones"));
  // What may be something else in another round, or another way, is not known.
  CHECK(told("for i in xs:\n    x = R.concat((x, x), axis=1)\ny = x @ w") == "");
  CHECK(told("if count > 3:\n    x = ones((7, 3))\nelse:\n    x = 1\ny = x @ w") == "");
  CHECK(told("if count > 3:\n    y = x @ x\n").starts_with("x @ x: "));
  CHECK(told("xs.append(3)\nys = zeros(xs)\nxs[0] = 5\nzeros(xs) + ys") == "");
  CHECK(told("y = 1 // 0\nz = R.reshape(x, (2, count, -1))").starts_with("R.reshape(x, (2, count, -1)): "));
  // Functions of the text itself.
  CHECK(told(typed_header + "    y = R.matmul(x, w)\n    return y\nf(x, x)\n").find("x: argument 'w' of f") !=
        std::string::npos);
  // Nothing ran, and what stands is as it was.
  CHECK(session.workspace().log().size() == states);
  CHECK(session("x.shape") == "(2, 3)\n");
  CHECK(session("y").starts_with("TypeError"));
}

TEST_CASE("reading of what is typed ends when a key comes") {
  SessionHarness session;
  std::string text = typed_header;
  for (int i = 0; i < 100; ++i) text += "    y" + std::to_string(i) + " = R.exp(x)\n";
  int asked = 0;
  CHECK_THROWS_AS(input_faults(session.workspace(), text, [&] { return ++asked < 10; }), Failure);
  CHECK(asked == 10);
  asked = 0;
  CHECK(input_faults(session.workspace(), text, [&] { return ++asked > 0; }).empty());
  CHECK(asked > 100);
  // And what the session runs is read to its end.
  CHECK(session("x = 1\nx\n") == "1\n");
}

TEST_CASE("faults of a text that has changed since it was read") {
  const std::string before = "a = bb\nc = dd\ne = ff\n";
  const std::vector<InputFault> faults = {{4, 6, "bb"}, {11, 13, "dd"}, {18, 20, "ff"}};
  const auto carried = [&](const std::string& now) {
    std::string all;
    for (const InputFault& fault : carried_faults(faults, before, now))
      all += now.substr(fault.begin, fault.end - fault.begin) + " ";
    return all;
  };
  CHECK(carried(before) == "bb dd ff ");
  CHECK(carried("a = bb\nc = d1d\ne = ff\n") == "bb ff ");
  CHECK(carried("a = bb\nc = \ne = ff\n") == "bb ff ");
  CHECK(carried("new\na = bb\nc = dd\ne = ff\n") == "bb dd ff ");
  CHECK(carried("a = bb\nc = dd\ne = ff\nmore") == "bb dd ff ");
  CHECK(carried("") == "");
  CHECK(carried("a = bb\n") == "bb ");
}

TEST_CASE("the fault at the cursor is told, and the word that is written is none") {
  const std::string text = "y = aa\nz = bb";
  const std::vector<InputFault> faults = {{4, 6, "first\nmore"}, {11, 13, "second"}};
  CHECK(shown_faults(faults, text, text.size()).size() == 1);
  CHECK(shown_faults(faults, text, 0).size() == 2);
  CHECK(shown_faults(faults, text, 12).size() == 2);
  CHECK(fault_line(faults, text, 0) == "! line 1: first (1 of 2)");
  CHECK(fault_line(faults, text, 12) == "! line 2: second (1 of 2)");
  CHECK(fault_line({}, text, 0).empty());
  CHECK(fault_line({{0, 1, "alone"}}, "y", 1) == "! alone");
}

TEST_CASE("places of faults are underlined, beside the colours of tokens") {
  EditorView view;
  view.text = "x = True";
  view.cursor = 0;
  view.prompt = "> ";
  view.faults = {{2, 6}};
  const EditorPicture picture = picture_of(view);
  REQUIRE(picture.rows.size() == 1);
  CHECK(picture.rows[0] == "> x \x1b[4m= \x1b[0m\x1b[35m\x1b[4mTr\x1b[0m\x1b[35mue\x1b[0m");
  view.colors = false;
  CHECK(picture_of(view).rows[0] == "> x = True");
}

TEST_CASE("a hole offers what fits") {
  SessionHarness session;
  CHECK(offered(session, typed_header + "    y = R.matmul(x, ?w") == "?w w (R.Tensor(dtype=\"float32\"))");
  CHECK(offered(session, typed_header + "    y = R.exp(x)\n    z: R.Tensor((2, 3), \"float32\") = ?v") ==
        "?v y (R.Tensor((2, 3), dtype=\"float32\")) x (R.Tensor((2, 3), dtype=\"float32\"))");
  CHECK(offered(session, typed_header + "    y = R.exp(x") == "none asked");
  CHECK(offered(session, "?").starts_with("none asked"));
  CHECK(offered(session, "y = R.exp(?a") == "?a");
}

TEST_CASE("a key in a text of 1,000 lines is answered at once") {
  SessionHarness session;
  std::string text = typed_header;
  for (int i = 0; i < 1000; ++i) text += "    y" + std::to_string(i) + " = R.add(x, x)\n";
  std::vector<InputFault> faults;
  for (std::size_t i = 0; i < 50; ++i) faults.push_back({200 * i, 200 * i + 5, "a fault"});
  double best = 1e9;
  for (int round = 0; round < 10; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const std::string now = text.substr(0, 20'000) + "k" + text.substr(20'000);
    const std::vector<InputFault> carried = carried_faults(faults, text, now);
    EditorView view;
    view.text = now;
    view.cursor = 20'001;
    view.prompt = view.next_prompt = "... ";
    for (const InputFault& fault : shown_faults(carried, now, view.cursor))
      view.faults.emplace_back(fault.begin, fault.end);
    std::size_t row = 0;
    const std::string bytes = bytes_of(picture_of(view), row);
    best = std::min(
        best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    REQUIRE(!bytes.empty());
  }
  INFO(best << " ms");
  // 5 ms on a machine that does nothing else.
  CHECK(best <= 25);
}
