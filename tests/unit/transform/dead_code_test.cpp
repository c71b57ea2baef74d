// Removal of dead bindings and functions.
#include "transform/dead_code.h"
#include "tests/unit/transform/helpers.h"

using namespace relish;
using namespace relish::test;

TEST_CASE("dead code: unused bindings and unreachable private functions go") {
  const ModulePtr module = read(
      "@I.ir_module\nclass M:\n"
      "    @R.function(private=True)\n    def unused(a: R.Tensor((2,), \"float32\")):\n        return "
      "R.exp(a)\n"
      "    @R.function\n    def main(x: R.Tensor((2,), \"float32\")):\n        y = R.exp(x)\n        z = "
      "R.log(x)\n        return y\n");
  const Module result = eliminate_dead_code(*module);
  CHECK(result.find("unused") == nullptr);
  CHECK(bindings_of(result, "main") == "y = R.exp(x)\nreturn y\n");
}
