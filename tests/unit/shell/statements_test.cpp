// Statements: binding, atomicity, declarations, redefinition, arguments of the command line.
#include <catch2/catch.hpp>

#include "tests/unit/shell/script_harness.h"

using relish::ScriptOptions;
using relish::Settings;
using relish::testing::Harness;
using relish::testing::Ran;
using relish::testing::run_alone;

TEST_CASE("assignment, unpacking, loops") {
  CHECK(run_alone("a, (b, c) = 1, [2, 3]\nprint(a, b, c)") == "1 2 3\n");
  CHECK(run_alone("a = b = 2\na += 3\nprint(a, b)") == "5 2\n");
  CHECK(run_alone("a, b = [1]").starts_with("RuntimeError"));
  CHECK(run_alone("s = 0\nfor i in range(5):\n    if i == 1:\n        continue\n    if i == 4:\n        "
                  "break\n    s += i\nprint(s, i)") == "5 4\n");
  CHECK(run_alone("n = 3\nwhile n > 0:\n    n -= 1\nprint(n)") == "0\n");
  CHECK(run_alone("for k in {'a': 1}:\n    print(k)") == "a\n");
  CHECK(run_alone("for x in 5:\n    pass").starts_with("TypeError"));
  CHECK(run_alone("x: int = 3").starts_with("TypeError"));
  CHECK(run_alone("assert 1 > 2") == "RuntimeError: assertion failed: found 1 > 2");
  CHECK(run_alone("assert 1 > 2, f'bad {1}'") == "RuntimeError: assertion failed: bad 1");
}

TEST_CASE("a failing statement binds none of its names") {
  Harness harness;
  CHECK(harness.run("a = 1\nkeep = 2").error.empty());
  CHECK(harness.run("a, b = 5, 1 / 0").error_class == "RuntimeError");
  CHECK(harness.run("for i in range(3):\n    a = a + i\n    c = 1\n    keep = 1 / (2 - i)").error_class ==
        "RuntimeError");
  // In a block each inner statement is one.
  CHECK(harness.run("print(a, keep, c, i)").output == "4 1.0 1 2\n");
  // Statements before the failing one keep their effect.
  CHECK(harness.run("d = 4\n1 / 0").error_class == "RuntimeError");
  CHECK(harness.run("d").output == "4\n");
}

TEST_CASE("errors stand at their lines") {
  Harness harness;
  CHECK(harness.run("a = 1\nb = nope").line == 2);
  CHECK(harness.run("if True:\n    x = 1\n    y = [1][2]").line == 3);
  CHECK(harness.run("x = tensor([1.0])\n\ny = R.matmul(x, tensor([[1.0], [2.0]]))").line == 3);
  CHECK(harness.run("x = (").exit_code == 3);
}

namespace {

const char* const module_text =
    "@I.ir_module\n"
    "class M:\n"
    "    @R.function\n"
    "    def main(x: R.Tensor((\"n\",), \"float32\"), s: R.Tensor((), \"float32\")) -> R.Tensor((\"n\",), "
    "\"float32\"):\n"
    "        return R.multiply(x, s)\n";

}  // namespace

TEST_CASE("modules are values and transforms return new ones") {
  Harness harness;
  REQUIRE(harness.run(module_text).error.empty());
  CHECK(harness.run("M.main(tensor([1.0, 2.0]), tensor(3.0))").output == "float32 (2,)\n[3, 6]\n");
  CHECK(harness.run("main(tensor([1.0]), s=tensor(2.0))").output == "float32 (1,)\n[2]\n");
  CHECK(harness.run("N = legalize(M)\nN.main(tensor([4.0]), tensor(2.0))").output == "float32 (1,)\n[8]\n");
  CHECK(harness.run("print(type(M))").output.find("multiply") == std::string::npos);
  CHECK(harness.run("B = bind_params(M.main, params={\"s\": tensor(2.0)})\nB.main(tensor([4.0]))").output ==
        "float32 (1,)\n[8]\n");
  CHECK(harness.run("M.main(tensor([1.0]))").error_class == "UsageError");
  CHECK(harness.run("M.main([1.0], 2.0)").output == "float32 (1,)\n[2]\n");
  CHECK(harness.run("M.main(tensor([1.0]), \"2.0\")").error_class == "DataError");
  CHECK(harness.run("M.main(tensor([[1.0]]), tensor(2.0))").error_class == "DataError");
  CHECK(harness.run("M.mian(tensor([1.0]))").error.find("no") != std::string::npos);
  CHECK(harness.run("bind_params(M.main, prams={})").error.find("did you mean 'params'") !=
        std::string::npos);
  CHECK(harness.run("legalize(3)").error_class == "TypeError");
}

TEST_CASE("a command's name may be used; relish. still reaches it") {
  Harness harness;
  REQUIRE(harness.run(module_text).error.empty());
  CHECK(harness.run("legalize = 3\nprint(legalize)").output == "3\n");
  CHECK(harness.run("N = relish.legalize(M)").error.empty());
  CHECK(harness.run("legalize(M)").error_class == "TypeError");
}

TEST_CASE("redefinition of free functions rechecks callers") {
  const std::string head = "@R.function\ndef ";
  const std::string f = head + "f(x: R.Tensor((2,), \"float32\")):\n    return R.exp(x)\n";
  const std::string g =
      head +
      "g(x: R.Tensor((2,), \"float32\")) -> R.Tensor((2,), \"float32\"):\n    y = f(x)\n    return y\n";
  const std::string f_fine = head + "f(x: R.Tensor((2,), \"float32\")):\n    return R.add(x, x)\n";
  const std::string f_wrong = head + "f(x: R.Tensor((2,), \"float32\")):\n    return R.sum(x)\n";
  Harness harness;
  REQUIRE(harness.run(f + g).error.empty());
  CHECK(harness.run("g(zeros((2,)))").output == "float32 (2,)\n[1, 1]\n");
  REQUIRE(harness.run(f_fine).error.empty());
  CHECK(harness.run("g(ones((2,)))").output == "float32 (2,)\n[2, 2]\n");
  Ran refused = harness.run(f_wrong);
  CHECK(refused.error_class == "TypeError");
  CHECK(refused.error.find("'g'") != std::string::npos);
  CHECK(harness.run("g(ones((2,)))").output == "float32 (2,)\n[2, 2]\n");
}

TEST_CASE("arguments of a script") {
  Settings settings = Harness::interpreter();
  settings.sets = {{"lr", "0.5"}, {"name", "abc"}, {"sizes", "[1, 2]"}, {"fast", "true"}};
  Harness harness(settings);
  CHECK(
      harness.run("print(arg('lr', 1), arg('name', 'x'), arg('sizes', [0]), arg('fast', False), arg('n', 3))")
          .error_class == "UsageError");  // lr=0.5 is no int
  CHECK(
      harness
          .run("print(arg('lr', 1.0), arg('name', 'x'), arg('sizes', [0]), arg('fast', False), arg('n', 3))")
          .output == "0.5 abc [1, 2] True 3\n");
  Harness missing(settings);
  CHECK(missing.run("print(arg('lr', 1.0))").error.find("--set") != std::string::npos);
  CHECK(run_alone("arg('a', 1)\narg('a', 2)").starts_with("TypeError"));
  CHECK(run_alone("for i in range(2):\n    arg('a', 1)").starts_with("TypeError"));
}

TEST_CASE("a confined script names files below its folder only") {
  ScriptOptions options;
  options.confined = true;
  Harness harness(Harness::interpreter(), options);
  CHECK(harness.run("load('/etc/passwd')").error_class == "PolicyError");
  CHECK(harness.run("load('../x.npz')").error_class == "PolicyError");
  CHECK(harness.run("save(tensor([1.0]), '/tmp/relish-x.npy')").error_class == "PolicyError");
  CHECK(harness.run("load('not-there.npz')").error_class == "IOError");
}

TEST_CASE("values that only fill the memory are refused") {
  CHECK(run_alone("x = [0] * 10 ** 12").starts_with("ResourceLimit"));
  CHECK(run_alone("x = 'a'\nwhile True:\n    x = x + x").starts_with("ResourceLimit"));
  CHECK(run_alone("x = []\nwhile True:\n    x = [x]").starts_with("ResourceLimit"));
  CHECK(run_alone("sorted(range(10 ** 18))").starts_with("ResourceLimit"));
  CHECK(run_alone("zeros((10 ** 9, 10 ** 9))").starts_with("ResourceLimit"));
  CHECK(run_alone("print(*range(10 ** 18))").starts_with("ResourceLimit"));
}

TEST_CASE("donate unbinds its name") {
  Harness harness;
  REQUIRE(harness.run(module_text).error.empty());
  REQUIRE(harness.run("x = tensor([1.0])\ny = M.main(donate(x), tensor(2.0))").error.empty());
  CHECK(harness.run("x").error_class == "TypeError");
  CHECK(harness.run("donate(1)").error_class == "TypeError");
}
