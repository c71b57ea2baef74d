// Modules of other files in a session: functions of later inputs use them, and a file read anew is linked
// anew.
#include <catch2/catch.hpp>

#include "tests/unit/shell/script_harness.h"
#include "tests/unit/temporary_folder.h"

using relish::ScriptOptions;
using relish::testing::Harness;
using relish::testing::TemporaryFolder;

namespace {

// A file with a function `g` that adds x so many times to itself.
std::string library(int times) {
  std::string text =
      "@R.function\n"
      "def g(x: R.Tensor((2,), \"float32\")) -> R.Tensor((2,), \"float32\"):\n";
  std::string before = "x";
  for (int i = 0; i < times; ++i) {
    text += "    y" + std::to_string(i) + " = R.add(" + before + ", x)\n";
    before = "y" + std::to_string(i);
  }
  return text + "    return " + before + "\n";
}

const char* const user =
    "@R.function\n"
    "def f(x: R.Tensor((2,), \"float32\")) -> R.Tensor((2,), \"float32\"):\n"
    "    y = lib.g(x)\n"
    "    return y\n";

struct Folder {
  TemporaryFolder folder;
  ScriptOptions options() const {
    ScriptOptions options;
    options.folder = folder.path();
    options.confined = true;
    return options;
  }
};

}  // namespace

TEST_CASE("functions of later inputs use a module that an earlier one loaded") {
  Folder files;
  files.folder.put("lib.relish", library(1));
  Harness harness(Harness::interpreter(), files.options());
  CHECK(harness.run(user).error_class == "TypeError");
  CHECK(harness.run("lib = load('lib.relish')").error.empty());
  CHECK(harness.run(user).error.empty());
  CHECK(harness.run("f(ones((2,)))").output == "float32 (2,)\n[2, 2]\n");
  // The copy is no name of the script.
  CHECK(harness.run("lib_g").error_class == "TypeError");

  SECTION("a file read anew is linked anew") {
    files.folder.put("lib.relish", library(2));
    CHECK(harness.run("lib = load('lib.relish')").error.empty());
    CHECK(harness.run("f(ones((2,)))").output == "float32 (2,)\n[2, 2]\n");  // f has the copy of its time
    CHECK(harness.run(user).error.empty());
    CHECK(harness.run("f(ones((2,)))").output == "float32 (2,)\n[3, 3]\n");
  }
  SECTION("a name that holds something else is no module") {
    CHECK(harness.run("lib = 3").error.empty());
    CHECK(harness.run(user).error.find("the method 'g'") != std::string::npos);
  }
  SECTION("a function of one's own has its name") {
    CHECK(harness.run("@R.function\ndef lib_h(x: R.Tensor((2,), 'float32')):\n    return x\n").error.empty());
    files.folder.put("lib.relish", "@R.function\ndef h(x: R.Tensor((2,), 'float32')):\n    return x\n");
    CHECK(harness.run("lib = load('lib.relish')").error.empty());
    auto clash = harness.run("@R.function\ndef k(x: R.Tensor((2,), 'float32')):\n    return lib.h(x)\n");
    CHECK(clash.error_class == "TypeError");
    CHECK(clash.error.find("'lib_h'") != std::string::npos);
  }
}

TEST_CASE("a file that a statement makes is loaded as it then is") {
  Folder files;
  Harness harness(Harness::interpreter(), files.options());
  std::string text =
      "@I.ir_module\nclass M:\n    @R.function\n    def g(x: R.Tensor((2,), 'float32')):\n        return "
      "x\n\n"
      "save(M, 'made.relish')\nlib = load('made.relish')\nprint(lib.g(ones((2,))))\n";
  auto ran = harness.run(text);
  CHECK(ran.error.empty());
  CHECK(ran.output == "float32 (2,)\n[1, 1]\n");
}

TEST_CASE("imports hold for later inputs") {
  Harness harness;
  CHECK(harness.run("Q.exp(tensor([0.0]))").error_class == "TypeError");
  CHECK(harness.run("from tvm.script import relax as Q").error.empty());
  CHECK(harness.run("Q.exp(tensor([0.0]))").output == "float32 (1,)\n[1]\n");
  CHECK(harness.run("from torch import nn").error_class == "SyntaxError");
}
