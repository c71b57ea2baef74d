// Modules with holes are values of a session that do not run.
#include <catch2/catch.hpp>

#include "shell/script/unfinished_modules.h"
#include "shell/workspace/session_file.h"
#include "tests/unit/shell/session_harness.h"
#include "tests/unit/temporary_folder.h"

using namespace relish;
using relish::testing::SessionHarness;

namespace {

const std::string with_hole =
    "@I.ir_module\nclass M:\n    @R.function\n    def layer(x: R.Tensor((2, 3), \"float32\"), w: R.Tensor((3, "
    "4), \"float32\")):\n        h = R.matmul(x, ?weights)\n        y: R.Tensor((2, 4), \"float32\") = "
    "R.exp(h)\n        return y\n    @R.function\n    def main(x: R.Tensor((2, 3), \"float32\"), w: "
    "R.Tensor((3, 4), \"float32\")):\n        y = M.layer(x, w)\n        return y\n";

const std::string refusal = "TypeError: M has the hole '?weights'; expected a module without holes";

}  // namespace

TEST_CASE("a module with holes is bound, prints and compares, and nothing runs it") {
  SessionHarness session;
  CHECK(session(with_hole).empty());
  session("x = ones((2, 3)); w = ones((3, 4))");
  CHECK(session("M").find("h = R.matmul(x, ?weights, out_dtype=None)") != std::string::npos);
  CHECK(session("M == M") == "True\n");
  CHECK(session(":vars module") == "M  module    module of 2 functions  [1]\n");
  for (const char* use : {"M.layer(x, w)", "M.main(x, w)", ":gradient M.main", "N = legalize(M)",
                          ":time M.main", "f = M.main\nf(x, w)", ":fuse M"}) {
    INFO(use);
    CHECK(session(use).ends_with(refusal));
  }
  // Functions of other texts do not take it in.
  CHECK(
      session("@R.function\ndef g(x: R.Tensor((2, 3), \"float32\"), w: R.Tensor((3, 4), \"float32\")):\n    "
              "y = M.layer(x, w)\n    return y\n")
          .starts_with("TypeError: M has the hole"));
  // What is proposed is in the line, and fills it.
  session(with_hole);
  session(":fix");
  const auto mended = session.inputs().take_corrected();
  REQUIRE(mended);
  CHECK(mended->find("R.matmul(x, w)") != std::string::npos);
  CHECK(session(*mended).empty());
  CHECK(session("M.main(x, w).shape") == "(2, 4)\n");
  // It is a state like others.
  session(":undo");
  CHECK(session("M.main(x, w)") == refusal);
  CHECK(session(":diff 1 M").starts_with("UsageError"));
}

TEST_CASE("a module with holes stands in the statements of a saved session") {
  const testing::TemporaryFolder folder;
  SessionHarness session;
  session(with_hole);
  session("n = 4");
  CHECK(session(":save " + folder.file("s.relish")).starts_with("saved 2 inputs"));
  session("@R.function\ndef free(x: R.Tensor((2,), \"float32\")):\n    y = R.add(x, ?b)\n    return y\n");
  CHECK(session(":save " + folder.file("s.rxs")).find("left out") == std::string::npos);
  SessionHarness restored;
  restored(":restore " + folder.file("s.rxs"));
  CHECK(restored("M").find("h = R.matmul(x, ?weights, out_dtype=None)") != std::string::npos);
  CHECK(restored("M.main(ones((2, 3)), ones((3, 4)))") == refusal);
  CHECK(restored("free(ones((2,)))") ==
        "TypeError: free has the hole '?b'; expected a function without holes");
  // With one function changed, the others come from the module before, and with them the hole.
  restored("N = M");
  restored(with_hole.substr(0, with_hole.find("        y = M.layer")) +
           "        y = M.layer(x, w)\n        return R.exp(y)\n");
  restored(":save " + folder.file("t.rxs"));
  SessionHarness twice;
  twice(":restore " + folder.file("t.rxs"));
  CHECK(twice("N.main(ones((2, 3)), ones((3, 4)))") == refusal);
  CHECK(twice("M.main(ones((2, 3)), ones((3, 4)))") == refusal);
  SessionHarness again;
  again(":load " + folder.file("s.relish"));
  CHECK(again("n") == "4\n");
  CHECK(again("M.main(ones((2, 3)), ones((3, 4)))") == refusal);
  // A state that is made again has it too.
  session(":history --keep 0");
  session("n = 5");
  CHECK(session("M@1.main(ones((2, 3)), ones((3, 4)))") == refusal);
}

TEST_CASE("a free function with a hole is bound, and others know nothing of it") {
  SessionHarness session;
  const std::string square =
      "@R.function\ndef square(x: R.Tensor((2,), \"float32\")):\n    return R.multiply(x, x)\n";
  const std::string hole =
      "@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n    y = R.add(x, ?b)\n    return y\n";
  const std::string reaching =
      "@R.function\ndef first(x: R.Tensor((2,), \"float32\")):\n    y = g(x)\n    return y\n";
  const std::string with_caller =
      reaching + hole + "@R.function\ndef g(x: R.Tensor((2,), \"float32\")):\n    y = f(x)\n    return y\n" +
      square;
  const std::string refused = "TypeError: f has the hole '?b'; expected a function without holes";
  CHECK(session(with_caller).empty());
  session("x = tensor([1.0, 2.0])");
  CHECK(session("f").find("y = R.add(x, ?b)") != std::string::npos);
  CHECK(session("f(x)") == refused);
  CHECK(session("g(x)") == "TypeError: g calls what has the hole '?b'; expected a function without holes");
  CHECK(session("first(x)") ==
        "TypeError: first calls what has the hole '?b'; expected a function without holes");
  CHECK(session(":gradient f").ends_with(refused));
  CHECK(session("square(x)") == "float32 (2,)\n[1, 4]\n");
  CHECK(session("G = vjp(square)").find("Error") == std::string::npos);
  // What would call it is refused; when it is whole, it is a function like others.
  const std::string caller =
      "@R.function\ndef h(x: R.Tensor((2,), \"float32\")):\n    y = f(x)\n    return y\n";
  CHECK(session(caller).starts_with("TypeError: found 'f'"));
  std::string whole = hole;
  CHECK(session(whole.replace(whole.find("?b"), 2, "x")).empty());
  CHECK(session(caller).empty());
  CHECK(session("h(x)") == "float32 (2,)\n[2, 4]\n");
  // With a hole again, its callers keep what they call, and no new text calls that.
  CHECK(session(hole).empty());
  CHECK(session("f(x)") == refused);
  CHECK(session("h(x)") == "float32 (2,)\n[2, 4]\n");
  CHECK(session(square).empty());
  CHECK(session("f(x)") == refused);
  CHECK(session("@R.function\ndef k(x: R.Tensor((2,), \"float32\")):\n    y = f(x)\n    return y\n")
            .starts_with("TypeError: found"));
  session(":undo 2");
  CHECK(session("f(x)") == "float32 (2,)\n[2, 4]\n");
  session(":redo");
  CHECK(session("f(x)") == refused);
}

TEST_CASE("what has another fault beside its holes binds nothing") {
  SessionHarness session;
  CHECK(
      session(
          "@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n    y = R.add(x, ?b)\n    return R.exq(y)\n")
          .find("Error") != std::string::npos);
  CHECK(session("f").starts_with("TypeError: unknown name 'f'"));
  std::string text = with_hole;
  text.replace(text.find("R.exp"), 5, "R.exq");
  CHECK(session(text).find("Error") != std::string::npos);
  CHECK(session("M").starts_with("TypeError: unknown name 'M'"));
}
