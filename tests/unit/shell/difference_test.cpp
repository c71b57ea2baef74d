// Differences: exactly what was changed, whatever the names of bindings.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "frontend/reader.h"
#include "shell/workspace/difference.h"
#include "tests/unit/shell/session_harness.h"

using namespace relish;
using relish::testing::SessionHarness;

namespace {

using Json = nlohmann::json;
using Lines = std::vector<std::string>;

std::string header(const std::string& name) {
  return "    @R.function\n    def " + name + "(x: R.Tensor((4,), \"float32\")):\n";
}

// A module with one function of these lines.
ModulePtr module_of(const std::vector<std::string>& lines, const std::string& name = "main") {
  start_language();
  std::string text = "@I.ir_module\nclass M:\n" + header(name);
  for (const std::string& line : lines) text += "        " + line + "\n";
  return read_module("<diff>", text);
}

Difference between(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return difference_of(ScriptValue(module_of(a)), ScriptValue(module_of(b)));
}

std::string shown(const Difference& difference) { return unified_text(difference); }

const std::vector<std::string> plain = {"a = R.exp(x)", "b = R.add(a, x)", "c = R.multiply(b, a)",
                                        "d = R.negative(c)", "return d"};

}  // namespace

TEST_CASE("names of bindings alone are told as renamed") {
  const Difference difference = between(
      plain, {"p = R.exp(x)", "q = R.add(p, x)", "c = R.multiply(q, p)", "d = R.negative(c)", "return d"});
  CHECK(difference.equal());
  CHECK(shown(difference) == "= main.a is now main.p\n= main.b is now main.q");
  CHECK(between(plain, plain).equal());
  CHECK(shown(between(plain, plain)) == "no difference");
  // Names that change places are no renaming alone.
  CHECK_FALSE(between(plain, {"a = R.exp(x)", "b = R.add(a, x)", "c = R.multiply(a, b)", "d = R.negative(c)",
                              "return d"})
                  .equal());
  // A name that is bound again.
  CHECK(between({"a = R.exp(x)", "b = R.abs(a)", "return b"}, {"a = R.exp(x)", "a = R.abs(a)", "return a"})
            .equal());
  CHECK_FALSE(between({"a = R.exp(x)", "b = R.abs(a)", "c = R.add(a, b)", "return c"},
                      {"a = R.exp(x)", "b = R.abs(a)", "c = R.add(b, b)", "return c"})
                  .equal());
}

TEST_CASE("a line that is as it was stays so where its names are bound by other lines") {
  // Of several lines fewer are made: what has the same name is the same value in other words.
  const std::string fewer =
      shown(between(plain, {"a = R.exp(x)", "d = R.einsum((a, x, a), subscripts=\"i,i,i->i\")", "return d"}));
  INFO(fewer);
  CHECK(fewer.find("return") == std::string::npos);
  CHECK(fewer.find("  + ") != std::string::npos);
  CHECK(fewer.find("  - ") != std::string::npos);
  const std::string other = shown(
      between({"a = R.exp(x)", "b = R.abs(x)", "return a"}, {"b = R.exp(x)", "a = R.abs(x)", "return a"}));
  INFO(other);
  CHECK(other.find("return a") != std::string::npos);
}

TEST_CASE("one inserted binding is that") {
  const Difference difference = between(plain, {"a = R.exp(x)", "b = R.add(a, x)", "new = R.abs(b)",
                                                "c = R.multiply(b, a)", "d = R.negative(c)", "return d"});
  REQUIRE(difference.changed.size() == 1);
  REQUIRE(difference.changed[0].hunks.size() == 1);
  CHECK(difference.changed[0].hunks[0].removed.empty());
  REQUIRE(difference.changed[0].hunks[0].added.size() == 1);
  CHECK(difference.changed[0].hunks[0].added[0].find("new") != std::string::npos);
  CHECK(shown(difference).find("  line 5\n") != std::string::npos);
}

TEST_CASE("one changed attribute or operator is that, and what uses it stays") {
  const Difference difference = between(plain, {"a = R.exp(x)", "b = R.subtract(a, x)",
                                                "c = R.multiply(b, a)", "d = R.negative(c)", "return d"});
  REQUIRE(difference.changed.size() == 1);
  REQUIRE(difference.changed[0].hunks.size() == 1);
  CHECK(difference.changed[0].hunks[0].removed.size() == 1);
  CHECK(difference.changed[0].hunks[0].added.size() == 1);
  const Difference attribute = between({"a = R.nn.softmax(x, axis=0)", "b = R.exp(a)", "return b"},
                                       {"a = R.nn.softmax(x, axis=-1)", "b = R.exp(a)", "return b"});
  CHECK(shown(attribute) ==
        "~ main\n  line 3\n"
        "  -     a: R.Tensor((4,), dtype=\"float32\") = R.nn.softmax(x, axis=0)\n"
        "  +     a: R.Tensor((4,), dtype=\"float32\") = R.nn.softmax(x, axis=-1)");
}

TEST_CASE("a renamed parameter is a change, and an operator is no name of a value") {
  const auto with_parameter = [](std::string name) {
    std::string text =
        "@I.ir_module\nclass M:\n" + header("main") + "        a = R.exp(x)\n        return a\n";
    for (const char* place : {"(x:", "(x)"}) text[text.find(place) + 1] = name[0];
    return ScriptValue(read_module("<diff>", text));
  };
  CHECK(shown(difference_of(with_parameter("x"), with_parameter("z"))) ==
        "~ main\n  line 2\n"
        "  - def main(x: R.Tensor((4,), dtype=\"float32\")) -> R.Tensor((4,), dtype=\"float32\"):\n"
        "  + def main(z: R.Tensor((4,), dtype=\"float32\")) -> R.Tensor((4,), dtype=\"float32\"):");
  CHECK(shown(between({"exp = R.sin(x)", "y = R.exp(exp)", "return y"},
                      {"log = R.sin(x)", "y = R.log(log)", "return y"})) ==
        "= main.exp is now main.log\n~ main\n  line 4\n"
        "  -     y: R.Tensor((4,), dtype=\"float32\") = R.exp(exp)\n"
        "  +     y: R.Tensor((4,), dtype=\"float32\") = R.log(log)");
}

TEST_CASE("what stands in another place is told as moved") {
  const Difference difference = between(
      {"a = R.exp(x)", "b = R.abs(x)", "c = R.sin(x)", "d = R.add(a, b)", "e = R.add(d, c)", "return e"},
      {"b = R.abs(x)", "c = R.sin(x)", "a = R.exp(x)", "d = R.add(a, b)", "e = R.add(d, c)", "return e"});
  REQUIRE(difference.changed.size() == 1);
  std::size_t lines = 0;
  for (const Hunk& hunk : difference.changed[0].hunks) {
    CHECK(hunk.moved);
    lines += hunk.removed.size() + hunk.added.size();
  }
  CHECK(lines == 2);
}

TEST_CASE("functions added, removed, renamed, in another order") {
  const std::string text = "@I.ir_module\nclass M:\n";
  const auto function = [](const std::string& name, const std::string& op) {
    return header(name) + "        y = R." + op + "(x)\n        return y\n";
  };
  const auto difference = [&](const std::string& a, const std::string& b) {
    return difference_of(ScriptValue(read_module("<a>", text + a)), ScriptValue(read_module("<b>", text + b)),
                         "M");
  };
  const std::string f = function("f", "exp"), g = function("g", "abs"), h = function("h", "sin");
  CHECK(difference(f + g, g + f).equal());
  CHECK(difference(f, f + g).added == std::vector<std::string>{"M.g"});
  CHECK(difference(f + g, g).removed == std::vector<std::string>{"M.f"});
  const Difference renamed = difference(f + g, f + function("k", "abs"));
  CHECK(shown(renamed) == "= M.g is now M.k");
  CHECK_FALSE(renamed.equal());
  const Difference both = difference(f + g, f + h);
  CHECK(shown(both) == "+ M.h\n- M.g");
}

TEST_CASE("values") {
  const auto tensor = [](std::vector<float> values) {
    return ScriptValue(Tensor::from<float>({static_cast<std::int64_t>(values.size())}, values));
  };
  CHECK(difference_of(tensor({1, 2, 3}), tensor({1, 2, 3}), "t").equal());
  CHECK(shown(difference_of(tensor({1, 2, 3}), tensor({1, 2.5, 2}), "t")) ==
        "~ t: 2 of 3 elements differ, most at (2): 3 -> 2");
  CHECK(shown(difference_of(tensor({0.1f}), tensor({1e30f}), "t")) ==
        "~ t: 1 of 1 elements differ, most at (0): 0.1 -> 1e+30");
  CHECK(shown(difference_of(tensor({0.0f}), tensor({-0.0f}), "t")) == "~ t: differs in bits only");
  CHECK(shown(difference_of(tensor({1}), tensor({1, 2}), "t")) ==
        "~ t\n  line 1\n  - a tensor float32 (1,)\n  + a tensor float32 (2,)");
  const ScriptValue a = ScriptValue::dict({{"w", tensor({1})}, {"b", tensor({2})}});
  const ScriptValue b = ScriptValue::dict({{"b", tensor({3})}, {"c", tensor({2})}});
  CHECK(shown(difference_of(a, b, "p")) ==
        "+ p.c\n- p.w\n~ p.b: 1 of 1 elements differ, most at (0): 2 -> 3");
}

TEST_CASE("of much the counts are told first, and of many names the first") {
  std::string before, after;
  for (int i = 0; i < 30; ++i) after += header(fmt::format("f{}", i)) + "        return x\n";
  Lines old = {"a0 = R.exp(x)"}, now = {"b0 = R.exp(x)"};
  for (int i = 1; i < 20; ++i) {
    old.push_back(fmt::format("a{} = R.abs(a{})", i, i - 1));
    now.push_back(fmt::format("b{} = R.{}(b{})", i, i % 10 == 5 ? "sin" : "abs", i - 1));
  }
  const auto function_of = [&](const Lines& lines) {
    std::string text = header("main");
    for (const std::string& line : lines) text += "        " + line + "\n";
    return text + "        return " + lines.back().substr(0, 3) + "\n";
  };
  const std::string open = "@I.ir_module\nclass M:\n";
  start_language();
  const Difference difference =
      difference_of(ScriptValue(read_module("<a>", open + function_of(old))),
                    ScriptValue(read_module("<b>", open + function_of(now) + after)), "M");
  const std::string text = shown(difference);
  CHECK(text.starts_with("30 added, 16 renamed, 1 changed in 2 places\n+ M.f0\n"));
  CHECK(text.find("= M.main.a11 is now M.main.b11\n= M.main.a12 is now") == std::string::npos);
  CHECK(text.find("\n= and 4 more names; --json has all\n~ M.main\n") != std::string::npos);
  CHECK(Json::parse(json_text(difference))["renamed"].size() == 16);
}

TEST_CASE("as JSON") {
  const Difference difference = between(plain, {"a = R.exp(x)", "b = R.subtract(a, x)",
                                                "q = R.multiply(b, a)", "d = R.negative(q)", "return d"});
  const Json json = Json::parse(json_text(difference));
  CHECK_FALSE(json["equal"].get<bool>());
  CHECK(json["added"].empty());
  CHECK(json["renamed"] == Json::parse("[{\"before\": \"main.c\", \"after\": \"main.q\"}]"));
  REQUIRE(json["changed"].size() == 1);
  CHECK(json["changed"][0]["name"] == "main");
  const Json& hunk = json["changed"][0]["hunks"][0];
  CHECK(hunk["before"] == hunk["after"]);
  CHECK(hunk["removed"][0].get<std::string>().find("R.add(a, x)") != std::string::npos);
  CHECK(hunk["added"][0].get<std::string>().find("R.subtract(a, x)") != std::string::npos);
}

TEST_CASE("diff in a session") {
  SessionHarness session;
  session("x = 1; y = ones((2,))");
  session("x = 2; z = 3; y = y + 1");
  CHECK(session(":diff") ==
        "+ z\n~ x\n  line 1\n  - 1\n  + 2\n~ y: 2 of 2 elements differ, most at (0): 1 -> 2\n");
  CHECK(session(":diff 1 2") == session(":diff"));
  CHECK(session(":diff x@1 x --side") ==
        "~ x\n    1 " + std::string("1") + std::string(59, ' ') + " |     1 2\n");
  CHECK(session(":diff 2 1").starts_with("- z\n"));
  CHECK(session(":diff 2") == "no difference\n");
  CHECK(session(":diff y@1 y") == "~ y: 2 of 2 elements differ, most at (0): 1 -> 2\n");
  CHECK(session(":diff y") == "~ y: 2 of 2 elements differ, most at (0): 1 -> 2\n");
  CHECK(session(":diff z") == "+ z\n");
  CHECK(session(":diff 1 y").starts_with("UsageError: diff: '1' is a state and 'y' is not"));
  CHECK(session(":diff ones((2,))").starts_with("UsageError"));
  session(":set seed 4");
  CHECK(session(":diff") == "~ :set seed\n  line 1\n  - 0\n  + 4\n");
}
