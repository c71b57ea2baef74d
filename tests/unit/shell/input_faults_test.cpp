// Faults that are told while one types: which there are, what is merely not finished, where they stand when
// the text has changed, and what a hole offers.
#include <catch2/catch.hpp>

#include <chrono>

#include "shell/repl/completion/hole_completion.h"
#include "shell/repl/completion/input_faults.h"
#include "shell/repl/editor/screen.h"
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
