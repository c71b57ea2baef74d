// Where functions come from: what a summary says is the real difference, and what is stale is what was made
// from something else.
#include <catch2/catch.hpp>

#include <algorithm>

#include "frontend/reader.h"
#include "shell/workspace/transform_summary.h"
#include "tests/unit/shell/session_harness.h"

using namespace relish;
using relish::testing::SessionHarness;

namespace {

const std::string two_functions =
    "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((2,), \"float32\"), w: R.Tensor((2,), "
    "\"float32\")):\n        with R.dataflow():\n            y = R.multiply(x, w)\n            unused = "
    "R.exp(x)\n            z = R.sum(y)\n            R.output(z)\n        return z\n    @R.function\n    def "
    "other(x: R.Tensor((2,), \"float32\")):\n        y = R.nn.relu(x)\n        return y\n    "
    "@R.function(private=True)\n    def hidden(x: R.Tensor((2,), \"float32\")):\n        y = R.abs(x)\n      "
    "  "
    "return y\n";

ModulePtr module_in(SessionHarness& session, const std::string& name = "M") {
  return *session.workspace().state().names.find(name)->as<ModulePtr>();
}

std::vector<std::string> stale_in(SessionHarness& session) {
  std::vector<std::string> names;
  for (const GlobalFunction& function : stale_functions(*module_in(session)))
    names.push_back(name_of(function));
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("what the line behind a transform tells is what is different in the texts") {
  const std::vector<std::string> transforms = {
      "gradient(M.main)",
      "gradient(M.main, wrt=[\"w\"])",
      "bind_params(M.main, set={\"w\": ones((2,))})",
      "legalize(M)",
      "fuse(M)",
      "schedule(M)",
      "dce(M)",
      "fold(M)",
      "simplify(M)",
      "canonicalize(M)",
      "cse(M)",
      "unroll(M)",
      "inline(M)",
      "to_dataflow(M)",
      "lambda_lift(M)",
      "append_loss(M.other, loss=\"mse\")",
      "optimizer(M.main, optimizer=\"sgd(lr=0.1)\")",
      "passes(M.main, passes=\"gradient, legalize, dce\")",
      "setup_trainer(M.other, loss=\"mse\", optimizer=\"sgd(lr=0.1)\", wrt=[\"x\"])"};
  std::size_t worked = 0;
  for (const std::string& first : transforms) {
    for (const std::string& second : transforms) {
      SessionHarness session;
      session(two_functions);
      session("M = " + first);
      const ModulePtr before = module_in(session);
      const std::string told = session("M = " + second);
      if (told.find("Error") != std::string::npos) continue;
      ++worked;
      INFO(first << " then " << second);
      const ModulePtr after = module_in(session);
      REQUIRE(session.workspace().transforms().size() == 1);
      const TransformCall& call = session.workspace().transforms()[0].second;
      CHECK(call.before == before);
      CHECK(call.after == after);
      ModuleChanges expected;
      for (const GlobalFunction& function : after->functions) {
        const GlobalFunction* had = before->find(name_of(function));
        const auto text = [](const GlobalFunction& of, const ModulePtr& module) {
          return text_of(ScriptValue(FunctionReference{module, name_of(of)}), true);
        };
        if (!had) {
          expected.added.push_back(name_of(function));
        } else if (text(*had, before) != text(function, after) && !is_same_function(*had, function)) {
          expected.replaced.push_back(name_of(function));
        }
      }
      for (const std::string& name : before->names())
        if (!after->find(name)) expected.removed.push_back(name);
      const ModuleChanges found = changes_between(*before, *after);
      CHECK(found.added == expected.added);
      CHECK(found.replaced == expected.replaced);
      CHECK(found.removed == expected.removed);
      const std::string line = transform_summary(call);
      for (const std::string& name : expected.removed) CHECK(line.find(name) != std::string::npos);
      CHECK((line == "no function changed") == (found.added.empty() && found.replaced.empty() &&
                                                found.removed.empty() && stale_in(session).empty()));
    }
  }
  CHECK(worked > 40);
}

TEST_CASE("the line behind a transform lists eight names of a kind, and what a function was") {
  start_language();
  const auto functions = [](const std::string& parameters) {
    std::string text = "@I.ir_module\nclass M:\n";
    for (int i = 0; i < 9; ++i)
      text +=
          fmt::format("    @R.function\n    def f{}(x: R.Tensor((2,), \"float32\"){}):\n        return x\n",
                      i, parameters);
    return read_module("<summary>", text);
  };
  const ModulePtr all = functions(""), others = functions(", y: R.Tensor((2,), \"float32\")");
  const auto of_first = [&](int count) {
    Module module = *all;
    module.functions = {};
    for (int i = 0; i < count; ++i) module.set(*all->find(fmt::format("f{}", i)));
    return std::make_shared<const Module>(module);
  };
  TransformCall call;
  call.before = of_first(0);
  call.after = of_first(8);
  CHECK(transform_summary(call) == "+ f0, f1, f2, f3, f4, f5, f6, f7");
  call.after = of_first(9);
  CHECK(transform_summary(call) == "+ f0, f1, f2, f3, f4, f5, f6, f7 and 1 more");
  call.before = of_first(1);
  Module other = *call.before;
  other.set(*others->find("f0"));
  call.after = std::make_shared<const Module>(other);
  CHECK(transform_summary(call) == "~ f0(x, y) (was f0(x))");
}

TEST_CASE("stale is what was made from a function that is another one by now") {
  SessionHarness session;
  session(two_functions + "M = gradient(M.main, wrt=[\"x\"])\nN = M\n");
  CHECK(stale_in(session).empty());
  // What means the same makes nothing stale, in however many steps.
  session("M = legalize(M)");
  session("M = dce(M)");
  CHECK(stale_in(session).empty());
  session("M = N");
  session("M = bind_params(M.main, set={\"w\": ones((2,))})");
  CHECK(stale_in(session) == Names{"main_adjoint"});
  // And legalized it stays so.
  session("M = legalize(M)");
  CHECK(stale_in(session) == Names{"main_adjoint"});
  session(":undo 2");
  CHECK(stale_in(session).empty());
  session(":redo");
  CHECK(stale_in(session) == Names{"main_adjoint"});
  CHECK(session(":redo-derived M") == "M = gradient(M.main, wrt=[\"x\"])\n");
  CHECK(stale_in(session).empty());
  CHECK(module_in(session)->function("main_adjoint")->params.size() == 1);
  CHECK(session(":redo-derived M") == "nothing in M is stale\n");
  // All of it is one state.
  session(":undo");
  CHECK(stale_in(session) == Names{"main_adjoint"});
}

TEST_CASE("what was made from something stale is stale, and made anew behind it") {
  SessionHarness session;
  session(
      "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((4, 2), \"float32\"), w: "
      "R.Tensor((2, "
      "3), \"float32\"), b: R.Tensor((3,), \"float32\")):\n        y = R.add(R.matmul(x, w), b)\n        "
      "return "
      "y\n");
  session("M = append_loss(M.main, loss=\"mse\")");
  session("M = gradient(M.main_loss, wrt=[\"w\"])");
  session("M = bind_params(M.main, set={\"b\": zeros((3,))})");
  CHECK(stale_in(session) == Names{"main_loss", "main_loss_adjoint"});
  CHECK(session(":redo-derived M") ==
        "M = append_loss(M.main, loss=\"mse\")\nM = gradient(M.main_loss, wrt=[\"w\"])\n");
  CHECK(stale_in(session).empty());
  CHECK(module_in(session)->function("main_loss_adjoint")->params.size() == 3);
}

TEST_CASE("a function carries where it comes from, which no text shows") {
  SessionHarness session;
  session(two_functions);
  session("M = gradient(M.main, wrt=[\"x\"])");
  const ModulePtr made = module_in(session);
  CHECK(origin_of(*made->find("main")) == nullptr);
  const OriginPtr origin = origin_of(*made->find("main_adjoint"));
  REQUIRE(origin);
  CHECK(origin->command == "gradient");
  CHECK(origin->options == "wrt=[\"x\"]");
  CHECK(origin->source == "main");
  CHECK(GlobalFunction(origin->source_function) == *made->find("main"));
  CHECK(origin->input == 2);
  Module without = *made;
  without.set(with_origin(*made->find("main_adjoint"), nullptr));
  CHECK(print(without) == print(*made));
  CHECK(is_same_function(*without.find("main_adjoint"), *made->find("main_adjoint")));
  // It goes where the function goes, and names the function's source as it is in the module.
  session("xs = [M]");
  session("N = fuse(legalize(xs[0]))");
  const OriginPtr later = origin_of(*module_in(session, "N")->find("main_adjoint"));
  REQUIRE(later);
  CHECK(later->input == 2);
  CHECK(GlobalFunction(later->source_function) == *module_in(session, "N")->find("main"));
  // What was made from something made: from the one that says so itself.
  session("A = append_loss(N.other, loss=\"mse\")");
  session("A = gradient(A.other_loss)");
  const ModulePtr both = module_in(session, "A");
  CHECK(GlobalFunction(origin_of(*both->find("other_loss_adjoint"))->source_function) ==
        *both->find("other_loss"));
  CHECK(origin_of(*both->find("other_loss"))->command == "append_loss");
}

TEST_CASE("a state that is made again has functions of the same origin") {
  SessionHarness session;
  session(two_functions);
  session("M = gradient(M.main, wrt=[\"x\"])");
  session("M = bind_params(M.main, set={\"w\": ones((2,))})");
  session("t = zeros((1000,))");
  session(":history --keep 0");
  session("t = t + 1");
  CHECK(session(":info M@2.main_adjoint").find("made by gradient from main in [2]") != std::string::npos);
  CHECK(session(":info M@3.main_adjoint").find("stale: what it was made from is another") !=
        std::string::npos);
}
