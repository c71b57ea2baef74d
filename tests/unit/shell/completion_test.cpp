// What Tab offers inside calls, texts that hold calls, and files.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shell/repl/completion/completion.h"
#include "shell/repl/editor/editor.h"
#include "tests/unit/shell/session_harness.h"
#include "tests/unit/temporary_folder.h"

using namespace relish;
using relish::testing::SessionHarness;

namespace {

const std::string module_with_weights =
    "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((2, 3), \"float32\"), w: R.Tensor((3, 4), "
    "\"float32\")):\n        h = R.matmul(x, w)\n        return h\n";

}  // namespace

TEST_CASE("editor: completion of the tensors of a file") {
  SessionHarness session;
  session("x = ones((2, 3))\n");
  const auto first = [&](const std::string& text) {
    std::vector<std::string> found;
    for (const Candidate& each : complete(session.workspace(), text).candidates) found.push_back(each.text);
    return found;
  };
  const testing::TemporaryFolder folder;
  const std::string weights = folder.file("m.npz"), other = folder.file("m.safetensors");
  session("save({'w0': x, 'w1': x, 'b': x}, '" + weights + "'); save({'k': x}, '" + other + "')");
  CHECK(first("load('" + weights + ":w").at(1) == weights + ":w1");
  CHECK(first(":load " + other + ":").front() == other + ":k");
  CHECK(first("load('" + folder.path() + "/none.npz:w").empty());
}

TEST_CASE("editor: completion of what a call takes") {
  SessionHarness session;
  session(module_with_weights + "x = ones((2, 3))\ncount = 5\nlabels = {'a': 1}\n");
  const auto offers = [&](std::string_view text, std::string_view what) {
    const std::vector<Candidate> found = complete(session.workspace(), text).candidates;
    return std::any_of(found.begin(), found.end(), [&](const Candidate& each) { return each.text == what; });
  };
  // What stands there already, or has its place, is not offered again.
  CHECK_FALSE(offers("M.main(x, ", "x="));
  CHECK_FALSE(offers("setup_trainer(M.main, optimizer=\"adam(lr=0.1, ", "zz"));
  CHECK_FALSE(offers("call(M.main, arg={\"", "x="));
  // Sizes are of the symbols in the types of the parameters.
  session(
      "@R.function\ndef sized(x: R.Tensor((\"rows\", 3)), y: R.Tensor((\"rows\", \"k\"))):\n    return x\n");
  CHECK(offers(":call sized --dim ", "rows="));
  CHECK(offers("bind_symbols(sized, dim={\"", "k"));
  CHECK_FALSE(offers(":call sized --dim ", "x="));
  CHECK_FALSE(offers(":call M.main --dim ", "x="));
  // The words that an option takes stand in its description.
  CHECK(offers(":lower M --to ", "fuse"));
  CHECK(offers(":lower M --to ", "plan"));
  CHECK_FALSE(offers(":lower M --to ", "M"));
  CHECK(offers("lower(M, to=\"", "schedule"));
  CHECK(offers(":decompose M.main --mode ", "training"));
  CHECK(offers("fmt(M, dialect=\"", "2023"));
  CHECK_FALSE(offers(":branch ", "x"));
  CHECK_FALSE(offers(":snapshot ", "M"));
  CHECK_FALSE(offers("x ", "x"));
  CHECK_FALSE(offers("x", "x"));
  CHECK_FALSE(offers("M.main(w=x, ", "w="));
  CHECK_FALSE(offers("setup_trainer(M.main, optimizer=\"adam(lr=0.1, ", "lr="));
  CHECK_FALSE(offers(":setup-trainer M.main --optimizer adam(lr=0.1,", "lr="));
  CHECK_FALSE(offers(":setup-trainer M.main --optimizer \"adam(lr=0.1, ", "lr="));
  CHECK_FALSE(offers("call(M.main, arg={\"", "count"));
  CHECK_FALSE(offers(":vars ", "count"));
  CHECK_FALSE(offers("del ", "print"));
  // A module is no tensor.
  CHECK_FALSE(offers("M.main(x=", "M"));
  CHECK_FALSE(offers("M.main(", "M"));
  CHECK(offers("M.main(x=", "x"));
  // Its function gives one.
  session("Model = M");
  CHECK_FALSE(offers("M.main(x=", "Model"));
  CHECK(offers("M.main(x=Mo", "Model"));
  CHECK_FALSE(offers("? rel", "relish"));
  CHECK(common_continuation(complete(session.workspace(), ":redo")).empty());
  // What is whole already stands first among what it may go on to.
  session("lab = 1");
  const std::vector<Candidate> whole = complete(session.workspace(), "lab").candidates;
  REQUIRE(whole.size() >= 2);
  CHECK(whole[0].text == "lab");
  const std::pair<std::string_view, std::string_view> wanted[] = {
      {"x[", "count"},
      {"x.sum(", "axis="},
      {"zeros((2,), ", "dtype="},
      {"call(M.main, arg={\"x\": x, \"", "w"},
      {"labels[\"", "a"},
      {":uses M.main.", "M.main.w"},
      {":setup-trainer M.main --optimizer \"adam(lr=0.1, ", "eps="},
      {":passes M.main -p \"dce, gradient(wr", "wrt="},
      {"passes(M.main, passes=\"gr", "gradient"},
  };
  for (const auto& [text, word] : wanted) {
    INFO(text);
    CHECK(offers(text, word));
  }
}
