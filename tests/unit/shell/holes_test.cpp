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
  CHECK(session(":save " + folder.file("s.rxs"))
            .ends_with("no text says the values of M, which are left out\n"));
  SessionHarness again;
  again(":load " + folder.file("s.relish"));
  CHECK(again("n") == "4\n");
  CHECK(again("M.main(ones((2, 3)), ones((3, 4)))") == refusal);
  // A state that is made again has it too.
  session(":history --keep 0");
  session("n = 5");
  CHECK(session("M@1.main(ones((2, 3)), ones((3, 4)))") == refusal);
}

TEST_CASE("a free function with a hole, and a module with another fault, bind nothing") {
  SessionHarness session;
  CHECK(session("@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n    y = R.add(x, ?b)\n    return y\n")
            .starts_with("TypeError: found the hole '?b'"));
  CHECK(session("f").starts_with("TypeError: unknown name 'f'"));
  std::string text = with_hole;
  text.replace(text.find("R.exp"), 5, "R.exq");
  CHECK(session(text).find("Error") != std::string::npos);
  CHECK(session("M").starts_with("TypeError: unknown name 'M'"));
}
