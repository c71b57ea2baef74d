// What --check-each finds: two modules as if a pass had made one of the other.
#include "shell/commands/transform/pass_check.h"

#include <catch2/catch.hpp>

#include "tests/unit/shell/script_harness.h"

namespace relish::testing {
namespace {

ModulePtr module_returning(const std::string& value) {
  Harness harness;
  const Ran ran = harness.run(
      "@I.ir_module\nclass M:\n    @R.function\n"
      "    def main(t: R.Tuple(R.Tensor((\"n\",), \"float32\"), R.Prim(\"int64\")), x: R.Tensor((\"n\",), \"float32\")):\n"
      "        return " +
      value + "\n");
  REQUIRE(ran.error == "");
  return *harness.script().environment().find("M")->as<ModulePtr>();
}

std::string difference_of(const std::string& before, const std::string& after) {
  Session session(Harness::interpreter(), std::make_unique<StringOutput>());
  try {
    check_computes_the_same(session, "a pass", module_returning(before), module_returning(after));
  } catch (const Failure& failure) {
    CHECK(failure.diagnostics().front().id == "passes.differs");
    return failure.diagnostics().front().message;
  }
  return "";
}

}  // namespace

TEST_CASE("a pass that changes a value is named with the element") {
  CHECK(difference_of("R.add(x, t[0])", "R.add(t[0], x)") == "");
  CHECK(difference_of("R.add(x, t[0])", "R.add(x, x)")
            .starts_with("behind a pass 'main' computes something else: out"));
  CHECK(difference_of("R.exp(x)", "R.exp(R.multiply(x, R.const(1.001, \"float32\")))") != "");
  // Rounding is no difference, and another type is another function.
  CHECK(difference_of("R.add(R.add(x, t[0]), x)", "R.add(x, R.add(t[0], x))") == "");
  CHECK(difference_of("R.exp(x)", "R.astype(R.exp(x), \"float16\")") == "");
  // What is left of large terms that cancel is rounding too, where float64 leaves none of it.
  const std::string large = "R.const(3000000.0, \"float32\")";
  CHECK(difference_of("R.subtract(R.add(x, " + large + "), " + large + ")",
                      "R.add(x, R.const(0.0, \"float32\"))") == "");
  CHECK(difference_of("R.subtract(R.add(x, " + large + "), " + large + ")",
                      "R.multiply(x, R.const(1.1, \"float32\"))") != "");
}

}  // namespace relish::testing
