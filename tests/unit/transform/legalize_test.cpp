// Lowering of operator calls: which share a prim_func, and which wait for a run or are refused.
#include "transform/legalize.h"
#include "tests/unit/transform/helpers.h"

using namespace relish;
using namespace relish::test;

TEST_CASE("legalize shares the prim_func of equal calls") {
  const ModulePtr module = read(
      "@R.function\ndef main(x: R.Tensor((2,), \"float32\"), s: R.Tensor((), \"float32\")):\n"
      "    a = R.exp(x)\n    b = R.exp(a)\n    c = R.multiply(b, s)\n    return R.exp(c)\n");
  const Module result = legalize(*module);
  CHECK(result.prim_func("exp") != nullptr);
  CHECK(result.prim_func("exp1") == nullptr);
  CHECK(result.prim_func("multiply") != nullptr);
}

TEST_CASE("legalize keeps a call of unknown shape, or refuses it where nothing may be left") {
  const ModulePtr module = read(
      "@R.function\ndef main(x: R.Tensor(dtype=\"float32\", ndim=2)):\n"
      "    y = R.exp(x)\n    return y\n");
  CHECK(bindings_of(legalize(*module), "main") == "y = R.exp(x)\nreturn y\n");
  const Failure refused = catch_failure([&] { legalize(*module, UnknownShapes::Refused); });
  CHECK(refused.error_class() == ErrorClass::Type);
  CHECK(refused.diagnostics().front().id == "legalize.shape");
}
